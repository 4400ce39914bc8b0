"""The command that mends, taken out of the sentence that names it."""

import pytest

from advisor.tui.kit.fixes import fix_for


@pytest.mark.parametrize(
    ("message", "line", "where"),
    [
        (
            "dtn02 refused the login: 'ssh dtn02' must work without a password "
            "(ssh-copy-id dtn02, or an ssh-agent)",
            "ssh-copy-id dtn02",
            "run here",
        ),
        ("dtn02 is not a known host: log in once with 'ssh dtn02'", "ssh dtn02", "run here"),
        (
            "ssh is not installed here: apt-get install openssh-client",
            "apt-get install openssh-client",
            "run here",
        ),
        (
            "--secret-file /s/f can be read by others: chmod 600 /s/f",
            "chmod 600 /s/f",
            "run here",
        ),
        ("no lab 'wan' is up: 'advisor lab up wan' starts it", "advisor lab up wan", "run here"),
        (
            "there is no 'advisor' on dtn02: install advisor there, or say where it is with "
            "--agent-command",
            "make install",
            "on dtn02, in advisor's sources",
        ),
        (
            "dtn:5199 cannot be reached (Connection refused): is 'advisor agent --listen' running "
            "there?",
            "advisor agent --listen 0.0.0.0:5199",
            "on dtn",
        ),
        (
            "the connection to dtn02 failed: ssh: connect to host dtn02 port 22: No route to host",
            "ssh -v dtn02 true",
            "run here",
        ),
    ],
)
def test_the_command(message: str, line: str, where: str) -> None:
    assert fix_for(message) == (line, where)


def test_a_sentence_without_one() -> None:
    assert fix_for("what listens at dtn:1 is not an agent: check the port") is None
