"""Tables to replay from the user's own probes, one for each pair, subject, path and file size."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from advisor.backtest.from_transfers import path_of, space_of
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell, Repeat
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_bytes, format_duration
from advisor.domain.records import ProbeRecord
from advisor.domain.space import AUTOMATIC, Scale, SettingKey, SettingValue, setting_key
from advisor.models.past_transfers import transfers_of
from advisor.store.matching import of_this_rtt
from advisor.traits import describe, flow_names, subject_name

# Numbers that are no points of a scale: a table has one of them.
_HELD: Final = {"mss_bytes", "direct"}


def _is_varied(name: str, value: SettingValue) -> bool:
    """Whether the value may be one of several. 0 is none: a buffer is left to the kernel."""
    return isinstance(value, int) and name not in _HELD and value != AUTOMATIC


class _Profile(NamedTuple):
    """What the probes of one table have in common, besides the path.

    `octave`: log2 of the mean size of the files moved, None from memory to memory.
    """

    pair: Pair
    subject: str
    fixed: SettingKey
    names: tuple[str, ...]
    octave: int | None


def history_tables(probes: Iterable[ProbeRecord], least_cells: int = 5) -> list[RecordedTable]:
    """The profiles with at least `least_cells` settings, at least one of which gave a throughput.

    Probes with a different RTT are of another path, even between the same pair. Settings that leave
    the buffers to the kernel make a table of their own. The bounds are those of the measured
    settings.
    """
    profiles: dict[_Profile, list[ProbeRecord]] = defaultdict(list)
    for probe in sorted(probes, key=lambda probe: probe.recorded_s):
        if (profile := _profile(probe)) is not None:
            profiles[profile].append(probe)
    tables = []
    for profile, alike in profiles.items():
        paths = _by_path(alike)
        for on_path in paths:
            repeats = _repeats(profile.names, on_path)
            gave = any(one.throughput_bps > 0 for each in repeats.values() for one in each)
            if gave and len(repeats) >= least_cells:
                tables.append(_table(profile, on_path, repeats, several_paths=len(paths) > 1))
    return tables


def _profile(probe: ProbeRecord) -> _Profile | None:
    """None for a setting that is not a point of a space."""
    setting = probe.setting
    names = tuple(sorted(n for n, value in setting.items() if _is_varied(n, value)))
    if not names or any(int(setting[name]) < 1 for name in names):
        return None
    fixed = setting_key({n: value for n, value in setting.items() if n not in names})
    size_bytes = probe.file_bytes
    octave = round(math.log2(size_bytes)) if size_bytes and size_bytes > 0 else None
    return _Profile(probe.pair, probe.subject, fixed, names, octave)


def _by_path(probes: Sequence[ProbeRecord]) -> list[list[ProbeRecord]]:
    """Separate the probes by RTT, the newest path first."""
    paths = []
    left = list(probes)
    while left:
        mine = of_this_rtt(left, _newest_rtt_s(left))
        paths.append(mine)
        taken = {id(probe) for probe in mine}
        left = [probe for probe in left if id(probe) not in taken]
    return paths


def _newest_rtt_s(probes: Sequence[ProbeRecord]) -> float | None:
    return next((p.rtt_s for p in reversed(probes) if p.rtt_s is not None), None)


def _repeats(names: Sequence[str], probes: Iterable[ProbeRecord]) -> dict[Cell, list[Repeat]]:
    repeats: dict[Cell, list[Repeat]] = defaultdict(list)
    for probe in probes:
        result = probe.result
        rate_bps = result.throughput_bps if isinstance(result, Measurement) else 0.0
        cell = tuple(int(probe.setting[name]) for name in names)
        repeats[cell].append(Repeat(rate_bps, result.elapsed_s))
    return dict(repeats)


def _table(
    profile: _Profile,
    probes: Sequence[ProbeRecord],
    repeats: dict[Cell, list[Repeat]],
    *,
    several_paths: bool,
) -> RecordedTable:
    rtt_s = _newest_rtt_s(probes)
    newest = probes[-1]
    fixed = dict(profile.fixed)
    words = [describe(profile.subject, fixed) if fixed else subject_name(profile.subject)]
    words.append(" × ".join(profile.names))
    if newest.file_bytes:
        words.append(f"{format_bytes(newest.file_bytes)} files")
    if several_paths:
        words.append(f"RTT {format_duration(rtt_s)}" if rtt_s else "RTT not known")
    return RecordedTable(
        name=f"{profile.pair}: {', '.join(words)}",
        source=str(profile.pair),
        space=space_of(
            profile.names,
            list(repeats),
            Scale.LINEAR,
            cost_order=_cost_order(profile.names),
            fixed=fixed,
        ),
        repeats=repeats,
        path=path_of(
            profile.pair.source,
            profile.pair.destination,
            rtt_s=rtt_s,
            bandwidth_bps=newest.bandwidth_bps,
            mtu_bytes=newest.mtu_bytes,
        ),
        bandwidth_bps=newest.bandwidth_bps,
        dataset=_dataset(newest),
        transfers=list(transfers_of(probes)),
    )


def _dataset(probe: ProbeRecord) -> Dataset | None:
    """The files that were moved; None if there were none, or they were not counted."""
    if not probe.file_bytes or not probe.files:
        return None
    return Dataset(total_bytes=max(1, round(probe.file_bytes * probe.files)), files=probe.files)


def _cost_order(names: Sequence[str]) -> list[str]:
    """Flows are the most expensive, then buffers, as for the transports."""
    return sorted(names, key=lambda name: (name not in flow_names(), name != "buffer_bytes", name))
