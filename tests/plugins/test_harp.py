"""HARP as a method: one sample, one answer."""

import numpy as np
import pytest

from advisor import registry
from advisor.domain.dataset import Dataset
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.space import Parameter, Scale, Setting, Space
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.methods.api import Knowledge, Method
from advisor.testing.samples import a_path, measured

SPACE = Space(
    parameters=tuple(
        Parameter(name=name, unit="", lower=1, upper=32, scale=Scale.LOG2)
        for name in ("concurrency", "parallelism", "pipelining")
    ),
    cost_order=("concurrency", "parallelism", "pipelining"),
)
FILES = Dataset(total_bytes=100 * 10**9, path="/x", files=100)
LEVELS = (1, 2, 4, 8, 16, 32)


def _rate(setting: Setting, peak: int) -> float:
    """Bit/s with one maximum, at a concurrency of `peak` and a parallelism of 4."""
    off = (np.log2(int(setting["concurrency"]) / peak)) ** 2
    off += (np.log2(int(setting["parallelism"]) / 4)) ** 2 / 4
    return 5e9 / (1 + off / 4)


def _past(peak: int, network: str) -> list[PastTransfer]:
    conditions = Conditions(
        file_bytes=10**9,
        file_count=100,
        bandwidth_bps=10e9,
        rtt_s=0.04,
        buffer_bytes=2**25,
        network=network,
    )
    return [
        PastTransfer(
            conditions=conditions,
            levels=Levels(concurrency=c, parallelism=p),
            throughput_bps=_rate({"concurrency": c, "parallelism": p}, peak),
        )
        for c in LEVELS
        for p in LEVELS
    ]


def _method(*past: list[PastTransfer], **constants: float) -> Method:
    path = a_path(rtt_s=0.04, bandwidth_bps=10e9)
    transfers = [transfer for some in past for transfer in some]
    knowledge = Knowledge(path=path, bandwidth_bps=10e9, dataset=FILES, transfers=transfers)
    return registry.method("harp").create(SPACE, np.random.default_rng(0), knowledge, constants)


def _run(method: Method, peak: int) -> list[Setting]:
    asked = []
    while (setting := method.ask()) is not None:
        asked.append(setting)
        method.tell(setting, measured(_rate(setting, peak)))
    return asked


def test_a_sample_and_an_answer_that_past_transfers_give() -> None:
    method = _method(_past(8, "a"), keep=1)
    sample, answer = _run(method, 8)
    assert _rate(answer, 8) > _rate(sample, 8)
    assert _rate(answer, 8) >= 0.85 * 5e9
    assert method.stop_reason
    assert method.best() == (answer, _rate(answer, 8))


def test_the_history_that_foretells_the_sample_has_the_say() -> None:
    method = _method(_past(2, "quiet"), _past(16, "busy"), keep=1)
    *_, answer = _run(method, 16)
    assert int(answer["concurrency"]) >= 8


def test_without_history_the_heuristic_is_the_answer() -> None:
    method = _method()
    assert len(_run(method, 8)) == 1
    assert method.stop_reason


def test_a_sample_that_failed_ends_it() -> None:
    method = _method(_past(8, "a"))
    setting = method.ask()
    assert setting is not None
    method.tell(setting, Failure(kind=FailureKind.RESET, message="no", elapsed_s=1))
    assert method.ask() is None
    assert "sample failed" in str(method.stop_reason)


@pytest.mark.parametrize("constant", [{"keep": 2.0}, {"enough": 0}, {"maxCC": 1.5}, {"k": 1}])
def test_bad_constants_are_refused(constant: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        _method(**constant)
