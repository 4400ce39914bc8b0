"""The sentences of the shares screen. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.shares import SharePlan
from advisor.domain.shell import shell_line
from advisor.report.counting import counted
from advisor.report.plan import left_words
from advisor.tui.features.shares.rows import RateRow
from advisor.tui.features.shares.shares_model import SharesModel
from advisor.tui.kit.charts.gauge import progress
from advisor.tui.kit.sentences import sentence

NOTHING_LEARNED: Final = """\
Nothing is known yet about the destinations of this host.

A training run takes some minutes. It sends data to all of them at once, varying how many files \
run at once, and leaves nothing there. After it, this screen shows how many files at a time give \
each destination the share you ask for, and keeps the shares while your files are moved.

Run it with your destinations and a folder that you may write in (c copies the command):"""
_NAMED_AT_MOST: Final = 4


def train_line(untrained: Sequence[str]) -> str:
    """The command that trains, with the known destinations if there are any."""
    names = untrained[:_NAMED_AT_MOST] if len(untrained) > 1 else ["HOST1", "HOST2"]
    return shell_line(["advisor", "share", "train", *names, "--to", "FOLDER"])


def plan_line(plan: SharePlan | None, parallelism: int, *, is_wide: bool) -> str:
    """The predicted total, and on a wide screen its basis."""
    if plan is None:
        return f"{counted(parallelism, 'stream')} for each file"
    total = format_rate(sum(row.expected_bps for row in plan.rows))
    files = sum(row.concurrency for row in plan.rows)
    streams = counted(plan.parallelism, "stream")
    words = f"{total} expected together from {files} files at a time × {streams}"
    based_on = f"; models: {plan.model}, present load: {plan.estimate}"
    return f"{words}{based_on if is_wide else ''}"


def run_lines(model: SharesModel, cells: int, *, is_wide: bool) -> list[str]:
    """Progress with a bar of this many cells, rate, and time left."""
    started, moving = model.started, model.moving
    if model.is_over:
        return []
    if started is None:
        return ["… counting the files, and connecting to the destinations"]
    epoch_s = model.at_s - model.epoch_began_s
    epoch = f"epoch {model.epoch}, {epoch_s:.0f} s of {format_duration(started.epoch_s)}"
    if moving is None:
        return [epoch]
    total = sum(started.total_bytes.values())
    moved = sum(one.moved_bytes for one in moving.classes)
    now = format_rate(sum(one.now_bps or 0.0 for one in model.destinations.values()))
    left = left_words(moving.left_s)
    if not is_wide:
        left = left.partition(" (")[0]
    return [
        f"{progress(moved, total, cells)}, {format_bytes(moved)} of {format_bytes(total)} there",
        "; ".join(word for word in (f"Now {now}", epoch, left) if word),
    ]


def note_lines(rows: Sequence[RateRow], plan: SharePlan | None, trouble: str) -> list[str]:
    """Problems, requests that cannot be met, and notes."""
    lines = [f"✗ {sentence(trouble)}"] if trouble else []
    lines += [f"✗ {row.destination}: {row.missed}." for row in rows if row.missed]
    return lines + (plan.notes if plan else [])


def ordered_lines(ordered: Mapping[str, tuple[str, int]], model: SharesModel) -> list[str]:
    """`ordered`: changed requests by destination, with the epoch of the change; they apply from the
    next epoch on.
    """
    return [
        f"… {name}: {words} is asked from epoch {epoch + 1} on"
        for name, (words, epoch) in ordered.items()
        if epoch >= model.epoch
    ]


def shares_end_lines(model: SharesModel) -> list[str]:
    """The outcome; empty before the end."""
    if model.gave_up:
        return [sentence(model.gave_up.message), "Nothing is being moved. r tries again."]
    if model.ended is None:
        return []
    lines = [sentence(model.ended.message)]
    if not model.ended.complete:
        lines.append("r moves the rest.")
    return lines
