"""Whether the path changed while a session measured it, and which probes still count. Pure.

Cross traffic begins and ends. If it does so during a session, the first probe, of the default, may
have met an empty path and all others a full one: it then seems far better than they. What shows it
is the same setting measured twice. Where the two differ by more than their errors and a factor of
three allow, the older one and all before it are of a path that is no longer there. A setting is
worth measuring twice where more flows were much slower than fewer, which they hardly ever are.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import flows_of, setting_key
from advisor.models.steadiness import stated_error
from advisor.traits import describe, flow_names

_LEAST_CHANGE: Final = math.log(3)
"""Repeats of BBR beside BBR often differ by a factor of two, by more than the errors they state."""

_CERTAINLY: Final = 4.0
"""Standard errors of a difference that is no chance: a session compares dozens of pairs."""

_FAR_SLOWER: Final = math.log(1.5)
"""How much slower more flows have to be, as a log rate, before that is doubted."""

_SPREAD: Final = 0.12
"""By how much, as a log rate, repeats on an unchanged path differ beyond their own errors."""

_CUT_SHORT_ERROR: Final = 0.5
"""The least error of a search's probe that ended before its rate was steady, since it was behind:
eight streams of BBR beside those of others had 86 Mbit/s then, and six times as much later."""


class PathChange(msgspec.Struct, frozen=True, kw_only=True):
    """A setting measured `before` and `after` the path changed.

    `first_now`: the index of the first probe that counts still. `noticed`: that of `after`.
    """

    before: ProbeRecord
    after: ProbeRecord
    first_now: int
    noticed: int

    @property
    def words(self) -> str:
        """A sentence without its full stop."""
        return (
            "the path changed while it was measured: "
            f"{describe(self.before.subject, self.before.setting)} reached "
            f"{_rate_words(self.before)}, and {_rate_words(self.after)} later; what was measured "
            "before does not count"
        )


def path_change(probes: Sequence[ProbeRecord]) -> PathChange | None:
    """The last change that these probes of a session show, in the order in which they were made."""
    earlier: dict[object, list[int]] = {}
    last: PathChange | None = None
    for index, after in enumerate(probes):
        same = earlier.setdefault((after.subject, setting_key(after.setting)), [])
        for one in same:
            first = one + 1
            if (last is None or first > last.first_now) and _differ(probes[one], after):
                last = PathChange(before=probes[one], after=after, first_now=first, noticed=index)
        same.append(index)
    return last


def on_the_path_now(probes: Sequence[ProbeRecord]) -> Sequence[ProbeRecord]:
    """The probes without those of a path that is no longer there."""
    change = path_change(probes)
    return probes[change.first_now :] if change else probes


def out_of_date(probes: Sequence[ProbeRecord]) -> tuple[ProbeRecord, float] | None:
    """The probe to repeat, as more flows were much slower than fewer, and by how much (a log rate).

    They seldom are. Rather, the path changed between the two probes, so the older one of them is
    repeated, unless it was. `probes`: as from `on_the_path_now`.
    """
    latest: dict[tuple[object, ...], ProbeRecord] = {}
    repeated: set[tuple[object, ...]] = set()
    for probe in probes:
        key = (probe.subject, setting_key(probe.setting))
        # One that failed was repeated too: it is not tried for ever.
        repeated |= {key} & set(latest)
        if isinstance(probe.result, Measurement) and probe.result.throughput_bps > 0:
            latest[key] = probe
    for older, newer in itertools.combinations(latest, 2):
        once = [key for key in (older, newer) if key not in repeated]
        slower = _far_slower(latest[older], latest[newer])
        if once and slower:
            return latest[once[0]], slower
    return None


def _far_slower(one: ProbeRecord, other: ProbeRecord) -> float:
    """By how much, as a log rate, the one of two with more flows was slower; 0 if that is chance.

    0 as well if the two differ in anything but the number of flows.
    """
    names = flow_names()
    settings = [
        (each.subject, {k: v for k, v in each.setting.items() if k not in names})
        for each in (one, other)
    ]
    few, many = sorted((one, other), key=lambda each: flows_of(each.setting, names))
    if settings[0] != settings[1]:
        return 0.0
    assert isinstance(few.result, Measurement)
    assert isinstance(many.result, Measurement)
    error = math.hypot(_error_of(few), _error_of(many))
    slower = math.log(few.result.throughput_bps / many.result.throughput_bps)
    return slower if slower > max(_FAR_SLOWER, 2 * error) else 0.0


def _differ(before: ProbeRecord, after: ProbeRecord) -> bool:
    one, other = before.result, after.result
    if not isinstance(one, Measurement) or not isinstance(other, Measurement):
        return False
    if one.throughput_bps <= 0 or other.throughput_bps <= 0:
        return False
    change = abs(math.log(other.throughput_bps / one.throughput_bps))
    error = math.hypot(_error_of(before), _error_of(after), _SPREAD)
    return change > max(_LEAST_CHANGE, _CERTAINLY * error)


def _error_of(probe: ProbeRecord) -> float:
    assert isinstance(probe.result, Measurement)
    stated = stated_error(probe.result)
    may_be_cut = probe.purpose == "search" and not probe.result.settled
    return max(stated, _CUT_SHORT_ERROR) if may_be_cut else stated


def _rate_words(probe: ProbeRecord) -> str:
    assert isinstance(probe.result, Measurement)
    return format_rate(probe.result.throughput_bps)
