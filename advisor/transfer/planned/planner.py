"""Plans the transfer of a dataset class by class: by HARP from history, or by a rule of thumb.

HARP 2018, section 3.1, algorithm 1: files are grouped by size, each class is optimised alone, and
the scheduler divides the channels among all of them.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from advisor.domain.dataset import Dataset
from advisor.domain.evidence import Evidence, SampleSeen
from advisor.domain.path import PathFacts
from advisor.domain.plan import ClassPlan
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.file_classes import Size
from advisor.models.harp.account import evidence_of
from advisor.models.harp.asking import conditions_of
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import HarpAnswer, NothingAlike, Optimiser, SampleTransfer
from advisor.models.harp.optimum import RELAXATION, LevelBounds, keep_of
from advisor.models.harp.pay_off import PayOff
from advisor.models.harp.sampling import LONGEST_S
from advisor.models.harp.scheduler import ClassDemand, schedule
from advisor.models.planning import (
    PAPERS_CHANNELS,
    LevelLimits,
    Rule,
    SizedFiles,
    parted,
    rule_levels,
    shared,
)
from advisor.models.slicing import FileEntry
from advisor.models.transfer_heuristics import buffer_of
from advisor.transfer.engine.route import SUPPOSED_CAPACITY_BPS
from advisor.transfer.planned.retuning import ClassRate, Retuned, Retuning, reason_of

_MOST_PIPELINING: Final = 32


class _Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """What one class would reach alone. `unit_bps`: over one channel; None if not known."""

    levels: Levels
    expected_bps: float | None = None
    plain_bps: float | None = None
    unit_bps: float | None = None
    evidence: Evidence | None = None
    reason: str


class Planner:
    """Plans for one dataset on one path. `classes`: from the smallest files to the largest.

    `transfers`: past ones that HARP learns from. `relaxation`: the fraction of the expected rate
    that HARP must keep when it lowers concurrency, and when it lowers parallelism.
    `sample_levels`: the levels of each class's sample transfer.
    """

    def __init__(
        self,
        rule: Rule,
        path: PathFacts,
        files: Sequence[FileEntry],
        transfers: Sequence[PastTransfer],
        limits: LevelLimits,
        seed: int,
        relaxation: float = RELAXATION,
    ) -> None:
        self.rule = rule
        self._path = path
        self._limits = limits
        self._rule_limits = limits
        if rule is Rule.HARP:
            # Its samples are set by Single Chunk, which the paper bounds; HARP it does not.
            most = min(limits.channels, PAPERS_CHANNELS)
            self._rule_limits = msgspec.structs.replace(limits, channels=most)
        self._seed = seed
        self._keep = keep_of(relaxation)
        self._bdp_bytes = (path.capacity_bps or SUPPOSED_CAPACITY_BPS) * path.rtt_s / 8
        self._history = History.of(transfers)
        self.classes = parted(files, self._bdp_bytes, rule, whole=limits.whole_files)
        self._outlooks: dict[Size, _Outlook] = {}
        self._samples: dict[Size, SampleSeen] = {}
        self._optimisers: dict[Size, Optimiser] = {}
        self._retunings: dict[Size, Retuning] = {}
        self._by_rule = self._rule_levels(rule)
        self.sample_levels = self._rule_levels(Rule.SINGLE_CHUNK)

    def _rule_levels(self, rule: Rule) -> dict[Size, Levels]:
        buffer_bytes = buffer_of(self._path)
        found = rule_levels(rule, self.classes, self._bdp_bytes, buffer_bytes, self._rule_limits)
        return {one.size: levels for one, levels in zip(self.classes, found, strict=True)}

    @property
    def knows_transfers(self) -> bool:
        """Whether there are past transfers to learn from."""
        return len(self._history) > 0

    def look(self, files: SizedFiles, sampled: SampleSeen | None = None) -> None:
        """Determine what a class would reach alone; `sampled`: the result of its sample transfer.

        It may take a second.
        """
        if sampled:
            self._samples[files.size] = sampled
        if self.rule is not Rule.HARP:
            levels = self._by_rule[files.size]
            self._outlooks[files.size] = _Outlook(levels=levels, reason=_rule_reason(self.rule))
        else:
            self._outlooks[files.size] = self._by_harp(files, sampled)

    def _by_harp(self, files: SizedFiles, sampled: SampleSeen | None) -> _Outlook:
        wanted = self._conditions(files)
        sample = None
        if sampled:
            sample = SampleTransfer(levels=sampled.levels, throughput_bps=sampled.throughput_bps)
        optimiser = self._optimisers.get(files.size)
        if optimiser is None:
            optimiser = Optimiser(wanted, self._history, self._box(files))
            self._optimisers[files.size] = optimiser
        try:
            answer = optimiser.answer(
                sample, keep=self._keep, by_rule=self.sample_levels[files.size]
            )
        except NothingAlike:
            return _Outlook(
                levels=self.sample_levels[files.size],
                reason="no past transfer is similar: computed from file size and path",
            )
        if answer.groups:
            self._retunings[files.size] = Retuning(optimiser, answer, self._keep)
        return msgspec.structs.replace(
            self._by_answer(files.size, answer),
            evidence=evidence_of(wanted, sample, self._history, answer),
        )

    def _by_answer(self, size: Size, answer: HarpAnswer) -> _Outlook:
        return _Outlook(
            levels=answer.levels,
            expected_bps=answer.throughput_bps,
            plain_bps=answer.expected_bps(self.sample_levels[size]),
            unit_bps=answer.unit_throughput_bps,
            reason=answer.worth,
        )

    def company_changes(self) -> None:
        """From now on other classes are moved together, or at other levels."""
        for one in self._retunings.values():
            one.restart()

    def retune(self, rates: Mapping[Size, ClassRate]) -> list[Retuned]:
        """Process an epoch of the classes that were moved; those whose levels change.

        Only HARP has expectations to compare a rate with. It may take a second.
        """
        changed = []
        for size, seen in rates.items():
            retuning = self._retunings.get(size)
            answer = retuning.look(seen) if retuning else None
            if answer is None:
                continue
            old = self._outlooks[size].levels
            self._outlooks[size] = self._by_answer(size, answer)
            reason = f"{reason_of(seen)}. {answer.worth}"
            changed.append(
                Retuned(size=size, old=old, new=answer.levels, bps=seen.bps, reason=reason)
            )
        if changed:
            self.company_changes()
        return changed

    def _conditions(self, files: SizedFiles) -> Conditions:
        dataset = Dataset(total_bytes=max(1, files.total_bytes), files=len(files.files))
        return conditions_of(dataset, self._path, self._path.capacity_bps)

    def _box(self, files: SizedFiles) -> LevelBounds:
        one = Levels(concurrency=1, parallelism=1)
        most = Levels(
            concurrency=self._limits.channels,
            parallelism=self._limits.streams,
            pipelining=_MOST_PIPELINING,
        )
        return LevelBounds(lower=one, upper=self._limits.of(most, files))

    def class_plans(self) -> list[ClassPlan]:
        """The plan of every class that was optimised, with its levels beside the other classes."""
        everything = {one.size: max(1, one.total_bytes) for one in self.classes}
        together = self.levels_now(everything)
        return [
            self._class_plan(one, together[one.size])
            for one in self.classes
            if one.size in self._outlooks
        ]

    def _class_plan(self, files: SizedFiles, levels: Levels) -> ClassPlan:
        outlook = self._outlooks[files.size]
        return ClassPlan(
            size=files.size,
            files=len(files.files),
            total_bytes=files.total_bytes,
            levels=levels,
            alone=outlook.levels,
            expected_bps=outlook.expected_bps,
            sample=self._samples.get(files.size),
            reason=outlook.reason,
            evidence=outlook.evidence,
        )

    def levels_now(self, left_bytes: Mapping[Size, int]) -> dict[Size, Levels]:
        """The levels of each class that has data left; all must have been optimised.

        A finished class leaves its channels to the others. If the rate of one channel is not known
        for every class, channels are divided as ProMC does.
        """
        left = [one for one in self.classes if left_bytes.get(one.size)]
        alone = {one.size: self._outlooks[one.size].levels for one in left}
        if self.rule.order == "one after the other":
            return alone
        if self.rule is Rule.PROMC or not all(self._outlooks[size].unit_bps for size in alone):
            shares = shared(left, left_bytes, self._bdp_bytes, self._rule_limits)
            return {
                one.size: msgspec.structs.replace(alone[one.size], concurrency=share)
                for one, share in zip(left, shares, strict=True)
            }
        demands = [
            ClassDemand(
                levels=alone[one.size],
                total_bytes=left_bytes[one.size],
                unit_throughput_bps=self._outlooks[one.size].unit_bps or 1.0,
                most_channels=one.most_channels,
            )
            for one in left
        ]
        return dict(zip(alone, schedule(demands), strict=True))

    def pay_off(self) -> PayOff | None:
        """The cost and benefit of sample transfers; None if no surface predicts the rates.

        A sample runs at the levels that would be used without it, so it costs no more than what
        better levels would have gained meanwhile; the classes are sampled one after the other.
        """
        plain_bps = self._together_bps([self._outlooks[one.size].plain_bps for one in self.classes])
        tuned_bps = self._together_bps(
            [self._outlooks[one.size].expected_bps for one in self.classes]
        )
        if plain_bps is None or tuned_bps is None:
            return None
        return PayOff(
            plain_bps=plain_bps,
            tuned_bps=tuned_bps,
            sample_bps=plain_bps,
            sample_s=LONGEST_S * len(self.classes),
        )

    def _together_bps(self, rates_bps: Sequence[float | None]) -> float | None:
        """The mean rate over all classes, one after the other; None if one is not known."""
        if not all(rates_bps):
            return None
        pairs = zip(self.classes, rates_bps, strict=True)
        spent_s = sum(one.total_bytes * 8 / rate_bps for one, rate_bps in pairs if rate_bps)
        return self.total_bytes * 8 / spent_s if spent_s else None

    @property
    def total_bytes(self) -> int:
        """Bytes of all classes."""
        return sum(one.total_bytes for one in self.classes)


def _rule_reason(rule: Rule) -> str:
    match rule:
        case Rule.GLOBUS:
            return "Globus's setting for files of this size"
        case Rule.SINGLE_CHUNK:
            return "computed from file size and path (Single Chunk)"
        case _:
            return "computed from file size and path, all channels divided (ProMC)"
