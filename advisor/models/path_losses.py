"""What the losses that all probes of a session met allow each of its settings in the long run.

A probe of seconds with few streams may meet no loss where one in 40,000 segments is lost, and its
windows stand where slow start left them: it shows 560 Mbit/s of a path that gives two streams of
cubic 205 in an hour. All probes cross the same path, so their losses are pooled. What they show of
the loss rate is a posterior: before any probe the path loses nothing with probability 0.8, or else
at any rate between 1e-7 and 1e-2 alike, on a logarithmic scale. The rate of each probe is
combined with what each loss rate allows its streams (`models/loss_response.py`): where that is
less, and where losses at the start had lowered windows that nothing else limits, also where it is
more, up to the highest rate of the session. For a path that loses nothing that holds where no queue
was seen since: its own start alone held the probe down, and not the flows of others. What counts is
the time that a transfer takes, so the result is the harmonic mean over the posterior: a rate that
may be far lower is worth less than one that is certain.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import msgspec

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.sending import LossesSeen
from advisor.models.loss_response import allowed_at, answers
from advisor.models.steadiness import (
    CLOSE_ENOUGH,
    combined,
    mean_rate_bps,
    relative_error,
    stated_error,
)

_LOSSLESS: Final = 0.8
_LEAST_LOSS, _MOST_LOSS = 1e-7, 1e-2
_POINTS: Final = 51
_LOSSES: Final = [
    _LEAST_LOSS * (_MOST_LOSS / _LEAST_LOSS) ** (i / (_POINTS - 1)) for i in range(_POINTS)
]

_MISTAKEN: Final = 0.002
"""Of all cuts, those of a full queue that count as the path's own: the queue filled and emptied
between two reports. On 18 lab paths without losses it was 6 of 4200, when the first cuts of an
overflow still counted (`models/loss_response.py`): at most that many."""

_LEAST_WINDOW: Final = 4
"""Segments of each stream, from which on cuts can be counted."""

_LEAST_PROBABILITY: Final = 1e-300
"""Keeps a logarithm finite."""

_Path: TypeAlias = tuple[Pair, str, Connection | None]
"""A pair, a session, and the connection where the session has several."""


class _Lossy(msgspec.Struct, frozen=True):
    """A probe, the losses it met, the RTT of the idle path, and the mean since start-up."""

    result: Measurement
    losses: LossesSeen
    rtt_s: float
    mean_bps: float


class _Evidence(msgspec.Struct, frozen=True):
    """What the probes of a path show: the probability of each of `_LOSSES`, the highest rate."""

    posterior: list[float]
    highest_bps: float

    @staticmethod
    def by(probes: Sequence[_Lossy]) -> "_Evidence":
        posterior = _posterior([probe.losses for probe in probes])
        return _Evidence(posterior, max(probe.mean_bps for probe in probes))


def in_the_long_run(probes: Iterable[ProbeRecord]) -> list[ProbeRecord]:
    """The same probes, with the rates that the losses of all probes of their session allow."""
    listed = [(probe, _lossy(probe)) for probe in probes]
    met: dict[_Path, list[_Lossy]] = {}
    for probe, lossy in listed:
        if lossy:
            met.setdefault(_path(probe), []).append(lossy)
    evidence = {path: _Evidence.by(each) for path, each in met.items()}
    return [
        msgspec.structs.replace(probe, result=_expected(lossy, evidence[_path(probe)]))
        if lossy
        else probe
        for probe, lossy in listed
    ]


def loss_error(probe: ProbeRecord, expected: ProbeRecord) -> float:
    """The part of the relative error that is due to losses, seen or not; 0 where it is not known.

    `expected`: the same probe, from `in_the_long_run`. Where its own losses have lowered its
    windows, its rate is a prediction as a whole.
    """
    lossy, result = _lossy(probe), expected.result
    if lossy is None or not isinstance(result, Measurement):
        return 0.0
    error = result.stderr_bps / result.throughput_bps
    if lossy.losses.cuts:
        return error
    _, seen_error = _without_pooling(lossy)
    return math.sqrt(max(0.0, error**2 - seen_error**2))


def _path(probe: ProbeRecord) -> _Path:
    return probe.pair, probe.session, probe.connection or None


def _lossy(probe: ProbeRecord) -> _Lossy | None:
    """None where it is not known what losses make of the probe's rate."""
    result, rtt_s = probe.result, probe.rtt_s
    if not isinstance(result, Measurement) or not result.losses or not rtt_s or rtt_s < 0:
        return None
    mean_bps = mean_rate_bps(_counted(result))
    if not answers(result.losses.congestion) or mean_bps <= 0:
        return None
    if result.throughput_bps <= 0 or result.stderr_bps < 0:
        return None
    return _Lossy(result, result.losses, rtt_s, mean_bps)


def _counted(measurement: Measurement) -> list[Interval]:
    return measurement.intervals[measurement.steady_from :]


def _without_pooling(probe: _Lossy) -> tuple[float, float]:
    """The rate of a probe before the losses of all count, and its relative error.

    Where its own losses have lowered its windows, its own prediction is replaced.
    """
    result = probe.result
    if probe.losses.cuts:
        return probe.mean_bps, relative_error(_counted(result))
    return result.throughput_bps, stated_error(result)


def _posterior(met: Sequence[LossesSeen]) -> list[float]:
    """The probability of each of `_LOSSES`; what is missing to 1 is that nothing is lost.

    Of the cuts of time in which a queue may have been full, any number may be due to the queue: the
    path itself lost at most that many. That it loses next to nothing shows mostly there. Of the
    others, a few may be due to it too: one in a session with many cuts shows no losses of the path.
    """
    from scipy.special import pdtr  # Imported late: it takes longer than all the rest.

    cuts, segments = sum(one.cuts for one in met), sum(one.segments for one in met)
    mistaken = _MISTAKEN * sum(one.all_cuts for one in met)
    most_cuts = sum(one.full_cuts for one in met)
    full_segments = sum(one.full_segments for one in met)
    logs = [
        _log_poisson(cuts, mistaken + loss * segments)
        + math.log(max(_LEAST_PROBABILITY, pdtr(most_cuts, loss * full_segments)))
        for loss in _LOSSES
    ]
    lossless = _log_poisson(cuts, mistaken)
    most = max(*logs, lossless)
    each = [(1 - _LOSSLESS) / _POINTS * math.exp(log - most) for log in logs]
    total = math.fsum(each) + _LOSSLESS * math.exp(lossless - most)
    return [one / total for one in each]


def _log_poisson(count: int, expected: float) -> float:
    """The logarithm of its probability, less a constant of `count`."""
    return count * math.log(max(_LEAST_PROBABILITY, expected)) - expected


def _is_held_down(probe: _Lossy) -> bool:
    """Whether losses at its start hold a probe down, so that its windows will still grow.

    Any other rate may be limited by something else: the receiver, or cross traffic, which cuts
    the windows again and again. Windows of a few segments show no cuts: their threshold is at its
    minimum.
    """
    losses = probe.losses
    segments = probe.mean_bps * probe.rtt_s / (8 * losses.segment_bytes * losses.streams)
    is_recovering = losses.all_cuts > 0 and losses.later_cuts <= losses.streams
    return is_recovering and losses.window_limited and segments >= _LEAST_WINDOW


def _at(
    loss: float, probe: _Lossy, seen: tuple[float, float], most_bps: float, can_rise: bool
) -> tuple[float, float]:
    """The rate of a probe in the long run at a loss rate, and its relative error."""
    allowed = allowed_at(loss, probe.losses, probe.rtt_s, most_bps)
    return combined(*seen, allowed) if can_rise or allowed.rate_bps < seen[0] else seen


def _expected(probe: _Lossy, evidence: _Evidence) -> Measurement:
    """A probe with the rate of the expected time over the posterior, and its standard error."""
    seen = _without_pooling(probe)
    seen_bps = seen[0]
    can_rise = _is_held_down(probe)
    most_bps = max(seen_bps, evidence.highest_bps) if can_rise else seen_bps
    # Where no queue was seen, only its own start held it down: nobody else uses the path.
    rises_alone = can_rise and probe.losses.queue_free
    lossless = _at(_LEAST_LOSS, probe, seen, most_bps, can_rise=True) if rises_alone else seen
    outcomes = [lossless, *(_at(loss, probe, seen, most_bps, can_rise) for loss in _LOSSES)]
    weights = [max(0.0, 1 - math.fsum(evidence.posterior)), *evidence.posterior]
    moments = [
        (weight, math.log(bps), its_error)
        for weight, (bps, its_error) in zip(weights, outcomes, strict=True)
    ]
    log_bps = math.fsum(weight * log for weight, log, _ in moments)
    variance = math.fsum(w * ((log - log_bps) ** 2 + e**2) for w, log, e in moments)
    bps = 1 / math.fsum(weight / math.exp(log) for weight, log, _ in moments)
    return msgspec.structs.replace(
        probe.result,
        throughput_bps=bps,
        stderr_bps=math.sqrt(variance) * bps,
        predicted=abs(bps - seen_bps) > CLOSE_ENOUGH * seen_bps or msgspec.UNSET,
    )
