"""What a search knows before its first probe."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from advisor import registry
from advisor.advising.context import Context, PriorResults
from advisor.advising.judging import cost_model
from advisor.domain.dataset import Work
from advisor.domain.endpoints import Pair
from advisor.domain.grid import Cell
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, SettingKey, setting_key
from advisor.methods.api import Expected, Knowledge, PastSurface
from advisor.models.past_transfers import completed
from advisor.models.saturation import saturated_bps
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.store.profiles import emulated_like
from advisor.traits import flow_names, method_traits


def prior_results(
    store: Store, request: AdviceRequest, pair: Pair, path: PathFacts, session: str
) -> PriorResults:
    """What the history has for a search on this path.

    First come probes of the pair itself, then those of similar paths. Where there are neither, a
    method that learns from similar paths gets a reference profile of an emulated one. `session`:
    the present one, whose probes are no history of it.
    """
    past = store.prior(pair, path)
    similar = store.prior_of_similar(pair, path.rtt_s, path.bandwidth_bps)
    found = PriorResults(past=past, past_of_similar=similar, transfers=store.transfers())
    known = bool(similar) or any(probe.session != session for probe in past)
    if known or request.tool or not method_traits(request.method).learns_from_similar:
        return found
    return _with_reference(found, store, request.transports, path)


def _with_reference(
    found: PriorResults, store: Store, transports: Sequence[str], path: PathFacts
) -> PriorResults:
    """With the reference profiles of the emulated paths that are most like this one."""
    near = emulated_like(store, path.rtt_s, path.capacity_bps)
    probes = [p for one in near for p in typical_probes(one.probes) if p.subject in transports]
    if not probes:
        return found
    one, several = "a reference profile of an emulated path", "reference profiles of emulated paths"
    words = " and ".join(_path_words(profile.record.path) for profile in near)
    return msgspec.structs.replace(
        found,
        past_of_similar=probes,
        borrowed="nothing is known of this path or of similar ones: the search starts from "
        f"{several if len(near) > 1 else one} ({words})",
    )


def typical_probes(probes: Iterable[ProbeRecord]) -> list[ProbeRecord]:
    """The median measurement of each setting.

    Repeats on one emulated path do not say more about other paths than one of them does.
    """
    found: dict[Cell, list[tuple[float, int, ProbeRecord]]] = defaultdict(list)
    for number, probe in enumerate(probes):
        if isinstance(probe.result, Measurement):
            cell = probe.subject, setting_key(probe.setting)
            found[cell].append((probe.result.throughput_bps, number, probe))
    return [sorted(repeats)[len(repeats) // 2][2] for repeats in found.values()]


def _path_words(path: PathFacts | None) -> str:
    if path is None:
        return "RTT not known"
    rate = f", {format_rate(path.bandwidth_bps)}" if path.bandwidth_bps else ""
    return f"RTT {format_duration(path.rtt_s)}{rate}"


def knowledge_of(context: Context, subject: str) -> Knowledge:
    """What is known of the path and the files to move, and from earlier searches of the subject."""
    return Knowledge(
        path=context.path_now,
        bandwidth_bps=capacity_bps(context.path, [*context.history.past, *context.probes]),
        past=[p for p in context.history.past if p.subject == subject],
        dataset=context.request.dataset,
        surfaces=surfaces_of(p for p in context.history.past_of_similar if p.subject == subject),
        transfers=list(completed(context.history.transfers, context.pair, context.path)),
        flow_names=flow_names(),
    )


def capacity_bps(path: PathFacts, probes: Iterable[ProbeRecord]) -> float | None:
    """The best evidence of the path's capacity.

    What was reserved; else the rate at which transports of this pair were seen to saturate it; else
    the slower interface, which is but an upper bound.
    """
    if path.bandwidth_bps:
        return path.bandwidth_bps
    transports = {transport.name for transport in registry.transports()}
    seen_bps = saturated_bps(
        (
            (probe.setting, probe.result.throughput_bps)
            for probe in probes
            if probe.subject in transports and isinstance(probe.result, Measurement)
        ),
        flow_names(),
    )
    return min((bps for bps in (seen_bps, path.link_bps) if bps), default=None)


def surfaces_of(probes: Iterable[ProbeRecord]) -> tuple[PastSurface, ...]:
    """One surface for each session of each pair that measured at least two settings."""
    sessions: dict[tuple[str, str, str], list[ProbeRecord]] = defaultdict(list)
    for probe in probes:
        if isinstance(probe.result, Measurement):
            sessions[probe.pair.source, probe.pair.destination, probe.session].append(probe)
    found = (_surface(probes) for probes in sessions.values())
    return tuple(surface for surface in found if len(surface.settings) > 1)


def _surface(probes: Sequence[ProbeRecord]) -> PastSurface:
    """The surface of one session, which has at least one probe with a throughput."""
    found: dict[SettingKey, tuple[Setting, list[float]]] = {}
    for probe in probes:
        if isinstance(probe.result, Measurement):
            _, rates = found.setdefault(setting_key(probe.setting), (probe.setting, []))
            rates.append(probe.result.throughput_bps)
    return PastSurface(
        settings=[setting for setting, _ in found.values()],
        rates_bps=[sum(rates) / len(rates) for _, rates in found.values()],
        repeats=[len(rates) for _, rates in found.values()],
        file_bytes=probes[0].file_bytes,
    )


def expected_rates(request: AdviceRequest, probes: Sequence[ProbeRecord]) -> Expected | None:
    """What the cost model expects of a tool's settings for the dataset; None without a tool."""
    if request.tool is None or request.dataset is None:
        return None
    model, whole = cost_model(request, probes), Work.of_dataset(request.dataset)

    def rates_bps(settings: Sequence[Setting]) -> list[float]:
        return [whole.total_bytes * 8 / seconds for seconds in model.seconds(settings, whole)]

    return rates_bps
