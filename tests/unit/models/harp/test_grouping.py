"""Groups by conditions and time."""

import msgspec
import numpy as np
import pytest

from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.harp.entries import History
from advisor.models.harp.grouping import groups
from tests.unit.models.harp.worlds import DAY_S, LAN, WAN


def entry(when_s: float | None, conditions: Conditions = WAN) -> PastTransfer:
    one = Levels(concurrency=1, parallelism=1)
    return PastTransfer(conditions=conditions, levels=one, throughput_bps=1e9, when_s=when_s)


def grouped(entries: list[PastTransfer]) -> list[list[int]]:
    history = History.of(entries)
    found = groups(history, np.arange(len(history)))
    return sorted(rows.tolist() for rows in found)


def test_a_group_spans_a_day_from_its_first_entry() -> None:
    entries = [entry(0), entry(DAY_S - 1), entry(DAY_S + 1), entry(1.9 * DAY_S), entry(9 * DAY_S)]
    assert grouped(entries) == [[0, 1], [2, 3], [4]]


def test_a_pause_that_is_long_beside_the_others_ends_a_group() -> None:
    sweep = [entry(5.0 * n) for n in range(10)] + [entry(300.0 + 5.0 * n) for n in range(10)]
    assert grouped(sweep) == [list(range(10)), list(range(10, 20))]
    slow = [entry(600.0 * n) for n in range(10)] + [entry(9000.0 + 600.0 * n) for n in range(10)]
    assert grouped(slow) == [list(range(20))]


def test_order_in_the_history_does_not_matter_where_times_are_known() -> None:
    assert grouped([entry(9 * DAY_S), entry(5), entry(0)]) == [[0], [2, 1]]


def test_other_conditions_are_other_groups() -> None:
    other = msgspec.structs.replace(WAN, network="elsewhere")
    larger = msgspec.structs.replace(WAN, file_bytes=3 * WAN.file_bytes)
    assert grouped([entry(0), entry(0, LAN), entry(0, other), entry(1), entry(1, larger)]) == [
        [0, 3],
        [1],
        [2],
        [4],
    ]


@pytest.mark.parametrize(("field", "factor"), [("rtt_s", 1.05), ("file_bytes", 1.5)])
def test_what_is_measured_anew_each_time_need_not_be_the_same(field: str, factor: float) -> None:
    again = msgspec.structs.replace(WAN, **{field: factor * getattr(WAN, field)})
    assert grouped([entry(0), entry(1, again)]) == [[0, 1]]


def test_entries_without_a_time_or_figures_are_groups_of_their_own() -> None:
    silent = Conditions(file_bytes=3e9, network="wan")
    entries = [entry(None), entry(0), entry(None), entry(0, silent), entry(1, silent)]
    assert grouped(entries) == [[0, 2], [1], [3, 4]]


def test_only_the_rows_asked_for_are_grouped() -> None:
    history = History.of([entry(0), entry(0, LAN), entry(1)])
    assert [rows.tolist() for rows in groups(history, np.array([2, 0]))] == [[0, 2]]
    assert groups(history, np.array([], dtype=np.intp)) == []
