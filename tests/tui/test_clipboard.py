import base64
import re

import pytest

from advisor.tui.kit.copying import clipboard

from .conftest import NewApp

TEXT = "globus-url-copy -p 4 file:///Größe/ä 'b'"


def decoded(sequence: str) -> str:
    """What a terminal makes of a plain sequence."""
    found = re.fullmatch(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\a", sequence)
    assert found
    return base64.b64decode(found[1]).decode()


def test_a_terminal_gets_the_text_itself() -> None:
    assert decoded(clipboard.sequences(TEXT, {})) == TEXT


def test_tmux_gets_it_for_itself_and_wrapped_for_the_terminal_outside() -> None:
    both = clipboard.sequences(TEXT, {"TMUX": "/tmp/tmux-0/default,1,0"})
    plain, _, wrapped = both.partition("\x1bPtmux;")
    assert decoded(plain) == TEXT
    assert wrapped.endswith("\x1b\\")
    inner = wrapped.removesuffix("\x1b\\")
    # Each escape within is doubled: tmux would take a single one for the end.
    assert not re.search(r"(?<!\x1b)\x1b(?!\x1b)", inner)
    assert decoded(inner.replace("\x1b\x1b", "\x1b")) == TEXT


def test_screen_gets_it_in_parts_that_it_does_not_throw_away() -> None:
    long = TEXT * 40
    sequence = clipboard.sequences(long, {"STY": "1.pts-0.host"})
    parts = re.findall(r"\x1bP(.*?)\x1b\\", sequence, re.DOTALL)
    assert len(parts) > 1
    assert all(len(part) <= 256 for part in parts)
    assert "".join(f"\x1bP{part}\x1b\\" for part in parts) == sequence
    assert decoded("".join(parts)) == long


def test_what_terminals_would_cut_off_is_refused() -> None:
    clipboard.sequences("a" * clipboard.LONGEST_BYTES, {})
    with pytest.raises(ValueError, match="save it"):
        clipboard.sequences("a" * (clipboard.LONGEST_BYTES + 1), {})


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("variable", "remedy"),
    [("TMUX", "tmux set -g set-clipboard on"), ("STY", "in place of screen"), ("", "OSC 52")],
)
async def test_a_copy_says_how_much_and_what_to_do_where_it_does_not_arrive(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch, variable: str, remedy: str
) -> None:
    for name in ("TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "there")
    app = new_app()
    async with app.run_test():
        said = clipboard.copy(app, "12345")
    assert said.startswith("Copied 5 characters")
    assert remedy in said
