"""What a session knows after each probe, and what one more probe is worth. Pure.

A session is a sequential decision. A probe costs the seconds that it takes. It can gain three
things:

- a faster setting: the expected gain of the rate, of which the first 2 % do not count;
- fewer flows at the same rate: halving them is worth 2 % of the rate;
- certainty: that the chosen setting is as good as it seemed.

A gain g shortens a transfer of T seconds by about g·T, so a probe is worth its seconds while
g·T exceeds them. T is that of `--size` or `--data` at the best rate so far; without them a quarter
of an hour, and never more than an hour: the probabilities of the model are not exact enough to
justify minutes of probing by a gain that is not likely.

What can be gained is bounded twice. By what the path can carry (`--bandwidth`, the slower link): a
setting within 2 % of it ends everything. And by `models/response.py`, which infers from the numbers
of flows and their rates whether the settings or the path limit the rate.
"""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from advisor.advising.contenders import cost_of
from advisor.domain.dataset import Dataset
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.space import (
    AUTOMATIC,
    BUFFER,
    Setting,
    SettingKey,
    Space,
    flows_of,
    processes_of,
    setting_key,
)
from advisor.models.ceiling import Ceiling
from advisor.models.response import Point, Response, normal_gain
from advisor.models.steadiness import error_among_repeats

SAME: Final = 0.02
"""A gain, as a log rate, that is not worth more flows, memory or another transport."""

OCTAVE_WORTH: Final = 0.02
USUAL_TRANSFER_S: Final = 900.0
MOST_TRANSFER_S: Final = 3600.0

_LIFT: Final = 0.5
"""By how much, as a standard deviation of the log rate, the search of a transport raises the rate
of its first probe. After k probes what is left to find is taken as 1/k of it."""

_LEAST_ERROR: Final = 0.01
_UNSETTLED_ERROR: Final = 0.06
_PRECISE: Final = 0.02
"""The error of a probe, as a log rate, up to which its rate is taken as it is."""
_LIKELY: Final = 0.5
_NEAR: Final = 0.05
_MORE_FLOWS: Final = 1.5
"""With this many times as many flows, flows that limit themselves reach as many times the rate."""

_WIDE_CHANCE: Final = 0.5
"""The chance that one flow with the largest buffer is as fast as many with the kernel's own, where
nothing speaks against it."""
_HELD_BACK: Final = math.log(2)
"""What one flow lacks at least of the rate of many, as a log rate, where its window limits it."""

_OTHER_TRANSPORT_ERROR: Final = 0.05
_SMALL_DIFFERENCE: Final = 0.05
"""By how much, as a log rate, a probe may be below what is expected and still support it."""


Group: TypeAlias = tuple[str, int]
"""A subject, and the number of processes that its flows are spread over: settings with the same
limits at the hosts, so that one model of the flows' response holds for them."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of a subject. `family`: what is left of it without the number of flows."""

    subject: str
    setting: Setting
    family: SettingKey
    flows: int

    @property
    def key(self) -> tuple[str, SettingKey]:
        """Identifies the setting."""
        return self.subject, setting_key(self.setting)

    @property
    def group(self) -> Group:
        """Its subject and its processes."""
        return self.subject, processes_of(self.setting)


class Standing:
    """The probes of a session of transports, as evidence. At least one has a throughput.

    `spaces`: by subject. `ceiling`: what the path can carry, None where it is not known.
    """

    def __init__(
        self,
        probes: Sequence[ProbeRecord],
        spaces: Mapping[str, Space],
        flow_names: frozenset[str],
        ceiling: Ceiling | None = None,
        dataset: Dataset | None = None,
    ) -> None:
        self._spaces = spaces
        self._flow_names = flow_names
        self.ceiling = ceiling
        self._rates: dict[tuple[str, SettingKey], list[Measurement]] = {}
        self._places: dict[tuple[str, SettingKey], Place] = {}
        for probe in probes:
            if isinstance(probe.result, Measurement) and probe.result.throughput_bps > 0:
                place = self._place(probe.subject, probe.setting)
                self._places[place.key] = place
                self._rates.setdefault(place.key, []).append(probe.result)
        self.responses = self._fitted()
        self.best = max(self._places.values(), key=self._supported, default=None)
        self._dataset = dataset

    def _place(self, subject: str, setting: Setting) -> Place:
        rest = {name: value for name, value in setting.items() if name not in self._flow_names}
        flows = flows_of(setting, self._flow_names)
        return Place(subject=subject, setting=setting, family=setting_key(rest), flows=flows)

    def _fitted(self) -> dict[Group, Response]:
        """The response of every group of a subject that has flows."""
        fitted = {}
        for group in {place.group: None for place in self._places.values()}:
            subject = group[0]
            space = self._spaces.get(subject)
            spread = self.spread_of_repeats(subject)
            counts = [p for p in space.parameters if p.name in self._flow_names] if space else []
            points = [
                Point(
                    family=place.family,
                    flows=place.flows,
                    log_rate=math.log(one.throughput_bps),
                    error=max(spread, error_of(one)),
                )
                for key, place in self._places.items()
                if place.group == group
                for one in self._rates[key]
            ]
            if counts and points:
                most = math.prod(p.upper for p in counts)
                bound = math.log(self.ceiling.bps) if self.ceiling else math.inf
                fitted[group] = Response(points, most, bound)
        return fitted

    def spread_of_repeats(self, subject: str) -> float:
        """How much repeats of one setting differ, as a standard deviation; 0 without repeats."""
        squares, degrees = 0.0, 0
        for key, probes in self._rates.items():
            if key[0] == subject:
                logs = [math.log(one.throughput_bps) for one in probes]
                mean = math.fsum(logs) / len(logs)
                squares += math.fsum((value - mean) ** 2 for value in logs)
                degrees += len(logs) - 1
        # A single pair may agree by chance; it is averaged with the least error.
        return math.sqrt((squares + _LEAST_ERROR**2) / (degrees + 1)) if degrees else 0.0

    @property
    def places(self) -> Iterable[Place]:
        """All settings with a throughput."""
        return self._places.values()

    def probes_of(self, place: Place) -> int:
        """The number of throughputs of a setting."""
        return len(self._rates.get(place.key, ()))

    def best_of(self, subject: str) -> Place | None:
        """The measured setting of a subject with the highest rate; None without one."""
        own = [place for place in self.places if place.subject == subject]
        return max(own, key=self._supported, default=None)

    def latest(self, place: Place) -> Measurement:
        """The newest measurement of a measured setting."""
        return self._rates[place.key][-1]

    def log_rate(self, place: Place) -> float:
        """The expected log rate of a measured setting."""
        if response := self.responses.get(place.group):
            return response.expected(place.family, place.flows)
        return self._measured(place)

    def _supported(self, place: Place) -> float:
        """The expected log rate, as far as its own probes support it.

        The model may expect most of the number of flows whose own probe was slow. Small differences
        do not count: there it knows more than one probe.
        """
        own = self._rates[place.key]
        spread = max(self.spread_of_repeats(place.subject), _SMALL_DIFFERENCE)
        error = statistics.fmean(max(spread, error_of(one)) for one in own)
        own_log_rate = self._measured(place) + error / math.sqrt(len(own))
        return min(self.log_rate(place), own_log_rate)

    def _measured(self, place: Place) -> float:
        """The mean log rate of a setting's own probes."""
        rates = [math.log(one.throughput_bps) for one in self._rates[place.key]]
        return math.fsum(rates) / len(rates)

    @property
    def transfer_s(self) -> float:
        """The transfer that the advice is for, at the best rate so far."""
        if self._dataset is None or self.best is None:
            return USUAL_TRANSFER_S
        wanted_s = self._dataset.total_bytes * 8 / math.exp(self.log_rate(self.best))
        return min(MOST_TRANSFER_S, wanted_s)

    @property
    def filled(self) -> float:
        """The share of the ceiling that the best setting reaches; 0 where there is none."""
        if self.ceiling is None or self.best is None:
            return 0.0
        return math.exp(max(map(self._measured, self.places))) / self.ceiling.bps

    @property
    def is_full(self) -> bool:
        """Whether the best setting reaches what the path can carry."""
        return self.filled >= math.exp(-SAME)

    def gain_left(self, subject: str) -> float:
        """An upper bound of what a probe of this subject in one process can gain, as a log rate
        beyond 2 %."""
        return self._room(subject) * self._chance_to_win(subject)

    def _chance_to_win(self, subject: str) -> float:
        """Whether another probe of a subject can reach the best rate, by how far its own is off."""
        own = [place for place in self.places if place.subject == subject]
        if self.best is None or self.best.subject == subject or not own:
            return 1.0
        behind = self.log_rate(self.best) - max(map(self.log_rate, own))
        probes = sum(map(self.probes_of, own))
        return min(1.0, math.erfc(behind * probes / _LIFT / math.sqrt(2)))

    def _room(self, subject: str) -> float:
        """What the path has left beyond the best rate."""
        best = self.best
        if best is None:
            return math.inf
        if self.is_full:
            return 0.0
        own = self.responses.get((subject, 1))
        if own and best.group == (subject, 1):
            return own.possible_gain(best.family, best.flows, SAME)
        reference = own or next(iter(self.responses.values()), None)
        if reference is None:
            return math.inf
        known = max(
            (self.log_rate(p) for p in self.places if p.group in self.responses),
            default=-math.inf,
        )
        if self.log_rate(best) > known + SAME:
            # It disproves what the numbers of flows suggest about the path.
            return math.inf
        return reference.capacity_gain(self.log_rate(best), SAME)

    @property
    def chosen(self) -> Place | None:
        """The cheapest measured setting that is probably as good as the best."""
        if self.best is None:
            return None
        least = self._without_luck(self.best) - SAME
        good = [p for p in self.places if self._measured(p) >= least and self._is_as_good(p)]
        return min(good, key=self._cost, default=self.best)

    def _is_as_good(self, place: Place) -> bool:
        """By what is expected of it and of the best, whatever its own probes reached."""
        best = self.best
        assert best is not None
        response = self.responses.get(place.group)
        if response and best.group == place.group:
            there = (best.family, best.flows)
            return response.chance_as_good(place.family, place.flows, there, SAME) >= _LIKELY
        return self.log_rate(place) >= self.log_rate(best) - SAME

    def _without_luck(self, place: Place) -> float:
        """The mean log rate of its probes, without what they have beyond the expectation by chance.

        Beyond their own error it is no chance; nor is a difference between precise probes.
        """
        own = self._rates[place.key]
        variance = statistics.fmean(error_of(one) ** 2 - _PRECISE**2 for one in own)
        error = math.sqrt(max(0.0, variance) / len(own))
        measured = self._measured(place)
        return max(min(measured, self.log_rate(place)), measured - error)

    def _cost(self, place: Place) -> tuple[float, ...]:
        return cost_of(place.subject, place.setting, self._spaces)

    def cheaper(self) -> tuple[Place, float] | None:
        """The unmeasured setting with fewer flows that is most worth a probe, and its gain."""
        chosen, best = self.chosen, self.best
        response = self.responses.get(chosen.group) if chosen else None
        if chosen is None or best is None or response is None or best.group != chosen.group:
            return None
        there = (best.family, best.flows)
        untried = [
            *((one, _WIDE_CHANCE) for one in self._wide(chosen, response)),
            *(
                (one, response.chance_as_good(one.family, one.flows, there, SAME))
                for one in self._fewer(chosen)
            ),
        ]
        worth = [
            (one, chance * OCTAVE_WORTH * math.log2(chosen.flows / one.flows))
            for one, chance in untried
        ]
        return max(worth, key=lambda one: one[1], default=None)

    def _fewer(self, chosen: Place) -> Iterator[Place]:
        """The unmeasured settings with fewer flows that differ from a measured one in these."""
        flow = self._flow_of(chosen)
        families = {p.family: p for p in self.places if p.group == chosen.group}
        for place in families.values():
            for flows in range(processes_of(chosen.setting), chosen.flows) if flow else ():
                other = self._place(place.subject, place.setting | {flow: flows})
                if other.key not in self._places:
                    yield other

    def _wide(self, chosen: Place, response: Response) -> Iterator[Place]:
        """One flow with the largest buffer, if the kernel's own may be what holds each flow back.

        Not where one has half of the rate, nor where the path's losses hold it back, nor once that
        buffer has been measured.
        """
        flow, space = self._flow_of(chosen), self._spaces.get(chosen.subject)
        sizes = [p.upper for p in space.parameters if p.name == BUFFER] if space else []
        if not flow or not sizes or chosen.setting.get(BUFFER) != AUTOMATIC:
            return
        if response.expected(chosen.family, 1) > self._measured(chosen) - _HELD_BACK:
            return
        own = [self._rates[place.key] for place in self.places if place.family == chosen.family]
        if any(probe.losses and probe.losses.cuts for probes in own for probe in probes):
            return
        fewest = {BUFFER: sizes[0], flow: processes_of(chosen.setting)}
        wide = self._place(chosen.subject, chosen.setting | fewest)
        if wide.flows < chosen.flows and all(p.family != wide.family for p in self.places):
            yield wide

    def faster(self) -> tuple[Place, float] | None:
        """The unmeasured number of flows that is most likely to be faster, and its gain.

        Of any subject: where more streams of TCP are still faster, UDT has not won yet.
        """
        if self.is_full:
            return None
        own = [self.best_of(name) for name in dict.fromkeys(p.subject for p in self.places)]
        worth = [one for place in own if place for one in self._other_flows(place)]
        return max(worth, key=lambda one: one[1], default=None)

    def _other_flows(self, place: Place) -> Iterator[tuple[Place, float]]:
        """Unmeasured numbers of flows of a measured setting, and what each gains over the best."""
        response, flow = self.responses.get(place.group), self._flow_of(place)
        if self.best is None or response is None or not flow:
            return
        behind = self.log_rate(self.best) - self.log_rate(place)
        here = (place.family, place.flows)
        counts = {min(2**i, response.most_flows) for i in range(response.most_flows.bit_length())}
        for count in {*counts, response.most_flows}:
            other = self._place(place.subject, place.setting | {flow: count})
            if count >= processes_of(place.setting) and other.key not in self._places:
                there = (other.family, other.flows)
                yield other, response.gain_of_other(here, there, SAME + behind)

    def _flow_of(self, place: Place) -> str:
        """The parameter that counts the flows, "" where several do."""
        names = [name for name in place.setting if name in self._flow_names]
        return names[0] if len(names) == 1 else ""

    def doubtful(self) -> tuple[Place, float] | None:
        """The measured setting that is most worth another probe, and what that gains."""
        chosen = self.chosen
        if chosen is None:
            return None
        worth = [(other, self._doubt(chosen, other)) for other in self.places if other != chosen]
        other, gain = max(worth, key=lambda one: one[1], default=(chosen, 0.0))
        again = min((chosen, other), key=self.probes_of)
        return again, gain

    def _doubt(self, chosen: Place, other: Place) -> float:
        response = self.responses.get(chosen.group)
        least = SAME if self._cost(other) > self._cost(chosen) else 0.0
        if response and other.group == chosen.group:
            places = ((chosen.family, chosen.flows), (other.family, other.flows))
            return response.gain_of_other(*places, least)
        counts = (self.probes_of(chosen), self.probes_of(other))
        error = _OTHER_TRANSPORT_ERROR * math.sqrt(sum(1 / n for n in counts))
        return normal_gain(
            self.log_rate(other) - self.log_rate(chosen) - least, error, _OTHER_TRANSPORT_ERROR
        )

    @property
    def is_flat(self) -> bool:
        """Whether few and many flows reach about the highest rate, so that it is not theirs."""
        if self.best is None or self.alike_flows:
            return self.best is not None
        top = max(map(self._measured, self.places))
        near = [p.flows for p in self.places if self._measured(p) >= top - _NEAR]
        return max(near) >= _MORE_FLOWS * min(near)

    def is_full_path(self, place: Place) -> bool:
        """Whether the path, or the hosts, probably limit this setting."""
        response = self.responses.get(place.group)
        return bool(response and response.chance_full(place.family, place.flows, SAME) >= _LIKELY)

    def alike(self) -> list[Place]:
        """Measured settings of one group that the path limits to the same rate, if several."""
        best = self.best
        if best is None:
            return []
        full = [p for p in self.places if p.group == best.group and self.is_full_path(p)]
        return full if len(full) > 1 else []

    @property
    def alike_flows(self) -> list[int]:
        """The different numbers of flows of `alike`, in order; empty if there is only one."""
        counts = sorted({place.flows for place in self.alike()})
        return counts if len(counts) > 1 else []


def error_of(measurement: Measurement) -> float:
    """The standard error of a probe's log rate, compared with other probes of the session."""
    least = _LEAST_ERROR if measurement.settled else _UNSETTLED_ERROR
    return max(least, error_among_repeats(measurement))
