"""The methods that learn from past transfers and those that do not, with each file held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import mean, median
from typing import TypeAlias

import numpy as np

from advisor import registry
from advisor.api.method import Knowledge, MethodPlugin
from advisor.backtest.recorded import RecordedTable
from advisor.domain.space import flows_of
from tests.benchmarks.markdown import table_text
from tests.benchmarks.methods.held_out import Scenario
from tests.benchmarks.methods.prior import without
from tests.benchmarks.methods.searching import Searched, WithConstants, lead

Row: TypeAlias = tuple[str, Sequence[Searched]]

LONGEST = 16
"""Probes of a search whose progress is evaluated."""

ENOUGH = 0.95
_AFTER = (1, 2, 3, 4, 8, LONGEST)
_OWN_END = 48
_KNOWS = "prior of the other files"
_ALONE = "no prior"
_SURFACES = "their surfaces"
_PEAK = "their surfaces, first probe at HARP's peak"


def contenders() -> Iterator[tuple[str, MethodPlugin, bool, int]]:
    """Title, method, whether it has the other files, and probes at most."""
    for name in ("globus-default", "single-chunk", "promc", "pcp"):
        yield name, registry.method(name), False, _OWN_END
    harp = registry.method("harp")
    yield "harp", harp, True, _OWN_END
    for title, share in (("the paper's relaxation, 0.7", 0.7), ("nothing relaxed", 1.0)):
        yield f"harp, {title}", WithConstants(harp, {"relaxation": share}), True, _OWN_END
    yield "ann-ot", registry.method("ann-ot"), True, _OWN_END


def scenarios() -> list[Scenario]:
    """bayes with and without the past, at 2 and 8 probes and at as many as show its pace."""
    found = []
    for budget in (2, 8, LONGEST):
        found += [
            Scenario(_KNOWS, budget=budget),
            Scenario(f"{_KNOWS}, {_SURFACES}", budget=budget, history=True),
            Scenario(f"{_KNOWS}, {_PEAK}", budget=budget, history=True, peak=True),
        ]
    return [
        *found,
        Scenario(_ALONE, budget=LONGEST, prior=False),
        Scenario(f"{_ALONE}, {_SURFACES}", budget=LONGEST, prior=False, history=True),
        Scenario(f"{_ALONE}, {_PEAK}", budget=LONGEST, prior=False, history=True, peak=True),
    ]


def taught(tables: Sequence[RecordedTable]) -> Callable[[RecordedTable], Knowledge]:
    """The knowledge for a table's search, with all records of the other files."""
    return lambda table: table.knowledge(without(tables, table.source))


def shares_text(rows: Sequence[Row]) -> str:
    """The score of each, with its probes and flows."""
    head = ("method", "mean", "median", "p10", "probes", "flows ÷ best's")
    return table_text(head, [(title, *_shares(searched)) for title, searched in rows])


def _shares(searched: Sequence[Searched]) -> tuple[str, ...]:
    fractions = [one.end.fraction for one in searched]
    best_flows = mean(flows_of(one.table.setting(one.table.best_cell)) for one in searched)
    return (
        f"{mean(fractions):.3f}",
        f"{median(fractions):.3f}",
        f"{np.quantile(fractions, 0.1):.3f}",
        f"{mean(one.end.probes for one in searched):.1f}",
        f"{mean(one.end.flows for one in searched):.0f} / {best_flows:.0f}",
    )


def probes_to(one: Searched, share: float = ENOUGH) -> int:
    """After how many probes it would first have recommended this much of the best.

    One more than the longest where it never would. Searched with its regret.
    """
    reached = [place for place, (_, regret) in enumerate(one.end.regret) if 1 - regret >= share]
    return reached[0] + 1 if reached else LONGEST + 1


def share_after(one: Searched, probes: int) -> float:
    """What it would have recommended then, as a share of the best. Searched with its regret."""
    _, regret = one.end.regret[min(probes, len(one.end.regret)) - 1]
    return 1 - regret


def pace_text(rows: Sequence[Row]) -> str:
    """Probes until what it recommends is within 5 % of the best, and the mean share on the way."""
    head = (
        "bayes knows",
        f"probes to {ENOUGH:.0%}: mean",
        "median",
        "never",
        *(f"after {probes}" for probes in _AFTER),
        "probes in all",
    )
    return table_text(head, [(title, *_pace(searched)) for title, searched in rows])


def _pace(searched: Sequence[Searched]) -> tuple[str, ...]:
    probes = [probes_to(one) for one in searched]
    return (
        f"{mean(probes):.2f}",
        f"{median(probes):g}",
        f"{mean(one > LONGEST for one in probes):.0%}",
        *(f"{mean(share_after(one, after) for one in searched):.3f}" for after in _AFTER),
        f"{mean(one.end.probes for one in searched):.1f}",
    )


def gains_text(rows: Sequence[Row]) -> str:
    """What the first probe at HARP's peak adds to each of the others with the same prior."""
    lines = []
    for with_peak, peaked in rows:
        if not with_peak.endswith(_PEAK):
            continue
        same_prior = with_peak.removesuffix(_PEAK)
        for title, others in rows:
            if title != with_peak and f"{title}, ".startswith(same_prior):
                at_8 = lead(peaked, others, lambda one: share_after(one, 8))
                lines.append((with_peak, title, lead(peaked, others, probes_to), at_8))
    head = ("bayes knows", "against", f"probes to {ENOUGH:.0%}", "share after 8")
    return table_text(head, lines)
