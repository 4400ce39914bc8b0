"""What sessions with several destinations tell while they run."""

import io
import re

import pytest

from advisor.domain import events as ev
from advisor.domain.plan import ClassProgress
from advisor.domain.shares import ServedRow
from advisor.report.share_narration import ShareNarration

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TRAINING = ev.SharesStarted(
    at_s=1.0,
    session="feedcafe",
    purpose="train",
    source="dtn01",
    concurrency={"lab:five:kraken": 2},
    parallelism=8,
    epoch_s=10.0,
    lasts_s=40.0,
)
RUNNING = ev.SharesStarted(
    at_s=1.0,
    session="feedcafe",
    purpose="run",
    source="dtn01",
    concurrency={"lab:five:kraken": 2},
    parallelism=8,
    epoch_s=10.0,
    total_bytes={"lab:five:kraken": 2**30},
)


def seen(epoch: int) -> ev.SharesSeen:
    row = ServedRow(destination="lab:five:kraken", concurrency=2, measured_bps=2.51e7)
    return ev.SharesSeen(at_s=1.0 + 10 * epoch, epoch=epoch, rows=[row])


def moving(at_s: float) -> ev.FilesMoving:
    classes = [
        ClassProgress(
            size=f"lab:five:{name}",
            files=0,
            total_files=4,
            moved_bytes=2**29,
            total_bytes=2**30,
            rate_bps=9.41e9,
            clients=4,
            parallelism=8,
        )
        for name in ("kraken", "blacklight")
    ]
    return ev.FilesMoving(at_s=at_s, phase="transfer", classes=classes)


class Terminal(io.StringIO):
    """It says that it is one."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def narrated(*events: ev.AnyEvent, bars: bool = False) -> str:
    stream = Terminal()
    with ShareNarration(stream, bars=bars) as narration:
        for event in events:
            narration(event)
    return ANSI.sub("", stream.getvalue())


def test_an_experiment_is_a_line_for_each_step() -> None:
    started, first, second = narrated(TRAINING, seen(1), seen(2)).splitlines()
    assert "steps of at most 10 s, 40 s in all" in started
    assert first == "  step 1: kraken 25.1 Mbit/s with 2"
    assert second.startswith("  step 2: ")


def test_a_run_is_a_line_for_each_epoch_and_change() -> None:
    changed = ev.SharesChanged(at_s=12.0, epoch=1, old={"a": 1}, new={"a": 2}, reason="why")
    ended = ev.DestinationEnded(at_s=20.0, destination="a", complete=True, message="all is there")
    lines = narrated(RUNNING, seen(1), changed, ended).splitlines()
    assert lines[1:] == [
        "  epoch 1: kraken 25.1 Mbit/s with 2",
        "  epoch 1: now a 2 (why)",
        "  a: all is there",
    ]


def test_how_far_it_is_is_said_now_and_then() -> None:
    lines = narrated(RUNNING, moving(11.0), moving(12.0), moving(22.0)).splitlines()[1:]
    assert lines == ["  moving: " + ", ".join(_far(name) for name in ("kraken", "blacklight"))] * 2


def _far(name: str) -> str:
    return f"{name} 512 MiB of 1 GiB (9.41 Gbit/s)"


def test_on_a_terminal_each_destination_has_a_bar() -> None:
    text = narrated(RUNNING, moving(11.0), bars=True)
    for name in ("kraken", "blacklight", "all"):
        assert re.search(rf"{name} +━+.* 50 %", text)
    assert "lab:five" not in text.partition("\n")[2]


def test_on_a_terminal_the_time_of_an_experiment_has_one() -> None:
    text = narrated(TRAINING, seen(1), bars=True)
    assert re.search(r"experiment +.* 25 % 30 s left", text)
    assert "%" not in narrated(RUNNING, seen(1), bars=True)


def test_notices_are_reported_too() -> None:
    assert narrated(ev.Notice(at_s=1.0, message="kraken: resumes")) == "advisor: kraken: resumes\n"
