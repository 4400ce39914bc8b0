"""The time left, from the first second on."""

import msgspec
import pytest

from advisor.domain.events import FilesMoving
from advisor.domain.plan import ClassProgress
from advisor.report.time_left import about_left_s, time_left_text


def moving(lasts_s: float, rate_bps: float = 8e6, **more: object) -> FilesMoving:
    """This many seconds before the end at this rate."""
    one = ClassProgress(
        size="all",
        files=0,
        total_files=1,
        moved_bytes=10**6,
        total_bytes=10**6 + round(lasts_s * rate_bps / 8),
        rate_bps=rate_bps,
        clients=1,
        parallelism=1,
        concurrency=1,
    )
    return FilesMoving(at_s=1.0, **({"phase": "transfer", "classes": [one]} | more))  # type: ignore[arg-type]  # any of them


@pytest.mark.parametrize(
    ("left_s", "text"),
    [
        (0.2, "about 1 s left"),
        (99.0, "about 1 min 39 s left"),
        (243.0, "about 4 min left"),
        (3700.0, "about 1 h 2 min left"),
        (40000.0, "about 11 h 10 min left"),
    ],
)
def test_it_is_what_is_left_at_the_present_rate(left_s: float, text: str) -> None:
    assert time_left_text(moving(left_s)) == text


def test_an_estimate_has_its_interval() -> None:
    event = moving(50.0, left_s=(60.0, 50.0, 90.0))
    assert about_left_s(event) == 60.0
    assert time_left_text(event) == "1 min left (90 %: 50 s to 1 min 30 s)"


def test_nothing_is_estimated_where_nothing_moves_or_only_a_sample_does() -> None:
    [one] = moving(50.0).classes
    stalled = moving(50.0, classes=[msgspec.structs.replace(one, rate_bps=0.0)])
    assert about_left_s(stalled) is None
    assert time_left_text(stalled) == ""
    assert about_left_s(moving(50.0, phase="sample")) is None
