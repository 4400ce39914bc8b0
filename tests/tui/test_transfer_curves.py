"""What a transfer's story puts on its charts."""

import pytest

from advisor.domain.events import LoadChanged
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.features.transfer.widgets.transfer_curves import (
    clock_of,
    interval_steps,
    load_marks,
    load_words,
    setting_series,
    throughput_series,
)

from . import tuned


def test_steps_begin_and_end_where_epochs_do() -> None:
    steps = interval_steps([(15.0, 1.0), (45.0, 3.0), (75.0, 2.0)])
    assert steps == [(0.0, 1.0), (30.0, 3.0), (60.0, 2.0), (90.0, 2.0)]


@pytest.mark.parametrize(
    ("seconds", "word", "end"),
    [(5, "seconds", 60.0), (1210, "minutes", 25.0), (19000, "hours", 6.0)],
)
def test_the_axis_counts_in_what_reads_well(seconds: int, word: str, end: float) -> None:
    clock = clock_of(TransferModel([tuned.moving(float(seconds), 1, 1e9)]))
    assert clock.word == f"{word} since the start"
    assert clock.end == end


def test_both_charts_are_in_the_unit_of_the_axis() -> None:
    model = TransferModel(tuned.under_way(1200))
    clock = clock_of(model)
    ends = [
        series.xs[-1]
        for series in (*throughput_series(model, clock), *setting_series(model, clock))
    ]
    assert max(ends) == pytest.approx(1202 / 60)


def test_epochs_are_marked_while_there_are_few() -> None:
    few = TransferModel(tuned.under_way(400))
    marked = [s for s in throughput_series(few, clock_of(few)) if s.mark]
    assert [len(s.xs) for s in marked] == [13]
    assert marked[0].highs is not None
    many = TransferModel(tuned.under_way(30 * 50))
    assert not any(s.mark for s in throughput_series(many, clock_of(many)))


def test_the_setting_holds_up_to_now() -> None:
    model = TransferModel(tuned.under_way(40))
    files = setting_series(model, clock_of(model))[0]
    assert list(zip(files.xs, files.ys, strict=True)) == [(2.0, 2), (32.0, 3), (42.0, 3)]


def test_marks_of_the_setting_stay_few() -> None:
    model = TransferModel()
    for number in range(200):
        model.concurrency.add(float(number), 1 + number % 2)
    model.at_s = 200.0
    marks = next(s for s in setting_series(model, clock_of(model)) if s.mark)
    assert len(marks.xs) == 40


def test_the_last_loads_have_a_word_each() -> None:
    model = TransferModel(
        LoadChanged(at_s=10.0 * number, transfers=number, compute=0) for number in range(5)
    )
    marks = load_marks(model, clock_of(model))
    assert [mark.x for mark in marks] == [0.0, 10.0, 20.0, 30.0, 40.0]
    names = ["", "", "load: 2 other streams", "load: 3 other streams", "load: 4 other streams"]
    assert [mark.name for mark in marks] == names


@pytest.mark.parametrize(
    ("transfers", "compute", "words"),
    [
        (0, 0, "load: none"),
        (1, 0, "load: 1 other stream"),
        (16, 4, "load: 16 other streams, 4 computing processes"),
    ],
)
def test_a_load_in_words(transfers: int, compute: int, words: str) -> None:
    assert load_words(LoadChanged(at_s=0.0, transfers=transfers, compute=compute)) == words
