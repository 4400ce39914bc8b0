import msgspec

from advisor.domain import events as ev
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.space import Parameter, Space
from advisor.tui.features.advising.session_model import SessionModel
from tests.tui.recorded import events
from tests.tui.similar_transfers import BUSY, QUIET, found


def _probe(ordinal: int = 1) -> ev.ProbeStarted:
    return ev.ProbeStarted(
        at_s=10, ordinal=ordinal, stage="tcp", purpose="search", subject="tcp", setting={"n": 1}
    )


def _started(*, resumed: bool = False) -> ev.SessionStarted:
    first = next(e for e in events() if isinstance(e, ev.SessionStarted))
    return msgspec.structs.replace(first, at_s=0, budget_s=60, resumed=resumed)


def test_recorded_session_is_rebuilt_from_its_events() -> None:
    played = events()
    model = SessionModel(played)
    ended = [e for e in played if isinstance(e, ev.ProbeEnded)]
    assert [p.outcome for p in model.probes] == [e.result for e in ended]
    assert [s.name for s in model.stages] == ["baseline", "tcp/bbr", "udt", "confirm"]
    assert model.best == [e for e in played if isinstance(e, ev.BestChanged)][-1]
    assert model.advice is played[-1]
    assert model.is_over
    assert model.running is None
    assert sum(len(p.curve) for p in model.probes) == sum(
        isinstance(e, ev.IntervalSeen) for e in played
    )


def test_probe_that_was_cut_short_does_not_run_on_after_the_end() -> None:
    model = SessionModel([_started(), _probe()])
    assert model.running is not None
    model.apply(ev.GaveUp(at_s=11, message="stopped", exit_code=130))
    assert model.running is None


def test_a_resumed_session_continues_without_the_probe_that_was_cut_short() -> None:
    model = SessionModel([_started(), _probe(), ev.GaveUp(at_s=12, message="x", exit_code=130)])
    model.apply(_started(resumed=True))
    assert model.probes == []
    assert not model.is_over
    model.apply(_probe())
    assert model.running is not None
    assert model.running.began_s == 22


def test_time_that_is_left_runs_with_the_probes_and_stands_still_in_a_pause() -> None:
    model = SessionModel([_started(), _probe()])
    assert model.left_now_s == 50
    model.apply(ev.Paused(at_s=20))
    model.apply(ev.Notice(at_s=35, message="still paused"))
    assert model.left_now_s == 40
    model.apply(ev.Resumed(at_s=40))
    assert model.left_now_s == 40
    model.apply(ev.BudgetExtended(at_s=45, by_s=30, left_s=65))
    assert model.budget_s == 90
    assert model.left_now_s == 65


def test_failure_that_is_tried_again_makes_two_probes() -> None:
    start = _probe()
    failed = ev.ProbeEnded(
        at_s=12,
        ordinal=1,
        stage=start.stage,
        purpose=start.purpose,
        subject=start.subject,
        setting=start.setting,
        result=Failure(kind=FailureKind.RESET, message="gone", elapsed_s=1),
        remaining_s=40,
        retried=True,
    )
    model = SessionModel([_started(), start, failed])
    assert [p.outcome for p in model.probes] == [failed.result, None]
    assert model.running is model.probes[1]


def test_evidence_of_each_search_is_kept_as_it_was_told_last() -> None:
    first, second, other = found(QUIET), found(QUIET + BUSY), found(BUSY)
    model = SessionModel([_started(), ev.EvidenceFound(at_s=11, stage="a", evidence=first)])
    model.apply(ev.EvidenceFound(at_s=12, stage="b", evidence=other))
    model.apply(ev.EvidenceFound(at_s=13, stage="a", evidence=second))
    assert list(model.evidence.items()) == [("b", other), ("a", second)]
    model.apply(_started(resumed=True))
    assert model.evidence["a"] is second


def test_a_space_that_moved_is_shown_with_the_settings_of_before() -> None:
    def space(lower: int, upper: int) -> Space:
        buffer = Parameter(name="buffer_bytes", unit="B", lower=lower, upper=upper)
        return Space(parameters=(buffer,), cost_order=(), note=f"from {lower}")

    begun = ev.StageStarted(at_s=1, stage="tcp", subject="tcp", budget_s=60, space=space(10, 40))
    moved = ev.SpaceMoved(at_s=9, stage="tcp", space=space(20, 80), rtt_s=0.02)
    stage = SessionModel([_started(), begun, moved]).stage
    assert stage is not None
    assert stage.space is not None
    assert [(p.lower, p.upper) for p in stage.space.parameters] == [(10, 80)]
    assert stage.moves == [(9, "from 20")]
