"""Throughput against the round-trip time: from stored profiles or the history to curves and text.

Each profile, or each pair of the history, is one place at its RTT. A curve has what one number of
flows reaches at each, with the setting that is best there; one more per subject has the best of
all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from advisor.domain.file_io import PARTS
from advisor.domain.grid import Cell
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, flows_of, setting_key
from advisor.models.rtt_profile import (
    FEWEST_RTTS,
    Crossover,
    Transition,
    crossover,
    transition,
)
from advisor.store.history import Store
from advisor.store.profiles import StoredProfile
from advisor.traits import flow_names, reference_transport, subject_name, transports

_KEPT_APART: Final = "congestion"
_SAME_RTT: Final = 1.05
"""Places whose RTTs differ by less are one: two profiles of the same path."""

Curves = dict["CurveName", dict[float, list[float]]]


class CurveName(msgspec.Struct, frozen=True):
    """What a curve shows. `flows`: None for the best of all settings."""

    subject: str
    congestion: str
    flows: int | None

    def __str__(self) -> str:
        flows = "best" if self.flows is None else f"{self.flows} flow{'s' * (self.flows != 1)}"
        return ", ".join(filter(None, (subject_name(self.subject), self.congestion, flows)))


class RttProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The curves, throughputs in bit/s by RTT in seconds, and what they show.

    `transitions`: by curve. `crossovers`: by transport, the RTT beyond which its best is above the
    best of the reference transport.
    """

    curves: Curves
    transitions: dict[CurveName, Transition]
    crossovers: dict[str, Crossover]

    @property
    def panels(self) -> dict[str, Curves]:
        """The curves by number of flows, apart for each subject and congestion control."""
        found: dict[str, Curves] = {}
        for name, repeats in self.curves.items():
            if name.flows is not None:
                title = ", ".join(filter(None, (subject_name(name.subject), name.congestion)))
                found.setdefault(title, {})[name] = repeats
        return found

    @property
    def rtts_s(self) -> list[float]:
        """All RTTs, ascending."""
        return sorted({rtt_s for repeats in self.curves.values() for rtt_s in repeats})


class RttBox(msgspec.Struct, frozen=True, kw_only=True):
    """A curve at one RTT, for `--json`."""

    subject: str
    congestion: str
    flows: int | None
    rtt_s: float
    throughputs_bps: list[float]


def rtt_profile(places: Iterable[tuple[float, Sequence[ProbeRecord]]]) -> RttProfile:
    """The curves of these places, each an RTT in seconds with the probes made there."""
    curves: Curves = {}
    for rtt_s, probes in _joined(places):
        for name, rates in _at_one(probes).items():
            curves.setdefault(name, {})[rtt_s] = rates
    ordered = dict(sorted(curves.items(), key=lambda one: _order(one[0])))
    found = {name: transition(repeats) for name, repeats in ordered.items()}
    return RttProfile(
        curves=ordered,
        transitions={name: one for name, one in found.items() if one},
        crossovers=dict(_crossovers(ordered)),
    )


def places_of(profiles: Iterable[StoredProfile]) -> Iterator[tuple[float, list[ProbeRecord]]]:
    """Each profile whose path is recorded, or whose probes know their RTT."""
    for profile in profiles:
        path = profile.record.path
        rtt_s = path.rtt_s if path else median_rtt_s(profile.probes)
        if rtt_s:
            yield rtt_s, profile.probes


def places_of_history(store: Store, source: str) -> Iterator[tuple[float, list[ProbeRecord]]]:
    """Each destination that the host `source` measured, at the median of its RTTs."""
    for pair in store.stored_pairs():
        probes = store.prior(pair) if pair.source == source else []
        if rtt_s := median_rtt_s(probes):
            yield rtt_s, probes


def median_rtt_s(probes: Iterable[ProbeRecord]) -> float | None:
    """The median RTT of the probes that know theirs."""
    known = [probe.rtt_s for probe in probes if probe.rtt_s]
    return float(np.median(known)) if known else None


def _joined(
    places: Iterable[tuple[float, Sequence[ProbeRecord]]],
) -> list[tuple[float, list[ProbeRecord]]]:
    joined: list[tuple[float, list[ProbeRecord]]] = []
    for rtt_s, probes in sorted(places, key=lambda one: one[0]):
        if joined and rtt_s < joined[-1][0] * _SAME_RTT:
            joined[-1][1].extend(probes)
        else:
            joined.append((rtt_s, list(probes)))
    return joined


def _at_one(probes: Sequence[ProbeRecord]) -> dict[CurveName, list[float]]:
    """The throughputs of each curve's best setting at one RTT."""
    rates: dict[Cell, list[float]] = {}
    for probe in probes:
        result = probe.result
        if probe.subject in PARTS or not isinstance(result, Measurement):
            continue
        if result.throughput_bps > 0:
            cell = (probe.subject, setting_key(probe.setting))
            rates.setdefault(cell, []).append(result.throughput_bps)
    best: dict[CurveName, list[float]] = {}
    for (subject, key), found in rates.items():
        for name in _names(subject, dict(key)):
            if name not in best or np.median(found) > np.median(best[name]):
                best[name] = found
    return best


def _names(subject: str, setting: Setting) -> tuple[CurveName, CurveName]:
    flows = flows_of(setting, flow_names())
    congestion = str(setting.get(_KEPT_APART, ""))
    return CurveName(subject, congestion, flows), CurveName(subject, "", None)


def _order(name: CurveName) -> tuple[bool, str, str, int]:
    """The reference transport first, the best of all after the numbers of flows."""
    flows = 2**31 if name.flows is None else name.flows
    last = "~" if name.flows is None else name.congestion
    return name.subject != reference_transport(), name.subject, last, flows


def _crossovers(
    curves: Mapping[CurveName, Mapping[float, Sequence[float]]],
) -> Iterator[tuple[str, Crossover]]:
    reference = curves.get(CurveName(reference_transport(), "", None))
    for subject in transports():
        own = curves.get(CurveName(subject, "", None))
        if subject != reference_transport() and own and reference:
            found = crossover(own, reference)
            if found:
                yield subject, found


def rtt_columns(profile: RttProfile) -> tuple[str, ...]:
    """The RTTs as heads of a table of the curves."""
    return ("", *(format_duration(rtt_s) for rtt_s in profile.rtts_s), "concave up to")


def rtt_rows(profile: RttProfile) -> list[list[str]]:
    """For each curve the median and the quartiles at each RTT, and its transition."""
    return [
        [
            str(name),
            *(_box_words(repeats.get(rtt_s, [])) for rtt_s in profile.rtts_s),
            _transition_words(profile.transitions.get(name)),
        ]
        for name, repeats in profile.curves.items()
    ]


def _box_words(rates: Sequence[float]) -> str:
    if not rates:
        return "-"
    low, middle, high = (float(one) for one in np.percentile(rates, (25, 50, 75)))
    half = (high - low) / 2 / middle
    return f"{format_rate(middle)} ±{half:.0%}" if len(rates) > 1 else format_rate(middle)


def _transition_words(found: Transition | None) -> str:
    if found is None:
        return "-"
    low, high = (_edge_words(one) for one in found.interval_s)
    if found.rtt_s == 0:
        return f"convex throughout ({low} to {high})"
    return f"{_edge_words(found.rtt_s)} ({low} to {high})"


def _edge_words(rtt_s: float) -> str:
    if rtt_s == 0:
        return "none"
    return "the longest" if np.isinf(rtt_s) else format_duration(rtt_s)


def rtt_lines(profile: RttProfile) -> Iterator[str]:
    """What the table means, and where the transports cross."""
    yield "Medians; ± is half the distance of the quartiles. Concave up to: with its 90 % interval."
    if len(profile.rtts_s) < FEWEST_RTTS:
        yield f"Where a curve turns convex is not seen with fewer than {FEWEST_RTTS} RTTs."
    reference = subject_name(reference_transport())
    for subject, found in profile.crossovers.items():
        yield _crossover_words(subject_name(subject), reference, found)
    others = {name.subject for name in profile.curves if name.subject in transports()}
    for subject in sorted(others - set(profile.crossovers) - {reference_transport()}):
        yield f"{subject_name(subject)} is not above {reference} at the longest RTT."


def _crossover_words(name: str, reference: str, found: Crossover) -> str:
    verb, how_sure = "is", ""
    if not found.is_clear:
        verb, how_sure = "may be", f"; so in {found.share:.0%} of the bootstrap samples"
    if found.rtt_s == 0:
        where = "at every RTT"
    else:
        low, high = (format_duration(one) if one else "0 ms" for one in found.interval_s)
        where = f"beyond {format_duration(found.rtt_s)} ({low} to {high})"
    return f"{name} {verb} above {reference} {where}, each with its best setting{how_sure}."


def rtt_boxes(profile: RttProfile) -> list[RttBox]:
    """All curves point by point."""
    return [
        RttBox(
            subject=name.subject,
            congestion=name.congestion,
            flows=name.flows,
            rtt_s=rtt_s,
            throughputs_bps=rates,
        )
        for name, repeats in profile.curves.items()
        for rtt_s, rates in repeats.items()
    ]
