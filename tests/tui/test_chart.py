import math
from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.geometry import Size

from advisor.tui.kit.ascii_lines import AsciiLines
from advisor.tui.kit.charts.axis import axis_end, nice_end, rate_unit, ticks, ticks_in_rows
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.charts.series import Level, Series, VerticalLine
from advisor.tui.kit.colours import role_colours


class _ChartApp(App[None]):
    def __init__(self, drawing: str = "braille") -> None:
        super().__init__()
        self.drawing = drawing

    def get_line_filters(self) -> Sequence[LineFilter]:
        ascii_lines = [AsciiLines()] if self.drawing == "ascii" else []
        return [*super().get_line_filters(), *ascii_lines]

    def get_css_variables(self) -> dict[str, str]:
        return super().get_css_variables() | dict(role_colours(self.current_theme))

    def compose(self) -> ComposeResult:
        yield Chart("Rates")

    @property
    def chart(self) -> Chart:
        return self.query_one(Chart)

    def lines(self) -> list[str]:
        strips = self.screen._compositor.render_strips(Size(*self.size))
        return ["".join(segment.text for segment in strip) for strip in strips]

    def text(self) -> str:
        return "\n".join(self.lines())


def _show(app: _ChartApp, ys: list[float], *levels: Level, **bars: list[float]) -> None:
    xs = [float(x) for x in range(1, len(ys) + 1)]
    series = Series("y+", xs, ys, "points", mark="▲", **bars)
    app.chart.show([series], levels, x_label="time, s", y_label="throughput")


@pytest.mark.parametrize(
    ("value", "end"), [(0, 1), (1, 1), (1.2e8, 1.5e8), (2e8, 2e8), (9.1e9, 1e10), (0.7, 0.8)]
)
def test_axes_end_at_round_numbers(value: float, end: float) -> None:
    assert nice_end(value) == pytest.approx(end)


@pytest.mark.parametrize("end", [1.0, 1.5e8, 2.5e8, 3e9, 8e8, 1e10, 1.15e9, 0.023])
@pytest.mark.parametrize("most", [2, 3, 6, 12])
def test_ticks_are_round_and_fill_the_axis_from_zero(end: float, most: int) -> None:
    marked = ticks(end, most)
    assert marked[0] == 0
    assert end / 2 < marked[-1] <= end
    assert 2 <= len(marked) <= most
    assert f"{marked[1]:.0e}"[0] in "125"


@pytest.mark.parametrize("end", [1.15, 2.3e9, 5.75e8, 1e10, 6.9])
@pytest.mark.parametrize("rows", [4, 9, 19, 40])
def test_every_tick_is_in_the_middle_of_a_row(end: float, rows: int) -> None:
    fitted, marked = ticks_in_rows(end, rows, rows // 2 + 2)
    assert end <= fitted <= 1.35 * end
    for value in marked:
        row = value / fitted * rows
        assert row == pytest.approx(round(row))


def test_axis_ends_a_little_above_the_highest_and_grows_in_steps() -> None:
    assert axis_end(1e9) == pytest.approx(1.15e9)
    assert axis_end(1.1e9, 1.15e9) == 1.15e9
    assert axis_end(1.149e9, 1.15e9) == pytest.approx(1.15 * 1.149e9)
    assert axis_end(0.0) == 0.0


def test_rates_have_the_unit_of_the_top() -> None:
    assert rate_unit(2.5e8) == (1e6, "Mbit/s")
    assert rate_unit(1e9) == (1e9, "Gbit/s")
    assert rate_unit(0) == (1, "bit/s")


@pytest.mark.asyncio
async def test_axis_grows_and_does_not_shrink_until_it_is_restarted() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        _show(app, [3e8])
        await pilot.pause()
        assert " 300 ┤" in app.text()
        _show(app, [1e7])
        await pilot.pause()
        assert " 300 ┤" in app.text()
        app.chart.restart()
        _show(app, [1e7])
        await pilot.pause()
        assert " 300 ┤" not in app.text()
        assert " 10 ┤" in app.text()


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [(80, 24), (60, 15), (120, 40)])
async def test_point_near_a_tick_is_in_the_row_of_the_tick(size: tuple[int, int]) -> None:
    app = _ChartApp()
    async with app.run_test(size=size) as pilot:
        for value, tick in ((1e9, " 1 ┤"), (9.96e8, " 1 ┤"), (1.004e9, " 1 ┤")):
            app.chart.show(
                [Series("", [1.0], [value], "points", mark="▲")],
                x_label="s",
                y_label="rate",
                y_top=1.15e9,
            )
            await pilot.pause()
            marked = next(line for line in app.lines() if "▲" in line)
            assert tick in marked


@pytest.mark.asyncio
@pytest.mark.parametrize("drawing", ["braille", "block", "ascii"])
async def test_line_at_a_tick_is_in_the_row_of_the_tick(drawing: str) -> None:
    app = _ChartApp(drawing)
    async with app.run_test(size=(80, 24)) as pilot:
        line = Series("", [0.0, 10.0], [1e9, 1e9])
        app.chart.show([line], x_label="s", y_label="rate", y_top=1.15e9, x_range=(0.0, 10.0))
        await pilot.pause()
        tick = "1 +" if drawing == "ascii" else "1 ┤"
        drawn = next(line for line in app.lines() if tick in line).split(tick)[1]
        assert len(set(drawn[1:40])) == 1
        assert drawn[0] not in " │|"


@pytest.mark.asyncio
async def test_marks_are_above_the_x_labels_of_their_values() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        point = Series("", [20.0], [1e8], "points", mark="▲")
        app.chart.show([point], x_label="s", y_label="rate", x_range=(0.0, 58.0))
        await pilot.pause()
        lines = app.lines()
        column = next(line.index("▲") for line in lines if "▲" in line)
        assert lines[-2][column : column + 2].strip("0 ") in ("", "2")
        assert "20" in lines[-2][column - 1 : column + 2]
        assert lines[-3][column] == "┬"


@pytest.mark.asyncio
async def test_legend_is_in_the_title_line_and_below_where_it_does_not_fit() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        names = [Series(f"series {n}", [1.0], [1e8], "points", mark="▲") for n in range(9)]
        app.chart.show(names[:2], x_label="time, s", y_label="rate")
        await pilot.pause()
        assert "▲ series 0  ▲ series 1 ─╮" in app.lines()[0]
        assert app.lines()[-1].endswith("time, s ─╯")
        app.chart.show(names, x_label="time, s", y_label="rate")
        await pilot.pause()
        assert "series" not in app.lines()[0]
        assert "▲ series 0  ▲ series 1" in app.lines()[-2]
        await pilot.resize_terminal(200, 24)
        await pilot.pause()
        assert "▲ series 8 ─╮" in app.lines()[0]


@pytest.mark.asyncio
async def test_error_bars_count_for_the_top_and_gaps_do_not_move_them() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        ys = [1e8, math.nan, 1e8]
        _show(app, ys, lows=[9e7, math.nan, -5e7], highs=[1.1e8, math.nan, 5.5e8])
        await pilot.pause()
        plotted = [line for line in app.lines() if "y+" not in line]
        middle, marked = next((line.rindex("▲"), line) for line in plotted if "▲" in line)
        assert marked.count("▲") == 2
        assert " 600 ┤" in app.text()
        # From the top of the bar, 550 of 632, down to the axis and not through it.
        bar = [line[middle] for line in plotted if "┼" not in line].count("│")
        assert bar >= 12
        frame = next(line for line in plotted if " 0 ┼" in line)
        assert frame[middle] in "─┬"


@pytest.mark.asyncio
async def test_level_far_above_does_not_flatten_the_points_but_is_named() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        _show(app, [1e8], Level("best", 1.2e8), Level("link", 1e10))
        await pilot.pause()
        text = app.text()
        assert " best " in text
        assert "↑ link 10 Gbit/s" in app.lines()[1]
        assert "Mbit/s" in app.lines()[1][:10]


@pytest.mark.asyncio
async def test_levels_at_the_same_height_are_named_one_below_the_other() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        _show(app, [1e8], Level("best", 1.2e8), Level("link", 1.2e8))
        await pilot.pause()
        rows = [y for y, line in enumerate(app.lines()) if "best" in line or "link" in line]
        assert len(rows) == 2
        assert rows[1] - rows[0] == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
@pytest.mark.parametrize("drawing", ["braille", "block", "ascii"])
async def test_every_way_of_drawing_in_every_kind_of_theme(drawing: str, theme: str) -> None:
    app = _ChartApp(drawing)
    if theme not in app.available_themes:
        pytest.skip("this Textual has no such theme")
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        series = [
            Series("curve", [0, 1, 2, 3], [1e8, 2e8, math.nan, 2e8]),
            Series("stairs", [0, 1, 2], [1e8, 5e7, 1e8], "steps", colour="success"),
            Series("y*", [1.5], [1.5e8], "points", mark="★", colour="no such word"),
        ]
        app.chart.show(series, [Level("default", 5e7)], x_label="s", y_label="rate")
        await pilot.pause()
        text = app.text()
        if drawing == "ascii":
            assert text.isascii()
            assert "* y*" in app.lines()[0]
        else:
            assert "★ y*" in text
            wanted = range(0x2801, 0x2900) if drawing == "braille" else range(0x2580, 0x25A0)
            assert any(ord(c) in wanted for c in text)


@pytest.mark.asyncio
async def test_it_can_be_read_aloud_and_brackets_are_no_markup() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)):
        series = Series("a [b]", [1, 2], [1e8, 2e8])
        app.chart.show([series], [Level("link", 4e8)], x_label="time, s", y_label="throughput")
        assert "a [b]: 2 values, 100 Mbit/s to 200 Mbit/s, the last 200 Mbit/s." in (
            app.chart.picture.summary
        )
        assert "Line: link, 400 Mbit/s." in app.chart.picture.summary
        assert "a [b]: 2 values" in app.chart.HELP.plain


@pytest.mark.asyncio
async def test_resizing_keeps_what_is_shown() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        _show(app, [1e8])
        await pilot.pause()
        for size in ((120, 40), (30, 9), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "▲" in app.text()


@pytest.mark.asyncio
async def test_an_error_bar_longer_than_all_else_is_high_does_not_flatten_it() -> None:
    app = _ChartApp()
    async with app.run_test(size=(80, 24)):
        _show(app, [1e9, 2e9], lows=[0.0, 0.0], highs=[1.1e9, 60e9])
        assert "from 0 to 2.30 Gbit/s" in app.chart.picture.summary
        app.chart.restart()
        _show(app, [1e9, 2e9], lows=[0.0, 0.0], highs=[1.1e9, 4.5e9])
        assert "from 0 to 5.17 Gbit/s" in app.chart.picture.summary


@pytest.mark.asyncio
@pytest.mark.parametrize(("drawing", "mark"), [("braille", "╎"), ("ascii", "|")])
async def test_upright_goes_through_the_whole_chart_at_its_place(drawing: str, mark: str) -> None:
    app = _ChartApp(drawing)
    async with app.run_test(size=(80, 24)) as pilot:
        points = Series("points", [1.0, 9.0], [1e8, 2e8], "points")
        app.chart.show(
            [points],
            x_label="streams",
            y_label="throughput",
            x_range=(0.0, 10.0),
            verticals=[VerticalLine("answer: 4", 4.0)],
        )
        await pilot.pause()
        inside = [line for line in app.lines() if mark in line[20:70] and "answer" not in line]
        assert len(inside) > 12
        [column] = {line.index(mark, 20) for line in inside}
        assert 30 < column < 45
        named = app.lines()[1]
        assert abs(named.index("answer: 4") + 4 - column) <= 1
        assert "Vertical line: answer: 4." in app.chart.picture.summary
        app.chart.show(
            [points], x_label="streams", y_label="throughput", x_range=(0.0, 10.0), verticals=[]
        )
        await pilot.pause()
        assert "answer" not in app.text()


@pytest.mark.asyncio
async def test_without_colours_it_is_drawn_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = _ChartApp()
    async with app.run_test(size=(80, 24)) as pilot:
        # Nothing is drawn yet: what stands there must do without colours too.
        await pilot.pause()
        _show(app, [1e8, 2e8])
        await pilot.pause()
        assert "▲" in app.text()
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert "▲" in app.text()
