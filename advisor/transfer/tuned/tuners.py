"""Makes the tuner of a transfer, and its search space."""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from advisor import registry
from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.space import Parameter, Setting, Space, concurrency_of, parallelism_of
from advisor.domain.transfers import Levels, PastTransfer
from advisor.methods.api import Knowledge, Method
from advisor.methods.tuning import (
    Fixed,
    Priced,
    Searching,
    Tuner,
    TunerBounds,
    TunerPlugin,
)
from advisor.models.transfer_parameters import GLOBUS_LARGE_FILES, setting_of
from advisor.traits import method_traits

FIXED: Final = "fixed"
MOST_STREAMS: Final = 16
"""Streams for each file at most, where the user does not say."""

_UNITS: Final = {"concurrency": "files", "parallelism": "streams"}


class TunerWanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a tuner is made from.

    `start`: the required start, None if none is. `advised`: the start if neither user nor method
    sets one, None for the method's own. `price`: see `Priced`, None for none.
    """

    method: str
    bounds: TunerBounds
    start: Levels | None = None
    advised: Levels | None = None
    seed: int = 0
    price: float | None = None


def tuned_space(bounds: TunerBounds) -> Space:
    """Integer concurrency and parallelism, as in the papers; a parameter that is always 1 is fixed.

    So is a parallelism that is to be kept. Raises ValueError if that alone has too many flows.
    The number of files does not bound the concurrency: large files are moved by ranges.
    """
    most = bounds.flows or bounds.concurrency * bounds.parallelism
    streams = bounds.streams or 1
    if streams > most:
        raise ValueError(f"{streams} streams for each file are more than {most} in total")
    uppers = {
        "concurrency": min(bounds.concurrency, most // streams),
        "parallelism": min(bounds.parallelism, most),
    }
    fixed: Setting = {} if bounds.streams is None else {"parallelism": streams}
    searched = [name for name, upper in uppers.items() if upper > 1 and name not in fixed]
    return Space(
        parameters=tuple(
            Parameter(name=name, unit=_UNITS[name], lower=1, upper=uppers[name])
            for name in searched
        ),
        cost_order=tuple(searched),
        fixed={name: 1 for name in uppers if name not in searched} | fixed,
        most_flows=bounds.flows,
    )


def learns_from_transfers(method: str) -> bool:
    """Whether the method chooses by past transfers: as a tuner of its own, or as it says."""
    if method == FIXED:
        return False
    return isinstance(registry.method(method), TunerPlugin) or method_traits(method).asks_transfers


def why_no_streams(method: str) -> str:
    """Why the streams of each file cannot be kept with the method; "" where they can.

    Raises PluginMissing.
    """
    if method != FIXED and isinstance(registry.method(method), TunerPlugin):
        return f"{method} chooses the streams"
    return ""


def why_no_price(method: str) -> str:
    """Why rates that are reduced by a price mislead the method, or do nothing; "" where they serve.

    Raises PluginMissing.
    """
    if method == FIXED:
        return f"{method} keeps one setting, whatever a flow costs"
    if isinstance(registry.method(method), TunerPlugin):
        return f"{method} compares rates with those of past transfers, which had no price"
    return ""


def tuner_of(
    wanted: TunerWanted, dataset: Dataset, path: PathFacts, transfers: Sequence[PastTransfer]
) -> Tuner:
    """The tuner. Raises PluginMissing, and ValueError if it cannot be used.

    `transfers`: past ones, for a method with a tuner of its own. It may take a second.
    """
    if wanted.price and (reason := why_no_price(wanted.method)):
        raise ValueError(f"--method {reason}: leave out --price")
    if wanted.method == FIXED:
        space = tuned_space(wanted.bounds)
        start = setting_of(space, wanted.start or wanted.advised or GLOBUS_LARGE_FILES)
        return Fixed(start)
    tuner = _tuner_of(wanted, dataset, path, transfers)
    return Priced(tuner, wanted.price) if wanted.price else tuner


def _tuner_of(
    wanted: TunerWanted, dataset: Dataset, path: PathFacts, transfers: Sequence[PastTransfer]
) -> Tuner:
    space = tuned_space(wanted.bounds)
    if not space.parameters:
        raise ValueError("the bounds allow only one setting: use --method fixed")
    knowledge = Knowledge(
        path=path,
        bandwidth_bps=path.capacity_bps,
        dataset=dataset,
        transfers=transfers,
        start=wanted.start or wanted.advised,
    )
    rng = np.random.default_rng(wanted.seed)
    try:
        plugin = registry.usable_method(wanted.method)
    except registry.PluginMissing as error:
        raise ValueError(f"--method: {error}") from None
    if isinstance(plugin, TunerPlugin):
        if wanted.bounds.streams is not None:
            raise ValueError(f"--method {why_no_streams(wanted.method)}: leave out --streams")
        asked = msgspec.structs.replace(knowledge, start=wanted.start)
        return plugin.tuner(space, rng, asked, wanted.bounds)

    def make(at: Setting | None) -> Method:
        known = msgspec.structs.replace(knowledge, start=_levels(at)) if at else knowledge
        return plugin.create(space, rng, known, {})

    tuner = Searching(make, space)
    if wanted.start and tuner.setting != setting_of(space, wanted.start):
        raise ValueError(f"--method {wanted.method} chooses its own start: leave out --start")
    return tuner


def _levels(setting: Setting) -> Levels:
    return Levels(
        concurrency=concurrency_of(setting),
        parallelism=parallelism_of(setting),
    )
