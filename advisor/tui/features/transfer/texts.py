"""The sentences of the live screen of a tuned transfer. Pure."""

from textual.content import Content

from advisor.domain import events as ev
from advisor.domain.advice import PriorAdvice
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.space import Setting, concurrency_of, flows_of, parallelism_of
from advisor.report.time_left import time_left_text
from advisor.report.transfer import measured_how, node_words
from advisor.transfer.tuned.tuners import FIXED
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.kit.charts.gauge import progress
from advisor.tui.kit.sentences import count_words, sentence


def pair_words(model: TransferModel) -> str:
    """The pair, `dtn1 → dtn2`; before it is known, that it starts."""
    return f"{model.pair.source} → {model.pair.destination}" if model.pair else "Starting"


def left_or_state(model: TransferModel) -> str:
    """The time left, or in which state it is."""
    if model.moving is None:
        return "connecting …"
    left = time_left_text(model.moving)
    return " · ".join(filter(None, ["comparing checksums", left])) if model.is_verifying else left


def progress_lines(model: TransferModel, cells: int) -> list[Content]:
    """A bar of this many cells, the rate beside the advised one, the setting, and why.

    Empty after the end.
    """
    started, moving = model.started, model.moving
    if model.is_over:
        return []
    if started is None:
        return [Content("Counting the files, connecting to the host …")]
    if moving and model.is_verifying:
        total = sum(one.total_bytes for one in moving.classes)
        return [Content(_far_words(_moved_bytes(moving), total, cells, "compared"))]
    moved = _moved_bytes(moving) if moving else started.earlier_bytes
    files = sum(one.files for one in moving.classes) if moving else 0
    far = _far_words(moved, started.total_bytes, cells, "moved")
    lines = [Content(f"{far}, {files:,} of {started.files:,} files")]
    if moving:
        lines.append(_rate_line(sum(one.rate_bps for one in moving.classes), started.advised))
    return [*lines, *(Content(line) for line in _setting_lines(model, started))]


def _moved_bytes(moving: ev.FilesMoving) -> int:
    return sum(one.moved_bytes for one in moving.classes)


def _far_words(done: int, total: int, cells: int, what: str) -> str:
    return f"{progress(done, total, cells)}  {format_bytes(done)} of {format_bytes(total)} {what}"


def _rate_line(rate_bps: float, advice: PriorAdvice | None) -> Content:
    """`Now 950 Mbit/s (97%) · advised 975 Mbit/s`."""
    now = Content.assemble("Now ", (format_rate(rate_bps), "bold"))
    if advice is None:
        return now
    share = f" ({rate_bps / advice.expected_bps:.0%})" if advice.expected_bps else ""
    advised = Content.styled(f"advised {format_rate(advice.expected_bps)}", "$advised")
    return Content.assemble(now, share, " · ", advised, measured_how(advice.subject))


def _setting_lines(model: TransferModel, started: ev.TransferStarted) -> list[str]:
    """The setting of the present epoch and why it was chosen; over several nodes, each of them."""
    if started.nodes:
        return [f"Node {one.number}: {node_words(one)}" for one in model.nodes]
    if started.method == FIXED:
        return [setting_words(model.setting), "Why: this setting is kept (fixed)"]
    epoch_s = model.at_s - model.epoch_began_s
    of = f"{epoch_s:.0f} of {format_duration(started.epoch_s)}"
    if started.decides:
        of = f"{epoch_s:.0f} s"
    return [
        f"{setting_words(model.setting)} · epoch {model.epoch}, {of}",
        f"Why: {_why(model, started)} ({started.method})",
    ]


def _why(model: TransferModel, started: ev.TransferStarted) -> str:
    if model.changed:
        return model.changed.reason or "no reason is given"
    if started.advised and flows_of(started.advised.setting) == flows_of(model.setting):
        return "it starts at what was advised"
    return "it starts here"


def setting_words(setting: Setting) -> str:
    """`4 files at a time × 8 streams each = 32 streams`."""
    files, streams = concurrency_of(setting), parallelism_of(setting)
    return (
        f"{count_words(files, 'file')} at a time × {count_words(streams, 'stream')} each = "
        f"{count_words(flows_of(setting), 'stream')}"
    )


def short_setting(setting: Setting) -> str:
    """`4 × 8 = 32 streams`; "" before it is known."""
    if not setting:
        return ""
    files, streams = concurrency_of(setting), parallelism_of(setting)
    return f"{files} × {streams} = {count_words(files * streams, 'stream')}"


def rate_words(model: TransferModel) -> str:
    """The present rate, or at the end the mean one; "" before anything is known."""
    if model.ended:
        return f"mean {format_rate(mean_bps(model.ended))}"
    if model.moving is None or model.is_verifying:
        return ""
    return f"now {format_rate(sum(one.rate_bps for one in model.moving.classes))}"


def mean_bps(ended: ev.TransferEnded) -> float:
    """The mean throughput of what this run moved, in bit/s."""
    moved_bytes = ended.moved_bytes - ended.earlier_bytes
    return moved_bytes * 8 / ended.elapsed_s if ended.elapsed_s > 0 else 0.0


def moved_sentence(ended: ev.TransferEnded) -> str:
    """How much arrived, in what time, how fast."""
    moved_bytes = ended.moved_bytes - ended.earlier_bytes
    took = f"{format_duration(ended.elapsed_s)}, {format_rate(mean_bps(ended))}"
    moved = f"{format_bytes(moved_bytes)} in {took}"
    if not ended.earlier_bytes:
        return sentence(moved)
    earlier = format_bytes(ended.earlier_bytes)
    return sentence(f"{moved}; {earlier} had arrived before")
