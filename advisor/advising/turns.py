"""Says that files which begin one after another are what limits a transfer, where they are."""

from collections.abc import Sequence
from typing import Final

from advisor.advising.judging import cost_model
from advisor.domain.quantities import format_duration
from advisor.domain.records import ProbeRecord
from advisor.domain.space import concurrency_of
from advisor.runtime.request import AdviceRequest

_MOST_OF: Final = 0.5
"""The share of the transfer's time from which on it is said."""

_KNOWN: Final = 0.3
"""The greatest standard deviation of its logarithm at which a turn's length is known."""

_FEWEST: Final = 2
"""Of numbers of files at a time: with one alone, turns look like any other time of a file."""


def turns_words(
    request: AdviceRequest, probes: Sequence[ProbeRecord], transfer_s: float | None
) -> str:
    """A sentence where the turns of the files take most of the transfer's time, else ""."""
    dataset = request.dataset
    if not request.tool or dataset is None or not dataset.files or not transfer_s:
        return ""
    at_once = {concurrency_of(one.setting) for one in probes if one.subject == request.tool}
    if len(at_once) < _FEWEST:
        return ""
    turn_s, error = cost_model(request, probes).turn_s
    least_s = turn_s * dataset.files
    if error > _KNOWN or least_s < _MOST_OF * transfer_s:
        return ""
    return (
        f"files begin one after another here, {turn_s * 1000:.0f} ms each: {dataset.files} of them "
        f"take at least {format_duration(least_s)} however many are moved at a time; fewer and "
        "larger files, or another tool, would be faster"
    )
