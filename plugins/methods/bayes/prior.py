"""The shipped prior of bayes: the coefficients of log rate, with their uncertainty."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

# (mean for files of 32 MiB, change for files 32 times as large, standard deviation between paths)
# of each coefficient of log rate. Least squares on φ over the 216 cell medians of 14 conditions
# (4 public GridFTP records, RTT 40 and 44 ms, files of 3 MB to 3 GB); mean and change by regression
# on log file size, in which "size does not matter" has the weight of one condition. Leaving out
# any one record moves no mean by more than 0.05.
Row: TypeAlias = tuple[float, float, float]
PRIOR: Final[Mapping[tuple[str, ...], Row]] = {
    ("concurrency",): (0.60, -0.05, 0.09),
    ("parallelism",): (0.10, 0.15, 0.05),
    ("pipelining",): (-0.05, -0.08, 0.04),
    ("concurrency", "concurrency"): (0.08, -0.01, 0.06),
    ("concurrency", "parallelism"): (0.04, 0.08, 0.06),
    ("concurrency", "pipelining"): (-0.08, 0.01, 0.06),
    ("parallelism", "parallelism"): (-0.05, -0.06, 0.04),
    ("parallelism", "pipelining"): (-0.03, -0.04, 0.03),
    ("pipelining", "pipelining"): (-0.03, 0.01, 0.03),
}
BY_ITSELF: Final = "by itself"
"""In a term: the parameter is left to the kernel."""

# Against the largest value that may be asked for. Autotuning may be allowed much more than a
# program is, or less, so either is as likely.
_CHOICE: Final[Row] = (0.0, 0.0, 0.4)
_CHOICE_MIXED: Final[Row] = (0.0, 0.0, 0.2)
# For any other parameter: a rise that levels off at the upper bound, with a wide spread.
_RISE: Final[Row] = (0.3, 0.0, 0.3)
_BEND: Final[Row] = (-0.1, 0.0, 0.15)
_MIXED: Final[Row] = (0.0, 0.0, 0.07)


def row_of(term: tuple[str, ...], shipped: bool) -> Row:
    """The row of a term of φ; `shipped` False: as if nothing were known."""
    if term[0] == BY_ITSELF:
        return _CHOICE if len(term) == 1 else _CHOICE_MIXED
    general = _RISE if len(term) == 1 else _BEND if term[0] == term[1] else _MIXED
    if not shipped:
        return general
    return PRIOR.get(term) or PRIOR.get(term[::-1]) or general


def ships(names: Sequence[str]) -> bool:
    """Whether there are rows for a space of these parameters."""
    return all((name,) in PRIOR for name in names)
