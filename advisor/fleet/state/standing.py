"""How each pair of a fleet stands, and why it is not measured. Pure."""

from collections.abc import Iterator, Sequence

import msgspec

from advisor.fleet.plan.turns import News
from advisor.fleet.state.knowing import busy_hosts, planner_of
from advisor.fleet.state.reading import FleetState
from advisor.fleet.state.rows import ALL, Attempt, HostState, PairState, Pause, Worker


class PairStanding(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of one task. Times in Unix time, by the clock of the database.

    `last_s`: of the last success, None for never. `due_s`: when it is due, head starts included.
    `reason`: why it is not measured now, or that it is; "" while it is not due.
    """

    task: str
    source: str
    destination: str
    last_s: float | None
    due_s: float
    rate_bps: float | None
    rtt_s: float | None
    news: News
    failures: int
    reason: str
    stored_source: str | None = None
    stored_destination: str | None = None


class FleetStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The whole fleet. `pairs` of all tasks, `measured` of them at least once; `due` now.

    `down`: hosts that could not be reached. `missing`: the pairs that were never measured, each
    with its reason.
    """

    version: int
    applied_by: str
    applied_s: float
    now_s: float
    pairs: int
    measured: int
    due: int
    workers: list[Worker]
    running: list[Attempt]
    down: list[HostState]
    busy: dict[str, float]
    pauses: list[Pause]
    missing: list[PairStanding]


def pairs_of(state: FleetState) -> Iterator[PairStanding]:
    """Every pair of every task, in the order of the configuration."""
    planner = planner_of(state)
    fleet = state.applied.fleet
    known = {(one.task, one.source, one.destination): one for one in state.pairs}
    reasons = _Reasons(state)
    for number, task in enumerate(fleet.tasks):
        for ends in sorted(task.pairs()):
            names = task.name, fleet.hosts[ends[0]].name, fleet.hosts[ends[1]].name
            one = known.get(names) or PairState(
                task=names[0], source=names[1], destination=names[2]
            )
            due_s = planner.due_s(number, *ends)
            yield PairStanding(
                task=one.task,
                source=one.source,
                destination=one.destination,
                last_s=one.last_s,
                due_s=due_s,
                rate_bps=one.rate_bps,
                rtt_s=one.rtt_s,
                news=one.news,
                failures=one.failures,
                reason=reasons.of(one, due_s),
                stored_source=one.stored_source,
                stored_destination=one.stored_destination,
            )


def standing_of(
    state: FleetState, workers: list[Worker], pairs: Sequence[PairStanding]
) -> FleetStanding:
    """The whole fleet. `pairs`: what `pairs_of` says of this state, which takes planning."""
    configuration = state.applied.configuration
    return FleetStanding(
        version=configuration.version,
        applied_by=configuration.applied_by,
        applied_s=configuration.applied_s,
        now_s=state.now_s,
        pairs=len(pairs),
        measured=sum(one.last_s is not None for one in pairs),
        due=sum(one.due_s <= state.now_s for one in pairs),
        workers=workers,
        running=state.running,
        down=[one for one in state.hosts.values() if one.failures],
        busy=busy_hosts(state),
        pauses=list(state.pauses.values()),
        missing=[one for one in pairs if one.last_s is None],
    )


class _Reasons:
    """Why a pair is not measured now; the first that holds."""

    def __init__(self, state: FleetState) -> None:
        self._state = state
        self._running = {(one.task, one.source, one.destination) for one in state.running}
        self._in_use = {host for one in state.running for host in (one.source, one.destination)}
        self._busy = busy_hosts(state)
        self._moving = {host for one in state.moving for host in one.hosts}

    def of(self, one: PairState, due_s: float) -> str:
        if (one.task, one.source, one.destination) in self._running:
            return "it is being measured"
        hosts = one.source, one.destination
        found = self._left_alone(hosts)
        if not found and one.failures:
            found = one.message or "it failed"
        found = found or self._not_usable(hosts)
        if not found and one.gave_way and due_s > self._state.now_s:
            found = "it has given way to a user"
        if found or due_s > self._state.now_s:
            return found
        in_use = [host for host in hosts if host in self._in_use]
        return f"{in_use[0]} is in use" if in_use else "it waits for its turn"

    def _left_alone(self, hosts: tuple[str, str]) -> str:
        pauses = self._state.pauses
        if ALL in pauses:
            return "the fleet is paused"
        return next((f"{host} is paused" for host in hosts if host in pauses), "")

    def _not_usable(self, hosts: tuple[str, str]) -> str:
        for host in hosts:
            down = self._state.hosts.get(host)
            if down and down.failures:
                return f"{host} is down: {down.message}"
            if host in self._moving:
                return f"a transfer moves files at {host}"
            if host in self._busy:
                return f"a user measures at {host}"
        return ""
