"""The running totals of several processes that share the work of one end of a probe, as one.

Each process reports at moments of its own, by the clock of the host that they share. The totals of
all are known for a moment that lies between two reports of each: they are interpolated there. The
first such moment is the first at which every process had begun, so that a rate between two of them
never counts a time in which only some sent.
"""

from collections.abc import Callable, Sequence

from advisor.api.transport import Sample, SendingState


class Merger:
    """Merges the reports of the processes of one end; `processes`: how many there are."""

    def __init__(self, processes: int) -> None:
        self._reports: list[list[Sample]] = [[] for _ in range(processes)]
        self._fresh: set[int] = set()

    def add(self, process: int, report: Sample) -> Sample | None:
        """The totals of all, once each has reported since the last totals; else None.

        Sums over the processes, but `busy_s` and `host_s` are the host's, `rtt_s` is the mean, and
        `thread_cpu_s` that of the thread that has used most in any of them.
        """
        self._reports[process].append(report)
        self._fresh.add(process)
        if len(self._fresh) < len(self._reports):
            return None
        at_s = min(reports[-1].t_s for reports in self._reports)
        if at_s < max(reports[0].t_s for reports in self._reports):
            return None  # One of them had not begun.
        self._fresh.clear()
        around = [_Around(reports, at_s) for reports in self._reports]
        for reports, pair in zip(self._reports, around, strict=True):
            del reports[: pair.passed]
        return _merged(around, at_s)


class _Around:
    """The last report of a process up to a moment, and the first from it on."""

    def __init__(self, reports: Sequence[Sample], at_s: float) -> None:
        self.passed = sum(one.t_s <= at_s for one in reports) - 1
        self.before = reports[self.passed]
        self.after = next(one for one in reports if one.t_s >= at_s)
        apart_s = self.after.t_s - self.before.t_s
        self._share = (at_s - self.before.t_s) / apart_s if apart_s > 0 else 1.0

    def at(self, field: Callable[[Sample], float | None]) -> float | None:
        """A running total at that time; None where it is not known."""
        first, last = field(self.before), field(self.after)
        return None if first is None or last is None else first + (last - first) * self._share


def _merged(around: Sequence[_Around], at_s: float) -> Sample:
    def each(field: Callable[[Sample], float | None]) -> list[float]:
        """A running total of every process; empty unless all have it."""
        found = [value for pair in around if (value := pair.at(field)) is not None]
        return found if len(found) == len(around) else []

    rtts_s = [pair.after.rtt_s for pair in around if pair.after.rtt_s]
    retransmits = each(lambda one: one.retransmits)
    arrived_bytes = each(lambda one: one.arrived_bytes)
    return Sample(
        t_s=at_s,
        total_bytes=round(sum(each(lambda one: one.total_bytes))),
        cpu_s=sum(each(lambda one: one.cpu_s)),
        busy_s=each(lambda one: one.busy_s)[0],
        host_s=each(lambda one: one.host_s)[0],
        retransmits=round(sum(retransmits)) if retransmits else None,
        rtt_s=sum(rtts_s) / len(rtts_s) if rtts_s else None,
        arrived_bytes=round(sum(arrived_bytes)) if arrived_bytes else None,
        granted=around[0].after.granted,
        sending=_all_streams([pair.after.sending for pair in around]),
        thread_cpu_s=max(each(lambda one: one.thread_cpu_s), default=None),
    )


def _all_streams(states: Sequence[SendingState | None]) -> SendingState | None:
    known = [state for state in states if state is not None]
    if len(known) < len(states):
        return None
    return SendingState(
        congestion=known[0].congestion,
        streams=sum(one.streams for one in known),
        window_bytes=sum(one.window_bytes for one in known),
        starting=sum(one.starting for one in known),
        cuts=sum(one.cuts for one in known),
        sent_segments=sum(one.sent_segments for one in known),
        segment_bytes=min(one.segment_bytes for one in known),
        busy_s=sum(one.busy_s for one in known),
        receiver_limited_s=sum(one.receiver_limited_s for one in known),
        buffer_limited_s=sum(one.buffer_limited_s for one in known),
    )
