"""The form for files to be moved now: the command's words, its checks, where it comes from."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.widgets import Input

from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.records import SessionRecord
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.transfer import move_form
from advisor.tui.features.transfer.draft import (
    TransferDraft,
    load_transfer_draft,
    of_draft,
    of_session,
    save_transfer_draft,
)
from advisor.tui.features.transfer.screens.form import TransferFormScreen, known_mover
from advisor.tui.home import HomeScreen
from advisor.tui.kit.fields.choice import Tick
from advisor.tui.kit.fields.counted_field import CountedField
from advisor.tui.kit.fields.field import Field
from advisor.tui.kit.fields.paths import existing_path
from advisor.tui.kit.panels.field_group import FieldGroup

from .conftest import NewApp
from .driving import until, words
from .stored import keep_probes
from .test_comparison import PAIR, SESSION, an_advice, notices, some_events, text_of

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)])
JOINT: dict[str, Any] = {
    "subject": "globus-url-copy",
    "setting": {"concurrency": 4, "parallelism": 6},
}
COMPLETE: dict[str, Any] = {"data": "/data/run 7", "destination": "me@dtn02", "to": "/store"}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of transfers that would have begun."""
    found: list[list[str]] = []
    monkeypatch.setattr(AdvisorApp, "begin_transfer", lambda _, words: found.append(words))
    return found


def test_what_was_not_entered_is_left_to_the_command() -> None:
    assert TransferDraft(**COMPLETE).transfer_arguments() == [
        "--to=/store",
        "--method=doubling",
        "/data/run 7",
        "--",
        "me@dtn02",
    ]


def test_all_that_was_entered_is_said() -> None:
    move = TransferDraft(
        **COMPLETE | {"destination": ""},
        method="fixed",
        epoch=" 10s ",
        start="4x8",
        max_concurrency="8",
        max_streams="4",
        max_flows="32",
        max_rate="2Gbit",
        nice="5",
        price="2%",
        server="gsiftp://dtn02",
        tool="globus-url-copy",
        verify=True,
        restart=True,
        way="agent",
        agent="dtn02:5199",
        secret_file="/s",
        budget="60",
        transports="udt",
    )
    assert move.transfer_arguments() == [
        "--to=/store",
        "--tool=globus-url-copy",
        "--server=gsiftp://dtn02",
        "--method=fixed",
        "--epoch=10s",
        "--start=4x8",
        "--max-concurrency=8",
        "--max-streams=4",
        "--max-flows=32",
        "--max-rate=2Gbit",
        "--nice=5",
        "--price=2%",
        "--verify",
        "--restart",
        "/data/run 7",
        "--agent=dtn02:5199",
        "--secret-file=/s",
    ]


def test_a_tool_is_one_that_moves_lists_of_files() -> None:
    known_mover("rsync")
    with pytest.raises(
        ValueError, match="'xdd' cannot be run by a transfer: write globus-url-copy"
    ):
        known_mover("xdd")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"data": " "}, "type the path"),
        ({"destination": ""}, "type the host"),
        ({"to": ""}, "type a path in 'Goes to'"),
        ({"way": "agent", "agent": "a:1"}, "'Secret file'"),
        ({"start": "9x8", "max_concurrency": "8"}, "9 files at a time, and 8 are"),
        ({"start": "4x8", "max_streams": "4"}, "8 streams for each, and 4 are"),
        ({"start": "4x8", "max_flows": "31"}, "32 streams in total, and 31 are"),
        ({"via": "a=b", "method": "harp"}, "harp needs past transfers"),
        ({"price": "2%", "method": "harp"}, "empty 'Stream price'"),
        ({"price": "2%", "method": "fixed"}, "fixed keeps one setting"),
    ],
)
def test_what_is_missing_has_a_sentence(changes: dict[str, Any], reason: str) -> None:
    assert reason in TransferDraft(**COMPLETE | changes).why_not()


def test_what_goes_together_is_not_refused() -> None:
    fits = {"start": "4x8", "max_concurrency": "4", "max_streams": "8", "max_flows": "32"}
    assert TransferDraft(**COMPLETE | fits).why_not() == ""


def test_several_nodes_need_a_database() -> None:
    move = TransferDraft(**COMPLETE, via="a=b,c=d", node_command="/opt/advisor node")
    assert move.why_not() == ""
    assert {"--via=a=b,c=d", "--node-command=/opt/advisor node"} <= {*move.transfer_arguments()}
    assert move.why_no_queue("postgresql://db/history") == ""
    assert "--store postgresql://" in move.why_no_queue("/home/me/history")
    move.go_to("dtn09")
    assert not [word for word in move.transfer_arguments() if "node" in word or "via" in word]
    assert move.why_no_queue("/home/me/history") == ""


def test_it_is_kept_for_the_next_start() -> None:
    assert load_transfer_draft() is None
    move = TransferDraft(**COMPLETE, epoch="5s", restart=True)
    save_transfer_draft(move)
    assert load_transfer_draft() == move


def test_what_the_walk_knows_is_taken_over() -> None:
    draft = Draft(what="data", data="/d", to="/t", destination="dtn02", rtt="20ms", method="spsa")
    move = of_draft(draft)
    assert (move.data, move.to, move.destination, move.rtt) == ("/d", "/t", "dtn02", "20ms")
    assert move.method == "doubling"
    assert of_draft(Draft(what="size", data="/d")).data == ""


def test_another_host_forgets_the_way_to_the_one_before() -> None:
    move = TransferDraft(**COMPLETE, agent_command="/opt/advisor", server="gsiftp://dtn02")
    move.go_to("dtn02")
    assert (move.destination, move.to) == ("me@dtn02", "/store")
    move.go_to("dtn03")
    assert (move.destination, move.to, move.server, move.agent_command) == ("dtn03", "", "", "")
    assert move.data == COMPLETE["data"]


def test_the_session_of_an_advice_says_what_and_where(store: Store) -> None:
    request = AdviceRequest(
        destination=Endpoint.parse("me@dtn2"),
        dataset=Dataset(total_bytes=5, files=1, path="/data/run7"),
        destination_path="/store/run7",
        server_url="gsiftp://dtn2:2811",
        agent=("dtn2", 5199),
        secret_file="/home/me/secret",
        bandwidth_bps=1e10,
    )
    store.append(
        SessionRecord(
            session=SESSION,
            pair=PAIR,
            recorded_s=time.time(),
            request=msgspec.to_builtins(request),
            path=a_path(),
        )
    )
    save_transfer_draft(TransferDraft(data="/elsewhere", destination="dtn9", to="/old", epoch="5s"))
    move = of_session(store, an_advice(**JOINT))
    assert (move.data, move.to, move.destination) == ("/data/run7", "/store/run7", "me@dtn2")
    assert (move.way, move.agent, move.secret_file) == ("agent", "dtn2:5199", "/home/me/secret")
    assert (move.server, move.bandwidth) == ("gsiftp://dtn2:2811", "10000000000bit")
    assert (move.start, move.epoch) == ("4x6", "5s")


@pytest.mark.parametrize(
    ("advice", "most_streams", "start"),
    [
        ({"setting": {"streams": 4}}, "", "1x4"),
        ({"setting": {"streams": 25}}, "", "2x13"),
        ({"setting": {"streams": 8}}, "4", "2x4"),
        ({"setting": {"streams": 8}}, "many", "1x8"),
        ({"subject": "udt", "setting": {"block_bytes": 1456}}, "", ""),
    ],
)
def test_it_starts_at_the_streams_that_were_advised(
    store: Store, advice: dict[str, Any], most_streams: str, start: str
) -> None:
    save_transfer_draft(TransferDraft(start="9x9", max_streams=most_streams))
    assert of_session(store, an_advice(**advice)).start == start


def advised_draft(**changes: Any) -> TransferDraft:
    return TransferDraft(**COMPLETE | {"start": "1x4", "advised_start": "1x4"} | changes)


def test_an_advised_start_is_for_one_run_and_its_hosts() -> None:
    again = advised_draft()
    again.forget_once()
    assert again.start == ""
    elsewhere = advised_draft()
    elsewhere.go_to("dtn03")
    assert elsewhere.start == ""
    same = advised_draft()
    same.go_to("dtn02")
    assert same.start == "1x4"
    typed = advised_draft(start="2x2")
    typed.forget_once()
    assert typed.start == "2x2"


@pytest.mark.asyncio
async def test_the_form_says_that_the_start_was_advised(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(TransferFormScreen(advised_draft()))
        await until(pilot, lambda: "as advised" in words(app, "#field-start .note"))
        app.screen.query_one("#field-start Input", Input).value = "2x2"
        await until(pilot, lambda: words(app, "#field-start .note") == "")


def text_in(app: AdvisorApp, name: str) -> str:
    return app.screen.query_one(f"#field-{name}", Field).text


@SIZES
@pytest.mark.asyncio
async def test_home_leads_to_the_form_and_back(
    new_app: NewApp, store: Store, size: tuple[int, int]
) -> None:
    keep_probes(store, "dtn02", [1e9])
    app = new_app(Draft(what="data", data="/nowhere", destination="other"))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.focused)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, TransferFormScreen))
        await until(pilot, lambda: text_in(app, "destination") == "dtn02")
        assert text_in(app, "data") == "/nowhere"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


@pytest.mark.asyncio
async def test_advice_leads_to_the_form_filled_in(new_app: NewApp, store: Store) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        advice = an_advice(**JOINT)
        app.open(AdviceScreen(SessionModel(some_events(advice))))
        await pilot.pause()
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, TransferFormScreen))
        await until(pilot, lambda: text_in(app, "start") == "4x6")
        assert text_in(app, "destination") == PAIR.destination
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, AdviceScreen))


@pytest.mark.parametrize(
    ("entry", "label"),
    [({"start": "4"}, "Starts at"), ({"start": "4x8", "max_streams": "many"}, "Streams for each")],
)
@pytest.mark.asyncio
async def test_a_half_typed_entry_of_a_complete_form_is_named(
    new_app: NewApp, tmp_path: Path, entry: dict[str, str], label: str
) -> None:
    app = new_app()
    draft = TransferDraft(**COMPLETE | {"data": str(tmp_path)} | entry)
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(TransferFormScreen(draft))
        await until(pilot, lambda: f"check '{label}'" in words(app, "#status"))
        assert "! not ready" in words(app, "#status")
        app.screen.query_one(f"#field-{[*entry][-1].replace('_', '-')} Input", Input).value = ""
        await until(pilot, lambda: "✓ ready" in words(app, "#status"))


@SIZES
@pytest.mark.asyncio
async def test_wrong_entries_are_named_and_nothing_begins(
    new_app: NewApp, begun: list[list[str]], size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(TransferFormScreen(TransferDraft(destination="dtn02", epoch="10ms")))
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press("ctrl+n")
        assert "Epoch: give at least a second" in notices(app)
        app.screen.query_one("#field-epoch Input", Input).value = ""
        await pilot.pause()
        await pilot.press("ctrl+n")
        assert "type the path of a folder" in notices(app)
        await pilot.press(*"relative")
        await until(pilot, lambda: "write an absolute path" in text_of(app))
        await pilot.press("ctrl+n")
        assert begun == []


def status(app: AdvisorApp) -> str:
    return words(app, "#status")


@SIZES
@pytest.mark.asyncio
async def test_the_top_line_says_whether_it_can_start(
    new_app: NewApp, tmp_path: Path, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        move = TransferDraft(data=str(tmp_path), destination="dtn02", epoch="10ms")
        app.open(TransferFormScreen(move))
        await until(pilot, lambda: "! not ready │ check 'Epoch'" in status(app))
        app.screen.query_one("#field-epoch Input", Input).value = ""
        await until(pilot, lambda: "no folder on the destination is given" in status(app))
        app.screen.query_one("#field-to Input", Input).value = "~/run42"
        await until(pilot, lambda: "! not ready │ check 'Goes to'" in status(app))
        assert "not absolute: write it as in /home/you/run42" in text_of(app)
        app.screen.query_one("#field-to Input", Input).value = "/store"
        await until(pilot, lambda: "✓ ready │ ctrl+n moves the files" in status(app))


@pytest.mark.asyncio
async def test_fields_stand_in_panels_with_their_defaults(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(TransferFormScreen(TransferDraft(**COMPLETE)))
        await until(pilot, lambda: isinstance(app.focused, Input))
        panels = [panel.title for panel in app.screen.query(FieldGroup)]
        assert panels == [
            "What and where",
            "Files at the destination",
            "Tuning",
            "Limits on hosts and network",
        ]
        for name in ("epoch", "start", "max-concurrency", "max-rate", "nice", "price"):
            field = app.screen.query_one(f"#field-{name} Input", Input)
            assert field.placeholder.startswith("default: ")
        assert {b.binding.description for b in app.screen.active_bindings.values()} >= {"Move now"}


@pytest.mark.parametrize(("columns", "beside"), [(120, False), (200, True)])
@pytest.mark.asyncio
async def test_panels_stand_side_by_side_where_there_is_room(
    new_app: NewApp, columns: int, beside: bool
) -> None:
    app = new_app()
    async with app.run_test(size=(columns, 60)) as pilot:
        app.open(TransferFormScreen(TransferDraft(**COMPLETE)))
        await until(pilot, lambda: len(app.screen.query(".column")) == 2)
        await pilot.pause()
        left, right = app.screen.query(".column")
        assert (right.region.x > left.region.x) == beside


@SIZES
@pytest.mark.asyncio
async def test_what_is_entered_is_counted_kept_and_begun(
    new_app: NewApp, store: Store, tmp_path: Path, begun: list[list[str]], size: tuple[int, int]
) -> None:
    data = tmp_path / "run7"
    data.mkdir()
    (data / "a").write_bytes(b"x" * 2048)
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(TransferFormScreen(TransferDraft(data=str(data), destination="dtn02")))
        await until(pilot, lambda: "✓ 1 files, 2 KiB" in words(app, "#field-data .note"))
        app.screen.query_one("#field-to Input", Input).focus()
        await pilot.press(*"/store")
        app.screen.query_one("#methods").focus()
        await pilot.press("down")
        for tick in ("#verify", "#restart"):
            app.screen.query_one(tick).focus()
            await pilot.press("space")
        await pilot.press("ctrl+n")
        await pilot.pause()
        begin = ["transfer", "--json", "--orders", "--store", store.argument]
        ticked = ["--verify", "--restart"]
        assert begun == [
            [*begin, "--to=/store", "--method=nelder-mead", *ticked, str(data), "--", "dtn02"]
        ]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, TransferFormScreen))
        await until(pilot, lambda: text_in(app, "to") == "/store")
        kept = load_transfer_draft()
        assert kept
        assert (kept.method, kept.verify, kept.restart) == ("nelder-mead", True, False)


@pytest.mark.asyncio
async def test_an_agent_that_listens_is_the_way_once_it_is_named(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = TransferFormScreen(TransferDraft(**COMPLETE, agent_command="/opt/advisor"))
        app.open(screen)
        await until(pilot, lambda: isinstance(app.focused, Input))
        app.screen.query_one("#field-agent Input", Input).value = "dtn02:5199"
        await until(pilot, lambda: screen.draft.way == "agent")
        app.screen.query_one("#field-agent Input", Input).value = ""
        await until(pilot, lambda: screen.draft.way == "ssh")


@pytest.mark.asyncio
async def test_an_agent_is_brought_along(new_app: NewApp) -> None:
    app = new_app(Draft(destination="dtn02", way="push"))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = TransferFormScreen()
        app.open(screen)
        await until(pilot, lambda: isinstance(app.focused, Input))
        tick = app.screen.query_one("#pushes", Tick)
        assert tick.value
        assert "--push" in screen.draft.transfer_arguments()
        tick.value = False
        await until(pilot, lambda: screen.draft.way == "ssh")
        tick.value = True
        await until(pilot, lambda: screen.draft.way == "push")
        app.screen.query_one("#field-agent Input", Input).value = "dtn02:5199"
        await until(pilot, lambda: screen.draft.way == "agent")
        assert not tick.value


def test_a_transfer_needs_an_agent_where_a_profile_does_not() -> None:
    move = TransferDraft()
    move.reach_as(Draft(destination="dtn02", way="none"))
    assert (move.way, move.destination) == ("ssh", "dtn02")


@pytest.mark.asyncio
async def test_what_held_for_one_run_is_not_marked_for_the_next(
    new_app: NewApp, tmp_path: Path, begun: list[list[str]]
) -> None:
    complete = COMPLETE | {"data": str(tmp_path)}
    save_transfer_draft(TransferDraft(**complete, overwrite=True, verify=True))
    app = new_app()

    def ticked() -> list[str | None]:
        return [tick.id for tick in app.screen.query(Tick) if tick.value]

    async with app.run_test(size=(120, 40)) as pilot:
        # As the palette opens it: this screen stays when another one replaces it.
        app.go("move")
        await until(pilot, lambda: ticked() == ["overwrite", "verify"])
        await pilot.press("ctrl+n")
        await until(pilot, lambda: begun)
        app.go("profiles")
        await until(pilot, lambda: not isinstance(app.screen, TransferFormScreen))
        app.go("move")
        await until(pilot, lambda: ticked() == ["verify"])
        await pilot.press("ctrl+n")
        await until(pilot, lambda: len(begun) == 2)
        assert ["--overwrite" in arguments for arguments in begun] == [True, False]


@pytest.mark.asyncio
async def test_a_path_is_looked_for_when_it_changes_and_not_in_between(
    new_app: NewApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def look(text: str) -> Path:
        looked.append(text)
        return existing_path(text)

    monkeypatch.setattr(move_form, "existing_path", look)
    data = tmp_path / "run7"
    data.mkdir()
    (data / "a").write_bytes(b"x")
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(TransferFormScreen(TransferDraft(**COMPLETE | {"data": str(data)})))
        await until(pilot, lambda: "✓ 1 files" in words(app, "#field-data .note"))
        looked.clear()
        for _ in range(3):
            app.screen.query_one(CountedField)._show_count()
        assert looked == []
        app.screen.query_one("#field-data Input", Input).value = f"{data}/b"
        await until(pilot, lambda: "no such file" in words(app, "#field-data .note"))
        assert looked
