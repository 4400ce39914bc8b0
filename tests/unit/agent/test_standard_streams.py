"""What speaks to another advisor over standard input and output, started by somebody by hand."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.agent import messages as m


@pytest.mark.parametrize("words", [["agent", "--stdio"], ["node"]])
@pytest.mark.parametrize("file", ["input", "output"])
def test_a_file_is_no_channel(tmp_path: Path, words: list[str], file: str) -> None:
    with (tmp_path / "file").open("w+b") as other:
        done = subprocess.run(
            [sys.executable, "-m", "advisor", *words],
            stdin=other if file == "input" else subprocess.PIPE,
            stdout=other if file == "output" else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("advisor: standard input or output is a file")


@pytest.mark.parametrize("words", [["advisor", "agent", "--stdio"], ["advisor.agent.carried"]])
@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_an_agent_ends_without_a_word(words: list[str], number: signal.Signals | None) -> None:
    """Its last line on standard error is shown as the reason why the connection ended."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        assert b'"protocol"' in agent.stdout.readline()
        agent.stdin.write(m.as_line(m.Hello(protocol=m.PROTOCOL, version="1")))
        agent.stdin.write(m.as_line(m.CloseEcho()))
        agent.stdin.flush()
        assert agent.stdout.readline() == m.as_line(m.EchoClosed())
        if number is not None:
            agent.send_signal(number)
            agent.wait(timeout=60)
        _, complained = agent.communicate(timeout=60)
    assert (agent.returncode, complained) == (0, b"")


def test_a_node_ends_without_a_word() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "advisor", "node"], input=b"", capture_output=True, check=False
    )
    assert b'"reason":"no transfer was begun"' in done.stdout
    assert (done.returncode, done.stderr) == (0, b"")
