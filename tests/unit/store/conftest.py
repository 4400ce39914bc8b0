"""Makers of records, shared by the tests of the store."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.records import AdviceRecord, ProbeRecord, Record, SessionRecord
from advisor.store.exporters import write_sealed
from advisor.store.history import Store
from advisor.testing.samples import an_advice
from tests.postgres_server import SharedDatabase

PAIR = Pair("dtn1.example.org", "dtn2.example.org")


def make_a_probe(rate_bps: float = 1e9, **changes: object) -> ProbeRecord:
    fields: dict[str, object] = {
        "pair": PAIR,
        "subject": "tcp",
        "setting": {"streams": 4, "buffer_bytes": 4194304},
        "result": Measurement(
            throughput_bps=rate_bps,
            stderr_bps=rate_bps / 50,
            intervals=[Interval(0.0, 0.5, int(rate_bps / 16))],
            steady_from=0,
            settled=True,
            elapsed_s=0.5,
        ),
        "recorded_s": 1000.0,
    }
    return ProbeRecord(**(fields | changes))  # type: ignore[arg-type] # the fields vary by test


def _host() -> HostFacts:
    return HostFacts(
        hostname="dtn1",
        kernel="6.1",
        cores=2,
        load_1min=0.1,
        memory_bytes=2**33,
        receive_max_bytes=None,
        send_max_bytes=None,
        tcp_rmem_bytes=None,
        tcp_wmem_bytes=None,
        congestion="cubic",
        congestion_available=["cubic"],
        qdisc=None,
        interface=None,
        link_bps=None,
        mtu_bytes=1500,
        clock_s=1000.0,
        versions={},
    )


def make_a_session(session: str, recorded_s: float, pair: Pair = PAIR) -> SessionRecord:
    path = PathFacts(
        source_address="192.0.2.1",
        destination_address="192.0.2.2",
        rtt_s=0.05,
        rtt_method="icmp",
        mtu_bytes=1500,
        mtu_method="given",
        bandwidth_bps=None,
        source=_host(),
        destination=_host(),
    )
    return SessionRecord(
        session=session, pair=pair, recorded_s=recorded_s, request={"seed": 1}, path=path
    )


def make_an_advice(session: str, recorded_s: float, *, incomplete: bool = False) -> AdviceRecord:
    advice = an_advice(PAIR, incomplete=incomplete, session=session)
    return AdviceRecord(pair=PAIR, recorded_s=recorded_s, advice=advice)


def keep_reference(folder: Path, records: Sequence[Record], name: str = "it") -> None:
    """A sealed file of records, as reference profiles are."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.profile.gz").write_bytes(write_sealed(records, "a test"))


@pytest.fixture
def pair() -> Pair:
    return PAIR


@pytest.fixture
def make_probe() -> Callable[..., ProbeRecord]:
    return make_a_probe


@pytest.fixture
def make_session() -> Callable[..., SessionRecord]:
    return make_a_session


@pytest.fixture
def make_advice() -> Callable[..., AdviceRecord]:
    return make_an_advice


@pytest.fixture(params=["journal", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty history, once of each kind: both keep the same contract."""
    if request.param == "journal":
        return Store(tmp_path / "history", cache=tmp_path / "cache")
    shared: SharedDatabase = request.getfixturevalue("shared_database")
    return Store(shared.backend("alice"))


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))
