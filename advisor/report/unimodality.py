"""How often the throughput of a profile has a single maximum in the number of flows, as a table."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from advisor.domain.grid import Grid
from advisor.domain.space import FLOW_NAMES, setting_key
from advisor.models.unimodality import confidence_by_depth_and_width
from advisor.store.profiles import Rates, StoredProfile
from advisor.traits import describe, subject_name

_DEPTHS: Final = (1, 2, 3, 4, 5)
_WIDTHS: Final = (1, 2, 3)


def unimodality_tables(
    profile: StoredProfile,
) -> Iterator[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Title, columns and rows for each subject with at least three numbers of flows."""
    rates = profile.rates_bps
    for grid in profile.record.grids:
        curves = list(_curves(grid, rates))
        found = confidence_by_depth_and_width(curves, _DEPTHS, _WIDTHS)
        if found:
            widths = sorted({width for _, width in found})
            rows = [
                [str(depth), *(_share_words(found.get((depth, width))) for width in widths)]
                for depth in sorted({depth for depth, _ in found})
            ]
            held = describe(grid.subject, grid.fixed) if grid.fixed else subject_name(grid.subject)
            title = f"{held}: a single maximum in the number of flows"
            yield title, ("d \\ w", *map(str, widths)), rows


def _curves(grid: Grid, rates: Rates) -> Iterator[Sequence[Sequence[float]]]:
    """The traces by number of flows, for each combination of the other values."""
    flows = next((axis for axis in grid.axes if axis.name in FLOW_NAMES), None)
    if flows is None:
        return
    others = [axis for axis in grid.axes if axis != flows]
    for values in itertools.product(*(axis.values for axis in others)):
        held = dict(zip([axis.name for axis in others], values, strict=True)) | grid.fixed
        keys = [(grid.subject, setting_key(held | {flows.name: one})) for one in flows.values]
        yield [rates[key] for key in keys if key in rates]


def _share_words(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
