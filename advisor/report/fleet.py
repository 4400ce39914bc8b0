"""What a fleet's measurements amount to, as text and as JSON."""

from typing import Any

import msgspec

from advisor.domain.quantities import format_duration
from advisor.fleet.plan.coverage import Coverage, HostLoad
from advisor.fleet.plan.fleet import Fleet, Task
from advisor.report.output import say
from advisor.report.tables import print_table

_MOST_ROWS = 20


def bytes_words(size_bytes: float) -> str:
    """`54 GB`: decimal prefixes, as links are rated."""
    for prefix in ("", "k", "M", "G", "T"):
        if size_bytes < 1000:
            return f"{size_bytes:.3g} {prefix}B"
        size_bytes /= 1000
    return f"{size_bytes:.3g} PB"


def coverage_data(found: Coverage) -> dict[str, Any]:
    """The coverage for JSON."""
    hosts = [
        msgspec.structs.asdict(one) | {"expected_bytes": one.expected_bytes} for one in found.hosts
    ]
    return {**msgspec.structs.asdict(found), "hosts": hosts}


def print_coverage(fleet: Fleet, found: Coverage) -> None:
    """Print what would be measured, what each host would send, and how long all of it takes."""
    print_table(
        ("measure", "what", "pairs", "every", "budget"),
        [_task_cells(task, found.pairs[task.name]) for task in fleet.tasks],
    )
    say()
    loads = sorted(found.hosts, key=lambda one: one.expected_bytes / one.bound_bytes, reverse=True)
    print_table(
        ("host", "pairs", "sent and received a day, at most", "bound"),
        [_host_cells(one) for one in loads[:_MOST_ROWS]],
    )
    if len(loads) > _MOST_ROWS:
        say(f"and {len(loads) - _MOST_ROWS} more hosts with less")
    say()
    say(
        f"Every pair once takes {format_duration(found.cover_s)} or more; "
        f"{found.limited_by} sets that."
    )
    crowded = [one for one in loads if one.wanted_bytes > one.bound_bytes]
    if crowded:
        say(
            f"{len(crowded)} of {len(loads)} hosts cannot be measured as often as wanted within "
            "limits.share-per-day: their pairs are measured as often as it allows."
        )


def _task_cells(task: Task, pairs: int) -> list[str]:
    every, budget = format_duration(task.every_s), format_duration(task.budget_s)
    return [task.name, task.what, str(pairs), every, budget]


def _host_cells(one: HostLoad) -> list[str]:
    return [
        one.host,
        str(one.pairs),
        bytes_words(one.expected_bytes),
        bytes_words(one.bound_bytes),
    ]
