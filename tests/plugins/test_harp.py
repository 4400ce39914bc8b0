"""HARP as a method: one sample, one answer."""

import numpy as np
import pytest

from advisor import registry
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.space import Setting
from advisor.domain.transfers import PastTransfer
from advisor.methods.api import Method
from advisor.methods.tuning import TunerBounds, TunerPlugin
from advisor.testing.samples import measured
from tests.plugins.pasts import SPACE, known, past, rate_bps


def _method(*pasts: list[PastTransfer], **constants: float) -> Method:
    return registry.method("harp").create(SPACE, np.random.default_rng(0), known(*pasts), constants)


def _run(method: Method, peak: int) -> list[Setting]:
    asked = []
    while (setting := method.ask()) is not None:
        asked.append(setting)
        method.tell(setting, measured(rate_bps(setting, peak)))
    return asked


def test_a_sample_and_an_answer_that_past_transfers_give() -> None:
    method = _method(past(8, "a"), relaxation=1)
    sample, answer = _run(method, 8)
    assert rate_bps(answer, 8) > rate_bps(sample, 8)
    assert rate_bps(answer, 8) >= 0.85 * 5e9
    assert method.stop_reason
    assert method.best() == (answer, rate_bps(answer, 8))


def test_the_history_that_foretells_the_sample_has_the_say() -> None:
    method = _method(past(2, "quiet"), past(16, "busy"), relaxation=1)
    *_, answer = _run(method, 16)
    assert int(answer["concurrency"]) >= 8


def test_without_history_the_heuristic_is_the_answer() -> None:
    method = _method()
    assert len(_run(method, 8)) == 1
    assert method.stop_reason


def test_a_sample_that_failed_ends_it() -> None:
    method = _method(past(8, "a"))
    setting = method.ask()
    assert setting is not None
    method.tell(setting, Failure(kind=FailureKind.RESET, message="no", elapsed_s=1))
    assert method.ask() is None
    assert "sample failed" in str(method.stop_reason)


def test_the_tuner_keeps_the_share_that_it_is_told_to_keep() -> None:
    def settled(relaxation: float) -> int:
        bounds = TunerBounds(concurrency=32, parallelism=32, relaxation=relaxation)
        plugin = registry.method("harp")
        assert isinstance(plugin, TunerPlugin)
        tuner = plugin.tuner(SPACE, np.random.default_rng(0), known(past(16, "a")), bounds)
        for _ in range(12):
            tuner.tell(measured(rate_bps(tuner.setting, 16)))
        return int(tuner.setting["concurrency"])

    assert settled(0.6) < settled(1.0)


@pytest.mark.parametrize("constant", [{"relaxation": 2.0}, {"enough": 0}, {"maxCC": 1.5}, {"k": 1}])
def test_bad_constants_are_refused(constant: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        _method(**constant)
