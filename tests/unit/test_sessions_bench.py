"""The bench of simulated sessions: its paths, and its table from made-up sessions."""

from tests.benchmarks.sessions.__main__ import Row, page_text, random_path


def row(*, decides: bool, seconds: float) -> Row:
    return Row(
        method="bayes",
        decides=decides,
        fraction=0.98,
        spare_flows=0,
        seconds=seconds,
        gigabytes=0.4,
        probes=5,
        inside=0.9,
        gain_reached=None,
        no_gain=True,
        beyond_link=1.0,
    )


def test_numbers_decide_the_paths() -> None:
    assert random_path(3) == random_path(3)
    assert random_path(3) != random_path(4)


def test_both_kinds_of_sessions_are_side_by_side() -> None:
    rows = [row(decides=True, seconds=9.0), row(decides=False, seconds=60.0)]
    text = page_text(rows, range(1, 2), "any", "python -m bench")
    assert "|  | bayes, decides | bayes, fixed time |" in text
    assert "| seconds: median | 9 | 60 |" in text
    assert "| gain's lower end reached | – | – |" in text
