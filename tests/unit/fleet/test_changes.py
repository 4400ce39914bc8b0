import itertools
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord, Record, RemarkRecord, SessionRecord
from advisor.fleet.changes import changes_of, fact_changes
from advisor.store.history import Store
from advisor.store.postgres.database import Database
from advisor.testing.samples import a_host, a_path, failed, measured
from tests.commands import invoke
from tests.postgres_server import SharedDatabase

PAIR = Pair("here", "there")
DAY_S = 86_400.0
WOBBLE = (1.0, 1.05, 0.97, 1.02, 0.96, 1.03)


def sessions(
    rates_bps: list[float], start: int = 0, path: PathFacts | None = None, subject: str = "tcp"
) -> list[Record]:
    """A session a day, each with two settings, of which the second is the better one."""
    found: list[Record] = []
    for number, rate_bps in enumerate(rates_bps, start):
        session, at_s = f"s{number}-{subject}", number * DAY_S
        if path is not None:
            request: dict[str, Any] = {}
            found.append(
                SessionRecord(
                    session=session, pair=PAIR, recorded_s=at_s, request=request, path=path
                )
            )
        found += [
            ProbeRecord(
                pair=PAIR,
                subject=subject,
                setting={"streams": streams},
                result=measured(rate_bps * share),
                recorded_s=at_s + streams,
                session=session,
            )
            for streams, share in ((1, 0.3), (8, 1.0))
        ]
    return found


def steady(days: int, rate_bps: float) -> list[float]:
    return [rate_bps * WOBBLE[n % len(WOBBLE)] for n in range(days)]


def test_a_drop_is_found_with_its_time_and_with_what_changed_on_the_hosts() -> None:
    before = a_path(source=a_host(kernel="6.1.0"), mtu_bytes=9000, rtt_s=0.05)
    after = a_path(source=a_host(kernel="6.12.0"), mtu_bytes=1500, rtt_s=0.05)
    records = [
        *sessions(steady(20, 9e9), 0, before),
        *sessions(steady(8, 4.5e9), 20, after),
    ]
    [change] = changes_of(records)
    assert (change.pair, change.subject) == (PAIR, "tcp")
    assert change.since_s == 20 * DAY_S + 8
    assert change.noticed_s >= change.since_s
    assert change.factor == pytest.approx(0.5, rel=0.05)
    assert change.facts is not None
    assert {(f.where, f.fact, f.before, f.after) for f in change.facts} == {
        ("source", "kernel", "6.1.0", "6.12.0"),
        ("path", "MTU", "9000 B", "1500 B"),
    }


def test_a_steady_pair_has_no_changes() -> None:
    assert changes_of(sessions(steady(60, 9e9))) == []


def test_a_change_without_facts_says_that_there_are_none() -> None:
    [change] = changes_of([*sessions(steady(20, 9e9)), *sessions(steady(8, 4e9), 20)])
    assert change.facts is None


def test_subjects_are_distinguished() -> None:
    records = [
        *sessions(steady(28, 9e9)),
        *sessions([*steady(20, 5e9), *steady(8, 1e9)], subject="udt"),
    ]
    assert [change.subject for change in changes_of(records)] == ["udt"]


def test_outliers_and_failures_do_not_count() -> None:
    records = [*sessions(steady(20, 9e9)), *sessions(steady(8, 4e9), 20)]
    marked = [
        RemarkRecord(pair=PAIR, recorded_s=1e9, session=f"s{n}-tcp", kind="outlier")
        for n in range(20, 28)
    ]
    assert changes_of([*records, *marked]) == []
    lost = ProbeRecord(pair=PAIR, subject="tcp", setting={}, result=failed(), recorded_s=1e8)
    assert len(changes_of([*records, lost])) == 1


def test_facts_within_the_noise_of_measuring_are_the_same() -> None:
    assert fact_changes(a_path(rtt_s=0.050), a_path(rtt_s=0.052)) == []
    [route] = fact_changes(a_path(rtt_s=0.050), a_path(rtt_s=0.090))
    assert (route.where, route.fact) == ("path", "round-trip time (route)")
    assert (route.before, route.after) == ("50 ms", "90 ms")


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        ({"receive_max_bytes": 2**26}, {"receive_max_bytes": 2**20}, "net.core.rmem_max"),
        ({"congestion": "bbr"}, {"congestion": "cubic"}, "congestion control"),
        ({"interface": "eth1"}, {"interface": "eth2"}, "interface"),
        ({"tcp_wmem_bytes": (1, 2, 3)}, {"tcp_wmem_bytes": (1, 2, 4)}, "net.ipv4.tcp_wmem"),
        ({"link_bps": 1e10}, {"link_bps": 1e9}, "link speed"),
        ({"versions": {"iperf3": "3.12"}}, {"versions": {"iperf3": "3.16"}}, "iperf3"),
    ],
)
def test_each_fact_of_a_host(before: dict[str, Any], after: dict[str, Any], fact: str) -> None:
    paths = [a_path(destination=a_host(**values)) for values in (before, after)]
    [found] = fact_changes(*paths)
    assert (found.where, found.fact) == ("destination", fact)
    assert found.before != found.after


# -- the command ------------------------------------------------------------------------------


def run(store: Path | str, *words: str) -> Any:
    from advisor.cli.fleet.command import fleet

    return invoke(fleet, ["changes", "--store", str(store), *words], standalone_mode=False)


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    store = Store(tmp_path / "history")
    for record in [*sessions(steady(20, 9e9)), *sessions(steady(8, 4.5e9), 20)]:
        store.append(record)
    return tmp_path / "history"


def test_changes_are_printed_and_are_the_exit_code(changed: Path) -> None:
    done = run(changed)
    assert done.return_value == 4
    assert "here->there  tcp: -50%" in done.stdout
    assert "no host facts are stored for it" in done.stdout


def test_changes_as_json(changed: Path) -> None:
    done = run(changed, "--json")
    [change] = json.loads(done.stdout)["changes"]
    assert change["pair"] == {"source": "here", "destination": "there"}
    assert change["factor"] == pytest.approx(0.5, rel=0.05)


def test_old_changes_are_left_out_on_request(changed: Path) -> None:
    done = run(changed, "--since", "30d")
    assert done.return_value == 0
    assert done.stdout == "nothing has changed on 1 pair\n"


def test_nothing_stored_is_nothing_changed(tmp_path: Path) -> None:
    done = run(tmp_path / "none")
    assert done.return_value == 0
    assert done.stdout == "nothing has changed on 0 pairs\n"


def test_a_pair_that_is_not_stored_is_an_error(changed: Path) -> None:
    assert run(changed, "elsewhere").exit_code == 1


@pytest.mark.parametrize("answers", [0, 2, 3])
@pytest.mark.parametrize("words", [(), ("here->there",), ("--json",)], ids=" ".join)
def test_what_is_not_read_is_not_called_unchanged(
    shared_database: SharedDatabase,
    monkeypatch: pytest.MonkeyPatch,
    answers: int,
    words: tuple[str, ...],
) -> None:
    writer = Store(shared_database.backend("alice"))
    for record in [*sessions(steady(20, 9e9)), *sessions(steady(8, 4.5e9), 20)]:
        writer.append(record)
    really, asked = Database._within_limit, itertools.count()

    def goes_away(self: Database, work: Any) -> Any:
        if next(asked) >= answers:
            raise psycopg.OperationalError("it went away")
        return really(self, work)

    address = shared_database.address("rita")
    with monkeypatch.context() as patch:
        patch.setattr(Database, "_within_limit", goes_away)
        done = run(address, *words)
        # With fewer questions than that, all was read.
        expected = (4, True) if next(asked) <= answers else (1, False)
    assert (done.exit_code or done.return_value, bool(done.stdout)) == expected, done.stderr
    assert run(address, *words).return_value == 4
