"""Measures an emulated path from its ends and compares it with the requested parameters.

The measurement uses the kernel's counters of the hosts' own interfaces, not the emulator's: the
latter only explain missing packets. The rate is measured with a flood above it, the loss well below
the rate, the RTT while nothing else is on the path.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Protocol, TypeVar

import msgspec

from advisor.hosts.processes import Child, running
from advisor.lab import flood as fl
from advisor.lab import messages as m
from advisor.lab import verdicts as v
from advisor.lab.control import tell
from advisor.lab.enter import command_on
from advisor.lab.paths import Direction, EmulatedPath, own_queue_bytes
from advisor.lab.state import Host, LabError, LabState, state_of

Narrate = Callable[[str, float], None]
"""Called with what is being measured now, and the fraction of the whole that is done."""

_IDLE_S: Final = 0.5
_IDLE_PPS: Final = 100
_IDLE_SHARE: Final = 0.01

_ECHOES: Final = 50
_MOST_ECHOES: Final = 400
_ECHO_GAP_S: Final = 0.02
_ECHOES_S: Final = 4.0

_SETTLE_S: Final = 0.3
_FLOOD_S: Final = 2.0
_FEWEST: Final = 200
_MAKE_UP_S: Final = 0.02

_COUNT_PPS: Final = 30_000.0
_COUNT_S: Final = 2.0
_COUNT_LONGEST_S: Final = 5.0
_COUNT_ENOUGH: Final = 2000
_COUNT_SHARE: Final = 0.3

_SMALLEST_BYTES: Final = 64
_QUEUE_SHARE: Final = 8
_FLOOD_QUEUE_SHARE: Final = 4
_POLL_S: Final = 0.05
# On a busy machine the emulator may empty a queue more slowly than at the path's rate.
_EMPTYING_S: Final = 5.0
_EMPTYING_SHARE: Final = 2.0
_REPLY_S: Final = 10.0

_Checked = TypeVar("_Checked", v.RttCheck, v.RateCheck, v.LossCheck)
_Line = TypeVar("_Line", bound=msgspec.Struct)


class _Way(msgspec.Struct, frozen=True, kw_only=True):
    """One direction: its hosts, and what limits it.

    `rate_bps` and `queue_bytes`: of the path or the source's own interface, whichever is slower.
    """

    words: str
    sender: Host
    receiver: Host
    link: Direction
    rate_bps: float
    queue_bytes: int
    mtu_bytes: int

    @property
    def longest_s(self) -> float:
        """The longest time from sender to receiver with empty queues."""
        return self.link.delay_s + self.link.jitter_s


def check_lab_path(name: str, host: str | None, narrate: Narrate) -> v.PathCheck:
    """Measure the path to a host of a lab.

    Raises LabError when the path is cut or not idle, or changes meanwhile.
    """
    state = state_of(name)
    far = state.far(host)
    return asyncio.run(_Checking(state, far, narrate).run())


def _far_status(status: m.LabStatus, host: Host) -> m.HostStatus:
    return next(one for one in status.hosts if one.name == host.name)


def require_steady(status: m.LabStatus, host: Host) -> None:
    """Raises LabError, with the remedy, when the path is cut, loaded, or about to change."""
    name = status.name
    if _far_status(status, host).is_cut:
        raise LabError(
            f"the path to {host.name} is cut",
            remedy=f"'advisor lab restore {name}', then check it",
            command=f"advisor lab restore {name}",
        )
    if status.transfers or status.compute:
        raise LabError(
            "external load is on, and only an idle path can be checked",
            remedy=f"'advisor lab load {name} --transfers 0 --compute 0' removes it",
            command=f"advisor lab load {name} --transfers 0 --compute 0",
        )
    if status.schedule:
        raise LabError(
            "a schedule is running, and would change the path while it is checked",
            remedy=f"'advisor lab schedule {name} --stop' stops it",
            command=f"advisor lab schedule {name} --stop",
        )


class _Watcher:
    """The counters of one host."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self.port = 0

    async def begin(self) -> None:
        """Raises LabError."""
        self.port = (await _line(self._child, fl.WatcherPort)).port

    async def count(self) -> fl.InterfaceCounters:
        """The counters now. Raises LabError."""
        try:
            self._child.stdin.write(b"\n")
        except OSError:
            raise _gone(self._child) from None
        return await _line(self._child, fl.InterfaceCounters)


async def _line(child: Child, kind: type[_Line], timeout_s: float = _REPLY_S) -> _Line:
    """The next line of one of our programs. Raises LabError with its last output."""
    try:
        async with asyncio.timeout(timeout_s):
            return msgspec.json.decode(await child.stdout.readline(), type=kind)
    except (OSError, TimeoutError, msgspec.MsgspecError):
        raise _gone(child) from None


def _gone(child: Child) -> LabError:
    words = child.stderr.decode(errors="replace").strip().splitlines()
    return LabError(f"the lab's hosts cannot be measured: {words[-1] if words else 'no message'}")


def _not_idle(seen: str) -> LabError:
    return LabError(f"the path is not idle ({seen})", remedy="check it when nothing else uses it")


class Counting(Protocol):
    """Counts what a host's interface carries."""

    async def count(self) -> fl.InterfaceCounters:
        """The counters now. Raises LabError."""


async def until_quiet(receiver: Counting, quiet_s: float, longest_s: float) -> None:
    """Wait until no packet arrives for `quiet_s`.

    Raises LabError when packets still arrive after `longest_s`: they are other traffic, which would
    be counted with the check's own.
    """
    first = newest = now = await receiver.count()
    while now.at_s < newest.at_s + quiet_s:
        await asyncio.sleep(_POLL_S)
        now = await receiver.count()
        if now.received == newest.received:
            continue
        if now.at_s > first.at_s + longest_s:
            pps = (now.received - newest.received) / (now.at_s - newest.at_s)
            raise _not_idle(
                f"{pps:.0f} packets a second still arrive {now.at_s - first.at_s:.0f} s after the "
                "last of a measurement"
            )
        newest = now


class _Checking:
    """One check of one path."""

    def __init__(self, state: LabState, far: Host, narrate: Narrate) -> None:
        self._state = state
        self._far = far
        self._narrate = narrate
        self._watchers: dict[str, _Watcher] = {}

    def _status(self) -> m.LabStatus:
        return tell(self._state.name, m.GetStatus())

    async def run(self) -> v.PathCheck:
        """Run the whole check. Raises LabError."""
        began_s = time.monotonic()
        before = self._status()
        require_steady(before, self._far)
        path = _far_status(before, self._far).path
        async with contextlib.AsyncExitStack() as stack:
            await self._watch(stack)
            await self._require_idle(path)
            self._narrate("round-trip time", 0.05)
            rtt = await _twice(lambda: self._rtt(path, before.own))
            there, back = self._ways(path, before.own)
            forward = await self._direction(there, 0.2)
            reverse = await self._direction(back, 0.6)
        after = self._status()
        require_steady(after, self._far)
        if _far_status(after, self._far).path != path or after.own != before.own:
            raise LabError("the path was changed while it was checked", remedy="check it again")
        late_s = _late_s(before.lateness, after.lateness)
        verdict, why = v.judge_path(rtt, forward, reverse, late_s)
        return v.PathCheck(
            lab=self._state.name,
            host=self._far.name,
            path=path,
            rtt=rtt,
            forward=forward,
            reverse=reverse,
            late_s=late_s,
            verdict=verdict,
            why=why,
            took_s=time.monotonic() - began_s,
        )

    def _ways(self, path: EmulatedPath, own: Direction | None) -> tuple[_Way, _Way]:
        def way(words: str, sender: Host, receiver: Host, link: Direction) -> _Way:
            slower, queue_bytes = link, path.queue_bytes(link)
            if own is not None and own.rate_bps < link.rate_bps:
                slower = own
                queue_bytes = own_queue_bytes(own, [path])
            return _Way(
                words=words,
                sender=sender,
                receiver=receiver,
                link=link,
                rate_bps=slower.rate_bps,
                queue_bytes=queue_bytes,
                mtu_bytes=path.mtu_bytes,
            )

        source = self._state.source
        return (
            way("there", source, self._far, path.forward),
            way("back", self._far, source, path.reverse),
        )

    def _program(self, host: Host, *words: str) -> contextlib.AbstractAsyncContextManager[Child]:
        argv = [sys.executable, "-P", "-m", "advisor.lab.flood", *words]
        return running(command_on(self._state, host, argv))

    async def _watch(self, stack: contextlib.AsyncExitStack) -> None:
        for host in (self._state.source, self._far):
            child = await stack.enter_async_context(self._program(host, "watch", host.address))
            self._watchers[host.name] = _Watcher(child)
        for watcher in self._watchers.values():
            await watcher.begin()

    async def _require_idle(self, path: EmulatedPath) -> None:
        """Raises LabError."""
        self._narrate("whether the path is idle", 0.0)
        before = [await watcher.count() for watcher in self._watchers.values()]
        await asyncio.sleep(_IDLE_S)
        after = [await watcher.count() for watcher in self._watchers.values()]
        slowest_bps = min(path.forward.rate_bps, path.reverse.rate_bps)
        for old, new in zip(before, after, strict=True):
            took_s = new.at_s - old.at_s
            packets = max(new.received - old.received, new.sent - old.sent)
            size = max(new.received_bytes - old.received_bytes, new.sent_bytes - old.sent_bytes)
            if packets > _IDLE_PPS * took_s or size * 8 > _IDLE_SHARE * slowest_bps * took_s:
                raise _not_idle(f"{packets / took_s:.0f} packets a second cross it")

    async def _rtt(self, path: EmulatedPath, own: Direction | None) -> v.RttCheck:
        count, gap_s, wait_s = echo_plan(path)
        words = ["echo", self._far.address, str(count), str(gap_s), str(wait_s)]
        async with self._program(self._state.source, *words) as child:
            seen = await _line(child, fl.Echoes, count * gap_s + wait_s + _REPLY_S)
        return v.judge_rtt(path, own, seen.sent, seen.samples_s)

    async def _direction(self, way: _Way, done: float) -> v.DirectionCheck:
        self._narrate(f"rate {way.words}", done)
        rate = await _twice(lambda: self._rate(way))
        self._narrate(f"loss {way.words}", done + 0.2)
        loss = await _twice(lambda: self._loss(way))
        return v.DirectionCheck(rate=rate, loss=loss)

    @contextlib.asynccontextmanager
    async def _flow(self, flow: fl.Flow, way: _Way) -> AsyncIterator[tuple[Child, fl.Begun]]:
        """A flow that has started."""
        words = msgspec.json.encode(flow).decode()
        async with self._program(way.sender, "send", words) as child:
            yield child, await _line(child, fl.Begun)

    async def _rate(self, way: _Way) -> v.RateCheck:
        here, there = self._watchers[way.sender.name], self._watchers[way.receiver.name]
        flow, skip_s = flood_plan(way.link, way.rate_bps, way.queue_bytes, way.mtu_bytes)
        flow = msgspec.structs.replace(flow, address=way.receiver.address, port=there.port)
        async with self._flow(flow, way) as (child, begun):
            await asyncio.sleep(max(0.0, begun.at_s + skip_s - time.monotonic()))
            offered_from, from_ = await here.count(), await there.count()
            ends_s = begun.at_s + flow.seconds - _POLL_S
            await asyncio.sleep(max(0.0, ends_s - time.monotonic()))
            offered_to, to = await here.count(), await there.count()
            await _line(child, fl.Sent)
        await self._quiet(way)
        offered_bytes = offered_to.sent_bytes - offered_from.sent_bytes
        return v.judge_rate(
            way.link,
            way.rate_bps,
            offered_bytes * 8 / (offered_to.at_s - offered_from.at_s),
            (to.received_bytes - from_.received_bytes) * 8 / (to.at_s - from_.at_s),
            to.received - from_.received,
        )

    async def _loss(self, way: _Way) -> v.LossCheck:
        here, there = self._watchers[way.sender.name], self._watchers[way.receiver.name]
        flow = count_plan(way.rate_bps, way.queue_bytes)
        flow = msgspec.structs.replace(flow, address=way.receiver.address, port=there.port)
        dropped = -self._dropped(way)
        unsent, received = -(await here.count()).unsent, -(await there.count()).received
        async with self._flow(flow, way) as (child, _):
            sent = (await _line(child, fl.Sent, flow.seconds + _REPLY_S)).datagrams
        await self._quiet(way)
        unsent += (await here.count()).unsent
        received += (await there.count()).received
        dropped += self._dropped(way)
        # The interface's own count of sent packets includes the kernel's IPv6 messages, which no
        # path forwards; so count the datagrams of the program.
        sent -= unsent
        return v.judge_loss(way.link, sent, max(0, sent - received), dropped)

    def _dropped(self, way: _Way) -> int:
        """Packets dropped at a full queue, as counted by the emulator."""
        status = self._status()
        host = _far_status(status, self._far)
        is_forward = way.receiver == self._far
        shared = status.own_forward if is_forward else status.own_reverse
        return (host.forward if is_forward else host.reverse).dropped + (
            shared.dropped if shared else 0
        )

    async def _quiet(self, way: _Way) -> None:
        """Wait until all that was sent has arrived. Raises LabError."""
        await asyncio.sleep(way.longest_s + _POLL_S)
        await until_quiet(
            self._watchers[way.receiver.name],
            max(2 * _POLL_S, 4 * way.mtu_bytes * 8 / way.rate_bps),
            _EMPTYING_S + _EMPTYING_SHARE * way.queue_bytes * 8 / way.rate_bps,
        )


async def _twice(measure: Callable[[], Awaitable[_Checked]]) -> _Checked:
    """Measure, and repeat once if the result is out of bounds; the second result then counts.

    Otherwise a hiccup of the machine, or chance for the loss, would condemn good paths: the
    interval excludes the true loss one time in twenty.
    """
    first = await measure()
    if first.verdict == v.CheckVerdict.WITHIN:
        return first
    return msgspec.structs.replace(await measure(), tries=2)


def echo_plan(path: EmulatedPath) -> tuple[int, float, float]:
    """The number of echoes, their spacing in seconds, and how long to wait for the last."""
    ways = (path.forward, path.reverse)
    sending_s = max(fl.ECHO_BYTES * 8 / way.rate_bps for way in ways)
    # Without reordering, a late echo would delay those behind it.
    gap_s = max(_ECHO_GAP_S, 4 * sending_s, *(way.jitter_s for way in ways))
    answered = (1 - path.forward.loss) * (1 - path.reverse.loss)
    count = min(_MOST_ECHOES, round(_ECHOES / answered), max(10, round(_ECHOES_S / gap_s)))
    wait_s = path.rtt_s + sum(way.jitter_s for way in ways) + 4 * sending_s + 0.5
    return count, gap_s, wait_s


def flood_plan(
    way: Direction, rate_bps: float, queue_bytes: int, mtu_bytes: int
) -> tuple[fl.Flow, float]:
    """A flood above the rate, and for how many seconds not to count what arrives yet.

    What arrives has the rate of the path as soon as the queue never empties; the queue need not be
    full.
    """
    window_s = max(_FLOOD_S, _FEWEST * _SMALLEST_BYTES * 8 / rate_bps / 2)
    # On a slow path many small packets, to reduce edge effects; small ones for a short queue too.
    packet_bytes = min(
        mtu_bytes,
        max(
            _SMALLEST_BYTES,
            min(round(rate_bps * window_s / 8 / _FEWEST), queue_bytes // _QUEUE_SHARE),
        ),
    )
    skip_s = way.delay_s + way.jitter_s + _SETTLE_S
    flow = fl.Flow(
        address="",
        port=0,
        packet_bytes=packet_bytes,
        pace_pps=v.OFFER * rate_bps / 8 / packet_bytes,
        at_once=_at_once(packet_bytes, queue_bytes // _FLOOD_QUEUE_SHARE),
        seconds=skip_s + window_s + _POLL_S,
        make_up_s=_MAKE_UP_S,
    )
    return flow, skip_s


def count_plan(rate_bps: float, queue_bytes: int) -> fl.Flow:
    """Many small packets well below the rate, never enough in a row to fill the queue."""
    pace_pps = min(_COUNT_PPS, _COUNT_SHARE * rate_bps / 8 / _SMALLEST_BYTES)
    return fl.Flow(
        address="",
        port=0,
        packet_bytes=_SMALLEST_BYTES,
        pace_pps=pace_pps,
        at_once=_at_once(_SMALLEST_BYTES, queue_bytes // _QUEUE_SHARE),
        seconds=min(_COUNT_LONGEST_S, max(_COUNT_S, _COUNT_ENOUGH / pace_pps)),
        make_up_s=0.0,
    )


def _at_once(packet_bytes: int, most_bytes: int) -> int:
    """The number of packets in a row: what the kernel takes, but at most `most_bytes`."""
    most = min(fl.MOST_AT_ONCE, fl.MOST_BYTES_AT_ONCE // packet_bytes)
    return max(1, min(most, most_bytes // packet_bytes))


def _late_s(before: m.Lateness | None, after: m.Lateness | None) -> float | None:
    """The lateness of the 99th percentile of packets, if this check increased it.

    It is counted since the lab started: earlier overload must not be blamed on this check.
    """
    if before is None or after is None or after.p99_s <= before.p99_s:
        return None
    return after.p99_s
