"""The comparison of two profiles as tables and lines of text."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from advisor.domain.advice import Estimate
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_rate
from advisor.domain.space import setting_words
from advisor.models.profile_comparison import FALSE_DISCOVERIES, CellChange, ProfileComparison
from advisor.traits import subject_name

CHANGE_COLUMNS: Final = ("setting", "first", "second", "second to first", "90 % interval", "")
FACT_COLUMNS: Final = ("of the hosts and the path", "first", "second")
_PASSING: Final = frozenset({"load_1min", "clock_s", "clock_offset_s"})
"""Facts that differ between any two moments."""


def summary_lines(comparison: ProfileComparison) -> Iterator[str]:
    """How many settings changed, and by how much on the whole."""
    cells = comparison.cells
    if not cells:
        yield "The two profiles have no setting in common."
        return
    changed = sum(one.changed for one in cells)
    untested = sum(one.ratio is None for one in cells)
    yield (
        f"{changed} of {len(cells)} common settings changed clearly (Welch's t-test, at most "
        f"{FALSE_DISCOVERIES:.0%} false discoveries, Benjamini-Hochberg)."
    )
    if untested:
        yield f"{untested} were not tested: they need two measurements in each profile."
    for subject, ratio in comparison.overall.items():
        yield f"{subject_name(subject)} on the whole: {ratio_words(ratio)} {interval_words(ratio)}"
    for count, which in ((comparison.only_first, "first"), (comparison.only_second, "second")):
        if count:
            yield f"{count} settings were measured in the {which} profile only."


def ratio_words(ratio: Estimate) -> str:
    """A ratio as a relative change: `+12 %`."""
    return f"{ratio.value - 1:+.1%}"


def interval_words(ratio: Estimate) -> str:
    """Its interval: `(+8 % to +16 %)`."""
    low, high = ratio.interval
    return f"({low - 1:+.1%} to {high - 1:+.1%})"


def change_row(change: CellChange) -> list[str]:
    """The cells of one setting under CHANGE_COLUMNS."""
    subject, key = change.cell
    ratio = change.ratio
    return [
        f"{subject_name(subject)}: {setting_words(dict(key))}",
        format_rate(change.first_bps),
        format_rate(change.second_bps),
        ratio_words(ratio) if ratio else f"{change.second_bps / change.first_bps - 1:+.1%}",
        interval_words(ratio) if ratio else "not tested",
        "changed" if change.changed else "",
    ]


def by_size(comparison: ProfileComparison, *, all_cells: bool) -> list[CellChange]:
    """The settings that changed, or all of them, the largest change first."""
    shown = [one for one in comparison.cells if all_cells or one.changed]
    return sorted(shown, key=_size, reverse=True)


def _size(change: CellChange) -> tuple[bool, float]:
    ratio = change.second_bps / change.first_bps
    return change.changed, max(ratio, 1 / ratio)


def fact_rows(first: PathFacts | None, second: PathFacts | None) -> list[list[str]]:
    """What differs between the hosts and paths of the two, where both are recorded."""
    if first is None or second is None:
        return []
    ours, theirs = (dict(_facts(msgspec.to_builtins(path))) for path in (first, second))
    names = dict.fromkeys([*ours, *theirs])
    return [
        [name, ours.get(name, "-"), theirs.get(name, "-")]
        for name in names
        if ours.get(name) != theirs.get(name)
    ]


def _facts(found: dict[str, Any], of: str = "") -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _facts(value, f"{of}{name} ")
        elif name not in _PASSING:
            yield f"{of}{name}", _value_words(value)


def _value_words(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(str(one) for one in value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
