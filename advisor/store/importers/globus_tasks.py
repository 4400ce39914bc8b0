"""Tasks of the Globus service: what `globus task list --format json` and `task show` print.

    {"DATA": [{"DATA_TYPE": "task", "task_id": "…", "type": "TRANSFER", "status": "SUCCEEDED",
      "request_time": "2026-04-01T19:30:07+00:00", "completion_time": "…", "bytes_transferred": …,
      "files_transferred": …, "source_endpoint_display_name": "…", …}, …]}

Also a single such task, and the list as the Transfer API gives it. The rate is that of the whole
task, from its request to its completion, as in Globus's own `effective_bytes_per_second`: queueing,
listing and checksums included. How many files and streams the service used is unknown. Collections
have names of their own: --pair names the hosts.
"""

import datetime
import re
from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.domain.bounded import Count
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.hosts.decoding import BadData, require_shallow
from advisor.store.importers.entries import (
    REFUSALS,
    BadEntry,
    RefusedError,
    identity,
    pair_of,
    require_long,
    whole_transfer,
)
from advisor.traits import imported_subject

ORIGIN: Final = "globus-tasks"
# Globus ends a task after some days without progress: a date is damaged.
_LONGEST_S: Final = 366 * 24 * 3600.0
_LATEST_S: Final = 2.0**34
_LIKE: Final = re.compile(r'"DATA(_TYPE)?"\s*:')


class _Task(msgspec.Struct):
    task_id: str
    status: str
    request_time: datetime.datetime
    completion_time: datetime.datetime | None = None
    type: str = "TRANSFER"
    bytes_transferred: Count = 0
    files_transferred: Count | None = None
    source_endpoint_display_name: str | None = None
    source_endpoint_id: str | None = None
    destination_endpoint_display_name: str | None = None
    destination_endpoint_id: str | None = None


class _Output(msgspec.Struct):
    tasks: list[msgspec.Raw] | None = msgspec.field(name="DATA", default=None)


def looks_like(head: str) -> bool:
    """Whether a text starts as JSON of the Globus service does."""
    return head.lstrip().startswith("{") and _LIKE.search(head) is not None


def read(text: str, pair: Pair | None) -> Iterator[ProbeRecord | BadEntry]:
    """The transfers, and the tasks that are not imported. `pair` replaces their collections."""
    data = text.encode(errors="replace")
    try:
        require_shallow(data)
        tasks = msgspec.json.decode(data, type=_Output).tasks
    except (BadData, msgspec.DecodeError) as error:
        yield BadEntry("", f"it is no complete output of globus task list --format json: {error}")
        return
    for number, task in enumerate([msgspec.Raw(data)] if tasks is None else tasks, 1):
        try:
            yield _probe(msgspec.json.decode(task, type=_Task), pair)
        except msgspec.DecodeError as error:
            yield BadEntry(f"task {number}", f"it is not a task of Globus: {error}")
        except REFUSALS as refused:
            yield BadEntry.about(f"task {number}", refused)


def _probe(task: _Task, pair: Pair | None) -> ProbeRecord:
    if task.type != "TRANSFER":
        raise RefusedError(f"it is no transfer but {task.type}")
    if task.status != "SUCCEEDED" or task.completion_time is None:
        raise RefusedError(f"it has not succeeded: its status is {task.status}")
    if not task.bytes_transferred:
        raise RefusedError("no bytes were moved")
    began_s, ended_s = _time_s(task.request_time), _time_s(task.completion_time)
    elapsed_s = ended_s - began_s
    require_long(elapsed_s)
    if elapsed_s > _LONGEST_S or not 0 <= began_s < ended_s <= _LATEST_S:
        raise RefusedError("its dates exceed all limits")
    rate_bps = task.bytes_transferred * 8 / elapsed_s
    files = task.files_transferred
    return ProbeRecord(
        pair=pair or _pair(task),
        subject=imported_subject(ORIGIN),
        setting={},
        result=whole_transfer(rate_bps, task.bytes_transferred, elapsed_s),
        recorded_s=ended_s,
        session=identity(f"{ORIGIN} {task.task_id}"),
        origin=ORIGIN,
        file_bytes=task.bytes_transferred / files if files else None,
        files=files or None,
    )


def _pair(task: _Task) -> Pair:
    source = task.source_endpoint_display_name or task.source_endpoint_id
    destination = task.destination_endpoint_display_name or task.destination_endpoint_id
    if not source or not destination:
        raise RefusedError("it does not say between which collections: name hosts with --pair")
    return pair_of(source, destination)


def _time_s(time: datetime.datetime) -> float:
    """Unix time; without a zone it is UTC, as the service writes it."""
    return (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).timestamp()
