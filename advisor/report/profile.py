"""Profiles as tables and lines of text: the list, response maps, boxes over repeats."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from advisor.domain.grid import Axis, Grid
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.space import (
    FLOW_NAMES,
    Setting,
    SettingValue,
    flows_of,
    setting_key,
    setting_words,
)
from advisor.store.probe_rows import utc_text
from advisor.store.profiles import Rates, StoredProfile
from advisor.traits import subject_name

LIST_COLUMNS: Final = ("profile", "pair", "begun", "of", "probes", "state")
BOX_COLUMNS: Final = ("flows", "probes", "lowest", "lower quartile", "median", "upper", "highest")
_LISTED: Final = ("setting", "throughput")
_QUARTERS: Final = (0, 25, 50, 75, 100)


class ResponseMap(msgspec.Struct, frozen=True, kw_only=True):
    """One table of a grid: the medians over two parameters, at one value of each other one.

    `best`: row and column of the highest median, None where nothing was measured.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[list[str]]
    best: tuple[int, int] | None = None


def list_row(profile: StoredProfile) -> list[str]:
    """The cells of one profile under LIST_COLUMNS."""
    record = profile.record
    subjects = dict.fromkeys(probe.subject for probe in profile.probes)
    return [
        record.name,
        str(record.pair),
        utc_text(record.recorded_s),
        ", ".join(subject_name(one) for one in subjects) or "nothing yet",
        str(len(profile.probes)),
        state_words(profile),
    ]


def state_words(profile: StoredProfile) -> str:
    """`complete`, `120 of 200 left`, `from the history`, `reference, read-only`."""
    if profile.shipped:
        return "reference, emulated, read-only" if profile.emulated else "reference, read-only"
    if not profile.record.grids:
        return "from the history"
    total = len(profile.declared) * profile.record.repeats
    return f"{profile.left} of {total} left" if profile.left else "complete"


def head_lines(profile: StoredProfile) -> list[str]:
    """What was measured, where and when."""
    record = profile.record
    lines = [f"{record.name}: {record.pair}, {utc_text(record.recorded_s)}, {state_words(profile)}"]
    if record.about:
        lines.append(record.about)
    if path := record.path:
        link = f", link {format_rate(path.link_bps)}" if path.link_bps else ""
        lines.append(
            f"RTT {format_duration(path.rtt_s)}, MTU {path.mtu_bytes} B{link}, "
            f"{path.source_address} to {path.destination_address}"
        )
    failed = f", {profile.failed} failed" if profile.failed else ""
    lines.append(f"{profile.measured} measurements{failed}")
    return lines


def maps_of(profile: StoredProfile) -> list[ResponseMap]:
    """The response maps of all grids; of a profile without grids, a list of its settings."""
    rates = profile.rates_bps
    if not profile.record.grids:
        return [_listing(subject, rates) for subject in dict.fromkeys(cell[0] for cell in rates)]
    return [one for grid in profile.record.grids for one in _maps_of_grid(grid, rates)]


def _maps_of_grid(grid: Grid, rates: Rates) -> Iterator[ResponseMap]:
    """Flows go down, the parameter with the most values across; one row where nothing varies."""
    if not grid.axes:
        yield _only_setting(grid, rates)
        return
    axes = sorted(grid.axes, key=lambda axis: -len(axis.values))
    down = next((axis for axis in axes if axis.name in FLOW_NAMES), axes[0])
    across = next((axis for axis in axes if axis.name != down.name), None)
    others = [axis for axis in grid.axes if axis not in (down, across)]
    for values in itertools.product(*(axis.values for axis in others)):
        held = dict(zip([axis.name for axis in others], values, strict=True)) | grid.fixed
        yield _map(grid.subject, held, down, across, rates)


def _map(subject: str, held: Setting, down: Axis, across: Axis | None, rates: Rates) -> ResponseMap:
    columns: tuple[SettingValue | None, ...] = across.values if across else (None,)
    medians: dict[tuple[int, int], float] = {}
    rows = []
    for i, value in enumerate(down.values):
        row = [value_words(down.name, value)]
        for j, column in enumerate(columns):
            setting = held | {down.name: value}
            if across and column is not None:
                setting |= {across.name: column}
            found = rates.get((subject, setting_key(setting)), [])
            if found:
                medians[i, j] = float(np.median(found))
            row.append(_rate_words(found))
        rows.append(row)
    best = max(medians, key=lambda place: medians[place], default=None)
    if best:
        rows[best[0]][best[1] + 1] += " *"
    title = f"{subject_name(subject)}, {setting_words(held)}" if held else subject_name(subject)
    corner = f"{down.name} \\ {across.name}" if across else down.name
    heads = [value_words(across.name, c) for c in across.values] if across else ["throughput"]
    return ResponseMap(title=title, columns=(corner, *heads), rows=rows, best=best)


def _only_setting(grid: Grid, rates: Rates) -> ResponseMap:
    """The table of a grid in which nothing varies."""
    found = rates.get((grid.subject, setting_key(grid.fixed)), [])
    setting = setting_words(grid.fixed) if grid.fixed else "nothing is set"
    return ResponseMap(
        title=subject_name(grid.subject),
        columns=_LISTED,
        rows=[[setting, _rate_words(found)]],
        best=(0, 0) if found else None,
    )


def _listing(subject: str, rates: Rates) -> ResponseMap:
    """The settings of a subject that were measured in no grid, the fastest first."""
    found = [(dict(key), values) for (of, key), values in rates.items() if of == subject]
    found.sort(key=lambda one: -float(np.median(one[1])))
    rows = [[setting_words(setting), _rate_words(values)] for setting, values in found]
    best = (0, 0) if rows else None
    return ResponseMap(title=subject_name(subject), columns=_LISTED, rows=rows, best=best)


def value_words(name: str, value: SettingValue) -> str:
    """A parameter's value in a heading: sizes with their unit."""
    if name.endswith("_bytes") and isinstance(value, int):
        return format_bytes(value) if value else "the kernel's own"
    return str(value)


def _rate_words(rates_bps: Sequence[float]) -> str:
    """The median, and half the range where there are repeats."""
    if not rates_bps:
        return "-"
    median = format_rate(float(np.median(rates_bps)))
    if len(rates_bps) == 1:
        return median
    spread = (max(rates_bps) - min(rates_bps)) / 2
    return f"{median} ±{spread / float(np.median(rates_bps)):.0%}"


def rates_by_flows(profile: StoredProfile) -> dict[tuple[str, str], dict[int, list[float]]]:
    """All throughputs in bit/s at each number of flows, by subject and congestion control.

    The congestion control is "" where there is none.
    """
    found: dict[tuple[str, str], dict[int, list[float]]] = {}
    for (subject, key), rates in profile.rates_bps.items():
        setting = dict(key)
        title = subject, str(setting.get("congestion", ""))
        found.setdefault(title, {}).setdefault(flows_of(setting), []).extend(rates)
    return {title: dict(sorted(by_flows.items())) for title, by_flows in found.items()}


def boxes_of(profile: StoredProfile) -> list[tuple[str, list[list[str]]]]:
    """For each subject, a box over all measurements at each number of flows."""
    return [
        (box_title(subject, congestion), [_box_row(*one) for one in by_flows.items()])
        for (subject, congestion), by_flows in rates_by_flows(profile).items()
    ]


def box_title(subject: str, congestion: str) -> str:
    """What the boxes are of: `TCP, cubic`."""
    return ", ".join(filter(None, (subject_name(subject), congestion)))


def _box_row(flows: int, rates_bps: Sequence[float]) -> list[str]:
    quarters = np.percentile(rates_bps, _QUARTERS)
    return [str(flows), str(len(rates_bps)), *(format_rate(float(one)) for one in quarters)]
