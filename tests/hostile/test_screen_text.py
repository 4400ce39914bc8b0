"""Hostile text on the screens: what is drawn, said, titled and copied."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Button, Static

import advisor.tui
from advisor.domain import events as ev
from advisor.domain.advice import Command, Contender, Estimate, Limit
from advisor.domain.endpoints import Pair
from advisor.domain.printable import is_printable
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.records import ProbeRecord, RemarkRecord, TransferRecord
from advisor.store.history import Store
from advisor.store.session_digests import SessionDigest
from advisor.testing.samples import a_path, measured
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.screens import history
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.screens.comparison import ComparisonScreen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.history.screens.session import SessionScreen
from advisor.tui.features.transfer.screens import form as transfer_form
from advisor.tui.features.transfer.screens.past import PastTransferScreen
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.charts.series import Series
from advisor.tui.kit.copying import clipboard
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.kit.dialogs.entry import DialogField, EntryScreen
from advisor.tui.kit.dialogs.help import HelpScreen
from advisor.tui.kit.dialogs.save import Format, SaveScreen
from advisor.tui.kit.fields.choice import Tick
from advisor.tui.kit.fields.field import Field
from advisor.tui.kit.tables.row_table import RowTable

CLIPBOARD: Final = "\x1b]52;c;Y3VybCBldmlsfHNo\x07"
MARKUP: Final = (
    "[b][link='http://evil.example']x[/link][@click=app.quit]y[/]"
    '[DTN02] slow [@click="app.quit"[]here [/scratch/me'
)
EVIL: Final = f"{CLIPBOARD}\u202e\x9b31m{MARKUP}"
OWN_ACTION: Final = re.compile(r"screen\.[a-z_]+")
SETTING: Final = {"streams": 4, "buffer_bytes": 4194304}


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("STATE", "CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))


def shown(app: App[Any]) -> str:
    """The text of the screen as it is drawn; nothing in it is for the terminal to obey."""
    strips = app.screen._compositor.render_strips()
    segments = [segment for strip in strips for segment in strip]
    assert [s.text for s in segments if not is_printable(s.text)] == []
    # Neither a link nor an action of Textual came from the data: that one has `app.quit`.
    links = [s.style.link for s in segments if s.style and s.style.link]
    actions = {
        str(s.style.meta["@click"]) for s in segments if s.style and "@click" in s.style.meta
    }
    foreign = {action for action in actions if not OWN_ACTION.fullmatch(action)}
    assert (links, foreign) == ([], set())
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def hostile_advice() -> ev.AdviceGiven:
    return ev.AdviceGiven(
        at_s=60.0,
        pair=Pair("here", EVIL),
        subject=EVIL,
        setting={"congestion": EVIL, "streams": 4},
        expected_bps=9e9,
        interval_bps=(8e9, 1e10),
        default_bps=3e9,
        gain=Estimate(3.0, (2.5, 3.5)),
        limits=[Limit(what=EVIL, side="source", remedy=f"sysctl {EVIL}")],
        reasons=[EVIL],
        commands=[
            Command(tool=EVIL, side="source", argv=["cp", EVIL], shell=f"cp '{EVIL}'", note=EVIL)
        ],
        contenders=[
            Contender(
                role=EVIL,
                subject=EVIL,
                setting={"congestion": EVIL},
                throughput=Estimate(9e9, (8e9, 1e10)),
                probes=4,
            )
        ],
        incomplete=False,
        session=EVIL,
    )


def hostile_session(*ends: ev.AnyEvent) -> SessionModel:
    started = ev.SessionStarted(
        at_s=0, session=EVIL, pair=Pair("here", EVIL), method=EVIL, seed=1, budget_s=60.0
    )
    return SessionModel(
        [
            started,
            ev.PathFound(at_s=0.1, path=a_path(), limits=[]),
            ev.StageStarted(at_s=0.3, stage=EVIL, subject=EVIL, budget_s=30.0),
            ev.Notice(at_s=0.4, message=EVIL),
            ev.ProbeStarted(
                at_s=1, ordinal=1, stage=EVIL, purpose="search", subject=EVIL, setting=SETTING
            ),
            ev.ProbeEnded(
                at_s=5,
                ordinal=1,
                stage=EVIL,
                purpose="search",
                subject=EVIL,
                setting=SETTING,
                result=measured(1e9),
                remaining_s=30.0,
                label=EVIL,
            ),
            ev.StageEnded(at_s=30.0, stage=EVIL, reason=EVIL, probes=1, elapsed_s=30.0),
            *ends,
        ]
    )


GAVE_UP: Final = ev.GaveUp(
    at_s=60,
    message=EVIL,
    exit_code=1,
    problem=Problem(kind=ProblemKind.FAILED, reason=EVIL, remedy=EVIL, command=EVIL, host=EVIL),
)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "screen",
    [
        lambda: AdviceScreen(hostile_session(hostile_advice())),
        lambda: AdviceScreen(hostile_session(GAVE_UP)),
        lambda: ComparisonScreen(hostile_session(hostile_advice())),
        lambda: ComparisonScreen(hostile_session(GAVE_UP)),
    ],
)
async def test_a_session_with_hostile_text(
    tmp_path: Path, screen: Callable[[], Screen[None]]
) -> None:
    app = AdvisorApp(Store(tmp_path / "store"), Draft())
    async with app.run_test(notifications=True, size=(120, 50)) as pilot:
        app.open(screen())
        await pilot.pause(0.2)
        assert "link='http://evil" in shown(app)
        app.action_help_here()
        await pilot.pause(0.1)
        shown(app)


@pytest.mark.asyncio
async def test_a_message_is_never_markup(tmp_path: Path) -> None:
    app = AdvisorApp(Store(tmp_path / "store"), Draft())
    async with app.run_test(notifications=True, size=(120, 40)) as pilot:
        app.notify(EVIL, title=EVIL, markup=True)
        app.screen.notify(MARKUP)
        app.refuse(EVIL)
        await pilot.pause(0.3)
        assert "[b][link=" in shown(app)


@pytest.mark.asyncio
async def test_a_history_with_hostile_names(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    probe = ProbeRecord(
        pair=Pair("here", MARKUP),
        subject="tcp",
        setting=SETTING,
        result=measured(1e9),
        recorded_s=1.7e9,
        session="20260101T000000Z-aaaaaa",
    )
    store.append(probe)
    store.append(msgspec.structs.replace(probe, subject=EVIL, label=EVIL, session=EVIL))
    app = AdvisorApp(store, Draft())
    async with app.run_test(notifications=True, size=(160, 50)) as pilot:
        await _until_shown(pilot, app, "[b]")
        app.go("review")
        await _until_shown(pilot, app, "[b]")


async def _until_shown(pilot: Pilot[int], app: App[Any], words: str) -> None:
    for _ in range(200):
        if words in shown(app):
            return
        await pilot.pause(0.05)
    raise AssertionError(f"{words} is not shown: {shown(app)}")


@pytest.mark.asyncio
async def test_only_what_can_be_seen_is_copied(tmp_path: Path) -> None:
    app = AdvisorApp(Store(tmp_path / "store"), Draft())
    async with app.run_test(notifications=True, size=(120, 40)) as pilot:
        copyable = Copyable(f"true{CLIPBOARD}")
        await app.screen.mount(copyable)
        copyable.action_copy()
        await pilot.pause(0.1)
        assert "Not copied" in shown(app)
        with pytest.raises(ValueError, match="control characters"):
            clipboard.copy(app, "true\u202e")
        copyable.mend(GAVE_UP.problem)
        assert copyable.line == ""


def hostile_past(store: Store) -> SessionDigest:
    """A stored session whose destination and remarks are hostile text."""
    session = "20260101T000000Z-aaaaaa"
    pair = Pair("here", MARKUP)
    for record in (
        ProbeRecord(
            pair=pair,
            subject="tcp",
            setting=SETTING,
            result=measured(1e9),
            recorded_s=1.7e9,
            session=session,
        ),
        RemarkRecord(pair=pair, recorded_s=1.7e9, session=session, kind="note", text=MARKUP),
        TransferRecord(
            pair=pair,
            recorded_s=1.7e9,
            session=session,
            total_bytes=10**9,
            elapsed_s=10.0,
            note=MARKUP,
        ),
    ):
        store.append(record)
    [digest] = store.sessions()
    return digest


def hostile_transfer() -> list[ev.AnyEvent]:
    started = ev.TransferStarted(
        at_s=0.0,
        session="20260101T000000Z-aaaaaa",
        pair=Pair("here", MARKUP),
        method=MARKUP,
        setting={"concurrency": 2, "parallelism": 8},
        epoch_s=30.0,
        files=1,
        total_bytes=10**9,
    )
    ended = ev.TransferEnded(
        at_s=60.0,
        complete=False,
        files=0,
        moved_bytes=0,
        elapsed_s=60.0,
        message=MARKUP,
        missing=[],
        missing_files=0,
        exit_code=1,
    )
    return [started, ended]


def said(app: App[Any]) -> str:
    """What the texts of the screen say, without the breaks of their lines."""
    return "\n".join(str(text.render()) for text in app.screen.query(Static))


async def _until_said(pilot: Pilot[int], app: App[Any], times: int) -> None:
    for _ in range(200):
        if said(app).count(MARKUP) >= times:
            return
        await pilot.pause(0.05)
    raise AssertionError(f"not {times} times: {said(app)}")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("screen", "times"),
    [(SessionScreen, 3), (lambda session: PastTransferScreen(session, hostile_transfer()), 5)],
)
async def test_a_past_session_with_hostile_remarks(
    tmp_path: Path, screen: Callable[[SessionDigest], Screen[None]], times: int
) -> None:
    store = Store(tmp_path / "store")
    app = AdvisorApp(store, Draft())
    async with app.run_test(notifications=True, size=(160, 60)) as pilot:
        app.open(screen(hostile_past(store)))
        await _until_said(pilot, app, times)
        assert "[DTN02] slow" in shown(app)
        app.action_help_here()
        await pilot.pause(0.1)
        shown(app)


def refuse(_: str = "") -> bytes:
    raise ValueError(MARKUP)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("dialog", "times"),
    [
        (lambda: AskScreen(f"{MARKUP} exists already. Replace it?", "Replace"), 1),
        (lambda: EntryScreen(MARKUP, [DialogField(name="n", label="Note", check=refuse)], "Ok"), 2),
        (lambda: SaveScreen(MARKUP, "stem", [Format(name="Text", suffix=".txt", data=refuse)]), 2),
    ],
)
async def test_a_dialog_that_quotes_hostile_text(
    tmp_path: Path, dialog: Callable[[], Screen[Any]], times: int
) -> None:
    app = AdvisorApp(Store(tmp_path / "store"), Draft())
    async with app.run_test(notifications=True, size=(120, 40)) as pilot:
        app.push_screen(dialog())
        await _until_said(pilot, app, 1)
        for button in app.screen.query("#done, #save").results(Button):
            button.press()
        await _until_said(pilot, app, times)
        assert "[DTN02] slow" in shown(app)


@pytest.mark.asyncio
async def test_help_and_headings_that_quote_hostile_text(tmp_path: Path) -> None:
    app = AdvisorApp(Store(tmp_path / "store"), Draft())
    async with app.run_test(notifications=True, size=(120, 40)) as pilot:
        chart, table = Chart(MARKUP), RowTable("Medians", MARKUP)
        await app.screen.mount(chart, table)
        chart.show([Series(MARKUP, [1.0], [1e8])], x_label=MARKUP, y_label="throughput")
        await pilot.pause(0.1)
        assert [str(column.label) for column in table.columns.values()] == [MARKUP]
        chart.focus()
        await pilot.pause()
        app.action_help_here()
        await _until_said(pilot, app, 2)
        assert isinstance(app.screen, HelpScreen)
        shown(app)


@pytest.mark.asyncio
async def test_what_a_method_says_of_itself_is_never_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "[red]any[/red] [@click=app.quit]way[/] [/b] [DTN02"
    monkeypatch.setattr(transfer_form, "tuning_methods", lambda: {"wander": said})
    monkeypatch.setattr(history, "_hints", lambda: [said])
    app = AdvisorApp(Store(tmp_path / "store"), Draft())
    async with app.run_test(notifications=True, size=(200, 60)) as pilot:
        await app.push_screen(transfer_form.TransferFormScreen())
        await pilot.pause(0.1)
        assert said in shown(app)
        await app.push_screen(history.HistoryScreen())
        await pilot.pause(0.1)
        assert said in app.screen.query_one("#field-method", Field).HELP.plain


@pytest.mark.asyncio
async def test_fields_with_hostile_words(tmp_path: Path) -> None:
    app = AdvisorApp(Store(tmp_path / "store"), Draft())
    async with app.run_test(notifications=True, size=(160, 40)) as pilot:
        tick = Tick(MARKUP, False, MARKUP, id="hostile")
        field = Field(MARKUP, "destination", Draft(), explained=MARKUP, example=MARKUP)
        await app.screen.mount(tick, field)
        await pilot.pause(0.1)
        assert str(tick.label) == MARKUP
        assert tick.HELP.plain == field.HELP.plain == f"{MARKUP}\n{MARKUP}"
        shown(app)


def test_no_screen_escapes_text_for_markup() -> None:
    # Textual's function lets upper-case, unclosed and nested brackets through: text from outside
    # is put into Content instead.
    sources = [*Path(advisor.tui.__file__).parent.rglob("*.py")]
    assert [path.name for path in sources if "textual.markup" in path.read_text()] == []
