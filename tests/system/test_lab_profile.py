"""`advisor lab profile`: throughput against the round-trip time on emulated paths."""

import json
import os
import signal
from pathlib import Path

import pytest

from advisor.store.history import Store
from advisor.store.profiles import stored_profiles

from .labs import need_labs
from .program import Start, wait_until

QUICK = [
    *("--rtts", "2ms,30ms", "--rate", "100Mbit", "--repeats", "1", "--congestion", "reno"),
    *("--transports", "tcp", "--set", "streams=1,2", "--set", "buffer=auto"),
]


@pytest.fixture(autouse=True)
def _labs_can_be_made() -> None:
    need_labs()


def test_each_rtt_is_a_profile_and_the_lab_is_gone(start: Start, tmp_path: Path) -> None:
    figure = tmp_path / "rtts.svg"
    done = start("lab", "profile", "--name", "slopes", "--plot", str(figure), *QUICK).finish()
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("TCP")]
    assert [row.split("  ")[0] for row in rows] == [
        "TCP, reno, 1 flow",
        "TCP, reno, 2 flows",
        "TCP, best",
    ]
    assert all(row.count("bit/s") == 2 for row in rows)
    assert "fewer than 4 RTTs" in done.stdout
    assert figure.read_text().startswith("<?xml")
    listed = start("profile", "list").finish().stdout
    assert listed.count("complete") == 2
    assert "no lab is up" in start("lab", "status").finish().stdout
    again = start("lab", "profile", "--name", "slopes", *QUICK).finish()
    assert again.stderr.count("measured before") == 2
    assert again.stdout == done.stdout
    boxes = json.loads(
        start("profile", "rtt", "slopes-rtt-2ms", "slopes-rtt-30ms", "--json").finish().stdout
    )
    assert {round(box["rtt_s"], 2) for box in boxes} == {0.00, 0.03}


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)]
)
def test_cut_short_it_takes_the_lab_down_and_resumes(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    first = start("lab", "profile", "--name", "slopes", *QUICK)
    # Read here: a program of its own may take longer to start than the profile has left.
    history = Store(tmp_path / "data" / "advisor" / "history")
    assert wait_until(lambda: bool(stored_profiles(history)))
    os.kill(first.process.pid, number)
    assert first.finish().returncode == 130
    assert "no lab is up" in start("lab", "status").finish().stdout
    done = start("lab", "profile", "--name", "slopes", *QUICK).finish()
    assert done.returncode == 0, done.stderr
    assert start("profile", "list").finish().stdout.count("complete") == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rtts", "0ms"], "above zero"),
        (["--rtts", "x"], "--rtts"),
        (["--rtt", "5ms"], "give --rtts"),
        (["--plot", "it.jpg"], "none of the formats"),
        (["--rtts", "1ms", "--rate", "900Tbit"], "rate"),
    ],
)
def test_what_cannot_be_measured_is_refused(start: Start, words: list[str], sentence: str) -> None:
    done = start("lab", "profile", *words).finish()
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "no lab is up" in start("lab", "status").finish().stdout
