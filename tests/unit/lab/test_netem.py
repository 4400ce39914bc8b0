import pytest

from advisor.lab.backend_select import every_path
from advisor.lab.messages import ScheduledStep, SetPath
from advisor.lab.netem import (
    Abilities,
    delay_stage,
    obstacle,
    queue_stage,
    read_stages,
    wire_stage,
)
from advisor.lab.networks import NetworkError
from advisor.lab.paths import Changes, Direction, EmulatedPath
from advisor.lab.running import LabOrder

ABLE = Abilities(seed=True)
SMALL = EmulatedPath(forward=Direction(queue_bytes=20_000), mtu_bytes=9000)


@pytest.mark.parametrize(
    ("rate_bps", "queue_bytes", "mtu_bytes", "is_cut", "line"),
    [
        # Two milliseconds of the rate pass at once; with what waits they are the queue.
        (1e9, 5_700_000, 9000, False, "tbf rate 1000000000bit burst 250000 limit 5450000"),
        # Two packets at least,
        (20e6, 576_000, 9000, False, "tbf rate 20000000bit burst 18000 limit 558000"),
        # but half the queue at most, and never less than a packet.
        (20e6, 20_000, 9000, False, "tbf rate 20000000bit burst 10000 limit 10000"),
        (20e6, 18_000, 9000, False, "tbf rate 20000000bit burst 9000 limit 9000"),
        (100e9, 2**31 - 1, 1500, False, "tbf rate 100000000000bit burst 25000000 limit 2122483647"),
        # Nothing more fits into the queue of a path that is cut.
        (1e9, 5_700_000, 9000, True, "tbf rate 1000000000bit burst 250000 limit 1"),
    ],
)
def test_the_queue(
    rate_bps: float, queue_bytes: int, mtu_bytes: int, is_cut: bool, line: str
) -> None:
    assert queue_stage(rate_bps, queue_bytes, mtu_bytes, is_cut) == line


@pytest.mark.parametrize("rate_bps", [10_000.0, 20e6, 1e9, 100e9])
def test_the_wire_is_never_slower_than_the_queue_before_it(rate_bps: float) -> None:
    words = wire_stage(rate_bps).split()
    wire_bps = int(words[words.index("rate") + 1].removesuffix("bit"))
    assert rate_bps <= wire_bps <= rate_bps * 1.001


@pytest.mark.parametrize(
    ("direction", "line"),
    [
        (Direction(delay_s=0.0228), "delay 22800.000us 0.000us rate 10tbit"),
        # Jitter from 0 to 10 ms is 5 ms to both sides of 5 ms more.
        (Direction(delay_s=0.02, jitter_s=0.01), "delay 25000.000us 5000.000us rate 10tbit"),
        (
            Direction(delay_s=0.02, jitter_s=0.01, reordering=True),
            "delay 25000.000us 5000.000us rate 0bit",
        ),
        (
            Direction(delay_s=0.0, loss=3e-4),
            "delay 0.000us 0.000us rate 10tbit loss random 0.03000000%",
        ),
        # One in three leaves the bad state; in the long run a hundredth of the time is spent there.
        (
            Direction(delay_s=0.0, loss=0.01, burst_packets=4),
            "delay 0.000us 0.000us rate 10tbit loss gemodel 0.25252525% 25.00000000% 100% 0%",
        ),
    ],
)
def test_the_delay(direction: Direction, line: str) -> None:
    assert delay_stage(direction, None) == f"netem limit 1000000000 {line}"
    assert delay_stage(direction, 7) == f"netem limit 1000000000 {line} seed 7"


@pytest.mark.parametrize(
    ("path", "own", "seed", "able", "reason"),
    [
        (EmulatedPath(), None, 0, ABLE, None),
        (EmulatedPath(), None, 5, ABLE, None),
        (EmulatedPath(), None, 5, Abilities(seed=False), "seed"),
        (EmulatedPath(), Direction(delay_s=0.0), 0, ABLE, None),
        (EmulatedPath(), Direction(delay_s=0.0, queue_bytes=9000), 0, ABLE, "two packets"),
        (EmulatedPath(), Direction(delay_s=0.001), 0, ABLE, "only a rate"),
        (SMALL, None, 0, ABLE, None),
        (EmulatedPath(reverse=Direction(queue_bytes=17_999)), None, 0, ABLE, "18000 bytes"),
        (EmulatedPath(reverse=Direction(jitter_s=4.5)), None, 0, ABLE, "at most 4 s"),
    ],
)
def test_what_netem_cannot_do(
    path: EmulatedPath, own: Direction | None, seed: int, able: Abilities, reason: str | None
) -> None:
    found = obstacle([path], own, seed, able)
    assert found is None if reason is None else found is not None and reason in found


def test_what_tc_prints_is_read_by_device() -> None:
    text = (
        '[{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"refcnt":2,"options":{}},'
        '{"kind":"tbf","handle":"8004:","dev":"far","root":true,"options":{"rate":125000000},'
        '"bytes":5000,"packets":4,"drops":3,"overlimits":2,"requeues":0,"backlog":1500,"qlen":1},'
        '{"kind":"bfifo","parent":"8004:1","dev":"far","bytes":0,"packets":0,"drops":9}]\n'
        "\n[]\n"
    )
    first, second = read_stages(text)
    assert second == {}
    seen = first["far"]
    assert (seen.kind, seen.bytes, seen.packets, seen.drops, seen.backlog) == (
        "tbf",
        5000,
        4,
        3,
        1500,
    )


def test_what_tc_never_prints_is_refused() -> None:
    with pytest.raises(NetworkError, match="not understood"):
        read_stages("qdisc netem 8001: root\n")


def test_a_schedules_paths_are_looked_at_too() -> None:
    order = LabOrder(
        name="t",
        mark="",
        outside=0,
        program="",
        user_namespace=True,
        hosts={"near": EmulatedPath(), "far": EmulatedPath()},
        steps=[
            ScheduledStep(at_s=1, actions=[SetPath(changes=Changes(queue_bytes=5000), host="far")]),
            ScheduledStep(at_s=2, actions=[SetPath(changes=Changes(loss=0.1), which="reverse")]),
            ScheduledStep(at_s=3, actions=[SetPath(changes=Changes(loss=2.0))]),
        ],
    )
    paths = list(every_path(order))
    assert [path.forward.queue_bytes for path in paths] == [None, None, 5000, None, 5000]
    assert [path.reverse.loss for path in paths] == [0.0, 0.0, 0.0, 0.1, 0.1]
