"""The profiles of a history: what was declared, and the probes that belong to each."""

from collections.abc import Iterable, Sequence

import msgspec

from advisor.domain.endpoints import is_in_lab
from advisor.domain.grid import Cell
from advisor.domain.measurement import Failure, Measurement
from advisor.domain.printable import MOST_SHOWN, shortened
from advisor.domain.records import ProbeRecord, ProfileRecord, Record
from advisor.domain.rounds import rounds_over
from advisor.domain.space import setting_key
from advisor.store.history import Store
from advisor.store.identity import record_digest
from advisor.store.remarks import counting, standing_of

Rates = dict[Cell, list[float]]
"""Throughputs in bit/s."""


class StoredProfile(msgspec.Struct, frozen=True, kw_only=True):
    """A profile and its probes, in the order they were measured.

    Outliers are left out. `shipped`: a reference profile of the program.
    """

    record: ProfileRecord
    probes: list[ProbeRecord]
    shipped: bool = False

    @property
    def emulated(self) -> bool:
        """Whether its path was emulated on one machine."""
        return is_in_lab(self.record.pair.destination)

    @property
    def rates_bps(self) -> Rates:
        """The throughputs of each cell in bit/s, in the order of the grid, then of measuring."""
        found: Rates = {cell: [] for cell in self.declared}
        for probe in self.probes:
            if isinstance(probe.result, Measurement) and probe.result.throughput_bps > 0:
                cell = (probe.subject, setting_key(probe.setting))
                found.setdefault(cell, []).append(probe.result.throughput_bps)
        return {cell: rates for cell, rates in found.items() if rates}

    @property
    def declared(self) -> list[Cell]:
        """The cells of its grids."""
        grids = self.record.grids
        return [(grid.subject, setting_key(one)) for grid in grids for one in grid.settings]

    @property
    def measured(self) -> int:
        """The number of probes with a throughput."""
        return sum(isinstance(probe.result, Measurement) for probe in self.probes)

    @property
    def failed(self) -> int:
        """The number of probes that failed."""
        return sum(isinstance(probe.result, Failure) for probe in self.probes)

    @property
    def left(self) -> int:
        """The number of measurements that are declared and are not over."""
        return sum(max(0, self.record.repeats - len(labels)) for labels in self.over.values())

    @property
    def over(self) -> dict[Cell, set[str]]:
        """The labels of the rounds in which each declared cell was measured or failed for good."""
        record = self.record
        tool = str(record.request.get("tool") or "")
        return rounds_over(self.declared, record.repeats, self.probes, tool)


def profile_name(of: str, session: str) -> str:
    """The name of a profile for which none is given: of what it is, and when its session began.

    As in `dtn2-20260301T120000Z-4f2a1c`; what it is of is shortened where that would be too long.
    """
    return f"{shortened(of, MOST_SHOWN - len(session) - 1)}-{session}"


def stored_profiles(store: Store) -> list[StoredProfile]:
    """The user's own profiles, the newest first, and then the reference profiles."""
    own = (store.records(pair) for pair in store.stored_pairs())
    found = [one for records in own for one in _profiles_in(records, shipped=False)]
    found.sort(key=lambda p: p.record.recorded_s, reverse=True)
    return found + reference_profiles(store)


def reference_profiles(store: Store) -> list[StoredProfile]:
    """The profiles that come with the program, by round-trip time."""
    shipped = store.references.records.values()
    found = [one for records in shipped for one in _profiles_in(records, shipped=True)]
    return sorted(found, key=lambda p: p.record.path.rtt_s if p.record.path else 0.0)


def _profiles_in(records: list[Record], *, shipped: bool) -> list[StoredProfile]:
    declared = [r for r in records if isinstance(r, ProfileRecord)]
    if not declared:
        return []
    deleted = standing_of(records).deleted
    probes = counting(records)
    return [
        StoredProfile(record=one, probes=probes_of(one, probes), shipped=shipped)
        for one in declared
        if one.session not in deleted
    ]


def probes_of(profile: ProfileRecord, probes: Iterable[ProbeRecord]) -> list[ProbeRecord]:
    """Those of its pair's probes that belong to a profile."""
    if profile.members:
        members = set(profile.members)
        return [probe for probe in probes if record_digest(probe) in members]
    return [probe for probe in probes if probe.session == profile.session]


def named(profiles: Sequence[StoredProfile], text: str) -> list[StoredProfile]:
    """Those with this name, or else with an id that begins so; the newest of each name first."""
    return [p for p in profiles if p.record.name == text] or [
        p for p in profiles if text and p.record.session.startswith(text)
    ]
