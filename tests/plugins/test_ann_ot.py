"""ANN+OT as a method: one sample, one answer."""

import numpy as np

from advisor import registry
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.space import Setting
from advisor.domain.transfers import PastTransfer
from advisor.methods.api import Method
from advisor.testing.samples import measured
from tests.plugins.pasts import SPACE, known, past, rate_bps


def _method(*pasts: list[PastTransfer], seed: int = 0) -> Method:
    return registry.method("ann-ot").create(SPACE, np.random.default_rng(seed), known(*pasts), {})


def _run(method: Method, peak: int) -> list[Setting]:
    asked = []
    while (setting := method.ask()) is not None:
        asked.append(setting)
        method.tell(setting, measured(rate_bps(setting, peak)))
    return asked


def test_a_sample_and_an_answer_that_past_transfers_give() -> None:
    method = _method(past(8, "a"))
    sample, answer = _run(method, 8)
    assert rate_bps(answer, 8) > rate_bps(sample, 8)
    assert rate_bps(answer, 8) >= 0.95 * 5e9
    assert "one answer" in str(method.stop_reason)


def test_the_same_history_gives_the_same_answer_whatever_the_seed() -> None:
    first, second = (_run(_method(past(8, "a"), seed=seed), 8) for seed in (1, 2))
    assert first == second


def test_with_few_past_transfers_the_heuristic_is_the_answer() -> None:
    method = _method(past(8, "a")[:19])
    assert len(_run(method, 8)) == 1
    assert "a neural model needs 20 past transfers and there are 19" in str(method.stop_reason)


def test_a_sample_that_failed_ends_it() -> None:
    method = _method(past(8, "a"))
    setting = method.ask()
    assert setting is not None
    method.tell(setting, Failure(kind=FailureKind.RESET, message="no", elapsed_s=1))
    assert method.ask() is None
    assert "sample failed" in str(method.stop_reason)
