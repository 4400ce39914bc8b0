"""What: counted in the background, or said by hand; kept, whatever is chosen meanwhile."""

import errno
from pathlib import Path

import pytest
from textual.widgets import Static

from advisor.hosts import datasets
from advisor.testing.samples import a_path
from advisor.tui.features.advising.draft import Draft, PathSeen
from advisor.tui.features.advising.screens.path import PathScreen
from advisor.tui.features.advising.screens.what import WhatScreen
from advisor.tui.features.advising.screens.where import WhereScreen
from advisor.tui.kit.fields import scanning
from advisor.tui.kit.fields.choice import Choice, ChoiceSet, Tick
from advisor.tui.kit.fields.field import Field
from advisor.tui.kit.fields.paths import existing_path
from advisor.tui.kit.fields.suggestions import PathSuggester

from .conftest import NewApp
from .driving import until, words

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)])


def files(folder: Path, count: int, size_bytes: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"f{number}").write_bytes(b"x" * size_bytes)
    return folder


@SIZES
@pytest.mark.asyncio
async def test_a_directory_is_counted(
    new_app: NewApp, size: tuple[int, int], tmp_path: Path
) -> None:
    folder = files(tmp_path / "run 7", 3, 1000)
    app = new_app(Draft(what="data", data=f"{tmp_path}/"))
    async with app.run_test(size=size) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        app.screen.query_one("#field-data", Field).enter()
        await pilot.press("end", *folder.name)
        await until(pilot, lambda: app.draft.scanned)
        await until(pilot, lambda: "3 files, 2.93 KiB" in words(app, "#counted"))
        assert app.draft.scanned
        assert (app.draft.scanned.files, app.draft.scanned.total_bytes) == (3, 3000)
        assert app.draft.advise_arguments() == [f"--data={folder}"]
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, PathScreen))


@pytest.mark.asyncio
async def test_a_scan_can_be_given_up_and_begun_again(
    new_app: NewApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files(tmp_path / "run", 3, 1000)
    real, held = datasets.scanning, True

    def slowly(path: Path, *, every: int = 1) -> object:
        first, *rest = real(path, every=1)
        while held:
            yield first
        yield from rest

    monkeypatch.setattr(scanning, "scanning", slowly)
    app = new_app(Draft(what="data", data=str(folder)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("what")
        await until(pilot, lambda: "1 files" in words(app, "#counted"))
        assert "F4 cancels" in words(app, "#counted")
        await pilot.press("f4")
        await until(pilot, lambda: "given up" in words(app, "#counted"))
        assert app.draft.scanned is None
        held = False
        await pilot.press("f4")
        await until(pilot, lambda: app.draft.scanned)
        await until(pilot, lambda: "✓ 3 files" in words(app, "#counted"))


@pytest.mark.parametrize(
    ("draft", "name", "said"),
    [
        (Draft(what="data", data="/no/such/place"), "data", "there is no such file or directory"),
        (Draft(what="data", data="run7"), "data", "write an absolute path"),
        (Draft(what="data", data="~no-such-user/x"), "data", "there is no such home directory"),
        (Draft(what="data", data=f"/{'n' * 300}"), "data", "file name too long"),
        (Draft(what="size", size="10 lots"), "size", "not a size"),
        (Draft(what="count", files="many"), "files", "how many files"),
        (Draft(server="dtn02"), "server", "has no scheme"),
    ],
)
@pytest.mark.asyncio
async def test_wrong_entries_hold_one_up(
    new_app: NewApp, draft: Draft, name: str, said: str
) -> None:
    app = new_app(draft)
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        assert said in app.screen.query_one(f"#field-{name}", Field).problem
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert isinstance(app.screen, WhatScreen)


@pytest.mark.asyncio
async def test_an_empty_directory_says_so(new_app: NewApp, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    app = new_app(Draft(what="data", data=str(tmp_path / "empty")))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("what")
        await until(pilot, lambda: "there is nothing to move" in words(app, "#counted"))


@pytest.mark.asyncio
async def test_classes_by_hand_and_the_least_time(new_app: NewApp) -> None:
    draft = Draft(destination="dtn", what="count", files="1000", each_size="1GB")
    # 10 Gbit/s × 46.8 ms = 58.5 MB: a file of 1 GB is above ten of that.
    draft.seen = PathSeen(
        reach=draft.reach_arguments(), path=a_path(bandwidth_bps=10e9, rtt_s=0.0468)
    )
    app = new_app(draft)
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("what")
        # 10^12 B × 8 ÷ 10^10 bit/s = 800 s
        await until(pilot, lambda: "13 min 20 s at the least" in words(app, "#counted"))
        screen = "\n".join(
            "".join(segment.text for segment in strip)
            for strip in app.screen._compositor.render_strips()
        )
        (large,) = (line for line in screen.splitlines() if line.strip("│ ").startswith("large"))
        assert "1,000 files" in large
        assert "100%" in large


@pytest.mark.asyncio
async def test_what_is_chosen_is_all_that_is_marked(new_app: NewApp) -> None:
    app = new_app(Draft(what="unknown"))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        app.screen.query_one("#what").focus()
        await pilot.pause()
        looks = {
            button.id: button.get_component_styles("toggle--label").rich_style
            for button in app.screen.query_one("#what").query(Choice)
        }
        others = [looks[name] for name in ("data", "size", "count")]
        assert others == [others[0]] * 3, "the first one has a cursor, though it is not chosen"
        assert looks["unknown"] != others[0]


@pytest.mark.asyncio
async def test_another_choice_loses_nothing(new_app: NewApp) -> None:
    app = new_app(Draft(what="size", size="10TB"))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        app.screen.query_one("#what").focus()
        await pilot.press("down", "down")
        await until(pilot, lambda: app.draft.what == "unknown")
        assert not app.screen.query_one("#field-size").display
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, WhereScreen))
        await pilot.press("ctrl+g")
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        app.screen.query_one("#what").focus()
        await pilot.press("up", "up")
        await until(pilot, lambda: app.draft.what == "size")
        assert app.screen.query_one("#field-size", Field).text == "10TB"


@SIZES
@pytest.mark.asyncio
async def test_a_tool_is_chosen_with_what_it_may_do(
    new_app: NewApp, size: tuple[int, int], tmp_path: Path
) -> None:
    folder = files(tmp_path / "run 7", 3, 1000)
    app = new_app(Draft(what="data", data=str(folder)))
    async with app.run_test(size=size) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        assert not app.screen.query_one("#keep").display
        app.screen.query_one("#profiled").focus()
        await pilot.press("down")
        await until(
            pilot,
            lambda: "✗ a tool writes files at" in words(app, "#about-profiled"),
        )
        assert app.draft.what == "data"
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert isinstance(app.screen, WhatScreen)
        assert "Goes to" in "".join(note.message for note in app._notifications)
        app.screen.query_one("#field-to", Field).enter()
        await pilot.press(*"/data/run7")
        await until(
            pilot, lambda: "next to /data/run7: removed again" in words(app, "#about-profiled")
        )
        app.screen.query_one("#keep").focus()
        await pilot.press("space")
        await until(pilot, lambda: "what arrives complete stays" in words(app, "#about-profiled"))
        app.screen.query_one("#field-max-concurrency", Field).enter()
        await pilot.press("8")
        assert app.draft.advise_arguments() == [
            f"--data={folder}",
            "--to=/data/run7",
            "--profile-tool=auto",
            "--max-concurrency=8",
            "--keep",
        ]
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, PathScreen))


@pytest.mark.parametrize(
    ("draft", "name", "said"),
    [
        (Draft(profiled="tool", tool="bbcp"), "tool", "cannot be profiled"),
        (Draft(profiled="tool", tool="rsink"), "tool", "rsink"),
        (Draft(profiled="tool", max_concurrency="0"), "max-concurrency", "from 1 to 128"),
    ],
)
@pytest.mark.asyncio
async def test_wrong_words_for_a_tool_hold_one_up_where_one_is_profiled(
    new_app: NewApp, draft: Draft, name: str, said: str
) -> None:
    app = new_app(draft)
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        assert said in app.screen.query_one(f"#field-{name}", Field).problem
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert isinstance(app.screen, WhatScreen)
        app.screen.query_one("#profiled").focus()
        await pilot.press("up")
        await until(pilot, lambda: app.draft.profiled == "network")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, PathScreen))


@pytest.mark.asyncio
async def test_what_a_tick_is_for_is_reported(new_app: NewApp) -> None:
    app = new_app(Draft(profiled="tool", verify=True))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        tick = app.screen.query_one("#verify", Tick)
        assert str(tick._button) == "[x]"
        tick.focus()
        await pilot.press("f1")
        await until(pilot, lambda: not isinstance(app.screen, WhatScreen))
        said = "\n".join(str(text.render()) for text in app.screen.query(Static))
        assert "compares checksums of both sides" in said


@pytest.mark.asyncio
async def test_one_is_chosen_however_quickly_keys_come(new_app: NewApp) -> None:
    app = new_app(Draft())
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        choices = app.screen.query(ChoiceSet).first()
        choices.focus()
        buttons = list(choices.query(Choice))
        for keys in (["up", "up", "enter"], ["down", "space", "down", "enter"], ["enter"]):
            await pilot.press(*keys)
        choices.action_choose(-1)
        choices.action_choose(-1)
        await pilot.pause()
        assert [button.value for button in buttons].count(True) == 1
        assert choices.pressed_button is next(b for b in buttons if b.value)


def test_a_path_that_may_not_be_looked_for_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refused)
    with pytest.raises(ValueError, match="cannot look for it \\(permission denied\\)"):
        existing_path("/home/somebody/run7")


@pytest.mark.parametrize("typed", ["~no-such-user/x", f"/{'n' * 300}/x", "/\0/x", "/no/such/x"])
@pytest.mark.asyncio
async def test_nothing_is_completed_where_there_is_no_folder(typed: str) -> None:
    assert await PathSuggester().get_suggestion(typed) is None


@pytest.mark.asyncio
async def test_a_home_of_nobody_can_be_typed(new_app: NewApp) -> None:
    app = new_app(Draft(what="data", profiled="tool", to="/data"))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("what")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen) and app.focused)
        app.screen.query_one("#field-data", Field).enter()
        await pilot.press(*"~no-such-user/x")
        await until(pilot, lambda: "no such home directory" in words(app, "#field-data .note"))
        assert f"--data={app.draft.data}" in app.draft.advise_arguments()


@pytest.mark.asyncio
async def test_only_names_that_are_utf8_are_completed(tmp_path: Path) -> None:
    (tmp_path / "run\udcff").mkdir()
    assert await PathSuggester().get_suggestion(f"{tmp_path}/ru") is None
    (tmp_path / "run\N{LATIN SMALL LETTER E WITH ACUTE}").mkdir()
    assert await PathSuggester().get_suggestion(f"{tmp_path}/ru") == f"{tmp_path}/runé/"
