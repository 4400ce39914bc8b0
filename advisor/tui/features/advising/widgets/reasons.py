"""What is tried and what made a difference, in sentences. Pure."""

import math
from collections.abc import Sequence
from typing import Final

from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_rate
from advisor.domain.space import Parameter
from advisor.tui.features.advising.session_model import ProbeModel, SessionModel, StageModel
from advisor.tui.features.advising.widgets.bins import name_of
from advisor.tui.features.advising.widgets.legend import role_of
from advisor.tui.kit.sentences import capitalised

_CLEAR: Final = 2.0
"""Rates differ clearly if their difference is this many times its standard error."""

_OF_SIZE: Final = ("larger", "smaller")
_OF_NUMBER: Final = ("more", "fewer")


def trying(probe: ProbeModel) -> str:
    """What this probe is for."""
    return f"{role_of(probe).meaning}."


def differences(model: SessionModel) -> list[str]:
    """A sentence for each step of the searches, the newest first.

    It compares the last two probes before the step.
    """
    found = []
    for stage in model.stages:
        probes = [p for p in model.probes if p.stage == stage.name and p.ended_s is not None]
        for at_s, _ in stage.moves:
            before = [p for p in probes if p.ended_s is not None and p.ended_s <= at_s]
            if len(before) > 1:
                found.append(compared_words(stage, *before[-2:]))
    return [words for words in reversed(found) if words]


def compared_words(stage: StageModel, one: ProbeModel, other: ProbeModel) -> str:
    """What distinguishes the faster of two probes, and by how much; "" for equal settings.

    `More streams and smaller buffers were faster: 933 against 879 Mbit/s.`
    """
    fast, slow = sorted((one, other), key=lambda p: p.throughput_bps or 0.0, reverse=True)
    changes = _changes(stage.space.parameters if stage.space else (), slow, fast)
    if not changes or fast.throughput_bps is None:
        return ""
    words = capitalised(" and ".join(changes))
    if slow.throughput_bps is None:
        return f"{words} worked, the other setting failed."
    rates = _against(fast.throughput_bps, slow.throughput_bps)
    if not _is_clear(fast, slow):
        return f"{words}: no clear difference, {rates}."
    return f"{words} {'was' if len(changes) == 1 and _is_one(words) else 'were'} faster: {rates}."


def _changes(parameters: Sequence[Parameter], slow: ProbeModel, fast: ProbeModel) -> list[str]:
    """What the faster one has more or less of, by the order of the space's parameters."""
    found = []
    for parameter in reversed(parameters):
        was, became = slow.setting.get(parameter.name), fast.setting.get(parameter.name)
        if isinstance(was, int | float) and isinstance(became, int | float) and was != became:
            up, down = _OF_SIZE if parameter.unit == "B" else _OF_NUMBER
            found.append(f"{up if became > was else down} {_plural(parameter)}")
    return found


def _plural(parameter: Parameter) -> str:
    name = name_of(parameter)
    return f"{name}s" if parameter.unit == "B" else name


def _is_one(words: str) -> bool:
    return words.endswith("pipelining")


def _is_clear(fast: ProbeModel, slow: ProbeModel) -> bool:
    if not isinstance(fast.outcome, Measurement) or not isinstance(slow.outcome, Measurement):
        return False
    error = math.hypot(fast.outcome.stderr_bps, slow.outcome.stderr_bps)
    difference = fast.outcome.throughput_bps - slow.outcome.throughput_bps
    return not math.isfinite(error) or difference > _CLEAR * error


def _against(fast_bps: float, slow_bps: float) -> str:
    """`933 against 879 Mbit/s`: the unit once where it is the same."""
    (fast, unit), (slow, other) = format_rate(fast_bps).split(" "), format_rate(slow_bps).split(" ")
    return f"{fast}{f' {unit}' if unit != other else ''} against {slow} {other}"
