"""A search space in HARP's terms."""

import pytest

from advisor.domain.space import AUTOMATIC, Parameter, Setting, Space
from advisor.domain.transfers import Levels
from advisor.models.harp.asking import box_of, levels_in
from advisor.models.transfer_parameters import setting_of


def _space(pipelining: Parameter) -> Space:
    flows = tuple(Parameter(name=name, unit="", lower=1, upper=8) for name in ("cc", "p"))
    return Space(parameters=(*flows, pipelining), cost_order=("cc", "p"))


CHOICE = _space(Parameter(name="pipelining", unit="", lower=1, upper=1, automatic=True))
"""With `-pp` or without, as of globus-url-copy."""
COUNTED = _space(Parameter(name="pp", unit="", lower=1, upper=32))


@pytest.mark.parametrize("pipelining", [AUTOMATIC, 1])
def test_a_setting_comes_back_from_its_levels(pipelining: int) -> None:
    setting: Setting = {"cc": 4, "p": 2, "pipelining": pipelining}
    assert CHOICE.holds(setting)
    assert setting_of(CHOICE, levels_in(CHOICE, setting)) == setting


def test_the_box_has_both_values_of_a_choice() -> None:
    box = box_of(CHOICE)
    assert box.lower == Levels(concurrency=1, parallelism=1, pipelining=1)
    assert box.upper == Levels(concurrency=8, parallelism=8, pipelining=2)
    assert setting_of(CHOICE, box.upper)["pipelining"] == AUTOMATIC
    assert setting_of(CHOICE, box.lower)["pipelining"] == 1


def test_counted_commands_keep_their_number() -> None:
    assert box_of(COUNTED).upper == Levels(concurrency=8, parallelism=8, pipelining=32)
    levels = Levels(concurrency=2, parallelism=1, pipelining=16)
    assert levels_in(COUNTED, setting_of(COUNTED, levels)) == levels
