"""What the history has for the entries of a draft: results, their course, and similar pairs."""

import time
from collections.abc import Callable

import msgspec

from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.events import PastResult
from advisor.domain.file_io import PARTS
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.store.history import SimilarPair, Store
from advisor.tui.features.advising.draft import Draft

ProbesBySubject = dict[str, list[tuple[float, float]]]
"""By subject: when each probe was stored, as a Unix time, and its throughput in bit/s."""


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """`past`: the best results of the pair; `notes` on them. `probes`: all its probes.

    `similar`: other pairs.
    """

    past: list[PastResult] = []
    notes: list[str] = []
    probes: ProbesBySubject = {}
    similar: list[SimilarPair] = []

    @property
    def best_bps(self) -> float | None:
        """The best throughput; None without results."""
        return max((result.throughput_bps for result in self.past), default=None)


def stored_for(draft: Draft, store: Store) -> Stored:
    """What is stored for it. Raises StoreError."""
    pair = _pair(draft)
    if pair is None:
        return Stored()
    path = draft.path_seen.path if draft.path_seen else None
    past = store.past(pair, time.time(), path, _check(draft, path))
    known = next((one for one in store.pairs() if one.pair == pair), None)
    probes = known.series if known else {}
    return Stored(
        past=[r for r in past.results if _is_meant(r.subject, draft)],
        notes=past.notes,
        probes={subject: rates for subject, rates in probes.items() if _is_meant(subject, draft)},
        similar=store.similar(
            pair, path.rtt_s if path else None, path.capacity_bps if path else None
        ),
    )


def _check(draft: Draft, path: PathFacts | None) -> Callable[[ProbeRecord], str]:
    from advisor import registry
    from advisor.advising.stored_settings import parameters_of, what_is_lacking

    try:
        parameters = parameters_of(path, draft.tool_name, draft.scanned) if path else {}
    except registry.PluginMissing:
        parameters = {}  # Of no tool: its field says that it is unknown.
    return what_is_lacking(parameters, draft.scanned)


def _is_meant(subject: str, draft: Draft) -> bool:
    """Whether a stored result is of the subject to profile: the tool, else a transport."""
    from advisor import registry

    if draft.tool_name:
        return subject == draft.tool_name
    others = {tool.name for tool in registry.tools()}
    return subject not in PARTS and subject not in others


def _pair(draft: Draft) -> Pair | None:
    """The pair as the history names it; None for an invalid destination."""
    from advisor.domain.addresses import parse_host_port
    from advisor.runtime.connect import pair_of
    from advisor.runtime.request import AdviceRequest

    try:
        agent = parse_host_port(draft.agent) if draft.way == "agent" else None
        named = draft.destination.strip()
        destination = Endpoint.parse(named) if named or not agent else Endpoint(agent[0])
    except ValueError:
        return None
    return pair_of(AdviceRequest(destination=destination, agent=agent))
