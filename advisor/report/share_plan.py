"""A plan for several destinations as text."""

import textwrap
from collections.abc import Iterable
from typing import Final

from advisor.domain.quantities import format_rate, format_rates
from advisor.domain.shares import SharePlan, ShareRow
from advisor.report.counting import counted
from advisor.report.share_names import by_tool, shown

COLUMNS: Final = ("destination", "requested", "as rate", "concurrency", "expected", "90 %")


def headline(plan: SharePlan) -> str:
    """The source, and the totals."""
    total = format_rate(sum(row.expected_bps for row in plan.rows))
    files = sum(row.concurrency for row in plan.rows)
    streams = f"{counted(plan.parallelism, 'stream')} each"
    return (
        f"Shares of {plan.source}: {total} together with {files} concurrent files, {streams}"
        f"{by_tool(plan.tool)}"
    )


def plan_rows(plan: SharePlan) -> list[list[str]]:
    """The table of destinations, under COLUMNS."""
    names = shown(row.destination for row in plan.rows)
    return [_row(names[one.destination], one) for one in plan.rows]


def _row(name: str, one: ShareRow) -> list[str]:
    return [
        name,
        one.asked.words,
        format_rate(one.asked_bps),
        str(one.concurrency),
        format_rate(one.expected_bps),
        format_rates(*one.interval_bps),
    ]


def remarks_text(plan: SharePlan, columns: int) -> str:
    """What cannot be met, notes, and the accuracy of the models."""
    names = shown(row.destination for row in plan.rows)
    missed = [f"{names[row.destination]}: {row.missed}" for row in plan.rows if row.missed]
    models = ", ".join(
        f"{names[row.destination]} {row.model_error:.0%} ({row.samples} measurements)"
        for row in plan.rows
    )
    sections = [
        _section("Cannot be met", missed, columns),
        _section("Notes", plan.notes, columns),
        _section(
            "Models",
            [
                f"{plan.model}, the present load by {plan.estimate}",
                f"mean error when validated: {models}",
            ],
            columns,
        ),
    ]
    return "\n\n".join(one for one in sections if one)


def _section(title: str, lines: Iterable[str], columns: int) -> str:
    body = [part for line in lines for part in _wrapped(f"- {line}", columns)]
    return "\n".join([title, *body]) if body else ""


def _wrapped(text: str, columns: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(40, columns),
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def lines_text(plan: SharePlan, columns: int) -> str:
    """The command lines, never wrapped, so that they can be copied. "" without any.

    A note that applies to several consecutive lines appears once.
    """
    lines = []
    said = ""
    for command in plan.commands:
        if command.note != said:
            lines += [f"  # {part.strip()}" for part in _wrapped(command.note, columns - 2)]
            said = command.note
        lines.append(f"  {command.shell}")
    order = "Run, all at once" if len(plan.commands) > 1 else "Run"
    return "\n".join([order, *lines]) if lines else ""
