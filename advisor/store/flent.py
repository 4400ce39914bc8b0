"""Probes as a data file of flent, the flexible network tester: version 4 of its format.

Each successful probe is a series, `TCP upload::1` and so on as in flent's test tcp_nup. All start
at their own first byte, so that settings can be overlaid; the raw values have the actual times, and
SERIES_META the settings. Rates are in Mbit/s, as in flent.
"""

import math
import statistics
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from advisor.domain.measurement import Interval, Measurement
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.records import ProbeRecord
from advisor.domain.space import setting_words

_VERSION: Final = 4
_TEST: Final = "tcp_nup"
_MEGABIT: Final = 1e6
# Transfers may last for weeks: then the step is longer than their intervals.
_MOST_VALUES: Final = 1_000_000


class NoProbes(ProblemError, ValueError):
    """There is no successful probe to write."""

    kind = ProblemKind.NO_DATA


def flent_data(probes: Iterable[ProbeRecord], title: str) -> bytes:
    """The successful probes of one pair as the JSON of a `.flent.gz`, uncompressed.

    Raises NoProbes when there are none.
    """
    measured = [
        (probe, probe.result)
        for probe in probes
        if isinstance(probe.result, Measurement) and probe.result.intervals
    ]
    if not measured:
        raise NoProbes("no probe succeeded: there is nothing to show in flent")
    intervals = [interval for _, result in measured for interval in result.intervals]
    longest_s = max(i.end_s for i in intervals)
    usual_s = statistics.median(i.end_s - i.start_s for i in intervals) or 1.0
    step_s = max(usual_s, longest_s * len(measured) / _MOST_VALUES)
    count = math.ceil(longest_s / step_s)
    x_values = [n * step_s for n in range(count)]
    names = [f"{p.subject.upper()} upload::{n}" for n, (p, _) in enumerate(measured, 1)]
    document = {
        "version": _VERSION,
        "metadata": _metadata(measured[0][0], title, step_s, count * step_s)
        | {
            "T0": _time(min(_began_s(p, r) for p, r in measured)),
            "TEST_PARAMETERS": {"upload_streams": str(len(measured))},
            "SERIES_META": {
                name: _series_meta(*entry) for name, entry in zip(names, measured, strict=True)
            },
        },
        "x_values": x_values,
        "results": {
            name: _resampled(result.intervals, x_values)
            for name, (_, result) in zip(names, measured, strict=True)
        },
        "raw_values": {
            name: _raw_values(*entry) for name, entry in zip(names, measured, strict=True)
        },
    }
    return msgspec.json.encode(document)


def _metadata(probe: ProbeRecord, title: str, step_s: float, length_s: float) -> dict[str, Any]:
    """What flent records of each test; None where not applicable."""
    unknown = ("FLENT_VERSION", "IP_VERSION", "BATCH_NAME", "BATCH_TIME", "BATCH_TITLE")
    return dict.fromkeys((*unknown, "BATCH_UUID", "DATA_FILENAME")) | {
        "NAME": _TEST,
        "TITLE": title,
        "NOTE": "Each series is one probe of advisor; see SERIES_META for its setting.",
        "HOST": probe.pair.destination,
        "HOSTS": [probe.pair.destination],
        "LOCAL_HOST": probe.pair.source,
        "TIME": _time(probe.recorded_s),
        "LENGTH": math.ceil(length_s),
        "TOTAL_LENGTH": math.ceil(length_s),
        "STEP_SIZE": step_s,
    }


def _series_meta(probe: ProbeRecord, result: Measurement) -> dict[str, Any]:
    return {
        "UNITS": "Mbits/s",
        "MEAN_VALUE": result.throughput_bps / _MEGABIT,
        "SETTING": setting_words(probe.setting),
        "SESSION": probe.session,
        "STEADY_FROM": result.steady_from,
        "RETRANSMITS": result.retransmits,
    }


def _began_s(probe: ProbeRecord, result: Measurement) -> float:
    """The approximate Unix time of its first byte: a probe is recorded when it has ended."""
    return probe.recorded_s - result.intervals[-1].end_s


def _resampled(intervals: list[Interval], x_values: list[float]) -> list[float | None]:
    """The rate at each moment, None after the end of the probe and where nothing was counted."""
    values: list[float | None] = []
    rest = iter(intervals)
    interval = next(rest, None)
    for x_s in x_values:
        while interval is not None and interval.end_s <= x_s:
            interval = next(rest, None)
        inside = interval is not None and interval.start_s <= x_s
        values.append(interval.throughput_bps / _MEGABIT if interval and inside else None)
    return values


def _raw_values(probe: ProbeRecord, result: Measurement) -> list[dict[str, float]]:
    began_s = _began_s(probe, result)
    return [
        {
            "t": began_s + interval.end_s,
            "val": interval.throughput_bps / _MEGABIT,
            "dur": interval.end_s - interval.start_s,
        }
        for interval in result.intervals
    ]


def _time(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
