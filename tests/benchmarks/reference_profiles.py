"""Makes the reference profiles in `profiles/` of what `advisor lab profile` measured.

    export ADVISOR_RUNTIME_DIR=/dev/shm/advisor
    nice -n -15 advisor lab profile --name autotuned --congestion cubic,bbr,reno \\
        --tools globus-url-copy --set tcp.streams=1,4,10 --set tcp.buffer=auto \\
        --set udt.block=64KiB --set udt.buffer=8MiB,64MiB --rtts RTT --store STORE
    nice -n -15 advisor lab profile --name buffers --congestion cubic \\
        --set tcp.streams=1,4,10 --set tcp.buffer=4MiB \\
        --set udt.block=1MiB --set udt.buffer=64MiB --rtts RTT --store STORE
    python -m tests.benchmarks.reference_profiles STORE

RTT is each of the seven, one after the other, with `advisor lab check` on such a path before it.

What was measured at one RTT becomes one sealed profile, with the RTT and the rate that were
emulated. The intervals of each probe are left out, and the name of the machine. The page
`docs/benchmarks-rtt.md` and its figure are written of these files alone.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

import advisor
from advisor.domain.endpoints import Pair
from advisor.domain.grid import Axis, Cell, Grid
from advisor.domain.measurement import EndLoad, Measurement, Outcome
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.records import ProbeRecord, ProfileRecord, Record
from advisor.domain.space import setting_key
from advisor.lab.paths import EmulatedPath
from advisor.report.rtt_profile import (
    places_of,
    rtt_columns,
    rtt_lines,
    rtt_profile,
    rtt_rows,
)
from advisor.report.rtt_profile_plot import write_rtt_plot
from advisor.store.exporters import write_sealed
from advisor.store.history import Store
from advisor.store.probe_rows import utc_text
from advisor.store.profiles import StoredProfile, reference_profiles, stored_profiles
from advisor.store.references import SUFFIX
from tests.benchmarks.markdown import filled, table_text

RUNS: Final = ("autotuned", "buffers")
_NAME: Final = re.compile(rf"({'|'.join(RUNS)})-rtt-(\d+(?:-\d+)?)ms(-globus-url-copy)?")
_HOST: Final = "emulated"
_DIGITS: Final = 6
_FEWEST_ROUNDS: Final = 3
"""A run that was cut short counts from this number on."""
FOLDER: Final = Path("profiles")
_PAGE: Final = Path("docs/benchmarks-rtt.md")
_FIGURE: Final = Path("docs/benchmarks/rtt.svg")
_FIGURE_WORDS: Final = "Throughput against the round-trip time, by number of flows"
_HEAD: Final = """\
# Throughput against the round-trip time

The seven round-trip times of Rao et al. 2016 on emulated paths, from memory to memory. The page is
written by `python -m tests.benchmarks.reference_profiles` of the reference profiles that come with
the program: `advisor profile rtt --reference` prints the same table, and the screen *Throughput
against the RTT* draws it (`r`)."""
_HOW: Final = (
    "Both hosts and the path share these cores: with UDT above all, a rate may be the machine's "
    "limit and not the path's. One RTT was measured at a time, at a high priority; before it, "
    "`advisor lab check` found the path as defined. 1 Gbit/s, no loss, a queue of one "
    "bandwidth-delay product, MTU 9000 B, TCP buffers of the kernel up to 64 MiB. Each curve has "
    "the setting that is best at each RTT; *probes* is the number of measurements of that setting."
)
_AGAIN: Final = "Commands that repeat it, about two hours of measuring:"
PATH: Final = EmulatedPath()
"""What `advisor lab profile` emulates where nothing else is said."""


def by_rtt(store: Store) -> dict[str, list[StoredProfile]]:
    """The runs at each round-trip time, as in the names (`45-6`); the shortest first."""
    found: dict[str, list[StoredProfile]] = {}
    for profile in sorted(stored_profiles(store), key=lambda one: one.record.recorded_s):
        match = _NAME.fullmatch(profile.record.name)
        if match and _rounds_of(profile) >= _FEWEST_ROUNDS:
            found.setdefault(match[2], []).append(profile)
    return dict(sorted(found.items(), key=lambda one: _ms(one[0])))


def _rounds_of(run: StoredProfile) -> int:
    """How often every setting was measured."""
    return min((len(labels) for labels in run.over.values()), default=0)


def _ms(text: str) -> float:
    return float(text.replace("-", "."))


def reference_of(text: str, runs: Sequence[StoredProfile]) -> list[Record]:
    """One profile of all runs at an RTT, and its probes."""
    rtt_s = _ms(text) / 1e3
    pair = Pair("reference", f"lab:reference:rtt-{text}ms")
    session = f"reference-{_ms(text):g}ms"
    newest = runs[-1].record
    if newest.path is None:
        raise ValueError(f"{newest.name} was stored without its path")
    grids: list[Grid] = []
    for grid in (grid for run in runs for grid in run.record.grids):
        _add(grid, grids)
    probes = list(_probes(runs, pair, session, rtt_s))
    record = ProfileRecord(
        session=session,
        pair=pair,
        recorded_s=newest.recorded_s,
        name=session,
        path=_path(newest.path, rtt_s),
        grids=grids,
        repeats=min(_rounds_of(run) for run in runs),
        about=_about(newest, rtt_s),
    )
    return [record, *probes]


def _add(grid: Grid, grids: list[Grid]) -> None:
    """Add a grid, as further values of one that has the same values of all but one parameter."""
    for place, other in enumerate(grids):
        same = (grid.subject, grid.fixed) == (other.subject, other.fixed)
        apart = [
            i
            for i, both in enumerate(zip(grid.axes, other.axes, strict=False))
            if len(set(both)) > 1
        ]
        if same and len(apart) <= 1:
            axes = list(other.axes)
            for i in apart:
                values = dict.fromkeys([*other.axes[i].values, *grid.axes[i].values])
                axes[i] = Axis(axes[i].name, tuple(values))
            grids[place] = msgspec.structs.replace(other, axes=tuple(axes))
            return
    grids.append(grid)


def _about(record: ProfileRecord, rtt_s: float) -> str:
    host = record.path.source if record.path else None
    machine = f"{host.cores} cores, kernel {host.kernel}" if host else "one machine"
    return (
        f"Emulated on one machine ({machine}) by advisor lab profile, {utc_text(record.recorded_s)}"
        f": RTT {format_duration(rtt_s)}, {format_rate(PATH.forward.rate_bps)}, a queue of one "
        f"bandwidth-delay product, MTU {PATH.mtu_bytes} B, TCP buffers up to "
        f"{format_bytes(PATH.tcp_buffer_bytes)}. The intervals of the probes are left out."
    )


def _path(path: PathFacts, rtt_s: float) -> PathFacts:
    source, destination = (_host(host) for host in (path.source, path.destination))
    return msgspec.structs.replace(
        path,
        rtt_s=rtt_s,
        rtt_method="emulated",
        bandwidth_bps=PATH.forward.rate_bps,
        source=source,
        destination=destination,
    )


def _host(host: HostFacts) -> HostFacts:
    return msgspec.structs.replace(host, hostname=_HOST)


def _probes(
    runs: Sequence[StoredProfile], pair: Pair, session: str, rtt_s: float
) -> Iterator[ProbeRecord]:
    """Those of all runs; the rounds of a run follow those of earlier ones at the same setting."""
    rounds: Counter[Cell] = Counter()
    for run in runs:
        for probe in run.probes:
            cell = probe.subject, setting_key(probe.setting)
            number = rounds[cell] + int(probe.label.removeprefix("round "))
            yield msgspec.structs.replace(
                probe,
                pair=pair,
                session=session,
                label=f"round {number}",
                result=_result(probe.result),
                rtt_s=rtt_s,
                bandwidth_bps=PATH.forward.rate_bps,
                connection=msgspec.UNSET,
            )
        rounds.update(dict.fromkeys(run.declared, run.record.repeats))


def _result(outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Measurement):
        return outcome
    return msgspec.structs.replace(
        outcome,
        throughput_bps=_rounded(outcome.throughput_bps),
        stderr_bps=_rounded(outcome.stderr_bps),
        elapsed_s=_rounded(outcome.elapsed_s),
        rtt_s=_rounded(outcome.rtt_s) if outcome.rtt_s else None,
        intervals=[],
        steady_from=0,
        sender=_load(outcome.sender),
        receiver=_load(outcome.receiver),
        versions={},
    )


def _load(load: EndLoad | None) -> EndLoad | None:
    return load and EndLoad(
        process_cores=_rounded(load.process_cores), host_share=_rounded(load.host_share)
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def page(profiles: Sequence[StoredProfile]) -> str:
    """The curves as a table, what they show, and how they were measured."""
    found = rtt_profile(places_of(profiles))
    columns, rows = rtt_columns(found), rtt_rows(found)
    runs = [_runs_words(repeats.values()) for repeats in found.curves.values()]
    table = table_text(
        ["curve", "probes", *columns[1:]],
        [[row[0], count, *row[1:]] for row, count in zip(rows, runs, strict=True)],
    )
    commands = (__doc__ or "").split("\n\n")[1]
    about = filled(f"{profiles[0].record.about.partition(': RTT')[0]}. {_HOW}")
    lines = "\n".join(f"- {line}" for line in rtt_lines(found))
    figure = f"![{_FIGURE_WORDS}]({_FIGURE.relative_to('docs')})"
    return "\n\n".join([_HEAD, about, table, filled(lines), figure, _AGAIN, commands]) + "\n"


def _runs_words(repeats: Iterable[Sequence[float]]) -> str:
    counts = {len(rates) for rates in repeats}
    return f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(min(counts))


def main(store: Path) -> None:
    """Write a file for each RTT, then the page and its figure of these files."""
    for text, runs in by_rtt(Store(store)).items():
        records = reference_of(text, runs)
        path = FOLDER / f"{_ms(text):g}ms{SUFFIX}"
        path.write_bytes(write_sealed(records, f"advisor {advisor.__version__}"))
        print(f"{path}: {len(records)} records, {path.stat().st_size} bytes")
    profiles = reference_profiles(Store(store, [FOLDER]))
    _PAGE.write_text(page(profiles))
    write_rtt_plot(_FIGURE, rtt_profile(places_of(profiles)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
