"""A transfer's story from its events alone, and those made from what is stored of it."""

from advisor.domain import events as ev
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement, Outcome
from advisor.domain.plan import NodeProgress
from advisor.domain.records import ProbeRecord
from advisor.tui.features.transfer.past_events import epochs_of, events_from_epochs
from advisor.tui.features.transfer.texts import progress_lines
from advisor.tui.features.transfer.transfer_model import TransferModel

from . import tuned
from .tuned import PAIR


def test_it_follows_setting_epochs_and_progress() -> None:
    model = TransferModel(tuned.under_way(95))
    assert model.pair == PAIR
    assert model.epoch == 4
    assert model.epoch_began_s == 92.0
    assert model.setting == {"concurrency": 4, "parallelism": 8}
    assert model.changed
    assert model.changed.epoch == 3
    assert model.moving
    assert model.at_s == 97.0
    assert not model.is_over
    assert model.concurrency.points == [(2.0, 2), (32.0, 3), (62.0, 2), (92.0, 4)]
    assert [at_s for at_s, _ in model.epochs.points] == [17.0, 47.0, 77.0]
    assert len(model.rates.points) == 95


def test_what_is_worth_a_line_is_logged_in_order() -> None:
    model = TransferModel(tuned.under_way(160))
    kinds = [type(event).__name__ for _, event in model.log]
    assert kinds == ["SettingChanged"] * 4 + ["SettingChanged", "LoadChanged"]
    failed = ev.EpochEnded(
        at_s=182.0, epoch=6, setting={}, throughput_bps=0.0, failure="nothing arrived"
    )
    model.apply(failed)
    model.apply(ev.Notice(at_s=0.0, message="a client was replaced"))
    assert [event for _, event in model.log][-2:] == [
        failed,
        ev.Notice(at_s=0.0, message="a client was replaced"),
    ]
    assert [at_s for at_s, _ in model.log][-2:] == [182.0, 182.0]
    assert model.epochs.points[-1][1] == 0.0


def test_comparing_checksums_is_no_throughput() -> None:
    model = TransferModel(tuned.under_way(10))
    model.apply(tuned.moving(20.0, 10, 9e9, phase="verify"))
    assert model.is_verifying
    assert len(model.rates.points) == 10


def test_a_run_after_the_end_continues_behind_it() -> None:
    model = TransferModel([*tuned.under_way(40), tuned.ended(complete=False)])
    assert model.is_over
    model.resume()
    assert not model.is_over
    assert model.moving is None
    before_s = model.at_s
    model.apply(tuned.started(3.0, earlier_bytes=10))
    assert model.runs == [2.0, before_s + 3.0]
    assert model.epoch == 1
    assert isinstance(model.log[-1][1], ev.TransferStarted)
    model.apply(ev.GaveUp(at_s=0.0, message="gone", exit_code=3))
    assert model.at_s == before_s + 3.0


def test_hours_stay_few_points() -> None:
    model = TransferModel(tuned.under_way(20_000))
    for curve in (model.rates, model.epochs, model.concurrency, model.parallelism):
        assert 0 < len(curve.points) <= 480
    assert len(model.log) <= 400


def epoch(
    number: int, result: Outcome, *, session: str = "s", label: str = "epoch", files: int = 10
) -> ProbeRecord:
    return ProbeRecord(
        pair=PAIR,
        subject="globus-url-copy",
        setting=tuned.setting_of(number),
        result=result,
        recorded_s=1000.0 + 30.0 * number,
        session=session,
        stage="transfer",
        label=label,
        method="compass",
        files=files,
        file_bytes=5e6,
    )


def gave(bps: float) -> Measurement:
    return Measurement(
        throughput_bps=bps,
        stderr_bps=bps / 10,
        intervals=[Interval(0.0, 10.0, int(bps)), Interval(10.0, 25.0, int(bps * 2))],
        steady_from=0,
        settled=True,
        elapsed_s=30.0,
    )


def test_only_the_epochs_of_that_session_are_its_story() -> None:
    records = [
        epoch(2, gave(2e8)),
        epoch(1, gave(1e8)),
        epoch(1, gave(1e8), session="another"),
        epoch(3, gave(1e8), label="y*"),
    ]
    assert [one.recorded_s for one in epochs_of(records, "s")] == [1030.0, 1060.0]


def test_a_past_transfer_is_replayed_by_its_epochs() -> None:
    nothing = Failure(kind=FailureKind.TIMED_OUT, message="nothing arrived", elapsed_s=30.0)
    model = TransferModel(
        events_from_epochs([epoch(1, gave(1e8)), epoch(2, nothing), epoch(3, gave(3e8))])
    )
    assert model.started
    assert model.started.method == "compass"
    assert model.started.total_bytes == 50_000_000
    assert model.epochs.points == [(15.0, 1e8), (45.0, 0.0), (75.0, 3e8)]
    assert model.epoch_errors.points == [(15.0, 1e7), (45.0, 0.0), (75.0, 3e7)]
    # The last interval of an epoch ends with it: 25 s of 30 s were counted.
    assert [at_s for at_s, _ in model.rates.points] == [15.0, 30.0, 75.0, 90.0]
    assert model.concurrency.points == [(0.0, 2), (30.0, 3), (60.0, 2)]
    changes = [event for _, event in model.log if isinstance(event, ev.SettingChanged)]
    assert [(c.epoch, c.throughput_bps) for c in changes] == [(1, 1e8), (2, 0.0)]


def test_a_transfer_over_several_nodes_shows_each_of_them() -> None:
    first = NodeProgress(
        number=1,
        pair=PAIR,
        state="moving",
        moved_bytes=2**30,
        rate_bps=1e9,
        concurrency=4,
        parallelism=8,
    )
    second = NodeProgress(number=2, pair=PAIR, state="lost")
    events = [
        tuned.started(setting={}, nodes=2),
        tuned.moving(9.0, 30 * 10**9, 1e9),
        ev.NodesMoving(at_s=9.0, nodes=[first, second]),
    ]
    model = TransferModel(events)
    shown = [line.plain for line in progress_lines(model, 10)]
    assert shown[-2:] == [
        f"Node 1: {PAIR} 1 Gbit/s at 4 × 8, 1 GiB",
        f"Node 2: {PAIR} lost",
    ]
    assert model.concurrency.points == [(9.0, 4)]
