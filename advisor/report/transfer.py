"""A tuned transfer as text."""

from advisor.domain import events as ev
from advisor.domain.plan import ClassProgress
from advisor.domain.quantities import format_bytes, format_rate
from advisor.domain.space import Setting
from advisor.report.plan import left_words


def changed_line(event: ev.SettingChanged) -> str:
    """What an epoch gave, the setting after it, and why."""
    gave = format_rate(event.throughput_bps) if event.throughput_bps else "nothing"
    why = f" ({event.reason})" if event.reason else ""
    return f"  epoch {event.epoch}: {_levels(event.old)} gave {gave}, now {_levels(event.new)}{why}"


def _levels(setting: Setting) -> str:
    return f"{setting.get('concurrency', 1)} × {setting.get('parallelism', 1)}"


def progress_line(event: ev.FilesMoving) -> str:
    """`1.2 GiB of 10 GiB, ` and what is said beside the bar."""
    [one] = event.classes
    moved = f"{format_bytes(one.moved_bytes)} of {format_bytes(one.total_bytes)}"
    return f"  {moved}, {beside_the_bar(one, event.left_s)}"


def beside_the_bar(one: ClassProgress, left_s: tuple[float, float, float] | None) -> str:
    """Rate, files, clients × streams, and the time left."""
    parts = [
        f"{format_rate(one.rate_bps)}",
        f"{one.files} of {one.total_files} files",
        f"{one.clients} × {one.parallelism}",
        left_words(left_s),
    ]
    return ", ".join(part for part in parts if part)


def ended_lines(event: ev.TransferEnded) -> list[str]:
    """What became of it, and what is missing."""
    more = event.missing_files - len(event.missing)
    return [
        event.message,
        *(f"  {line}" for line in event.missing),
        *([f"  and {more} more"] if more else []),
    ]
