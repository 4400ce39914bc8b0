"""Selects the settings of the closing comparison, and ranks them."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from advisor.domain.advice import Contender, Estimate
from advisor.domain.events import PastResult
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, SettingKey, Space, processes_of, setting_key
from advisor.models.ceiling import Ceiling, bounded_ratio, held, share_possible
from advisor.models.comparison import (
    EXACT,
    SAME_STREAMS,
    AssumedSpread,
    Comparison,
    Sameness,
    scaled,
    widened,
)
from advisor.traits import transport_traits

# After one probe each, a setting this close to the best may be as good.
_FRUGAL_SHARE: Final = 0.95
# A subject that is further behind is no rival, whatever the noise.
_RIVAL_SHARE: Final = 0.7


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with all its throughputs in this session, in bit/s.

    `earlier_bps`: before the closing comparison. `confirm_bps`: in it. `recommended_bps`: what its
    search predicts, if it recommends the setting for more than its measurements.
    """

    subject: str
    setting: Setting
    stage: str
    role: str = ""
    recommended_bps: float | None = None
    earlier_bps: tuple[float, ...] = ()
    confirm_bps: tuple[float, ...] = ()

    @property
    def key(self) -> tuple[str, SettingKey]:
        """Identifies the setting."""
        return self.subject, setting_key(self.setting)

    @property
    def sampled_bps(self) -> tuple[float, ...]:
        """The throughputs to rank it by.

        Those before the comparison are left out once there are two in it: the best of many noisy
        results is biased upwards, and the load on the path may have changed since the defaults were
        measured.
        """
        enough = len(self.confirm_bps) >= 2
        return self.confirm_bps if enough else self.earlier_bps + self.confirm_bps

    @property
    def mean_bps(self) -> float:
        """Mean of all its throughputs."""
        every = self.earlier_bps + self.confirm_bps
        return sum(every) / len(every) if every else 0.0


def candidates_of(probes: Sequence[ProbeRecord]) -> list[Candidate]:
    """Every setting with a throughput in this session."""
    found: dict[tuple[str, SettingKey], Candidate] = {}
    for probe in probes:
        if not isinstance(probe.result, Measurement) or probe.result.throughput_bps <= 0:
            continue
        key = (probe.subject, setting_key(probe.setting))
        known = found.get(
            key,
            Candidate(subject=probe.subject, setting=probe.setting, stage=probe.stage),
        )
        bps = probe.result.throughput_bps
        if probe.purpose == "confirm":
            known = msgspec.structs.replace(known, confirm_bps=(*known.confirm_bps, bps))
        else:
            role = probe.label if probe.purpose == "baseline" else known.role
            known = msgspec.structs.replace(known, role=role, earlier_bps=(*known.earlier_bps, bps))
        found[key] = known
    for key, (stage, expected_bps) in _recommended(probes).items():
        if key in found:
            # A default that a search recommends counts as found by it.
            found[key] = msgspec.structs.replace(
                found[key], stage=stage, recommended_bps=expected_bps
            )
    return list(found.values())


def _recommended(
    probes: Sequence[ProbeRecord],
) -> dict[tuple[str, SettingKey], tuple[str, float]]:
    """What each search recommended last, with its stage and its prediction in bit/s."""
    last = {p.stage: p for p in probes if p.purpose == "search"}
    return {
        (p.subject, setting_key(p.recommended[0])): (p.stage, p.recommended[1])
        for p in last.values()
        if p.recommended
    }


def contenders(
    probes: Sequence[ProbeRecord], past: Sequence[PastResult], spaces: Mapping[str, Space]
) -> list[Candidate]:
    """The settings of the comparison, with all that has been measured of each.

    They are selected by what was known before the comparison, so that they and their roles do not
    change during it, also when the session is resumed.
    """
    before = candidates_of([p for p in probes if p.purpose != "confirm"])
    now = {candidate.key: candidate for candidate in candidates_of(probes)}
    return [
        msgspec.structs.replace(now.get(c.key, c), role=c.role)
        for c in select(before, past, spaces)
    ]


def cost(candidate: Candidate, spaces: Mapping[str, Space]) -> tuple[float, ...]:
    """Sort key, the cheapest first: by transport, then by the cost order of its space."""
    return cost_of(candidate.subject, candidate.setting, spaces)


def cost_of(subject: str, setting: Setting, spaces: Mapping[str, Space]) -> tuple[float, ...]:
    """The same for any setting of a subject. A process costs a core, so it comes before flows."""
    space = spaces.get(subject)
    rank = transport_traits(subject).cost_rank
    return (float(rank), float(processes_of(setting)), *(space.cost(setting) if space else ()))


def select(
    candidates: Sequence[Candidate],
    past: Sequence[PastResult],
    spaces: Mapping[str, Space],
) -> list[Candidate]:
    """The settings to compare, by role: best, rival, frugal, and the defaults. Best first.

    The rival is the best of another search or of history, else the next best of the same search.
    The frugal one is the cheapest within 5 % of the best. A setting has one role only; a default
    that is also the best keeps its name.
    """
    ranked = _ranked(candidates)
    if not ranked:
        return []
    best = ranked[0]
    chosen = [named(best, "best")]
    others = [c for c in ranked[1:] if not c.role]
    rival = _rival(best, others, past, candidates)
    near = [
        c
        for c in ranked
        if c.subject == best.subject
        and c.mean_bps >= _FRUGAL_SHARE * best.mean_bps
        and cost(c, spaces) < cost(best, spaces)
        and not c.role
    ]
    frugal = min(near, key=lambda c: cost(c, spaces), default=None)
    for candidate, role in ((rival, "rival"), (frugal, "frugal")):
        if candidate and candidate.key not in {c.key for c in chosen}:
            chosen.append(named(candidate, role))
    chosen += [c for c in ranked if c.role and c.key not in {x.key for x in chosen}]
    return chosen


def _ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best first. No setting of a search comes before the one that it recommends."""
    most_bps = {c.stage: c.recommended_bps for c in candidates if c.recommended_bps}

    def rank(candidate: Candidate) -> tuple[float, bool]:
        expected_bps = candidate.recommended_bps or min(
            candidate.mean_bps, most_bps.get(candidate.stage, math.inf)
        )
        return -expected_bps, candidate.recommended_bps is None

    return sorted(candidates, key=rank)


def named(candidate: Candidate, role: str) -> Candidate:
    """The candidate with this role, unless it has one."""
    return msgspec.structs.replace(candidate, role=candidate.role or role)


def _rival(
    best: Candidate,
    others: Sequence[Candidate],
    past: Sequence[PastResult],
    candidates: Sequence[Candidate],
) -> Candidate | None:
    measured = {c.key for c in candidates}
    worth_bps = _RIVAL_SHARE * best.mean_bps
    stored = [
        Candidate(subject=p.subject, setting=p.setting, stage="history", earlier_bps=())
        for p in sorted(past, key=lambda p: -p.throughput_bps)
        if p.throughput_bps >= worth_bps and (p.subject, setting_key(p.setting)) not in measured
    ]
    elsewhere = [c for c in others if c.stage != best.stage and c.mean_bps >= worth_bps]
    same_run = [c for c in others if c.stage == best.stage]
    return next(iter([*elsewhere[:1], *stored, *same_run]), None)


class Ranking(msgspec.Struct, frozen=True):
    """The contenders, compared. Indices are into `candidates`; there may be no `default`.

    `ceiling`: what no estimate exceeds, None where nothing is known. `errors`: the relative error
    of each candidate as a prediction of the whole dataset, 0 where it was not predicted. `costs`:
    of each, as from `cost`.
    """

    candidates: list[Candidate]
    costs: list[tuple[float, ...]]
    comparison: Comparison
    chosen: int
    default: int | None
    ceiling: Ceiling | None
    errors: list[float]

    @property
    def expected(self) -> Estimate:
        """What a further transfer with the chosen setting reaches, in bit/s."""
        next_one = self.comparison.next_one(self.chosen)
        return held(self.ceiling, widened(next_one, self.errors[self.chosen]))

    def mean(self, index: int) -> Estimate:
        """The mean throughput of a candidate, in bit/s."""
        return held(self.ceiling, self.comparison.mean(index))

    def ratio(self, index: int, to: int) -> Estimate:
        """The throughput of one candidate relative to that of another.

        One over a default is a gain, which is claimed of a further transfer with each, and the
        errors of predictions count. Others say what the probes show: similar settings are wrong in
        the same way, and their order is what was measured.
        """
        if any(self.candidates[one].role.startswith("default") for one in (index, to)):
            share = self._share_possible(index) / self._share_possible(to)
            ratio = scaled(self.comparison.next_ratio(index, to), share)
            ratio = widened(ratio, math.hypot(self.errors[index], self.errors[to]))
        else:
            ratio = self.comparison.ratio(index, to)
        return bounded_ratio(ratio, self.ceiling, self.comparison.mean(to))

    def _share_possible(self, index: int) -> float:
        return share_possible(self.ceiling, self.comparison.mean(index))

    @property
    def gain(self) -> Estimate | None:
        """That of the chosen setting relative to the default; None without a default."""
        if self.default is None:
            return None
        if self.default == self.chosen:
            return Estimate(1.0, (1.0, 1.0))
        return self.ratio(self.chosen, self.default)

    def contender(self, index: int) -> Contender:
        """One candidate in the form that the advice has."""
        candidate = self.candidates[index]
        return Contender(
            role=candidate.role,
            subject=candidate.subject,
            setting=candidate.setting,
            throughput=self.mean(index),
            probes=len(candidate.sampled_bps),
            ratio=None if index == self.chosen else self.ratio(index, self.chosen),
        )


Key = tuple[str, SettingKey]


def rank_contenders(
    candidates: Sequence[Candidate],
    spaces: Mapping[str, Space],
    least_spread: AssumedSpread = EXACT,
    *,
    chosen: Key | None = None,
    alike: Collection[Key] = (),
    assumed: AssumedSpread | None = None,
    same: Sameness = SAME_STREAMS,
    ceiling: Ceiling | None = None,
    errors: Mapping[Key, float] | None = None,
) -> Ranking | None:
    """Choose the cheapest of those to be treated as equal to the best; None if there are none.

    `chosen`: the choice, if it is made already. `ceiling`: of all estimates. `errors`: see
    `Ranking`. `least_spread`, `alike`, `assumed`, `same`: see `Comparison`.
    """
    measured = [c for c in candidates if c.sampled_bps]
    if not measured:
        return None
    comparison = Comparison(
        [c.sampled_bps for c in measured],
        [c.subject for c in measured],
        least_spread,
        alike=[i for i, c in enumerate(measured) if c.key in alike],
        assumed=assumed,
        same=same,
    )
    equals = [i for i, c in enumerate(measured) if c.key == chosen] or comparison.same_as_best()
    costs = [cost(c, spaces) for c in measured]
    index = min(equals, key=costs.__getitem__)
    defaults = [i for i, c in enumerate(measured) if c.role == "default"]
    default = defaults[0] if defaults else None
    each = [(errors or {}).get(c.key, 0.0) for c in measured]
    return Ranking(measured, costs, comparison, index, default, ceiling, each)
