"""Decides after each probe of a session of transports whether it may stop, and says why.

How a probe is valued: `advising/standing.py`. Where the decisions are made:

- after the first default: one that fills a known link ends the session;
- after each probe of a search: it ends when another probe is worth less than its cost. What a
  probe can gain is the lower of two estimates: what the path has left, from the numbers of flows
  and their rates; and what the method expects, from its own belief if it has one (`WithBelief`),
  else from how much its probes differ: of k probes of equal chances the next one is the best with
  probability 1 / (k + 1) (Glick, "Breaking records and breaking boards", 1978);
- a transport is measured once, then only as long as it can still win: it has to be faster than the
  best by the margin that a dearer transport must win by. It is not measured at all where another
  one reaches the same rate with few and with many flows, so that path or hosts limit it: they limit
  every transport;
- a search is interrupted where more flows were much slower than fewer: the path may have changed;
- in the closing comparison (`advising/closing.py`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from advisor.advising.choosing import standing_of
from advisor.advising.context import Context
from advisor.advising.judging import comparable
from advisor.advising.path_changes import out_of_date
from advisor.advising.standing import SAME, Standing
from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Space
from advisor.methods.api import Method, WithBelief
from advisor.models.limits import FULL, full_words
from advisor.traits import subject_name

_LEAST_RECORDS: Final = 3
"""With fewer probes, how much they differ says nothing yet."""

_FIRST_CHANCE: Final = 0.05
"""What the first probe of a transport may gain, as far as is known before it."""

_LOAD_S: Final = 2.0
"""What a probe costs, as seconds, beyond the time of the user and of those who share the path."""


class Decisions:
    """Whether the session of `context` may stop. `spaces`: by subject."""

    def __init__(self, context: Context, spaces: Mapping[str, Space]) -> None:
        self._context = context
        self._spaces = spaces
        self._known: tuple[int, Standing] | None = None

    def standing(self) -> Standing:
        """What is known now."""
        context = self._context
        count = len(context.probes)
        if self._known is None or self._known[0] != count:
            compared = comparable(context.request, context.probes)
            now = standing_of(context.request, context.path, compared, self._spaces)
            self._known = (count, now)
        return self._known[1]

    def cost_s(self, subject: str) -> float:
        """What one more probe of a subject costs: its time, as its latest ones took, and the time
        in which it fills the path, for others too."""
        results = [p.result for p in self._context.probes if p.subject == subject][-3:]
        if not results:
            return 2 * self._context.runner.next_probe_s(subject) + _LOAD_S
        took_s = sum(one.elapsed_s + _sending_s(one) for one in results) / len(results)
        return took_s + _LOAD_S

    def why_full(self) -> str:
        """Why nothing more needs to be measured: the path is full; "" if that is not known."""
        standing = self.standing()
        return self._noted(self._full_words(standing)) if standing.is_full else ""

    def _noted(self, reason: str) -> str:
        """The reason, which the advice will state too."""
        if reason and reason not in self._context.stopped:
            self._context.stopped.append(reason)
        return reason

    def why_end(self, subject: str, stage: str, method: Method) -> str:
        """Why this search may end; "" while another probe is worth its time."""
        if self.in_doubt():
            return "more streams were much slower than fewer: the path may have changed"
        return self._noted(self._why_end(subject, stage, method))

    def in_doubt(self) -> ProbeRecord | None:
        """The probe to repeat before anything else, None if that is not worth its time."""
        found = out_of_date(self._context.probes_now)
        if found is None:
            return None
        probe, slower = found
        worth_s = slower * self.standing().transfer_s
        return probe if worth_s >= self.cost_s(probe.subject) else None

    def _why_end(self, subject: str, stage: str, method: Method) -> str:
        standing = self.standing()
        if standing.best is None:
            return ""
        if standing.is_full:
            return self._full_words(standing)
        worth_s, cost_s = standing.transfer_s, self.cost_s(subject)
        if not any(p.stage == stage for p in self._context.probes):
            return self._why_not_begin(standing, subject, worth_s, cost_s)
        left = standing.gain_left(subject)
        expected = self._expected_gain(standing, stage, method)
        if min(left, expected) * worth_s >= cost_s:
            return ""
        if subject != standing.best.subject:
            return self._cannot_win(standing, subject)
        if left <= expected:
            return self._limit_words(standing, left)
        return (
            f"stopped: another probe is expected to gain {_percent(expected)}, not worth its time"
        )

    def _why_not_begin(
        self, standing: Standing, subject: str, worth_s: float, cost_s: float
    ) -> str:
        left = standing.gain_left(subject)
        is_new = not any(p.subject == subject for p in self._context.probes)
        alike = standing.alike_flows
        gain = max(left, _FIRST_CHANCE) if is_new and not alike else left
        if gain * worth_s >= cost_s:
            return ""
        if is_new and alike:
            return self._limits_all(standing, subject, alike)
        if is_new:
            return self._too_short(worth_s, cost_s)
        return self._limit_words(standing, left)

    def _too_short(self, worth_s: float, cost_s: float) -> str:
        takes = format_duration(worth_s)
        if self._context.request.dataset:
            return f"not measured: the transfer takes {takes}, too short to be worth another probe"
        return (
            f"not measured: probes of {format_duration(cost_s)} are too long on this path for a "
            f"transfer of {takes}, which is assumed; --size says how much is to be moved"
        )

    def _expected_gain(self, standing: Standing, stage: str, method: Method) -> float:
        assert standing.best is not None
        best_bps = math.exp(standing.log_rate(standing.best))
        if isinstance(method, WithBelief):
            return method.expected_gain(best_bps, SAME)
        rates = [
            p.result.throughput_bps
            for p in self._context.probes
            if p.stage == stage and isinstance(p.result, Measurement)
        ]
        return record_gain(rates, best_bps, SAME)

    def _full_words(self, standing: Standing) -> str:
        assert standing.best is not None
        assert standing.ceiling is not None
        return (
            f"stopped: {self._name(standing)} fills {min(1.0, standing.filled):.0%} of what "
            f"{standing.ceiling.words} can carry"
        )

    def _limit_words(self, standing: Standing, left: float) -> str:
        if alike := standing.alike_flows:
            return (
                f"stopped: {alike[0]} and {alike[-1]} streams reach about the same rate, so "
                f"{_limit_of(standing)}; another probe is expected to gain {_percent(left)}"
            )
        return f"stopped: no setting is likely to be faster ({_percent(left)} expected)"

    def _limits_all(self, standing: Standing, subject: str, alike: list[int]) -> str:
        assert standing.best is not None
        return (
            f"not measured: {alike[0]} and {alike[-1]} streams of "
            f"{subject_name(standing.best.subject)} reach about the same rate, so "
            f"{_limit_of(standing)}, and {subject_name(subject)} too"
        )

    def _cannot_win(self, standing: Standing, subject: str) -> str:
        assert standing.best is not None
        best_bps = math.exp(standing.log_rate(standing.best))
        return (
            f"stopped: {subject_name(subject)} is unlikely to be faster than "
            f"{subject_name(standing.best.subject)} with {format_rate(best_bps)}"
        )

    def _name(self, standing: Standing) -> str:
        """`the default`, or the transport that is the best."""
        best = standing.best
        assert best is not None
        labels = [
            p.label
            for p in self._context.probes
            if p.purpose == "baseline" and p.subject == best.subject and p.setting == best.setting
        ]
        return f"the {labels[0]}" if labels else subject_name(best.subject)


def _limit_of(standing: Standing) -> str:
    """What limits the best setting: the hosts where a core was full, unless the path is too."""
    best = standing.best
    is_near = standing.filled >= FULL
    full = full_words(standing.latest(best)) if best and not is_near else ""
    return f"the hosts limit it ({full})" if full else "the path or the hosts limit it"


def record_gain(rates_bps: Sequence[float], best_bps: float, least: float) -> float:
    """What the next probe of a search is expected to gain over the best rate, as a log rate.

    By the spread of its probes so far; infinite with fewer than three, which show nothing yet.
    """
    logs = [math.log(bps) for bps in rates_bps if bps > 0]
    if len(logs) < _LEAST_RECORDS:
        return math.inf
    mean = math.fsum(logs) / len(logs)
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in logs) / (len(logs) - 1))
    behind = math.log(best_bps) - max(logs) + least
    return max(0.0, spread - behind) / (len(logs) + 1)


def _sending_s(result: Outcome) -> float:
    """For how long a probe filled the path."""
    if not isinstance(result, Measurement) or not result.intervals:
        return 0.0
    return result.intervals[-1].end_s


def _percent(gain: float) -> str:
    return f"{gain:.1%}" if gain >= 0.001 else "less than 0.1%"
