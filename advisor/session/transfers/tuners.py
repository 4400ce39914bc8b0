"""Which tuner a transfer has, and where it may go."""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from advisor import registry
from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.space import Parameter, Setting, Space
from advisor.domain.transfers import PastTransfer
from advisor.methods.api import Knowledge
from advisor.methods.online_tuning import OnlineTuning, Suggest
from advisor.methods.tuning import Fixed, Searching, Tuner, within_flows
from advisor.models.harp.asking import box_of, conditions_of, levels_in, sample_levels
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import Sample, optimise
from advisor.models.transfer_parameters import GLOBUS_LARGE_FILES, setting_of

FIXED: Final = "fixed"
HARP: Final = "harp"
START_METHODS: Final = (FIXED, HARP)
"""Those that can be told where to start; a search starts where its paper does."""

_UNITS: Final = {"concurrency": "files", "parallelism": "streams"}


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What the user allows. `flows`: concurrency × parallelism at most, None for any number."""

    concurrency: int
    parallelism: int
    flows: int | None = None


class TunerWanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a tuner is made from. `start` None: where the method starts by itself."""

    method: str
    bounds: Bounds
    start: Setting | None = None
    seed: int = 0


def tuned_space(bounds: Bounds) -> Space:
    """Whole numbers of files and streams, as the papers have them; what is always 1 is fixed.

    Files are no bound for concurrency: large ones are moved by ranges.
    """
    most = bounds.flows or bounds.concurrency * bounds.parallelism
    uppers = {
        "concurrency": min(bounds.concurrency, most),
        "parallelism": min(bounds.parallelism, most),
    }
    searched = [name for name, upper in uppers.items() if upper > 1]
    return Space(
        parameters=tuple(
            Parameter(name=name, unit=_UNITS[name], lower=1, upper=uppers[name])
            for name in searched
        ),
        cost_order=tuple(searched),
        fixed={name: 1 for name in uppers if name not in searched},
    )


def tuner_of(
    wanted: TunerWanted, dataset: Dataset, path: PathFacts, transfers: Sequence[PastTransfer]
) -> Tuner:
    """The tuner. Raises PluginMissing, and ValueError where it cannot be used.

    `transfers`: those of the past, which HARP learns from. It may take a second.
    """
    space, flows = tuned_space(wanted.bounds), wanted.bounds.flows
    if wanted.start is not None and wanted.method not in START_METHODS:
        raise ValueError(
            f"--start is for --method {' and '.join(START_METHODS)}: {wanted.method} begins where "
            "its paper does"
        )
    if wanted.method == FIXED:
        start = wanted.start or setting_of(space, GLOBUS_LARGE_FILES)
        return Fixed(within_flows(start, flows))
    if not space.parameters:
        raise ValueError("the bounds leave one setting and nothing to tune: take --method fixed")
    knowledge = Knowledge(
        path=path, bandwidth_bps=path.capacity_bps, dataset=dataset, transfers=transfers
    )
    rng = np.random.default_rng(wanted.seed)
    if wanted.method == HARP:
        levels = sample_levels(dataset, path, knowledge.bdp_bytes, wanted.bounds.concurrency)
        start = wanted.start or setting_of(space, levels)
        return OnlineTuning(start, _by_harp(knowledge, space, rng), flows)
    plugin = registry.method(wanted.method)
    if not (availability := plugin.available()).ok:
        raise ValueError(f"--method {wanted.method}: {availability.reason}")
    return Searching(plugin.create(space, rng, knowledge, {}), flows)


def _by_harp(knowledge: Knowledge, space: Space, rng: np.random.Generator) -> Suggest:
    """HARP's optimiser, with what the present setting gives as the sample (2018, section 4.2)."""
    history = History.of(knowledge.transfers)
    conditions = conditions_of(knowledge.dataset, knowledge.path, knowledge.bandwidth_bps)

    def suggest(setting: Setting, bps: float) -> tuple[Setting, str]:
        sample = Sample(levels=levels_in(space, setting), throughput_bps=bps)
        found = optimise(conditions, sample, history, box_of(space), rng)
        return setting_of(space, found.levels), found.worth

    return suggest
