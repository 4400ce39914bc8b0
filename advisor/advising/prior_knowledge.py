"""What a search knows before its first probe."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from advisor import registry
from advisor.advising.context import Context
from advisor.advising.judging import cost_model
from advisor.domain.dataset import Work
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, SettingKey, processes_of, setting_key
from advisor.methods.api import Expected, Knowledge, PastSurface
from advisor.models.limits import full_loads, thread_is_full
from advisor.models.past_transfers import completed
from advisor.models.saturation import saturated_bps
from advisor.runtime.request import AdviceRequest
from advisor.traits import flow_names


def knowledge_of(context: Context, subject: str) -> Knowledge:
    """What is known of the path and the files to move, and from earlier searches of the subject."""
    return Knowledge(
        path=context.path_now,
        bandwidth_bps=capacity_bps(context.path, [*context.history.past, *context.probes]),
        past=[p for p in context.history.past if _is_of_one_process(p, subject)],
        dataset=context.request.dataset,
        surfaces=surfaces_of(
            p for p in context.history.past_of_similar if _is_of_one_process(p, subject)
        ),
        transfers=list(completed(context.history.transfers, context.pair, context.path)),
        flow_names=flow_names(),
    )


def _is_of_one_process(probe: ProbeRecord, subject: str) -> bool:
    """Whether it measured the subject as its search does."""
    return probe.subject == subject and processes_of(probe.setting) == 1


def capacity_bps(path: PathFacts, probes: Iterable[ProbeRecord]) -> float | None:
    """The best evidence of the path's capacity.

    What was reserved; else the rate at which transports of this pair were seen to saturate it; else
    the slower interface, which is but an upper bound. A probe whose thread filled its core shows
    what the hosts can do, and does not count.
    """
    if path.bandwidth_bps:
        return path.bandwidth_bps
    transports = {transport.name for transport in registry.transports()}
    seen_bps = saturated_bps(
        (
            (probe.setting, probe.result.throughput_bps)
            for probe in probes
            if probe.subject in transports
            and isinstance(probe.result, Measurement)
            and not any(map(thread_is_full, full_loads(probe.result).values()))
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
