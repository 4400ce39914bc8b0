"""What is known of several destinations as text."""

import msgspec
import pytest

from advisor.domain.shares import Streams
from advisor.models.shares.features import Form, Load
from advisor.models.shares.fitting import ShareModel
from advisor.models.shares.marginal import Change
from advisor.report.share_models import (
    Learnt,
    change_rows,
    change_sentence,
    compared_columns,
    compared_rows,
    formula,
    formula_lines,
    learnt_rows,
    streams_words,
    symbols_line,
)


def _model(
    form: Form, weights: list[float], load: Load = Load.NONE, intercept: float = 9.996
) -> ShareModel:
    return ShareModel(
        form=form,
        load=load,
        weights=weights,
        load_weight=0.028 if load is not Load.NONE else 0.0,
        intercept=intercept,
        usual_load=0.0,
        regulariser=0.0,
        training_error=0.058,
        validation_error=0.1121,
    )


@pytest.mark.parametrize(
    ("model", "words"),
    [
        # As table IV of the paper has that of Blacklight.
        (
            _model(Form.LOG, [-0.283, 0.868], Load.EL1),
            "DC^0.868 × AEL1{0.028} × 2^9.996 / SC^0.283",
        ),
        (_model(Form.LOG, [0.1, 0.868], Load.EL3), "DC^0.868 × SC^0.100 × EL3^0.028 × 2^9.996"),
        (_model(Form.LOG, [-0.2, -0.1]), "2^9.996 / DC^0.100 / SC^0.200"),
        (
            _model(Form.LINEAR, [16.25, -5.217], Load.EL2, -29.64),
            "16.25 DC − 5.217 SC + 0.028 EL2 − 29.64",
        ),
        (_model(Form.RATIO, [-104.7]), "−104.7 DC/SC + 9.996"),
        (_model(Form.DC_ONLY, [2.0]), "2 DC + 9.996"),
        (_model(Form.SC_ONLY, [2.0]), "2 SC + 9.996"),
        (_model(Form.MEAN, []), "9.996"),
    ],
    ids=["log", "EL3", "fractions", "linear", "ratio", "DC", "SC", "mean"],
)
def test_a_model_is_a_formula(model: ShareModel, words: str) -> None:
    assert formula(model) == words


def test_the_formula_is_what_the_model_predicts() -> None:
    log, linear = _model(Form.LOG, [-0.283, 0.868]), _model(Form.LINEAR, [-5.217, 16.25])
    assert log.predict_bps(3, 7) / 1e6 == pytest.approx(3**0.868 * 2**9.996 / 7**0.283)
    assert formula(linear) == "−5.217 DC + 16.25 SC + 9.996"
    assert linear.predict_bps(3, 7) / 1e6 == pytest.approx(-5.217 * 3 + 16.25 * 7 + 9.996)


KRAKEN = Learnt(
    destination="lab:five:kraken",
    tool="globus-url-copy",
    parallelism=8,
    samples=30,
    streams=(2, 8),
    concurrency=(1, 6),
    source_concurrency=(5, 5),
    model=_model(Form.LOG, [-0.283, 0.868]),
)
MASON = msgspec.structs.replace(
    KRAKEN,
    destination="lab:five:mason",
    samples=0,
    streams=None,
    concurrency=None,
    source_concurrency=None,
    model=None,
)


def test_what_is_known_of_each() -> None:
    assert learnt_rows([KRAKEN, MASON]) == [
        ["kraken", "30", "1 to 6", "5", "5.8%", "11.2%"],
        ["mason", "0", "none", "none", "too few", "too few"],
    ]
    assert formula_lines([KRAKEN, MASON]) == ["kraken: DT = DC^0.868 × 2^9.996 / SC^0.283"]


def test_letters_are_explained() -> None:
    assert "EL" not in symbols_line(Load.NONE)
    assert symbols_line(Load.EL2).endswith("EL2: the external load")


def test_streams_have_exponents_where_they_were_varied() -> None:
    model = msgspec.structs.replace(
        _model(Form.LOG, [-0.283, 0.868, 0.4, -0.2]), streams=Streams(8, 8)
    )
    assert formula(model) == "DC^0.868 × P^0.400 × 2^9.996 / SC^0.283 / (F/SC)^0.200"
    assert "F: streams to all" in symbols_line(Load.NONE, has_streams=True)
    assert streams_words([KRAKEN, MASON]) == "2 to 8 streams"
    assert streams_words([MASON]) == "8 streams"


def test_a_stream_that_was_not_measured_has_no_figures() -> None:
    rows = change_rows({"a": 2}, _changes(a=1.5e8), [])
    assert [row[-1] for row in rows] == ["–", "–"]


def test_models_are_compared_with_their_means() -> None:
    assert compared_columns([(Form.LOG, Load.EL1), (Form.LOG, Load.NONE), (Form.MEAN, Load.NONE)])[
        1:
    ] == ("log, EL1", "log", "mean only")
    assert compared_rows({"lab:x:a": [0.1, 0.2], "lab:x:b": [0.3, None]}) == [
        ["a", "10.0%", "20.0%"],
        ["b", "30.0%", "too few"],
        ["mean", "20.0%", "20.0%"],
    ]
    assert compared_rows({"a": [0.1]}) == [["a", "10.0%"]]


def _changes(**after_bps: float) -> list[Change]:
    return [
        Change(destination=name, before_bps=1e8, after_bps=bps) for name, bps in after_bps.items()
    ]


def test_a_change_is_summed_up() -> None:
    rows = change_rows({"a": 2, "b": 3}, _changes(a=1.5e8, b=0.8e8), _changes(a=1.25e8, b=0.9e8))
    assert rows == [
        ["a", "2", "100 Mbit/s", "150 Mbit/s", "125 Mbit/s"],
        ["b", "3", "100 Mbit/s", "80 Mbit/s", "90 Mbit/s"],
        ["all", "5", "200 Mbit/s", "230 Mbit/s", "215 Mbit/s"],
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            _changes(a=1.5e8, b=0.8e8),
            "It gains a 50 Mbit/s and costs the others 20 Mbit/s: all together get 30 Mbit/s more.",
        ),
        (
            _changes(a=1.1e8, b=0.7e8),
            "It gains a 10 Mbit/s and costs the others 30 Mbit/s: all together get 20 Mbit/s less.",
        ),
        (
            _changes(a=0.9e8, b=0.7e8),
            "It costs a 10 Mbit/s and the others 30 Mbit/s: all together get 40 Mbit/s less.",
        ),
        (_changes(a=1.5e8), "It gains a 50 Mbit/s."),
    ],
    ids=["a gain", "a loss in all", "all lose", "alone"],
)
def test_a_change_in_words(changes: list[Change], words: str) -> None:
    assert change_sentence("It", "a", changes) == words
