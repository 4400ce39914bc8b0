"""Computes the figures of the page from the runs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from tests.benchmarks.transfers.results import Flow, Look, Run

_ADAPTED = 0.9
_EPOCHS_OF_MEAN = 3


def stored_at(looks: Sequence[Look], at_s: float) -> float:
    """The bytes at that time, interpolated between samples; the last sample after their end."""
    before = looks[0]
    for look in looks[1:]:
        if look.at_s >= at_s:
            share = (at_s - before.at_s) / (look.at_s - before.at_s)
            return before.stored_bytes + share * (look.stored_bytes - before.stored_bytes)
        before = look
    return float(before.stored_bytes)


def rate_bps(looks: Sequence[Look], from_s: float = 0.0, until_s: float | None = None) -> float:
    """What arrived from one time to another, by default to the end, in bit/s; 0 without looks."""
    end_s = until_s if until_s is not None else (looks[-1].at_s if looks else 0.0)
    if not looks or end_s <= from_s:
        return 0.0
    return (stored_at(looks, end_s) - stored_at(looks, from_s)) * 8 / (end_s - from_s)


def best_setting(sweeps: Sequence[Mapping[str, float]]) -> str:
    """The setting with the greatest mean rate of all that every sweep has."""
    common = set(sweeps[0]).intersection(*sweeps[1:])
    return max(sorted(common), key=lambda setting: fmean(sweep[setting] for sweep in sweeps))


def rates_bps(
    runs: Sequence[Run], from_s: float = 0.0, until_s: float | None = None
) -> list[float]:
    """Of each of them."""
    return [rate_bps(run.looks, from_s, until_s) for run in runs]


def median_rate_bps(
    runs: Sequence[Run], from_s: float = 0.0, until_s: float | None = None
) -> float | None:
    """Over all of them; None where there is none."""
    return median(rates_bps(runs, from_s, until_s)) if runs else None


def spread_words(rates: Sequence[float]) -> str:
    """The median in Mbit/s, with the least and the most where there are several; a dash for none.

    Of n runs the least and the most enclose the true median with probability 1 - 2^(1 - n).
    """
    if not rates:
        return "–"
    middle = f"{median(rates) / 1e6:.0f}"
    if len(rates) == 1:
        return middle
    return f"{middle} ({min(rates) / 1e6:.0f} to {max(rates) / 1e6:.0f})"


def lost_share(with_it_bps: float | None, without_bps: float | None) -> float | None:
    """The loss relative to the rate without; below 0 for a gain. None if one is unknown."""
    if with_it_bps is None or not without_bps:
        return None
    return 1 - with_it_bps / without_bps


def readapted_s(run: Run) -> float | None:
    """From the load's change until the mean of three epochs is near that of the last quarter.

    Near: 90 % of it. None where the load did not change, or it came to that at no time.
    """
    if run.turned_s is None or not run.looks:
        return None
    end_s, window_s = run.looks[-1].at_s, _EPOCHS_OF_MEAN * run.epoch_s
    wanted_bps = _ADAPTED * rate_bps(run.looks, 0.75 * end_s)
    for look in run.looks:
        after_s = look.at_s - run.turned_s
        if after_s >= window_s and (
            rate_bps(run.looks, look.at_s - window_s, look.at_s) >= wanted_bps
        ):
            return after_s
    return None


def mean_flows(flows: Sequence[Flow], from_s: float = 0.0) -> float:
    """Streams of all clients together, on the average from that time on; 0 without reports."""
    counts = [flow.clients * flow.parallelism for flow in flows if flow.at_s >= from_s]
    return fmean(counts) if counts else 0.0


def jains_index(rates: Sequence[float]) -> float:
    """From 1 ÷ their number, where one has everything, to 1, where all have as much.

    Jain, Chiu and Hawe (1984).
    """
    squares = sum(rate**2 for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else 0.0


def last_setting(run: Run) -> str:
    """The one it ended with, files at a time × streams; "" where it never changed."""
    if not run.changes:
        return ""
    return f"{run.changes[-1].concurrency} × {run.changes[-1].parallelism}"
