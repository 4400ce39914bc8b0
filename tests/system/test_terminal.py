"""The terminal interface as the program that users start, in tmux."""

import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .labs import MODEST, NewLab
from .program import children_left, own_environment, wait_until
from .terminal import ADVISOR, Terminal

Open = Callable[..., Terminal]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Open]:
    """Terminals with folders of their own, closed at the end."""
    opened: list[Terminal] = []

    def new(columns: int = 120, lines: int = 40) -> Terminal:
        opened.append(Terminal(tmp_path, columns, lines))
        return opened[-1]

    yield new
    for one in opened:
        one.close()


def profile_localhost(shown: Terminal, home: Path) -> None:
    """A short session, begun on the screen before it, whose probes run."""
    draft = home / "state" / "advisor" / "draft.json"
    draft.parent.mkdir(parents=True)
    draft.write_text('{"destination": "localhost", "budget": "12s"}')
    shown.run(f"{ADVISOR} --open history")
    shown.wait_for("Profile now")
    shown.press("C-n")
    shown.wait_for(" s left", 30)


@pytest.mark.parametrize(
    ("step", "number"),
    [
        ("home", signal.SIGINT),
        ("home", signal.SIGTERM),
        ("where", signal.SIGHUP),
        ("path", signal.SIGTERM),
        ("profiling", signal.SIGTERM),
        ("profiling", signal.SIGHUP),
    ],
)
def test_a_signal_leaves_the_terminal_as_it_was(
    terminal: Open, tmp_path: Path, step: str, number: signal.Signals
) -> None:
    shown = terminal()
    if step == "profiling":
        profile_localhost(shown, tmp_path)
    else:
        shown.run(f"{ADVISOR} --open {step}")
        shown.wait_for("All actions")
    shown.signal(number)
    assert wait_until(lambda: not shown.is_alternate)
    shown.run("echo status $?; stty -a | grep -c ' echo '")
    shown.wait_for("status 130\n1")
    left = [line for line in children_left(tmp_path) if "-m advisor" in line]
    assert wait_until(lambda: not [x for x in children_left(tmp_path) if "advisor" in x]), left
    if step == "profiling" and number == signal.SIGTERM:
        done = subprocess.run(
            [*ADVISOR.split(), "resume", "--json"],
            capture_output=True,
            text=True,
            env=own_environment(tmp_path),
            timeout=150,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert '"resumed":true' in done.stdout


def _is_cleared(shown: Terminal) -> bool:
    shown.press("C-a", "C-k")
    lines = [line.strip(" │") for line in shown.text.splitlines()]
    return not lines[lines.index("File") + 1]


def save_the_script(shown: Terminal, file: Path) -> None:
    """From a session that is over, on its screen, to the script on the disk."""
    shown.press("C-n")
    shown.wait_for("Verdict")
    shown.press("C-n")
    shown.wait_for("from memory to memory")
    shown.press("s")
    shown.wait_for("Save the advice")
    shown.press("Tab")
    # The field selects all of its text when it gets the focus, which may be later than the keys.
    assert wait_until(lambda: _is_cleared(shown)), shown.text
    shown.type(str(file))
    shown.press("Enter")
    assert wait_until(file.exists), shown.text


def keep_it_short(home: Path) -> None:
    """Sessions of this user take a fifth of what they would."""
    file = home / "config" / "advisor" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[advise]\nbudget = "12s"\n')


def test_from_the_first_key_to_the_script_that_runs(terminal: Open, tmp_path: Path) -> None:
    keep_it_short(tmp_path)
    shown = terminal()
    shown.run(ADVISOR)
    shown.wait_for("All actions")
    shown.press("d")
    shown.wait_for("ctrl+n compares", 100)
    script = tmp_path / "move.sh"
    save_the_script(shown, script)
    shown.press("C-q")
    assert wait_until(lambda: not shown.is_alternate)
    # As it is, it says what is still missing.
    shown.run(f"sh {script}; echo ended $?")
    assert "SOURCE_PATH" in shown.wait_for("ended 2")


def test_across_a_lab_to_a_copy_that_arrived(
    terminal: Open, new_lab: NewLab, tmp_path: Path
) -> None:
    lab = new_lab().up(*MODEST)
    keep_it_short(tmp_path)
    shown = terminal()
    shown.run(f"{ADVISOR} --open where")
    shown.wait_for("All actions")
    shown.type(f"lab:{lab.name}")
    shown.wait_for("agent answers")
    for on_the_next in ("What is profiled", "clock offset", "Profile now"):
        shown.press("C-n")
        shown.wait_for(on_the_next)
    shown.press("C-n")
    shown.wait_for(" s left", 30)
    shown.wait_for("ctrl+n compares", 100)
    script = tmp_path / "move.sh"
    save_the_script(shown, script)
    shown.press("C-q")
    assert wait_until(lambda: not shown.is_alternate)
    sent = tmp_path / "sent"
    sent.write_bytes(random.Random(1).randbytes(3_000_000))
    got = lab.folder / "files" / "far" / "got"
    paths = f"SOURCE_PATH={sent} DESTINATION_PATH={got}"
    shown.run(f"{ADVISOR} lab exec {lab.name} -- env {paths} sh {script}; echo ended $?")
    shown.wait_for("ended 0", 60)
    assert got.read_bytes() == sent.read_bytes()


def test_a_stopped_program_continues(terminal: Open, tmp_path: Path) -> None:
    shown = terminal()
    shown.run(ADVISOR)
    shown.wait_for("All actions")
    shown.press("C-z")
    assert wait_until(lambda: not shown.is_alternate)
    shown.run("fg")
    shown.wait_for("All actions")
    shown.press("C-q")
    assert wait_until(lambda: not [x for x in children_left(tmp_path) if "-m advisor" in x])
    assert not shown.is_alternate


def test_a_closed_window_leaves_nothing(terminal: Open, tmp_path: Path) -> None:
    shown = terminal()
    profile_localhost(shown, tmp_path)
    shown.close()
    assert wait_until(lambda: not [x for x in children_left(tmp_path) if "advisor" in x], 60)


@pytest.mark.parametrize(("columns", "lines"), [(20, 5), (60, 20)])
def test_a_small_window_has_a_word(terminal: Open, columns: int, lines: int) -> None:
    shown = terminal(columns, lines)
    shown.run(ADVISOR)
    shown.wait_for("minimum")
    shown.resize(120, 40)
    shown.wait_for("All actions")


def test_a_huge_window(terminal: Open) -> None:
    shown = terminal(500, 200)
    shown.run(ADVISOR)
    shown.wait_for("All actions")


@pytest.mark.parametrize("how", ["--plain", "| cat", "TERM=dumb"])
def test_where_no_screen_can_be_there_is_text(terminal: Open, how: str) -> None:
    shown = terminal()
    if how == "TERM=dumb":
        shown.run(f"TERM=dumb {ADVISOR}; echo ended $?")
    else:
        shown.run(f"{ADVISOR} {how}; echo ended $?")
    text = shown.wait_for("ended 0")
    assert "New advice: advisor advise" in text
    assert not shown.is_alternate
