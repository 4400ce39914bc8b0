"""A transfer's story from its events alone, and those made from what is stored of it."""

from advisor.domain import events as ev
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement, Outcome
from advisor.domain.records import ProbeRecord
from advisor.tui.moving_story import MovingStory
from advisor.tui.past_moving import epochs_of, told_by_epochs

from . import tuned
from .tuned import PAIR


def test_it_follows_setting_epochs_and_progress() -> None:
    story = MovingStory(tuned.under_way(95))
    assert story.pair == PAIR
    assert story.epoch == 4
    assert story.epoch_began_s == 92.0
    assert story.setting == {"concurrency": 4, "parallelism": 8}
    assert story.changed
    assert story.changed.epoch == 3
    assert story.moving
    assert story.at_s == 97.0
    assert not story.is_over
    assert story.concurrency.points == [(2.0, 2), (32.0, 3), (62.0, 2), (92.0, 4)]
    assert [at_s for at_s, _ in story.epochs.points] == [17.0, 47.0, 77.0]
    assert len(story.rates.points) == 95


def test_what_is_worth_a_line_is_logged_in_order() -> None:
    story = MovingStory(tuned.under_way(160))
    kinds = [type(event).__name__ for _, event in story.log]
    assert kinds == ["SettingChanged"] * 4 + ["SettingChanged", "LoadChanged"]
    failed = ev.EpochEnded(
        at_s=182.0, epoch=6, setting={}, throughput_bps=0.0, failure="nothing arrived"
    )
    story.hear(failed)
    story.hear(ev.Notice(at_s=0.0, message="a client was replaced"))
    assert [event for _, event in story.log][-2:] == [
        failed,
        ev.Notice(at_s=0.0, message="a client was replaced"),
    ]
    assert [at_s for at_s, _ in story.log][-2:] == [182.0, 182.0]
    assert story.epochs.points[-1][1] == 0.0


def test_comparing_checksums_is_no_throughput() -> None:
    story = MovingStory(tuned.under_way(10))
    story.hear(tuned.moving(20.0, 10, 9e9, phase="verify"))
    assert story.is_verifying
    assert len(story.rates.points) == 10


def test_a_run_after_the_end_goes_on_behind_it() -> None:
    story = MovingStory([*tuned.under_way(40), tuned.ended(complete=False)])
    assert story.is_over
    story.go_on()
    assert not story.is_over
    assert story.moving is None
    before_s = story.at_s
    story.hear(tuned.started(3.0, earlier_bytes=10))
    assert story.runs == [2.0, before_s + 3.0]
    assert story.epoch == 1
    assert isinstance(story.log[-1][1], ev.TransferStarted)
    story.hear(ev.GaveUp(at_s=0.0, message="gone", exit_code=3))
    assert story.at_s == before_s + 3.0


def test_hours_stay_few_points() -> None:
    story = MovingStory(tuned.under_way(20_000))
    for curve in (story.rates, story.epochs, story.concurrency, story.parallelism):
        assert 0 < len(curve.points) <= 480
    assert len(story.log) <= 400


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


def test_a_past_transfer_is_told_again_by_its_epochs() -> None:
    nothing = Failure(kind=FailureKind.TIMED_OUT, message="nothing arrived", elapsed_s=30.0)
    story = MovingStory(
        told_by_epochs([epoch(1, gave(1e8)), epoch(2, nothing), epoch(3, gave(3e8))])
    )
    assert story.started
    assert story.started.method == "compass"
    assert story.started.total_bytes == 50_000_000
    assert story.epochs.points == [(15.0, 1e8), (45.0, 0.0), (75.0, 3e8)]
    assert story.epoch_errors.points == [(15.0, 1e7), (45.0, 0.0), (75.0, 3e7)]
    # The last interval of an epoch ends with it: 25 s of 30 s were counted.
    assert [at_s for at_s, _ in story.rates.points] == [15.0, 30.0, 75.0, 90.0]
    assert story.concurrency.points == [(0.0, 2), (30.0, 3), (60.0, 2)]
    changes = [event for _, event in story.log if isinstance(event, ev.SettingChanged)]
    assert [(c.epoch, c.throughput_bps) for c in changes] == [(1, 1e8), (2, 0.0)]
