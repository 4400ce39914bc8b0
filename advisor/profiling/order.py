"""The order in which a profile is measured. Pure."""

from collections.abc import Container, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from advisor.domain.grid import Cell, Grid
from advisor.domain.rounds import round_label
from advisor.domain.space import Setting, setting_key


class Step(msgspec.Struct, frozen=True):
    """One measurement. `round`: which of the repeats it is, from 1."""

    subject: str
    setting: Setting
    round: int

    @property
    def cell(self) -> Cell:
        """What is measured, as a key."""
        return self.subject, setting_key(self.setting)

    @property
    def label(self) -> str:
        """What its record is labelled with."""
        return round_label(self.round)


def steps_of(
    grids: Sequence[Grid],
    repeats: int,
    seed: int,
    over: Mapping[Cell, Container[str]],
) -> Iterator[Step]:
    """What is left to measure: in each round every setting once, in an order of its own.

    So a path that changes meanwhile, or a repeat that fails, affects all settings alike. `over`:
    the labels of the rounds that each cell has behind it; the order does not depend on it.
    """
    cells = [(grid.subject, setting) for grid in grids for setting in grid.settings]
    for number in range(1, repeats + 1):
        rng = np.random.default_rng(np.random.SeedSequence([seed, number]))
        for place in rng.permutation(len(cells)):
            subject, setting = cells[place]
            step = Step(subject, setting, number)
            if step.label not in over.get(step.cell, ()):
                yield step
