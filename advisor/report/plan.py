"""A transfer plan as text."""

import textwrap
from collections.abc import Sequence
from typing import Final

from advisor.domain.events import PlanChanged
from advisor.domain.plan import ClassPlan, ClassProgress, TransferPlan
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.transfers import Levels
from advisor.report.evidence import evidence_lines

COLUMNS: Final = ("class", "files", "size", "concurrency × streams", "alone", "expected alone")


def plan_rows(plan: TransferPlan) -> list[list[str]]:
    """The table of classes, under COLUMNS."""
    return [_row(one) for one in plan.classes]


def _row(one: ClassPlan) -> list[str]:
    return [
        one.size,
        f"{one.files:,}".replace(",", " "),
        format_bytes(one.total_bytes),
        _levels(one.levels),
        _levels(one.alone),
        format_rate(one.expected_bps) if one.expected_bps else "not known",
    ]


def _levels(levels: Levels) -> str:
    return f"{levels.concurrency} × {levels.parallelism}"


def reasons_text(plan: TransferPlan, columns: int) -> str:
    """Why each class has its levels, whether a sample pays off, and further notes."""
    lines = []
    if len({one.reason for one in plan.classes}) == 1 and not plan.classes[0].evidence:
        lines += _wrapped(f"every class: {plan.classes[0].reason}", "  ", columns)
    else:
        lines += _by_class(plan.classes, columns)
    if plan.pay_off:
        lines += _wrapped(plan.pay_off, "  ", columns)
    lines += [part for note in plan.notes for part in _wrapped(note, "  ", columns)]
    return "\n".join(["Why", *lines])


def _by_class(classes: Sequence[ClassPlan], columns: int) -> list[str]:
    lines = []
    for one in classes:
        sample = ""
        if one.sample:
            sample = f"sample {_levels(one.sample.levels)}: "
            sample += f"{format_rate(one.sample.throughput_bps)}. "
        lines += _wrapped(f"{one.size}: {sample}{one.reason}", "  ", columns)
        if one.evidence:
            lines += [
                part
                for line in evidence_lines(one.evidence)
                for part in _wrapped(line, "    ", columns)
            ]
    return lines


def lines_text(plan: TransferPlan) -> str:
    """The command lines, never wrapped, so that they can be copied."""
    order = "all at once" if plan.order == "together" else "one after another"
    if len(plan.commands) == 1:
        order = "one line"
    lines = [f"Run, {order}"]
    for command in plan.commands:
        lines += [f"  # {command.note}", f"  {command.shell}"]
    return "\n".join(lines)


def _wrapped(text: str, indent: str, columns: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(40, columns),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def progress_words(classes: Sequence[ClassProgress]) -> str:
    """All classes in one line, where bars cannot be drawn."""
    return ", ".join(
        f"{one.size} {format_bytes(one.moved_bytes)} of {format_bytes(one.total_bytes)} "
        f"({format_rate(one.rate_bps)})"
        for one in classes
        if one.moved_bytes < one.total_bytes
    )


def changed_words(event: PlanChanged) -> str:
    """`epoch 9, tiny: 4 × 2 as if alone, now 8 × 2 (…)`."""
    old, new = _levels(event.old), _levels(event.new)
    return f"epoch {event.epoch}, {event.size}: {old} as if alone, now {new} ({event.reason})"


def left_words(left_s: tuple[float, float, float] | None) -> str:
    """`2 min 10 s left (90 %: 2 min to 2 min 30 s)`; "" until it can be estimated."""
    if left_s is None:
        return ""
    likely, shortest, longest = (format_duration(round(one)) for one in left_s)
    return f"{likely} left (90 %: {shortest} to {longest})"
