"""The line that a source is given, and what a worker believes of its answer."""

import shlex

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.domain.addresses import parse_host_port
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.records import ProfileRecord, Record, RemarkRecord, SessionRecord
from advisor.fleet.configuration.reading import decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.fleet import PATH_BYTES, Fleet
from advisor.fleet.work.ordering import Order, order_of
from advisor.fleet.work.watching import NotTaken, Watched
from advisor.hosts.decoding import BadData
from advisor.runtime.request import ConnectionOptions
from advisor.store.importers.entries import RefusedError
from tests.fleet_at_work import described
from tests.unit.store.conftest import PAIR, make_a_probe, make_a_session


def fleet(content: str) -> Fleet:
    return resolved(decoded(content.encode()))


def ordered(content: str) -> Order:
    one = fleet(content)
    return order_of(one, one.tasks[0], 0, 1)


def test_a_source_is_reached_over_ssh_and_keeps_nothing() -> None:
    order = ordered(described("a", "b").replace("[hosts.b]", '[hosts.b]\nreach = "me@b.org"'))
    assert order.argv[0] == "ssh"
    assert order.argv[-3:-1] == ["--", "a"]
    words = shlex.split(order.argv[-1])
    assert words[:3] == ["advisor", "advise", "me@b.org"]
    assert {"--measure", "--budget=24s", "--store=-", "--json", "--orders"} <= set(words)


def test_this_host_is_no_login() -> None:
    order = ordered(described("a", "b").replace("[hosts.a]", '[hosts.a]\nreach = "localhost"'))
    assert "ssh" not in order.argv
    assert order.argv[3:6] == ["advisor", "advise", "b"]


def test_a_host_of_a_lab_is_entered() -> None:
    content = described("a", "b")
    for host in ("a", "b"):
        content = content.replace(f"[hosts.{host}]", f'[hosts.{host}]\nreach = "lab:mesh:{host}"')
    order = ordered(content)
    assert order.command == ""
    entered = order.argv.index("--")
    assert order.argv[3:entered] == ["advisor", "lab", "exec", "mesh", "--host", "a"]
    assert order.argv[entered + 4 : entered + 7] == ["advisor", "advise", "lab:mesh:b"]


def test_a_path_takes_no_orders() -> None:
    order = ordered(described("a", "b").replace('"advice"', '"path"'))
    assert not order.obeys
    assert shlex.split(order.argv[-1])[:3] == ["advisor", "path", "b"]


@pytest.mark.parametrize("command", ["~/advisor", "~/advisor agent --stdio"])
def test_what_starts_advisor_serves_both_ends(command: str) -> None:
    both = described("a", "b").replace("bandwidth", f'agent-command = "{command}"\nbandwidth')
    words = shlex.split(ordered(both).argv[-1])
    assert words[:2] == ["~/advisor", "advise"]
    assert "--agent-command=~/advisor agent --stdio" in words


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("", "b"),
        ('reach = "me@b.org"', "b.org"),
        ('reach = "b-login"\nagent = "10.0.0.7:5199"', "10.0.0.7"),
        ('reach = "localhost"\nagent = "[2001:db8::7]:5199"', "2001:db8::7"),
        ('reach = "lab:mesh:b"', "lab:mesh:b"),
    ],
)
def test_a_destination_is_named_as_its_session_names_it(lines: str, name: str) -> None:
    there = fleet(described("a", "b").replace("[hosts.b]", f"[hosts.b]\n{lines}")).hosts[1]
    agent = parse_host_port(there.agent) if there.agent else None
    asked = ConnectionOptions(destination=Endpoint.parse(there.reach), agent=agent)
    assert there.destination_name == asked.destination_host == name


def test_values_stay_values() -> None:
    content = described("a", "b").replace(
        'what = "advice"', 'what = "profile"\nset = ["streams=1; rm -rf /", "--store=/x"]'
    )
    words = shlex.split(ordered(content).argv[-1])
    assert "--set=streams=1; rm -rf /" in words
    assert "--set=--store=/x" in words
    assert [word for word in words if word.startswith("--store")] == ["--store=-"]


def line(one: object) -> bytes:
    return msgspec.json.encode(one)


@pytest.fixture
def watched() -> Watched:
    return Watched(PAIR.destination, 1e9)


def test_records_come_without_what_starts_programs(watched: Watched) -> None:
    record = watched.tell(line(make_a_session("s", 1.0)))
    assert isinstance(record, SessionRecord)
    assert record.request == {}


@pytest.mark.parametrize(
    "other",
    [
        make_a_probe(session="other"),
        make_a_probe(session="s", pair=Pair(PAIR.source, "elsewhere")),
        make_a_probe(session="s", pair=Pair("someone", PAIR.destination)),
    ],
)
def test_records_of_another_session_or_pair_are_refused(watched: Watched, other: Record) -> None:
    watched.tell(line(make_a_probe(session="s")))
    with pytest.raises(NotTaken):
        watched.tell(line(other))


def test_records_of_another_destination_are_refused() -> None:
    with pytest.raises(NotTaken):
        Watched("elsewhere", 1e9).tell(line(make_a_probe(session="s")))


@pytest.mark.parametrize(
    "bad",
    [
        b'{"record":"probe"}',
        b'{"event":"no such event"}',
        b'{"record":' + b"[" * 100 + b"]" * 100 + b"}",
        line(make_a_probe(session="s", recorded_s=-1.0)),
        line(make_a_probe(session="s\x1b[2J")),
        line(make_a_probe(session="s", rate_bps=1e30)),
    ],
)
def test_what_is_none_is_refused(watched: Watched, bad: bytes) -> None:
    with pytest.raises((BadData, RefusedError)):
        watched.tell(bad)


def test_remarks_of_a_source_are_not_kept(watched: Watched) -> None:
    remark = RemarkRecord(pair=PAIR, recorded_s=1.0, session="s", kind="deleted")
    assert watched.tell(line(remark)) is None
    assert isinstance(
        watched.tell(line(ProfileRecord(session="s", pair=PAIR, recorded_s=1.0, name="p"))),
        ProfileRecord,
    )


def test_a_source_that_never_ends_is_ended(watched: Watched) -> None:
    for _ in range(64):
        watched.tell(b"x" * 2**20)
    with pytest.raises(NotTaken, match="more than"):
        watched.tell(b"x")


def test_what_moved_is_counted_upwards(watched: Watched) -> None:
    probe = make_a_probe(1e9)
    ended = ev.ProbeEnded(
        at_s=1,
        ordinal=1,
        stage="tcp",
        purpose="search",
        subject="tcp",
        setting={},
        result=probe.result,
        remaining_s=1,
    )
    watched.tell(line(ended))
    assert watched.moved_bytes == PATH_BYTES + 1.1 * 1e9 / 16
    failure = Failure(kind=FailureKind.RESET, message="", elapsed_s=2.0)
    watched.tell(line(msgspec.structs.replace(ended, result=failure)))
    assert watched.moved_bytes == PATH_BYTES + 1.1 * 1e9 / 16 + 2.0 * 1e9 / 8


def test_the_best_setting_is_the_rate(watched: Watched) -> None:
    for streams, rate_bps in ((1, 1e8), (4, 5e8), (4, 7e8)):
        watched.tell(line(make_a_probe(rate_bps, session="s", setting={"streams": streams})))
    assert watched.rate_bps == pytest.approx(6e8)
