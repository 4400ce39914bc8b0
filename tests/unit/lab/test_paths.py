import msgspec
import pytest

from advisor.lab.paths import (
    ENTRIES,
    BadPath,
    Changes,
    Direction,
    EmulatedPath,
    changed,
    own_queue_bytes,
    parse_share,
    parse_time,
    read_changes,
)

MTU_9000_QUEUE = 64 * 9000


def test_nothing_said_changes_nothing() -> None:
    assert changed(EmulatedPath(), Changes()) == EmulatedPath()
    assert Changes().said == {}


def test_zero_and_off_are_said() -> None:
    said = Changes(loss=0.0, rtt_s=0.0, reordering=False).said
    assert said == {"loss": 0.0, "rtt_s": 0.0, "reordering": False}


def test_both_directions_unless_one_is_named() -> None:
    both = changed(EmulatedPath(), Changes(loss=0.01))
    assert (both.forward.loss, both.reverse.loss) == (0.01, 0.01)
    there = changed(EmulatedPath(), Changes(loss=0.01, rate_bps=2e6), "forward")
    assert (there.forward.loss, there.reverse) == (0.01, Direction())
    back = changed(EmulatedPath(), Changes(jitter_s=0.1, reordering=True), "reverse")
    assert (back.forward, back.reverse.reordering) == (Direction(), True)


def test_a_round_trip_is_shared_out_evenly() -> None:
    path = changed(EmulatedPath(), Changes(rtt_s=0.1))
    assert (path.forward.delay_s, path.reverse.delay_s) == (0.05, 0.05)
    assert path.rtt_s == pytest.approx(0.1)


def test_what_is_not_said_stays() -> None:
    path = EmulatedPath(forward=Direction(loss=0.5, queue_bytes=7), mtu_bytes=1500, title="t")
    after = changed(path, Changes(rate_bps=1e6))
    assert after.forward == Direction(loss=0.5, queue_bytes=7, rate_bps=1e6)
    assert (after.mtu_bytes, after.title) == (1500, "t")


def test_hosts_get_mtu_and_buffers() -> None:
    path = changed(EmulatedPath(), Changes(mtu_bytes=1500, tcp_buffer_bytes=4 * 2**20))
    assert (path.mtu_bytes, path.tcp_buffer_bytes) == (1500, 4 * 2**20)


@pytest.mark.parametrize("which", ["forward", "reverse"])
@pytest.mark.parametrize(
    "changes", [Changes(rtt_s=0.1), Changes(mtu_bytes=1500), Changes(tcp_buffer_bytes=2**20)]
)
def test_what_is_of_the_whole_path_has_no_direction(changes: Changes, which: str) -> None:
    with pytest.raises(BadPath, match="outside a direction"):
        changed(EmulatedPath(), changes, which)


def test_the_queue_is_one_bandwidth_delay_product() -> None:
    path = changed(EmulatedPath(), Changes(rate_bps=1e9, rtt_s=0.1))
    assert path.queue_bytes(path.forward) == 12_500_000
    slower = changed(path, Changes(rate_bps=5e8), "reverse")
    assert slower.queue_bytes(slower.forward) == 12_500_000
    assert slower.queue_bytes(slower.reverse) == 6_250_000


def test_a_queue_has_room_for_some_packets_where_the_product_has_not() -> None:
    path = changed(EmulatedPath(), Changes(rtt_s=0.0))
    assert path.queue_bytes(path.forward) == MTU_9000_QUEUE
    asked = changed(path, Changes(queue_bytes=1))
    assert asked.queue_bytes(asked.forward) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (Changes(rtt_s=10.1), ["rtt", "10"]),
        (Changes(rtt_s=-0.1), ["rtt", "-0.1"]),
        (Changes(delay_s=5.1), ["delay", "5.1"]),
        (Changes(rate_bps=9_999.0), ["rate", "9999"]),
        (Changes(rate_bps=2e11), ["rate", "2e+11"]),
        (Changes(loss=0.91), ["loss", "0.91"]),
        (Changes(loss=-0.1), ["loss", "-0.1"]),
        (Changes(loss=float("nan")), ["loss", "nan"]),
        (Changes(burst_packets=0.5), ["burst", "0.5"]),
        (Changes(burst_packets=float("inf")), ["burst", "inf"]),
        (Changes(queue_bytes=0), ["queue", "0"]),
        (Changes(queue_bytes=2**31), ["queue"]),
        (Changes(jitter_s=6.0), ["jitter", "6"]),
        (Changes(mtu_bytes=575), ["mtu", "576", "575"]),
        (Changes(mtu_bytes=65_001), ["mtu", "65000"]),
        (Changes(tcp_buffer_bytes=4095), ["tcp_buffer", "4096"]),
    ],
)
def test_bounds(changes: Changes, words: list[str]) -> None:
    with pytest.raises(BadPath) as caught:
        changed(EmulatedPath(), changes)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        Changes(rtt_s=10.0),
        Changes(rtt_s=0.0),
        Changes(rate_bps=10_000.0),
        Changes(rate_bps=100e9),
        Changes(loss=0.9),
        Changes(burst_packets=1.0),
        Changes(queue_bytes=1),
        Changes(mtu_bytes=576),
        Changes(mtu_bytes=65_000),
    ],
)
def test_the_bounds_themselves_are_within(changes: Changes) -> None:
    assert changed(EmulatedPath(), changes) != changed(EmulatedPath(), Changes(jitter_s=1.0))


def test_bursts_too_short_for_the_share_are_refused() -> None:
    """Between two bursts at least one packet gets through."""
    with pytest.raises(BadPath, match="burst"):
        changed(EmulatedPath(), Changes(loss=0.9, burst_packets=2.0))
    lossy = changed(EmulatedPath(), Changes(loss=0.9, burst_packets=9.5))
    with pytest.raises(BadPath, match="burst"):
        changed(lossy, Changes(burst_packets=3.0), "reverse")


@pytest.mark.parametrize(
    ("text", "share"), [("3e-4", 3e-4), ("0.01", 0.01), ("1%", 0.01), (" 0.5 % ", 0.005), ("0", 0)]
)
def test_shares(text: str, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "one", "1%%", "1/3"])
def test_no_shares(text: str) -> None:
    with pytest.raises(ValueError, match="3e-4"):
        parse_share(text)


@pytest.mark.parametrize(("text", "time_s"), [("0", 0), ("0ms", 0), ("0 s", 0), ("5ms", 0.005)])
def test_times_may_be_zero(text: str, time_s: float) -> None:
    assert parse_time(text) == time_s


def test_words_are_read() -> None:
    words = {
        "rtt": "93.6ms",
        "rate": "500Mbit",
        "loss": "1%",
        "burst": 4,
        "queue": "4MB",
        "jitter": "1ms",
        "reordering": True,
        "mtu": 1500,
        "tcp_buffer": "4MiB",
    }
    assert read_changes(words) == Changes(
        rtt_s=0.0936,
        rate_bps=500e6,
        loss=0.01,
        burst_packets=4,
        queue_bytes=4_000_000,
        jitter_s=0.001,
        reordering=True,
        mtu_bytes=1500,
        tcp_buffer_bytes=4 * 2**20,
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"speed": "1Gbit"}, ["speed", "rate"]),
        ({"rate": "1GB/s"}, ["rate", "1GB/s", "bits"]),
        ({"rtt": "-5ms"}, ["rtt", "-5ms"]),
        ({"loss": "much"}, ["loss", "much", "1%"]),
        ({"burst": "x"}, ["burst", "number"]),
        ({"reordering": "maybe"}, ["reordering", "on or off"]),
        ({"queue": "0"}, ["queue", "at least one byte"]),
    ],
)
def test_words_that_cannot_be_read(words: dict[str, object], named: list[str]) -> None:
    with pytest.raises(BadPath) as error:
        read_changes(words)
    for word in named:
        assert word in str(error.value)


def test_every_entry_is_a_field() -> None:
    assert {name for name, _ in ENTRIES.values()} == set(Changes.__struct_fields__)


def test_a_path_survives_the_wire() -> None:
    path = changed(EmulatedPath(title="ü"), Changes(loss=1e-5, reordering=True), "reverse")
    assert msgspec.json.decode(msgspec.json.encode(path), type=EmulatedPath) == path


def test_the_own_queue_is_one_product_of_the_longest_path() -> None:
    paths = [EmulatedPath(), changed(EmulatedPath(), Changes(rtt_s=0.2, mtu_bytes=1500))]
    own = Direction(rate_bps=1e9, delay_s=0.0)
    assert own_queue_bytes(own, paths) == 25_000_000
    assert own_queue_bytes(own, paths[:1]) == round(1e9 * 0.0456 / 8)
    assert own_queue_bytes(Direction(rate_bps=1e6, delay_s=0.0), paths) == MTU_9000_QUEUE
    assert own_queue_bytes(Direction(rate_bps=1e9, queue_bytes=7), paths) == 7
