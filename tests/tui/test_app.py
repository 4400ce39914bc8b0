"""What holds on every screen: help, jumping, going and coming back, a small terminal."""

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES
from textual.widgets import DataTable, Static
from textual.widgets._toast import Toast, ToastRack

from advisor.domain.quantities import format_rate
from advisor.store.history import Store
from advisor.tui import shell
from advisor.tui.features.advising.screens.history import HistoryScreen
from advisor.tui.features.advising.screens.profiling import ProfilingScreen
from advisor.tui.features.advising.screens.where import WhereScreen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.step import WALK
from advisor.tui.home import HomeScreen
from advisor.tui.kit.colours import contrast, role_colours
from advisor.tui.kit.dialogs.help import HelpScreen
from advisor.tui.kit.dialogs.too_small import TooSmallScreen
from advisor.tui.kit.panels.message_line import MessageLine
from advisor.tui.screens import screen_named

from .conftest import NewApp
from .driving import until, words
from .recorded import over
from .recorded_runs import RecordedRun
from .stored import keep_probes


def text_of(app: object) -> str:
    """All that stands on the screen, as text."""
    lines = app.screen._compositor.render_strips()  # type: ignore[attr-defined]  # for tests only
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


@pytest.mark.asyncio
async def test_help_tells_the_keys_and_closes(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        text = str(app.screen.query_one(Static).render())
        assert "Quit" in text
        assert "All actions" in text
        await pilot.press("escape")
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.parametrize("screen", ["home", "where", "history"])
@pytest.mark.asyncio
async def test_ctrl_c_says_in_plain_text_what_quits(new_app: NewApp, screen: str) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        if screen != "home":
            app.go(screen)
        await pilot.pause()
        app.set_focus(None)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.latest)
        assert app.latest
        assert (app.latest.title, app.latest.message) == ("", "Press ctrl+q to quit.")


@pytest.mark.asyncio
async def test_a_step_is_gone_to_and_left(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("where")
        await pilot.pause()
        assert isinstance(app.screen, WhereScreen)
        app.go("advice")
        await pilot.pause()
        assert len(app.screen_stack) == 3
        await pilot.press("ctrl+g")
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.asyncio
async def test_every_step_opens_without_a_session(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        for name, word in WALK.items():
            app.go(name)
            await pilot.pause()
            assert word in text_of(app).splitlines()[0]


@pytest.mark.asyncio
async def test_a_small_terminal_has_a_friendly_word_and_loses_nothing(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(100, 30)) as pilot:
        app.go("where")
        await pilot.pause()
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        await pilot.resize_terminal(500, 200)
        await pilot.pause()
        assert isinstance(app.screen, WhereScreen)


@pytest.mark.asyncio
async def test_a_key_can_be_given_by_name(new_app: NewApp) -> None:
    app = new_app(keys={"help": "f9"})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("f1")
        assert isinstance(app.screen, HomeScreen)
        await pilot.press("f9")
        assert isinstance(app.screen, HelpScreen)


@pytest.mark.asyncio
async def test_jumping_focuses(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("where")
        await pilot.pause()
        chain = app.screen.focus_chain
        assert len(chain) > 1
        await pilot.press("ctrl+o")
        await pilot.pause()
        letters = {str(one.visual): one.region for one in app.screen.query(".letter")}
        assert letters["b"].y == chain[1].region.y, "the letter is drawn on its widget"
        await pilot.press("b")
        await pilot.pause()
        assert app.focused is chain[1]
        await pilot.press("ctrl+o")
        await pilot.click(offset=(chain[0].region.x + 5, chain[0].region.y))
        await pilot.pause()
        assert app.focused is chain[0]


@pytest.mark.asyncio
async def test_help_groups_the_keys(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("where")
        await pilot.pause()
        await pilot.press("f1")
        await pilot.pause()
        shown_words = words(app, "#help Static")
        here, everywhere = shown_words.index("This screen"), shown_words.index("Everywhere")
        assert here < shown_words.index("Next") < everywhere < shown_words.index("Quit")


# The terminal chooses the sixteen colours of the others.
OWN_COLOURS = [n for n, theme in BUILTIN_THEMES.items() if theme.background != "ansi_default"]


@pytest.mark.parametrize("theme", OWN_COLOURS)
def test_colours_can_be_read_in_every_theme(theme: str) -> None:
    known = BUILTIN_THEMES[theme]
    variables = known.to_color_system().generate()
    for role, colour in role_colours(known).items():
        for ground in ("background", "surface"):
            ratio = contrast(Color.parse(colour), Color.parse(variables[ground]))
            assert ratio >= 4.5 or role == "line", f"{role} on {ground}: {ratio:.1f}"


def test_contrast_is_that_of_the_guidelines() -> None:
    black, white = Color.parse("black"), Color.parse("white")
    assert contrast(black, white) == contrast(white, black) == pytest.approx(21.0)
    # The example of the guidelines' own tools: the lightest grey that passes on white.
    assert contrast(Color.parse("#767676"), white) == pytest.approx(4.54, abs=0.01)


@pytest.mark.asyncio
async def test_messages_cover_nothing(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        app.notify("of [b]all[/b] kinds", title="A message", severity="warning")
        await pilot.pause()
        line = app.screen.query_one(MessageLine)
        assert words(app, "#message") == "! A message: of [b]all[/b] kinds"
        assert line.region.y == app.screen.query_one("#body").region.bottom
        toasts = app.screen.query_one(ToastRack).query(Toast)
        assert toasts
        assert not any(toast.visible for toast in toasts)
        await pilot.click(MessageLine)
        await pilot.pause()
        assert words(app, "#message") == ""


@pytest.mark.asyncio
async def test_a_message_stays_when_another_screen_is_shown(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.notify("shown in passing")
        app.go("review")
        await until(pilot, lambda: words(app, "#message") == "shown in passing")


@pytest.mark.asyncio
async def test_the_top_line_says_what_runs(new_app: NewApp) -> None:
    app = over(new_app(), is_running=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        shown_words = words(app, "#status")
        assert "lab:far-away" in shown_words
        assert f"ADVISED {format_rate(app.session.model.advice.expected_bps)}" in shown_words


@pytest.mark.asyncio
async def test_the_palette_has_actions_and_no_cursor_keys(new_app: NewApp, store: Store) -> None:
    keep_probes(store, "dtn02", [1e9])
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.focused, DataTable))
        active = [one.binding.description for one in app.screen.active_bindings.values()]
        assert "Row down" in active
        offered = [command.title for command in app.get_system_commands(app.screen)]
        assert "New advice" in offered
        assert "Open: Review" in offered
        assert not {"Row down", "Row up", "Down", "Up", "Cursor Down"} & set(offered)


@pytest.mark.asyncio
async def test_a_step_takes_the_place_of_another_and_of_all_above_it(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("profiling")
        await pilot.pause()
        before = app.screen
        app.open(screen_named("profiles"))
        await pilot.pause()
        app.go("history")
        await pilot.pause()
        assert isinstance(app.screen, HistoryScreen)
        assert len(app.screen_stack) == 3
        # So a session can be begun, which replaces the screens about the one before.
        played = RecordedRun(SessionModel(), is_running=False)
        monkeypatch.setattr(shell, "LiveSession", lambda _: played)
        app.begin_session(["advise"])
        await until(pilot, lambda: isinstance(app.screen, ProfilingScreen))
        assert app.screen is not before
