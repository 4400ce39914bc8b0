"""Taking the advice along: copying, saving, recording what its transfer gave."""

import base64
import errno
import os
import re
from pathlib import Path

import msgspec
import pytest
from textual.app import App
from textual.widgets import Input, RadioSet, Static

from advisor.domain.advice import Advice
from advisor.domain.records import AdviceRecord, TransferRecord
from advisor.report.script import script_text
from advisor.store.history import Store
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.widgets.command_card import RemedyCard
from advisor.tui.features.advising.widgets.tool_lines import ToolLine
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.kit.dialogs.entry import EntryScreen
from advisor.tui.kit.dialogs.save import SaveScreen, explained

from .conftest import NewApp
from .driving import settle
from .test_advice import a_screen
from .test_comparison import (
    COMMAND,
    PAIR,
    SERVER,
    SESSION,
    SIZES,
    an_advice,
    notices,
    shown,
)


def wrong(app: App[int]) -> str:
    """What a dialog says is wrong."""
    return str(app.screen.query_one("#wrong", Static).render())


@pytest.mark.asyncio
async def test_the_framed_line_is_copied_else_the_first(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open(a_screen())
        await pilot.pause()
        written: list[str] = []
        assert app._driver
        monkeypatch.setattr(app._driver, "write", written.append)
        app.screen.set_focus(None)
        await pilot.press("c")
        app.screen.query_one(ToolLine).focus()
        await pilot.press("c")
        app.screen.query_one(RemedyCard).focus()
        await pilot.press("c")
        await pilot.pause()
    codes = re.findall(r"\x1b\]52;c;([^\a]*)\a", "".join(written))
    copied = [base64.b64decode(code).decode() for code in codes]
    assert copied == [COMMAND.shell, SERVER.shell, "sysctl -w a=[1]"]


@pytest.mark.asyncio
async def test_where_the_terminal_cannot_be_lent_the_pager_is_refused(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test() as pilot:
        app.open(a_screen())
        await pilot.pause()
        await pilot.press("o")
        await pilot.pause()
        assert "save the advice instead" in notices(app)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_saved_as_a_script_and_never_over_another_file_unasked(
    new_app: NewApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    advice = an_advice()
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(a_screen())
        await pilot.pause()
        await pilot.press("s")
        await pilot.pause()
        app.screen.query_one(Input).focus()
        await pilot.press("enter")
        await settle(pilot)
        [script] = tmp_path.glob("*.sh")
        assert script.read_text() == script_text(advice)
        assert f"sh {script.name}" in notices(app)

        script.write_text("mine")
        for answer, left in (("n", "mine"), ("escape", "mine"), ("y", script_text(advice))):
            await pilot.press("s")
            await pilot.pause()
            app.screen.query_one(Input).focus()
            await pilot.press("enter")
            await settle(pilot)
            assert shown(app) is AskScreen
            await pilot.press(answer)
            await settle(pilot)
            assert script.read_text() == left
            if answer != "y":
                assert shown(app) is SaveScreen
                await pilot.press("escape")
                await pilot.pause()
        assert shown(app) is AdviceScreen
    assert [path.name for path in tmp_path.glob("*.sh*")] == [script.name]


@pytest.mark.asyncio
async def test_the_format_gives_the_ending_and_the_content(
    new_app: NewApp, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store.append(AdviceRecord(pair=PAIR, recorded_s=1.6e9, advice=an_advice()))
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open(a_screen())
        await pilot.pause()
        for downs, ending in ((1, ".json"), (2, ".md")):
            await pilot.press("s")
            await pilot.pause()
            app.screen.query_one(RadioSet).focus()
            await pilot.press(*["down"] * downs, "enter")
            await pilot.pause()
            assert app.screen.query_one(Input).value.endswith(ending)
            await pilot.click("#save")
            await settle(pilot)
            assert shown(app) is AdviceScreen
    [saved] = tmp_path.glob("*.json")
    read = msgspec.json.decode(saved.read_bytes(), type=Advice, strict=False)
    assert read.commands == [COMMAND, SERVER]
    [saved] = tmp_path.glob("*.md")
    assert "2020-09-13 12:26 UTC" in saved.read_text()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing/advice.sh", "create it first"),
        (".", "is a directory"),
        ("", "has no name"),
        ("~nobody-of-that-name/a.sh", "type an absolute path"),
        ("a" * 300, "shorten it"),
    ],
)
async def test_a_file_that_cannot_be_is_reported_in_a_sentence(
    new_app: NewApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open(a_screen())
        await pilot.pause()
        await pilot.press("s")
        await pilot.pause()
        line = app.screen.query_one(Input)
        line.value = name
        line.focus()
        await pilot.press("enter")
        await settle(pilot)
        assert sentence in wrong(app)
        assert shown(app) is SaveScreen
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is AdviceScreen


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EACCES, "you may not write in /d"),
        (errno.EROFS, "you may not write in /d"),
        (errno.EIO, "input/output error"),
    ],
)
def test_errors_name_the_remedy(code: int, sentence: str) -> None:
    assert sentence in explained(Path("/d/f"), OSError(code, os.strerror(code)))


@pytest.mark.asyncio
async def test_an_advice_without_a_line_is_no_script(
    new_app: NewApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open(a_screen(commands=[]))
        await pilot.pause()
        await pilot.press("s")
        await pilot.pause()
        await pilot.click("#save")
        await settle(pilot)
        assert "There is no command line" in wrong(app)
        assert not list(tmp_path.glob("*.sh"))


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_what_the_transfer_gave_is_recorded(
    new_app: NewApp, store: Store, size: tuple[int, int]
) -> None:
    store.append(AdviceRecord(pair=PAIR, recorded_s=1.6e9, advice=an_advice()))
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(a_screen())
        await pilot.pause()
        await pilot.press("t")
        await pilot.pause()
        assert shown(app) is EntryScreen
        await pilot.press(*"much", "enter", *"10min", "enter", "enter")
        await pilot.pause()
        assert "What was moved: not a size" in wrong(app)
        size_line = app.screen.query_one("#field-size", Input)
        assert size_line.has_focus
        size_line.value = "1TB"
        await pilot.click("#done")
        await pilot.pause()
        assert shown(app) is AdviceScreen
        assert "above the interval" in notices(app)
    [transfer] = [r for r in store.records(PAIR) if isinstance(r, TransferRecord)]
    assert (transfer.session, transfer.total_bytes, transfer.elapsed_s) == (SESSION, 10**12, 600.0)
    [session] = store.sessions(PAIR)
    assert session.transfers[0].came_true == "above"


@pytest.mark.asyncio
async def test_leaving_the_record_dialog_stores_nothing(new_app: NewApp, store: Store) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open(a_screen())
        await pilot.pause()
        await pilot.press("T")
        await pilot.pause()
        await pilot.press(*"1TB", "escape")
        await pilot.pause()
        assert shown(app) is AdviceScreen
    assert store.records(PAIR) == []
