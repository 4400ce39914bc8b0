import pytest

from advisor.lab.messages import Cut, ScheduledStep, SetLoad, SetPath
from advisor.lab.paths import Changes
from advisor.lab.schedule import BadSchedule, parse_schedule


def test_lines() -> None:
    assert parse_schedule(
        """
        # external traffic, then a bad minute
        at 60s: transfers 64
        at 2min: loss 1%, rate 500Mbit   # both at once

        at 150s: cut
        at 155s: restore
        """
    ) == [
        ScheduledStep(at_s=60, actions=[SetLoad(transfers=64)]),
        ScheduledStep(at_s=120, actions=[SetPath(changes=Changes(loss=0.01, rate_bps=500e6))]),
        ScheduledStep(at_s=150, actions=[Cut(is_cut=True)]),
        ScheduledStep(at_s=155, actions=[Cut(is_cut=False)]),
    ]


def test_nothing_is_no_steps() -> None:
    assert parse_schedule("") == []
    assert parse_schedule("# later\n\n") == []


@pytest.mark.parametrize("time", ["0", "0s"])
def test_at_once(time: str) -> None:
    assert parse_schedule(f"at {time}: cut") == [ScheduledStep(at_s=0, actions=[Cut(is_cut=True)])]


def test_hosts() -> None:
    steps = parse_schedule(
        "at 1s: kraken rtt 80ms, loss 0\nat 2s: kraken cut\nat 3s: kraken transfers 4, compute 2"
    )
    assert [step.actions for step in steps] == [
        [SetPath(changes=Changes(rtt_s=0.08, loss=0.0), host="kraken")],
        [Cut(is_cut=True, host="kraken")],
        [SetLoad(transfers=4, compute=2, host="kraken")],
    ]


def test_one_line_may_do_several_things() -> None:
    (step,) = parse_schedule("at 1s: transfers 4, restore, loss 0.5")
    assert step.actions == [
        Cut(is_cut=False),
        SetLoad(transfers=4),
        SetPath(changes=Changes(loss=0.5)),
    ]


def test_the_order_is_that_of_the_times_and_of_the_lines_at_one_time() -> None:
    steps = parse_schedule("at 2s: cut\nat 1s: loss 1%\nat 2s: restore")
    assert [step.at_s for step in steps] == [1, 2, 2]
    assert [step.actions for step in steps[1:]] == [[Cut(is_cut=True)], [Cut(is_cut=False)]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cut", ["at TIME: WHAT"]),
        ("at 5s cut", ["at TIME: WHAT"]),
        ("at 5s:", ["at TIME: WHAT"]),
        ("at soon: cut", ["not a duration"]),
        ("at -5s: cut", ["not a duration"]),
        ("at 5s: explode", ["explode", "transfers", "cut", "loss"]),
        ("at 5s: far", ["far"]),
        ("at 5s: far explode", ["explode"]),
        ("at 5s: loss 1%, far rate 5Mbit", ["far"]),
        ("at 5s: loss 1%,", ["comma"]),
        ("at 5s: ,", ["comma"]),
        ("at 5s: cut now", ["cut", "takes no value"]),
        ("at 5s: transfers", ["transfers", "128"]),
        ("at 5s: transfers 129", ["transfers", "128", "129"]),
        ("at 5s: transfers -1", ["transfers", "-1"]),
        ("at 5s: transfers ²", ["transfers"]),
        ("at 5s: compute many", ["compute", "256", "many"]),
        ("at 5s: loss much", ["loss", "much"]),
        ("at 5s: rate 1GB/s", ["rate", "bits"]),
        ("at 5s: mtu 1500", ["mtu", "while the lab is up"]),
        ("at 5s: tcp_buffer 4MB", ["tcp_buffer", "while the lab is up"]),
        ("at 5s: rtt 20s", ["rtt", "10"]),
        ("at 5s: loss 1%, loss 2%", ["loss", "twice"]),
        ("at 5s: cut, restore", ["cut", "restore"]),
    ],
)
def test_a_wrong_line_is_named_by_its_number(line: str, words: list[str]) -> None:
    with pytest.raises(BadSchedule) as caught:
        parse_schedule(f"# a schedule\n\nat 1s: cut\n{line}\nat 9s: restore")
    assert str(caught.value).startswith("line 4: ")
    for word in words:
        assert word in str(caught.value)
