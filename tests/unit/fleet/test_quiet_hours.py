from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from advisor.fleet.plan.quiet_hours import QuietHours, Window

BERLIN = ZoneInfo("Europe/Berlin")


def at(*when: int) -> float:
    return datetime(*when, tzinfo=BERLIN).timestamp()  # type: ignore[arg-type,misc] # year to minute


def quiet(*texts: str) -> QuietHours:
    return QuietHours("Europe/Berlin", tuple(map(Window.parse, texts)))


@pytest.mark.parametrize(
    ("texts", "now", "period"),
    [
        (["08:00-18:00"], (2026, 11, 24, 7, 0), ((2026, 11, 24, 8, 0), (2026, 11, 24, 18, 0))),
        (["08:00-18:00"], (2026, 11, 24, 9, 0), ((2026, 11, 24, 8, 0), (2026, 11, 24, 18, 0))),
        (["08:00-18:00"], (2026, 11, 24, 18, 0), ((2026, 11, 25, 8, 0), (2026, 11, 25, 18, 0))),
        (["22:00-06:00"], (2026, 11, 24, 3, 0), ((2026, 11, 23, 22, 0), (2026, 11, 24, 6, 0))),
        (
            ["Sat,Sun 00:00-24:00"],
            (2026, 11, 24, 3, 0),
            ((2026, 11, 28, 0, 0), (2026, 11, 30, 0, 0)),
        ),
        (
            ["Fri-Mon 00:00-24:00"],
            (2026, 11, 28, 3, 0),
            ((2026, 11, 27, 0, 0), (2026, 12, 1, 0, 0)),
        ),
        # The clock goes back in the night to 25 October 2026: it is one hour longer.
        (["00:00-06:00"], (2026, 10, 24, 12, 0), ((2026, 10, 25, 0, 0), (2026, 10, 25, 6, 0))),
    ],
)
def test_the_next_period(
    texts: list[str], now: tuple[int, ...], period: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    assert quiet(*texts).following(at(*now)) == (at(*period[0]), at(*period[1]))


def test_a_night_in_which_the_clock_goes_back_is_an_hour_longer() -> None:
    start_s, end_s = quiet("00:00-06:00").following(at(2026, 10, 24, 12, 0))
    assert end_s - start_s == 7 * 3600


def test_the_share_of_a_week() -> None:
    assert quiet("00:00-12:00").share == pytest.approx(0.5)
    assert quiet("Sun 12:00-12:00", "Mon 00:00-12:00").share == pytest.approx(1 / 7)
    assert quiet("Sat,Sun 00:00-24:00").share == pytest.approx(2 / 7)


def test_the_longest_gap() -> None:
    assert quiet("22:00-06:00").longest_gap_s() == 16 * 3600
    assert quiet("Mon 00:00-24:00").longest_gap_s() == 6 * 86_400
    assert quiet("00:00-24:00").longest_gap_s() == 0


@pytest.mark.parametrize(
    "text", ["", "8-18", "24:00-02:00", "12:61-13:00", "Mon-Tue-Wed 01:00-02:00"]
)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        Window.parse(text)


@pytest.mark.parametrize(
    "text",
    ["22:00-06:00", "Mon-Fri 08:00-18:00", "Sat-Sun 00:00-24:00", "Mon,Wed-Fri,Sun 09:05-10:00"],
)
def test_windows_are_named_as_they_are_written(text: str) -> None:
    assert str(Window.parse(text)) == text


def test_of_many_windows_the_first_are_named() -> None:
    texts = [f"0{hour}:00-0{hour}:30" for hour in range(5)]
    assert str(quiet(*texts)) == f"{', '.join(texts[:3])} and 2 more Europe/Berlin"
