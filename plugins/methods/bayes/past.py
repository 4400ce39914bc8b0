"""How bayes learns from past transfers and probes."""

from typing import Final

from advisor.api.method import Knowledge, PastSurface
from advisor.api.past_transfers import History, Peak, box_of, conditions_of, peak_of
from advisor.api.values import Measurement, Role, Setting, Space, role_of

_OF_TRANSFERS: Final = {Role.CONCURRENCY, Role.PARALLELISM, Role.PIPELINING}


def past_surfaces(knowledge: Knowledge) -> list[PastSurface]:
    """What is known, with this pair's own stored probes as one surface per session."""
    sessions: dict[str, list[tuple[Setting, float]]] = {}
    for record in knowledge.past:
        if isinstance(record.result, Measurement):
            one = sessions.setdefault(record.session, [])
            one.append((record.setting, record.result.throughput_bps))
    own = [
        PastSurface(
            settings=[s for s, _ in probes],
            rates_bps=[bps for _, bps in probes],
            repeats=[1] * len(probes),
            same_pair=True,
        )
        for probes in sessions.values()
    ]
    return [*knowledge.surfaces, *own]


def peak_of_transfers(space: Space, knowledge: Knowledge) -> Peak | None:
    """The setting at which past transfers of similar files were fastest, according to HARP.

    None when they do not show it, or when the space has other parameters than they have.
    """
    roles = {role_of(parameter) for parameter in space.parameters}
    if not roles <= _OF_TRANSFERS or roles <= {Role.PIPELINING}:
        return None
    wanted = conditions_of(knowledge.dataset, knowledge.path, knowledge.bandwidth_bps)
    return peak_of(wanted, History.of(knowledge.transfers), box_of(space))
