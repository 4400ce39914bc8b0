"""The sentences of the live screen of a tuned transfer. Pure."""

from typing import Final

from advisor.domain import events as ev
from advisor.domain.advice import Fulfilment
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.space import Setting, flows_of
from advisor.report.plan import left_words
from advisor.tui.features.history.remarks import verdict
from advisor.tui.features.transfer.transfer_model import (
    TransferModel,
    concurrency_of,
    parallelism_of,
)
from advisor.tui.kit.charts.gauge import progress
from advisor.tui.kit.sentences import count_words, sentence
from advisor.tui.kit.times import local_time

_SHOWN_MISSING: Final = 2


def pair_and_method(model: TransferModel) -> str:
    """The pair and the method."""
    started = model.started
    if started is None:
        return "… counting the files, and connecting to the other host"
    return (
        f"{started.pair.source} → {started.pair.destination}   tuned by {started.method}, "
        f"epochs of {format_duration(started.epoch_s)}"
    )


def progress_lines(model: TransferModel, cells: int) -> list[str]:
    """A progress bar of this many cells, and below it the rate and the time left."""
    moving, started, ended = model.moving, model.started, model.ended
    if started and ended:
        # A small transfer ends before any progress is reported.
        return [_there(ended.moved_bytes, ended.files, started, cells)]
    if started is None or moving is None:
        return []
    moved = sum(one.moved_bytes for one in moving.classes)
    now = [f"Now {format_rate(sum(one.rate_bps for one in moving.classes))}"]
    left = left_words(moving.left_s)
    if model.is_verifying:
        total = sum(one.total_bytes for one in moving.classes)
        compared = f"{format_bytes(moved)} of {format_bytes(total)} verified"
        far = f"{progress(moved, total, cells)}, {compared}"
    else:
        far = _there(moved, sum(one.files for one in moving.classes), started, cells)
    return [far, ", ".join([*now, left] if left else now)]


def _there(moved_bytes: int, files: int, started: ev.TransferStarted, cells: int) -> str:
    return (
        f"{progress(moved_bytes, started.total_bytes, cells)}, {format_bytes(moved_bytes)} of "
        f"{format_bytes(started.total_bytes)} there, {files:,} of {started.files:,} files"
    )


def tuning_lines(model: TransferModel) -> list[str]:
    """The setting of the present epoch, and why it was chosen."""
    if model.started is None or model.is_over or model.is_verifying:
        return []
    epoch_s = model.at_s - model.epoch_began_s
    of = format_duration(model.started.epoch_s)
    lines = [f"{setting_words(model.setting)}; epoch {model.epoch}, {epoch_s:.0f} s of {of}"]
    if model.changed and model.changed.reason:
        lines.append(f"Why: {model.changed.reason}")
    return lines


def setting_words(setting: Setting) -> str:
    """`4 files at a time × 8 streams each = 32 streams`."""
    files, streams = concurrency_of(setting), parallelism_of(setting)
    return (
        f"{count_words(files, 'file')} at a time × {count_words(streams, 'stream')} each = "
        f"{flows_of(setting)} in all"
    )


def transfer_end_lines(model: TransferModel) -> list[str]:
    """The outcome, what is missing, and whether an advice came true; empty before the end."""
    if model.gave_up:
        return [
            sentence(model.gave_up.message),
            "Nothing is being moved. g tries again; escape goes back to correct the entries.",
        ]
    ended = model.ended
    if ended is None:
        return []
    lines = [sentence(ended.message)]
    if not ended.complete:
        lines.append("Press g to resume.")
    if ended.advised:
        lines.append(came_true_words(ended.advised))
    return [*lines, *_missing_lines(ended)]


def _missing_lines(ended: ev.TransferEnded) -> list[str]:
    """The first missing files: the log has room for all."""
    lines = [f"✗ {line}" for line in ended.missing[:_SHOWN_MISSING]]
    more = ended.missing_files - len(lines)
    return [*lines, *([f"✗ and {more} more: 3 lists them"] if more > 0 else [])]


def came_true_words(fulfilment: Fulfilment) -> str:
    """The measured rate compared with the advice."""
    came = verdict(fulfilment.rate_bps, fulfilment.interval_bps)
    return f"The advice of {local_time(fulfilment.advised_s)}: {came}"
