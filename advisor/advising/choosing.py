"""Chooses the setting to advise, and compares it with the others."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from advisor.advising.contenders import (
    Candidate,
    Key,
    Ranking,
    candidates_of,
    contenders,
    named,
    rank_contenders,
)
from advisor.advising.judging import comparable, cost_model, whole_error
from advisor.advising.path_changes import on_the_path_now
from advisor.advising.standing import Place, Standing
from advisor.domain.events import PastResult
from advisor.domain.file_io import NETWORK
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Space, setting_key
from advisor.models.ceiling import Ceiling, ceiling_of, link_ceiling
from advisor.models.comparison import MEMORY_TO_MEMORY, SAME_FILES, SLICE_SPREAD
from advisor.models.path_losses import loss_error
from advisor.runtime.request import AdviceRequest
from advisor.traits import flow_names

_RARE_LOSSES: Final = 0.05
"""The relative error of a rate from which on it may be far lower in the long run: losses that the
probes were too short to show hold few streams back more than many."""


def standing_of(
    request: AdviceRequest,
    path: PathFacts,
    probes: Sequence[ProbeRecord],
    spaces: Mapping[str, Space],
) -> Standing:
    """What the probes of a session of transports show."""
    seen_bps = max((one.throughput_bps for one in _measured(probes)), default=0.0)
    return Standing(probes, spaces, flow_names(), link_ceiling(path, seen_bps), request.dataset)


def ranking_of(
    request: AdviceRequest,
    path: PathFacts,
    probes: Sequence[ProbeRecord],
    past: Sequence[PastResult],
    spaces: Mapping[str, Space],
) -> Ranking | None:
    """The contenders, compared, and the choice among them; None without a throughput."""
    if request.tool:
        model = cost_model(request, probes)
        compared = comparable(request, probes, model)
        met = contenders(compared, past, spaces)
        return rank_contenders(
            met,
            spaces,
            # At least that of all probes around the model: a few may agree by chance.
            max(SLICE_SPREAD, model.noise, key=lambda one: one.value),
            same=SAME_FILES,
            ceiling=_ceiling_of_tool(request.tool, path, probes),
            errors={c.key: whole_error(request, compared, c.subject, c.setting) for c in met},
        )
    compared = comparable(request, probes)
    met = contenders(compared, past, spaces)
    standing = standing_of(request, path, compared, spaces)
    chosen = standing.chosen
    if chosen is None:
        return None
    ranking = rank_contenders(
        _with(chosen, met, compared),
        spaces,
        chosen=chosen.key,
        alike=[place.key for place in standing.alike()],
        assumed=MEMORY_TO_MEMORY,
        ceiling=ceiling_of(
            path,
            _measured(probes),
            standing.spread_of_repeats(chosen.subject),
            is_plateau=standing.is_flat,
        ),
        errors=_loss_errors(on_the_path_now(probes), compared),
    )
    return _default_for_a_small_gain(ranking) if ranking else None


def _default_for_a_small_gain(ranking: Ranking) -> Ranking:
    """The ranking, with the default chosen where it costs less and the gain is small and uncertain.

    Probes of a few seconds differ by some percent, so one of several settings is often ahead of the
    default by chance, or expected to be although its own probes were slower. Not where rare losses
    may hold the default back.
    """
    gain, default = ranking.gain, ranking.default
    if gain is None or default is None:
        return ranking
    is_small = gain.value <= 1 + ranking.comparison.same.perhaps
    is_uncertain = gain.interval[0] <= 1
    is_known = ranking.errors[default] < _RARE_LOSSES
    is_cheaper = ranking.costs[default] < ranking.costs[ranking.chosen]
    if is_small and is_uncertain and is_known and is_cheaper:
        return msgspec.structs.replace(ranking, chosen=default)
    return ranking


def _loss_errors(
    probes: Iterable[ProbeRecord], compared: Iterable[ProbeRecord]
) -> dict[Key, float]:
    """How uncertain it is what losses make of each setting in the long run.

    All probes of a setting share it, so repeats do not show it.
    """
    errors: dict[Key, float] = {}
    for probe, expected in zip(probes, compared, strict=True):
        if isinstance(probe.result, Measurement):
            key = (probe.subject, setting_key(probe.setting))
            errors[key] = min(loss_error(probe, expected), errors.get(key, math.inf))
    return errors


def _measured(probes: Iterable[ProbeRecord]) -> Iterator[Measurement]:
    return (probe.result for probe in probes if isinstance(probe.result, Measurement))


def _ceiling_of_tool(tool: str, path: PathFacts, probes: Sequence[ProbeRecord]) -> Ceiling | None:
    """What limits a prediction of the whole dataset: what the network alone and slices have shown.

    Slices alone show no ceiling: their rate may include what the tool needs to begin.
    """
    alone = list(_measured(probe for probe in probes if probe.stage == NETWORK))
    slices = list(_measured(probe for probe in probes if probe.subject == tool))
    if alone:
        return ceiling_of(path, [*alone, *slices], SLICE_SPREAD.value)
    return link_ceiling(path, max((one.throughput_bps for one in slices), default=0.0))


def _with(chosen: Place, met: list[Candidate], probes: Sequence[ProbeRecord]) -> list[Candidate]:
    """The contenders and the chosen setting, which is one of the cheaper ones if not among them."""
    if chosen.key in {c.key for c in met}:
        return met
    return [*met, *(named(c, "frugal") for c in candidates_of(probes) if c.key == chosen.key)]
