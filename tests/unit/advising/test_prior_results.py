"""What a search begins from: the own history, similar paths, and then a reference profile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.advising.prior_knowledge import prior_results, typical_probes
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.records import ProbeRecord, ProfileRecord
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.testing.samples import a_path, failed
from tests.unit.store.conftest import PAIR, keep_reference, make_a_probe

EMULATED = {rtt_s: Pair("reference", f"lab:reference:rtt-{rtt_s * 1e3:g}") for rtt_s in (0.02, 0.1)}


def emulated(rtt_s: float, subject: str = "tcp") -> list[ProfileRecord | ProbeRecord]:
    pair, session = EMULATED[rtt_s], f"s{rtt_s}"
    path = a_path(rtt_s=rtt_s, bandwidth_bps=1e9)
    profile = ProfileRecord(session=session, pair=pair, recorded_s=1.0, name=session, path=path)
    facts = {"pair": pair, "session": session, "rtt_s": rtt_s, "bandwidth_bps": 1e9}
    probes = [
        make_a_probe(rate, subject=subject, setting={"streams": n, "buffer_bytes": 0}, **facts)
        for n, rate in ((1, 0.9e8), (1, 1e8), (1, 5e8), (4, 4e8))
    ]
    return [profile, *probes]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    keep_reference(tmp_path / "profiles", [*emulated(0.02), *emulated(0.1)])
    return Store(tmp_path / "own", [tmp_path / "profiles"], tmp_path / "cache")


Ask = Callable[..., tuple[set[float | None], str]]


@pytest.fixture
def ask(store: Store) -> Ask:
    """The RTTs of the probes of similar paths, and what is said of them."""

    def asked(rtt_s: float = 0.025, method: str = "bayes", **facts: object) -> object:
        request = AdviceRequest(
            destination=Endpoint("dtn2.example.org"), method=method, transports=["tcp"]
        )
        path = a_path(rtt_s=rtt_s, **facts)
        found = prior_results(store, request, PAIR, path, "now")
        return {probe.rtt_s for probe in found.past_of_similar}, found.borrowed

    return asked  # type: ignore[return-value] # the facts vary by test


def test_the_nearest_emulated_paths_are_borrowed_where_nothing_is_known(ask: Ask) -> None:
    near, said = ask(0.025, bandwidth_bps=1e9)
    assert near == {0.02, 0.1}
    assert "reference profiles of emulated paths (RTT 20 ms, 1 Gbit/s and RTT 100 ms" in said
    near, said = ask(0.4, bandwidth_bps=1e9)
    assert near == {0.1}
    assert "a reference profile of an emulated path (RTT 100 ms, 1 Gbit/s)" in said


def test_the_median_stands_for_the_repeats_of_a_setting() -> None:
    probes = [p for p in emulated(0.02) if isinstance(p, ProbeRecord)]
    failure = make_a_probe(setting={"streams": 1, "buffer_bytes": 0}, result=failed())
    assert typical_probes([failure, *probes]) == [probes[1], probes[3]]


@pytest.mark.parametrize(
    "path",
    [
        {"rtt_s": 2.0, "bandwidth_bps": 1e9},
        {"rtt_s": 0.02, "bandwidth_bps": 1e10},
        {"rtt_s": 0.02, "bandwidth_bps": None},
    ],
)
def test_a_path_unlike_all_borrows_nothing(ask: Ask, path: dict[str, float]) -> None:
    assert ask(**path) == (set(), "")


def test_a_method_that_learns_nothing_from_it_gets_nothing(ask: Ask) -> None:
    assert ask(method="spsa", bandwidth_bps=1e9) == (set(), "")


def test_what_the_user_measured_comes_first(ask: Ask, store: Store) -> None:
    store.append(make_a_probe(session="now", rtt_s=0.025))
    # The session itself is no history: resumed, it has the same prior as before.
    assert ask(bandwidth_bps=1e9)[1]
    store.append(make_a_probe(session="before", rtt_s=0.025))
    assert ask(bandwidth_bps=1e9) == (set(), "")


def test_a_similar_path_of_the_user_comes_first(ask: Ask, store: Store) -> None:
    store.append(make_a_probe(pair=Pair("dtn1.example.org", "near"), rtt_s=0.03))
    near, said = ask(bandwidth_bps=1e9)
    assert (near, said) == ({0.03}, "")


def test_another_transport_is_of_no_use(tmp_path: Path) -> None:
    keep_reference(tmp_path / "profiles", emulated(0.02, subject="udt"))
    store = Store(tmp_path / "own", [tmp_path / "profiles"], tmp_path / "cache")
    request = AdviceRequest(
        destination=Endpoint("dtn2.example.org"), method="bayes", transports=["tcp"]
    )
    found = prior_results(store, request, PAIR, a_path(rtt_s=0.02), "now")
    assert (list(found.past_of_similar), found.borrowed) == ([], "")
