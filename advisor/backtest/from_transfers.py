"""Tables to replay from recorded file transfers, one per pair, dataset and set of parameters."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Final, NamedTuple

import msgspec

from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell, Repeat
from advisor.domain.dataset import Dataset
from advisor.domain.path import UNKNOWN_HOST, HostFacts, PathFacts
from advisor.domain.quantities import format_bytes
from advisor.domain.space import Parameter, Scale, Setting, Space
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.store.importers.harp_csv import timed
from advisor.store.transfer_tables import TransferRow, TransferTable, pipelining_from_one

PARAMETERS: Final = ("concurrency", "parallelism", "pipelining")
"""The parameters of a transfer's setting, the most expensive first."""

# Sizes that differ by less belong to the same dataset, assembled again.
_ALIKE: Final = 2**0.25
_ETHERNET_BYTES: Final = 1500


class _Condition(NamedTuple):
    """What the transfers of one table have in common.

    `file_bytes`, `files`: the lower bounds of their classes; `files` 0 where not counted. `names`:
    the parameters that were recorded.
    """

    source: str
    destination: str
    note: str
    fast: str
    names: tuple[str, ...]
    file_bytes: float = 0.0
    files: int = 0


class _Dated(NamedTuple):
    """A transfer and its end time; None where that is not known."""

    row: TransferRow
    when_s: float | None


def tables_of(
    name: str, table: TransferTable, least_cells: int = 5
) -> tuple[list[RecordedTable], list[str]]:
    """The conditions recorded at `least_cells` settings or more, and notes on what is left out.

    `name`: of the file; the tables' names start with it. File sizes within a quarter of an octave
    count as the same, numbers of files likewise. Where pipelining was counted from 0, its values
    are increased by one: a pipelining of 1 sends nothing ahead.
    """
    notes = []
    unset = sum(not _names(row) for row in table.rows)
    if unset:
        notes.append(f"{name}: transfers without any parameter left out: {unset}")
    conditions: dict[_Condition, dict[Cell, list[_Dated]]] = {}
    small = 0
    for condition, rows in sorted(_grouped(_dated(table.rows), least_cells).items()):
        cells = _cells(condition.names, rows)
        if len(cells) >= least_cells:
            conditions[condition] = cells
        else:
            small += 1
    if small:
        notes.append(f"{name}: conditions with fewer than {least_cells} settings left out: {small}")
    labels = _labels(list(conditions))
    return [
        _recorded(f"{name}: {label}", name, condition, cells)
        for label, (condition, cells) in zip(labels, conditions.items(), strict=True)
    ], notes


def _names(row: TransferRow) -> tuple[str, ...]:
    return tuple(name for name in PARAMETERS if getattr(row, name) is not None)


def _dated(rows: Iterable[TransferRow]) -> list[_Dated]:
    return [_Dated(row, when_s if row.recorded else None) for row, when_s in timed(rows)]


def _grouped(rows: Sequence[_Dated], least_rows: int) -> dict[_Condition, list[_Dated]]:
    """The rows of each condition, without those that have no setting.

    A note on fewer than `least_rows` rows is a remark on them, not a condition.
    """
    notes = Counter(one.row.note for one in rows)
    kinds: dict[_Condition, list[_Dated]] = defaultdict(list)
    for one in rows:
        row = one.row
        if names := _names(row):
            note = row.note if notes[row.note] >= least_rows else ""
            kinds[_Condition(row.source, row.destination, note, row.fast, names)].append(one)
    grouped: dict[_Condition, list[_Dated]] = defaultdict(list)
    for kind, found in kinds.items():
        alike = pipelining_from_one([one.row for one in found])
        sizes = _least_alike(row.file_bytes for row in alike)
        numbers = _least_alike(row.file_count or 0 for row in alike)
        for row, (_, when_s) in zip(alike, found, strict=True):
            condition = kind._replace(
                file_bytes=sizes[row.file_bytes], files=int(numbers[row.file_count or 0])
            )
            grouped[condition].append(_Dated(row, when_s))
    return grouped


def _least_alike(values: Iterable[float]) -> Mapping[float, float]:
    """For each value the lower bound of its class; classes start at the smallest value."""
    least: dict[float, float] = {}
    start = None
    for value in sorted(set(values)):
        if start is None or value > start * _ALIKE:
            start = value
        least[value] = start
    return least


def _cells(names: Sequence[str], rows: Iterable[_Dated]) -> dict[Cell, list[_Dated]]:
    cells: dict[Cell, list[_Dated]] = defaultdict(list)
    for one in rows:
        cells[tuple(getattr(one.row, name) for name in names)].append(one)
    return cells


def _labels(conditions: Sequence[_Condition]) -> list[str]:
    """A label for each condition, with only as much detail as distinguishes it from the others."""
    several_pairs = len({(one.source, one.destination) for one in conditions}) > 1
    labels = [
        (f"{one.source}->{one.destination}, " if several_pairs else "")
        + f"{format_bytes(one.file_bytes)} files"
        + (f", fast {one.fast}" if one.fast else "")
        for one in conditions
    ]
    details: tuple[Callable[[_Condition], str], ...] = (
        lambda one: f"{one.files} of them" if one.files else "",
        lambda one: one.note,
        lambda one: " × ".join(one.names),
    )
    for detail in details:
        alike: dict[str, set[str]] = defaultdict(set)
        for label, one in zip(labels, conditions, strict=True):
            alike[label].add(detail(one))
        labels = [
            f"{label}, {words}" if len(alike[label]) > 1 and (words := detail(one)) else label
            for label, one in zip(labels, conditions, strict=True)
        ]
    return labels


def space_of(
    names: Sequence[str],
    cells: Sequence[Cell],
    scale: Scale,
    *,
    cost_order: Sequence[str] = (),
    fixed: Setting | None = None,
) -> Space:
    """The box around at least one cell; `cost_order` defaults to the order of the names."""
    return Space(
        parameters=tuple(
            Parameter(
                name=name,
                unit="B" if name.endswith("_bytes") else "",
                lower=min(values),
                upper=max(values),
                scale=scale,
            )
            for name, values in zip(names, zip(*cells, strict=True), strict=True)
        ),
        cost_order=tuple(cost_order or names),
        fixed=fixed or {},
    )


def path_of(
    source: str,
    destination: str,
    *,
    rtt_s: float | None,
    bandwidth_bps: float | None,
    buffer_bytes: float | None = None,
    mtu_bytes: int | None = None,
) -> PathFacts | None:
    """A path of which little more than the round-trip time was recorded; None without one.

    `buffer_bytes`: the buffer of each socket. Unknown facts of the hosts are 0, "" or None; an
    unknown MTU is that of Ethernet.
    """
    if rtt_s is None or rtt_s <= 0:
        return None
    return PathFacts(
        source_address=source,
        destination_address=destination,
        rtt_s=rtt_s,
        rtt_method="recorded",
        mtu_bytes=mtu_bytes or _ETHERNET_BYTES,
        mtu_method="recorded" if mtu_bytes else "assumed",
        bandwidth_bps=bandwidth_bps,
        source=_host(source, buffer_bytes),
        destination=_host(destination, buffer_bytes),
    )


def _host(name: str, buffer_bytes: float | None) -> HostFacts:
    size = round(buffer_bytes) if buffer_bytes else None
    return msgspec.structs.replace(
        UNKNOWN_HOST,
        hostname=name,
        receive_max_bytes=size,
        send_max_bytes=size,
        tcp_rmem_bytes=(size, size, size) if size else None,
        tcp_wmem_bytes=(size, size, size) if size else None,
    )


def _recorded(
    name: str, source: str, condition: _Condition, cells: Mapping[Cell, Sequence[_Dated]]
) -> RecordedTable:
    dated = [one for repeats in cells.values() for one in repeats]
    rows = [one.row for one in dated]
    bandwidth_bps = _middle(row.bandwidth_bps for row in rows)
    return RecordedTable(
        name=name,
        source=source,
        space=space_of(condition.names, list(cells), Scale.LOG2),
        repeats={
            cell: [Repeat(row.throughput_bps, row.elapsed_s) for row, _ in repeats]
            for cell, repeats in cells.items()
        },
        path=path_of(
            condition.source,
            condition.destination,
            rtt_s=_middle(row.rtt_s for row in rows),
            bandwidth_bps=bandwidth_bps,
            buffer_bytes=_middle(row.buffer_bytes for row in rows),
        ),
        bandwidth_bps=bandwidth_bps,
        dataset=_dataset(rows),
        transfers=[_transfer(condition, one) for one in dated],
    )


def _transfer(condition: _Condition, one: _Dated) -> PastTransfer:
    """A level that was not recorded counts as 1."""
    row = one.row
    hosts = f"{condition.source}->{condition.destination}"
    return PastTransfer(
        conditions=Conditions(
            file_bytes=row.file_bytes,
            file_count=row.file_count,
            bandwidth_bps=row.bandwidth_bps,
            rtt_s=row.rtt_s,
            buffer_bytes=row.buffer_bytes,
            network=f"{hosts}, fast {condition.fast}" if condition.fast else hosts,
        ),
        levels=Levels(**{name: max(1, getattr(row, name) or 1) for name in PARAMETERS}),
        throughput_bps=row.throughput_bps,
        when_s=one.when_s,
    )


def _middle(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return median(known) if known else None


def _dataset(rows: Sequence[TransferRow]) -> Dataset | None:
    """Files of the mean size; None where they were not counted."""
    files = _middle(row.file_count for row in rows)
    if files is None:
        return None
    mean_bytes = fmean(row.file_bytes for row in rows)
    return Dataset(total_bytes=max(1, round(mean_bytes * round(files))), files=round(files))
