import msgspec
import pytest
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.domain import events as ev
from advisor.domain import orders as o
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.space import Parameter
from advisor.store.event_log import kept_events
from advisor.store.layout import shipped_recording
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.live_session import LiveSession
from advisor.tui.features.advising.screens.explanation import explain
from advisor.tui.features.advising.screens.profiling import ProfilingScreen
from advisor.tui.features.advising.screens.try_setting import filled_in, read_value
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.texts import best_setting, outcome_words
from advisor.tui.features.advising.widgets.probe_curve import expected_s
from advisor.tui.features.advising.widgets.ranking import ranked
from advisor.tui.features.advising.widgets.reasons import differences, trying
from advisor.tui.features.advising.widgets.session_view import SessionView
from advisor.tui.features.advising.widgets.setting_names import short_setting, varied_names
from tests.tui.conftest import NewApp
from tests.tui.recorded import events

SIZES = ((80, 24), (200, 60))


class Recorded(LiveSession):
    """A session whose events are given to it, and which keeps the orders it gets."""

    def __init__(self, played: list[ev.AnyEvent]) -> None:
        self.model = SessionModel(played)
        self.arguments = ["advise"]
        self.orders: list[o.Order] = []

    @property
    def is_running(self) -> bool:
        return not self.model.is_over

    def order(self, order: o.Order) -> None:
        self.orders.append(order)

    async def close(self) -> None:
        """There is no process."""


def while_udt_is_searched() -> list[ev.AnyEvent]:
    played = events()
    second = [
        i for i, e in enumerate(played) if isinstance(e, ev.ProbeStarted) and e.subject == "udt"
    ][1]
    return played[: second + 3]


def text_of(app: AdvisorApp) -> str:
    strips = app.screen._compositor.render_strips(Size(*app.size))
    return "\n".join("".join(s.text for s in strip) for strip in strips)


async def shown(app: AdvisorApp, pilot: Pilot[int], played: list[ev.AnyEvent]) -> Recorded:
    session = Recorded(played)
    app.session = session
    app.go("profiling")
    await pilot.pause()
    await pilot.pause()
    return session


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_shows_what_there_is_room_for(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, while_udt_is_searched())
        text = text_of(app)
        assert "vm → lab:prof" in text
        assert "─ Probes ─" in text
        assert "● TCP  ○ UDT ─╮" in text
        assert "BEST 199 Mbit/s" in text
        assert " best " in text
        assert "now" in text
        assert "12 s left" in text
        panels = [p.id for p in app.screen.query(".panel") if p.display]
        if size == (80, 24):
            assert panels == ["throughput"]
            assert "Now  12 s left: UDT, 52.5 KiB blocks" in text
            assert "Best 199 Mbit/s: TCP, " in text
        elif size == (120, 40):
            assert panels == ["throughput", "probe", "ranking", "map", "why"]
            assert "UDT: buffer × block (log)" in text
        else:
            assert "TCP: streams × buffer (log)" in text
            assert "UDT: buffer × block (log)" in text


@pytest.mark.asyncio
async def test_one_panel_at_a_time_on_a_small_terminal(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, while_udt_is_searched())
        for key, words in (
            ("2", "Now: UDT 52.5 KiB×"),
            ("3", "UDT: buffer × block (log)"),
            ("4", "Now: the same step in the other direction."),
            ("5", "UDT by flows"),
            ("6", " 1 ● TCP "),
            ("tab", "─ Probes ─"),
            ("shift+tab", " 1 ● TCP "),
        ):
            await pilot.press(key)
            await pilot.pause()
            assert words in text_of(app)
            assert len([p for p in app.screen.query(".panel") if p.display]) == 1


@pytest.mark.asyncio
async def test_enlarged_panel_goes_back_among_the_others(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, while_udt_is_searched())
        for keys in (["3", "3"], ["2", "0"]):
            await pilot.press(keys[0])
            assert len([p for p in app.screen.query(".panel") if p.display]) == 1
            await pilot.press(keys[1])
            assert len([p for p in app.screen.query(".panel") if p.display]) == 5


@pytest.mark.asyncio
async def test_resizing_keeps_everything(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, while_udt_is_searched())
        for size in ((80, 24), (200, 60), (120, 40)):
            await pilot.resize_terminal(*size)
            if size == (80, 24):
                await pilot.press("3")
            await pilot.pause()
        text = text_of(app)
        assert "BEST 199" in text
        assert "UDT: buffer × block (log)" in text
        assert "△6" in text


@pytest.mark.asyncio
async def test_orders(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        await pilot.press("space", "e", "e", "s")
        assert session.orders == [
            o.Pause(),
            o.Extend(by_s=30),
            o.Extend(by_s=30),
            o.Skip(stage="udt"),
        ]
        session.model.apply(ev.Paused(at_s=session.model.at_s))
        await pilot.press("space")
        assert session.orders[-1] == o.Resume()


@pytest.mark.asyncio
async def test_stop_asks_first(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        await pilot.press("x")
        assert session.orders == []
        await pilot.press("x")
        assert session.orders == [o.Stop()]


@pytest.mark.asyncio
async def test_defaults_cannot_be_skipped(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        played = events()
        first = next(i for i, e in enumerate(played) if isinstance(e, ev.ProbeStarted))
        session = await shown(app, pilot, played[: first + 1])
        await pilot.press("s", "t")
        assert session.orders == []
        said = [str(n.message) for n in app._notifications]
        assert any("defaults" in words for words in said)
        assert any("wait for the first" in words for words in said)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_try_a_setting(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        await pilot.press("t")
        await pilot.pause()
        block = app.screen.query_one("#p-block_bytes", Input)
        buffer = app.screen.query_one("#p-buffer_bytes", Input)
        assert (block.value, buffer.value) == ("152252", "4 MiB")
        buffer.value = "9 GiB"
        await pilot.press("enter")
        await pilot.pause()
        assert session.orders == []
        said = str(app.screen.query_one("#wrong-buffer_bytes", Static).render())
        assert "281 KiB to 4 MiB" in said
        assert app.focused is buffer
        buffer.value = "1 MiB"
        await pilot.press("enter")
        await pilot.pause()
        wanted = {"block_bytes": 152252, "buffer_bytes": 2**20, "mss_bytes": 9000}
        assert session.orders == [o.Try(subject="udt", setting=wanted)]
        assert isinstance(app.screen, ProfilingScreen)


@pytest.mark.asyncio
async def test_trying_can_be_called_off(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        await pilot.press("t")
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert session.orders == []
        assert isinstance(app.screen, ProfilingScreen)


@pytest.mark.parametrize(
    ("typed", "remedy"),
    [
        ("", "write a size"),
        ("many", "write a size"),
        ("1kB", "from 8.75 KiB"),
        ("9000", "write 8956 or 17912"),
    ],
)
def test_wrong_values_are_answered_with_the_remedy(typed: str, remedy: str) -> None:
    block = Parameter(name="block_bytes", unit="B", lower=8956, upper=223900, quantum=8956)
    with pytest.raises(ValueError, match=remedy):
        read_value(block, typed)


def test_what_is_filled_in_is_read_as_the_same() -> None:
    buffer = Parameter(name="buffer_bytes", unit="B", lower=16800, upper=4194304)
    for value in (16800, 2**20, 2468621, 4194304):
        typed = filled_in(buffer, {"buffer_bytes": value})
        assert read_value(buffer, typed) == value
    assert read_value(buffer, filled_in(buffer, {"buffer_bytes": 0})) == 16800
    automatic = msgspec.structs.replace(buffer, automatic=True)
    assert filled_in(automatic, {"buffer_bytes": 0}) == "auto"
    assert [read_value(automatic, typed) for typed in ("auto", "0", "1MiB")] == [0, 0, 2**20]


def test_best_of_a_search_is_one_that_has_its_parameters() -> None:
    model = SessionModel(events())
    udt = next(s for s in model.stages if s.name == "udt")
    fastest = max(
        (p for p in model.probes if p.subject == "udt"), key=lambda p: p.throughput_bps or 0
    )
    assert best_setting(model, udt) == fastest.setting


@pytest.mark.asyncio
async def test_next_waits_for_the_end(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        await pilot.press("ctrl+n")
        assert isinstance(app.screen, ProfilingScreen)
        assert any("still measuring" in str(n.message) for n in app._notifications)
        for event in events()[len(while_udt_is_searched()) :]:
            session.model.apply(event)
        screen = app.screen
        screen._look()
        await pilot.pause()
        assert "ctrl+n compares" in text_of(app)
        assert screen.why_not_next() == ""
        session.orders.clear()
        await pilot.press("space", "e", "s", "t", "x", "x")
        assert session.orders == []


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_giving_up_shows_the_sentence_and_what_can_be_done(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        gave_up = ev.GaveUp(at_s=20, message="the agent [gone]: start it again", exit_code=3)
        await shown(app, pilot, [*while_udt_is_searched(), gave_up])
        text = text_of(app)
        assert "The agent [gone]: start it again" in text
        assert "r resumes" in text
        await pilot.press("ctrl+n")
        assert isinstance(app.screen, ProfilingScreen)


def test_resuming_is_offered_only_where_something_was_measured() -> None:
    gave_up = ev.GaveUp(at_s=0, message="no such host", exit_code=3)
    assert "resumes" not in outcome_words(SessionModel([gave_up]))
    nothing = ev.GaveUp(
        at_s=20,
        message="no probe gave a throughput",
        exit_code=1,
        problem=Problem(kind=ProblemKind.NO_DATA, reason="no probe gave a throughput"),
    )
    closed = SessionModel([*while_udt_is_searched(), nothing])
    assert "resumes" not in outcome_words(closed)
    assert not closed.can_be_resumed
    # Its process was lost: nothing closed the session.
    lost = ev.GaveUp(at_s=20, message="the session ended with status 1", exit_code=1)
    assert SessionModel([*while_udt_is_searched(), lost]).can_be_resumed


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_without_a_session_it_says_what_to_do(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.go("profiling")
        await pilot.pause()
        assert "Nothing is being measured" in text_of(app)
        assert not app.screen.query_one(SessionView).display
        await pilot.press("space", "s", "e", "t", "x", "w", "r", "v", "u", "ctrl+n")
        assert isinstance(app.screen, ProfilingScreen)


@pytest.mark.asyncio
async def test_what_is_this_explains_with_the_present_numbers(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        words = explain(session.model)
        assert "6 probes" in words
        assert "199 Mbit/s" in words
        assert "Without tuning you would get 159 Mbit/s" in words
        await pilot.press("w")
        await pilot.pause()
        assert "What am I looking at?" in text_of(app)
        assert "It stops when a bar is full:" in words
        assert f"Session {session.model.session}, method spsa" in words
        assert "Its reasons, newest first:\n  tcp/bbr: y+ " in words
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, ProfilingScreen)


@pytest.mark.asyncio
async def test_map_has_numbers_or_values_and_the_other_transport(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, while_udt_is_searched())
        assert "[7]" in text_of(app)
        await pilot.press("v")
        await pilot.pause()
        assert "△80.1" in text_of(app)
        await pilot.press("v", "u")
        await pilot.pause()
        assert "TCP: streams × buffer (log)" in text_of(app)
        assert "▲3" in text_of(app)


@pytest.mark.asyncio
async def test_every_moment_of_a_session_can_be_shown(new_app: NewApp) -> None:
    app = new_app(drawing="ascii")
    async with app.run_test(size=(120, 40)) as pilot:
        played = events()
        session = await shown(app, pilot, played[:1])
        screen = app.screen
        assert isinstance(screen, ProfilingScreen)
        for event in played[1:]:
            session.model.apply(event)
            screen._look()
        await pilot.pause()
        assert "Done" in text_of(app)
        below = "\n".join(text_of(app).splitlines()[2:])
        assert "×" not in below
        assert "→" not in below


def test_default_with_buffers_of_the_kernel_is_not_filled_in() -> None:
    played = events()
    first = next(i for i, e in enumerate(played) if isinstance(e, ev.StageStarted) and e.space)
    model = SessionModel(played[: first + 1])
    assert model.best is not None
    assert model.best.setting["buffer_bytes"] == 0
    stage = model.stage
    assert stage is not None
    assert best_setting(model, stage) == {}


@pytest.mark.asyncio
async def test_resume_is_a_key_only_where_there_is_something_to_resume(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        screen = app.screen
        assert isinstance(screen, ProfilingScreen)
        assert "r" not in screen.active_bindings
        session.model.apply(ev.GaveUp(at_s=20, message="the agent is gone", exit_code=3))
        screen._look()
        await pilot.pause()
        assert "r" in screen.active_bindings
        begun: list[list[str]] = []
        monkeypatch.setattr(AdvisorApp, "begin_session", lambda _, words: begun.append(words))
        await pilot.press("r")
        await pilot.pause()
        # This one, whichever was interrupted last.
        assert begun[0][:3] == ["resume", "--session", session.model.session]


@pytest.mark.asyncio
async def test_one_that_was_extended_and_lost_is_extended_again(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        session = await shown(app, pilot, while_udt_is_searched())
        extending = ["resume", "--more", "30s", "--session", session.model.session, "--json"]
        session.arguments = extending
        session.model.apply(ev.GaveUp(at_s=20, message="the agent is gone", exit_code=3))
        begun: list[list[str]] = []
        monkeypatch.setattr(AdvisorApp, "begin_session", lambda _, words: begun.append(words))
        await pilot.press("r")
        await pilot.pause()
        # Its advice has closed it: without --more it would be refused.
        assert begun == [extending]


@pytest.mark.asyncio
async def test_all_panels_name_the_same_probe(new_app: NewApp) -> None:
    app = new_app()
    played = while_udt_is_searched()
    following = events()[len(played) :]
    until_next = next(i for i, e in enumerate(following) if isinstance(e, ev.ProbeStarted)) + 1
    async with app.run_test(size=(120, 40)) as pilot:
        session = await shown(app, pilot, played)
        screen = app.screen
        assert isinstance(screen, ProfilingScreen)
        for event in following[:until_next]:
            session.model.apply(event)
        screen._look()
        await pilot.pause()
        probe = session.model.running
        assert probe is not None
        text = text_of(app)
        assert f"[{probe.ordinal}]" in text
        names = varied_names(session.model.probes, probe.subject)
        assert f"Now: {short_setting(probe.subject, probe.setting, names)}" in text
        assert trying(probe).split()[-1] in text
        assert session.model.probes[-2].ordinal == probe.ordinal - 1


def test_time_of_a_chart_of_one_probe_ends_near_its_data() -> None:
    model = SessionModel(events())
    present = model.present
    assert present is not None
    assert expected_s(model) == present.curve[-1][0]


def test_differences_are_sentences_with_the_faster_setting_first() -> None:
    model = SessionModel(events("lab-46ms-1gbit"))
    assert differences(model)[1] == (
        "Smaller buffers and larger blocks were faster: 804 against 526 Mbit/s."
    )
    assert differences(model)[2].startswith("More streams and smaller buffers: no clear difference")


def test_settings_are_ranked_best_first_and_the_advised_one_has_its_expected_rate() -> None:
    played = list(kept_events(shipped_recording()))
    searching = ranked(SessionModel(played[: len(played) // 2]))
    rates = [row.rate_bps for row in searching]
    assert rates == sorted(rates, reverse=True)
    assert [row.is_leader for row in searching[:2]] == [True, False]
    model = SessionModel(played)
    assert model.advice is not None
    assert ranked(model)[0].rate_bps == model.advice.expected_bps
    assert ranked(model)[0].setting == model.advice.setting


def test_short_settings_tell_only_what_differs() -> None:
    model = SessionModel(events())
    names = varied_names(model.probes, "udt")
    assert "mss_bytes" not in names
    setting = {"block_bytes": 8956, "buffer_bytes": 0, "mss_bytes": 9000}
    assert short_setting("udt", setting, names) == "UDT 8.75 KiB×auto"
