"""Numbers of agents and of records with which nothing can be calculated, or too much."""

import io
import json
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from advisor.advising.prober import Course, _Failed
from advisor.agent import messages as m
from advisor.api.transport import Sample
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.sending import SendingState
from advisor.hosts.decoding import BadData
from advisor.models.steadiness import probe_length
from advisor.store.backend import encoded
from advisor.store.exporters import write_markdown, write_probdata, write_pscheduler
from advisor.store.flent import flent_data
from advisor.testing.samples import a_path
from tests.unit.store.conftest import make_a_probe

SAMPLE: dict[str, Any] = {
    "say": "probe_sample",
    "t_s": 0.1,
    "total_bytes": 1,
    "cpu_s": 0,
    "busy_s": 0,
    "host_s": 0,
}
MEASURED: dict[str, Any] = {"moved_bytes": 1, "elapsed_s": 1.0, "cpu_cores": 0.1, "program": "fio"}
FACTS: dict[str, Any] = msgspec.to_builtins(a_path().destination)
CARD: dict[str, Any] = {"name": "eth0", "mtu_bytes": 1500, "link_bps": 1e10, "addresses": []}


def sample(**changes: object) -> dict[str, Any]:
    return SAMPLE | changes


def file_io(**changes: object) -> dict[str, Any]:
    return {"say": "file_io_measured", "result": MEASURED | changes}


def facts(card: dict[str, object] | None = None, **changes: object) -> dict[str, Any]:
    cards = [CARD | (card or {})]
    return {"say": "facts", "facts": FACTS | changes, "transports": [], "interfaces": cards}


REPLIES: list[dict[str, Any]] = [
    *(sample(t_s=value) for value in (-1.0, 1e300)),
    *(sample(**{name: 1e300}) for name in ("cpu_s", "busy_s", "host_s", "rtt_s", "thread_cpu_s")),
    *(file_io(elapsed_s=value) for value in (0, -1, 1e-320, 1e300)),
    file_io(moved_bytes=0),
    file_io(cpu_cores=1e300),
    *(facts(link_bps=value) for value in (0, -1, 1e-320, 1e300)),
    *(facts({"link_bps": value}) for value in (1e-320, 1e300)),
    facts(load_1min=1e300),
    facts(clock_s=1e300),
]


def test_what_the_replies_are_made_of_is_accepted() -> None:
    for reply in (sample(), file_io(), facts()):
        m.read_reply(json.dumps(reply).encode())


@pytest.mark.parametrize("reply", REPLIES, ids=range(len(REPLIES)))
def test_a_reply_with_an_impossible_number_is_refused(reply: dict[str, Any]) -> None:
    with pytest.raises(BadData, match="Expected"):
        m.read_reply(json.dumps(reply).encode())


def told(course: Course, t_s: float, total_bytes: int) -> None:
    """A receiver's report, as it comes from an agent."""
    line = json.dumps(sample(t_s=t_s, total_bytes=total_bytes)).encode()
    course.add_received(Sample(**msgspec.structs.asdict(m.read_reply(line))))


def all_told(course: Course, times_s: list[float]) -> None:
    for number, t_s in enumerate(times_s):
        told(course, t_s, number * 2**60)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "times_s",
    [
        [0.0, 1e-320, 2e-320, 3e-320],
        [0.0, 0.1, 0.1 + 1e-9, 0.2],
        [5.0, 5.1, 5.0, 5.2],
        [0.0, 1.0, 0.0, 1.0],
        [0.0, 0.1, 1e9, 1e9 + 0.1],
        [0.0, 0.1, 1e12, 1e12],
    ],
    ids=range(6),
)
async def test_a_receiver_with_an_impossible_clock_fails_its_probe(times_s: list[float]) -> None:
    course = Course(probe_length(0.01), lambda _: None)
    with pytest.raises(_Failed, match="impossible times"):
        all_told(course, times_s)


def sent(number: int, dice: random.Random, before: Sample | None) -> Sample:
    """A report of our own end over TCP with losses, every tenth of a second."""
    state = before.sending if before and before.sending else None
    cuts = dice.choice([0, 0, 0, 1, 5])
    segments = dice.randrange(100_000)
    return Sample(
        t_s=number / 10,
        total_bytes=0,
        cpu_s=0.0,
        busy_s=0.0,
        host_s=0.0,
        retransmits=((before.retransmits or 0) if before else 0) + 2 * cuts,
        rtt_s=0.01,
        sending=SendingState(
            congestion="cubic",
            streams=4,
            window_bytes=dice.randrange(2**27),
            starting=dice.choice([0, 0, 4]),
            cuts=(state.cuts if state else 0) + cuts,
            sent_segments=(state.sent_segments if state else 0) + segments,
            segment_bytes=1448,
            busy_s=number / 10,
        ),
    )


@pytest.mark.asyncio
@pytest.mark.parametrize("steps_s", [[0.0, 1e-6, 1e-4, 0.1, 0.1, 1.0, 30.0], [0.1]])
async def test_whatever_a_receiver_reports_the_session_goes_on(steps_s: list[float]) -> None:
    """Each probe has a result that can be stored, or fails."""
    for seed in range(500):
        dice = random.Random(seed)
        course = Course(probe_length(0.01), lambda _: None, least_bps=1e9)
        t_s, total, before = 0.0, 0, None
        try:
            for number in range(dice.randrange(2, 40)):
                told(course, t_s, total)
                course.add_sent(before := sent(number, dice, before))
                t_s += dice.choice(steps_s)
                total += dice.choice([0, 0, 1, 2**20, 2**24, 2**50, 2**57])
            result = course.measurement(1.0)
        except _Failed:
            continue
        encoded(make_a_probe(result=result))


def probe_of(intervals: list[Interval], elapsed_s: float) -> ProbeRecord:
    result = Measurement(
        throughput_bps=1e9,
        stderr_bps=1.0,
        intervals=intervals,
        steady_from=0,
        settled=True,
        elapsed_s=elapsed_s,
    )
    setting = {"streams": 1, "buffer_bytes": 1000}
    return make_a_probe(result=result, mtu_bytes=1500, setting=setting)


EXPORTS: dict[str, Callable[[list[ProbeRecord]], object]] = {
    "ProbData": lambda probes: write_probdata(probes, io.StringIO()),
    "pScheduler": lambda probes: write_pscheduler(probes, io.StringIO()),
    "Markdown": lambda probes: write_markdown(probes, io.StringIO()),
}


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
def test_the_longest_probe_of_a_history_is_exported(
    export: Callable[[list[ProbeRecord]], object],
) -> None:
    short = [Interval(0.0, 0.001, 1), Interval(0.001, 0.002, 1)]
    probe = probe_of([*short, Interval(0.002, 1e9, 1)], 1e9)
    assert msgspec.json.decode(msgspec.json.encode(probe), type=ProbeRecord) == probe
    export([probe] * 20)


def test_a_series_for_flent_has_a_bounded_number_of_values() -> None:
    """Some short intervals and a long one would make 10^12 of them, at 10^9 s."""
    short = [Interval(0.0, 0.001, 1), Interval(0.001, 0.002, 1)]
    for end_s, number in ((3e3, 1), (3e2, 10)):
        probe = probe_of([*short, Interval(0.002, end_s, 1)], end_s)
        document = json.loads(flent_data([probe] * number, "it"))
        assert sum(map(len, document["results"].values())) <= 1_000_100


@pytest.mark.parametrize("length_s", [0.0, 1e-320, -1.0])
def test_an_interval_of_no_length_has_no_rate(length_s: float) -> None:
    assert Interval(0.0, length_s, 2**62).throughput_bps == 0.0
