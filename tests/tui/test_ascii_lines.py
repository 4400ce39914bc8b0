"""A terminal with ASCII alone: nothing else is drawn on any screen."""

import pytest
from rich.cells import cell_len

from advisor.tui.app import AdvisorApp
from advisor.tui.kit.ascii_lines import in_ascii

from .conftest import NewApp
from .recorded import over


def text_of(app: AdvisorApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
@pytest.mark.parametrize(
    "step",
    [
        *("where", "what", "path", "history", "profiling", "comparison", "advice"),
        *("home", "review", "moving", "shares", "lab"),
    ],
)
async def test_every_screen_is_ascii(new_app: NewApp, step: str, size: tuple[int, int]) -> None:
    app = over(new_app(drawing="ascii"))
    async with app.run_test(size=size, notifications=True) as pilot:
        if step != "home":
            app.go(step)
        app.notify("half done …", severity="error")
        await pilot.pause(0.5)
        assert sorted(set(filter(lambda c: not c.isascii(), text_of(app)))) == []


@pytest.mark.asyncio
async def test_so_are_dialogs(new_app: NewApp) -> None:
    app = over(new_app(drawing="ascii"))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.action_help_here()
        app.notify("half done …")
        await pilot.pause(0.3)
        assert text_of(app).isascii()


def test_the_width_of_a_line_and_letters_of_names_stay() -> None:
    line = "▶ größe ├──●──┤ ⣿⡀ ✓ 4×4 MiB → 1.2 Gbit/s …"
    assert in_ascii(line) == "> größe +--O--+ ** + 4x4 MiB > 1.2 Gbit/s ."
    assert cell_len(in_ascii(line)) == cell_len(line)
