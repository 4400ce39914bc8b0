"""Plans the shares of several destinations, and keeps them while files move to all of them."""

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from advisor.api.tool import CommandRequest
from advisor.domain import events as ev
from advisor.domain.advice import Command
from advisor.domain.shares import BASE, Asked, Concurrencies, SharePlan, SharePurpose
from advisor.domain.space import Setting
from advisor.models.ceiling import link_ceiling
from advisor.models.shares.forecast import DEFAULT, Forecast, Modelling
from advisor.models.shares.planning import (
    bounded,
    check,
    held_back,
    measured_base_bps,
    needs_base,
    plan,
)
from advisor.models.shares.steering import Steering
from advisor.registry import PluginMissing
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from advisor.runtime.request import ShareRequest
from advisor.store.history import Store
from advisor.traits import check_mover, checked_server, takes_server, tool_traits
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.retry import RETRY_S
from advisor.transfer.shared.base_case import BaseCase
from advisor.transfer.shared.destination import DestinationSession
from advisor.transfer.shared.destination_transfer import (
    DestinationCheck,
    DestinationOptions,
    DestinationTransfer,
)
from advisor.transfer.shared.epochs import EPOCH_S, SharedEpoch, SharedEpochs
from advisor.transfer.shared.parsing import parse_asked
from advisor.transfer.shared.prior_knowledge import PriorKnowledge, forecasts_of, known_of
from advisor.transfer.shared.session import ShareSession


class ShareOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a plan of shares; `asked` has the destination of each request.

    `parallelism`, `tool` None: those of most samples. `run`: move the files, with control epochs of
    `epoch_s` seconds. `retry_s`: how long to retry a lost path once data has arrived.
    """

    asked: dict[str, Asked]
    delivery_options: DeliveryOptions
    parallelism: int | None = None
    tool: str | None = None
    modelling: Modelling = DEFAULT
    run: bool = False
    epoch_s: float = EPOCH_S
    retry_s: float = RETRY_S


async def share_transfers(
    requests: Sequence[ShareRequest],
    options: ShareOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Plan, and run the plan if wanted; returns the exit code.

    The last event is `shares_planned`, of a run `shares_ended`; `gave_up` if there is neither.
    """
    return await _Sharing(requests, options, store, publish, control).run()


class _Sharing(ShareSession):
    purpose: ClassVar[SharePurpose] = "run"

    def __init__(
        self,
        requests: Sequence[ShareRequest],
        options: ShareOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(store, publish, control)
        self._requests = {one.destination_host: one for one in requests}
        self._options = options
        self._asked = dict(options.asked)
        self._steering = Steering({}, {})
        self._base_bps: dict[str, float] = {}
        self._go = asyncio.Event()

    async def _run(self) -> int:
        check(self._asked)
        known = await asyncio.to_thread(self._known)
        self._check_tool()
        self._warn_of_logs(known)
        self._requests = {name: self._with_tool(one) for name, one in self._requests.items()}
        modelling = self._options.modelling
        forecasts = await asyncio.to_thread(forecasts_of, known, time.time(), modelling)
        sessions = [self._session_of(name) for name in self._asked]
        async with self.serving(sessions) as reached:
            forecasts = self._within_paths(forecasts)
            planned = await asyncio.to_thread(self._made, reached, forecasts)
            self.events.emit(ev.SharesPlanned, plan=planned)
            if not self._options.run:
                return EXIT_DONE if len(reached) == len(sessions) else EXIT_FAILED
            levels = {row.destination: row.concurrency for row in planned.rows}
            await self._move(forecasts, levels)
        return self._end()

    def _check_tool(self) -> None:
        """Raises ValueError where the tool of most measurements cannot move files from here."""
        try:
            check_mover(self.tool)
        except PluginMissing as error:
            raise ValueError(
                f"most measurements are of the tool {self.tool!r}, which cannot be used here "
                f"({error}): name the tool with --tool"
            ) from None

    def _with_tool(self, request: ShareRequest) -> ShareRequest:
        """For the tool of the samples. Raises ValueError where it cannot use the named server."""
        server_url = request.server_url
        if server_url and request.destination.lab_host and not takes_server(self.tool, server_url):
            server_url = None  # It is that of the lab, for the usual tool.
        if server_url:
            checked_server(server_url, [self.tool])
        return msgspec.structs.replace(request, tool=self.tool, server_url=server_url)

    def _session_of(self, name: str) -> DestinationSession:
        request, options = self._requests[name], self._options
        if not options.run:
            return DestinationCheck(
                request, options.delivery_options, self.store, self.hear, self.control
            )
        wanted = DestinationOptions(
            parallelism=self.parallelism,
            epoch_s=options.epoch_s,
            rate_limit_bps=options.asked[name].ceiling_bps,
            retry_s=options.retry_s,
            delivery_options=options.delivery_options,
        )
        if request.dataset is None or not request.destination_path:
            raise ValueError(f"name the data for {name} (--data), and its folder there (--to)")
        moving = request.moving(request.dataset, request.destination_path)
        return DestinationTransfer(moving, wanted, self._go, self.store, self.hear, self.control)

    def _known(self) -> PriorKnowledge:
        options = self._options
        known = known_of(
            self.store, self.source, list(self._asked), options.parallelism, options.tool
        )
        self.parallelism, self.tool = known.parallelism, known.tool
        return known

    def _warn_of_logs(self, known: PriorKnowledge) -> None:
        if known.from_logs:
            names = ", ".join(known.from_logs)
            self.events.notice(
                f"{names}: its model is from logged transfers, whose streams and files "
                "may differ; `advisor share train` makes a better one"
            )

    def _within_paths(self, forecasts: Mapping[str, Forecast]) -> dict[str, Forecast]:
        """The forecasts up to what each path can carry, or to what was measured if that is more."""
        found = dict(forecasts)
        for name, one in forecasts.items():
            seen_bps = max(sample.throughput_bps for sample in one.samples)
            path = self.sessions[name].path
            if path is not None and (ceiling := link_ceiling(path, seen_bps)) is not None:
                found[name] = one.below(max(ceiling.bps, seen_bps))
        return found

    def _made(self, reached: Sequence[str], forecasts: Mapping[str, Forecast]) -> SharePlan:
        self._asked = {name: one for name, one in self._asked.items() if name in reached}
        modelling = self._options.modelling
        samples = {name: forecasts[name].samples for name in self._asked}
        self._base_bps = measured_base_bps(samples, time.time(), self.parallelism)
        made = plan(
            self.source, self._asked, forecasts, modelling, self.parallelism, self._base_bps
        )
        commands = [
            line for row in made.rows for line in self._lines(row.destination, row.concurrency)
        ]
        return msgspec.structs.replace(
            made, tool=self.tool, commands=commands, notes=made.notes + self._notes(made)
        )

    def _notes(self, made: SharePlan) -> list[str]:
        """What the plan assumes and its command lines cannot do."""
        single = [
            row.destination
            for row in made.rows
            if row.concurrency > 1
            and (dataset := self._requests[row.destination].dataset) is not None
            and dataset.files == 1
        ]
        if not single:
            return []
        if tool_traits(self.tool).whole_files:
            return [
                f"The data for {', '.join(single)} is one file, which {self.tool} moves whole: it "
                "is one file at a time, whatever the concurrency."
            ]
        if self._options.run:
            return []
        return [
            f"The data for {', '.join(single)} is one file, of which a line moves one range "
            "whatever -cc says; --run moves ranges of it side by side."
        ]

    def _lines(self, destination: str, concurrency: int) -> list[Command]:
        request, session = self._requests[destination], self.sessions[destination]
        if (path := session.path) is None or (tool := session.tool) is None:
            return []
        setting: Setting = {"concurrency": concurrency, "parallelism": self.parallelism}
        return tool.commands(
            CommandRequest(
                subject=self.tool,
                settings={self.tool: setting},
                path=path,
                destination_host=destination,
                user=request.user,
                dataset=request.dataset,
                destination_path=request.destination_path,
                server_url=request.server_url,
            )
        )

    async def _move(self, forecasts: Mapping[str, Forecast], levels: Concurrencies) -> None:
        self._steering = Steering(forecasts, bounded(self._asked, forecasts))
        self._steering.base_bps = self._base_bps
        if measures_base := needs_base(self._asked):
            levels = dict.fromkeys(levels, BASE)
        self.events.emit(
            ev.SharesStarted,
            session=self.id,
            purpose=self.purpose,
            source=self.source,
            concurrency=levels,
            parallelism=self.parallelism,
            epoch_s=self._options.epoch_s,
            total_bytes={
                name: one.total_bytes
                for name, one in self.sessions.items()
                if isinstance(one, DestinationTransfer) and name in levels
            },
        )
        for name, level in levels.items():
            self.sessions[name].concurrency = level
        self._expect(levels)
        self._go.set()
        looking = asyncio.create_task(self._look_on())
        try:
            await self.control.until_stopped(self._steer(levels, measures_base=measures_base))
        finally:
            looking.cancel()
            await asyncio.wait([looking])

    async def _steer(self, levels: Concurrencies, *, measures_base: bool) -> None:
        """Epoch after epoch: set the concurrencies, measure, learn, and choose the next ones.

        Factors refer to a measured base: the first epoch has it, as the paper's experiment does, or
        the next one that has all destinations and their rates.
        """
        epochs = SharedEpochs(self.sessions, self._options.epoch_s, self.longest_rtt_s)
        base = BaseCase(is_due=measures_base)
        while True:
            epochs.set(levels)
            epoch = await self.next_epoch(epochs)
            if epoch is None:
                return
            if is_base := base.is_seen(epoch, self._unfinished):
                self._steering.base_bps = epoch.rates_bps
            is_limited = bool(held_back(self._steering.asked, epoch.rates_bps))
            number = self.report(epoch, self._expected(epoch), is_limited=is_limited)
            levels = await self._next(number, epoch, base, is_base=is_base)

    @property
    def _unfinished(self) -> dict[str, Asked]:
        """What is requested for the destinations that do not have all their files."""
        asked = self._steering.asked
        return {name: one for name, one in asked.items() if not self.sessions[name].is_over}

    def _expect(self, levels: Concurrencies) -> None:
        """Let each destination's batches be sized by the rate that is expected at these levels."""
        total = sum(levels.values())
        for name, level in levels.items():
            self.sessions[name].expected_bps = self._steering.expected_bps(name, level, total)

    async def _look_on(self) -> None:
        """Forever, once a second: emit the progress of all destinations."""
        while True:
            await asyncio.sleep(1.0)
            if not (progress := [one.progress for one in self.sessions.values() if one.progress]):
                continue
            left = [one.left_s for one in self.sessions.values() if one.is_served]
            known = [one for one in left if one is not None]
            self.events.emit(
                ev.FilesMoving,
                phase="transfer",
                classes=progress,
                # The transfer ends with the slowest destination.
                left_s=max(known) if known and len(known) == len(left) else None,
            )

    def _expected(self, epoch: SharedEpoch) -> dict[str, tuple[float, float]]:
        """The expected and the requested rate of each destination in an epoch."""
        total = sum(epoch.concurrencies.values())
        asked, asked_bps = self._steering.asked, self._steering.asked_bps(epoch.rates_bps)
        return {
            name: (
                min(
                    asked[name].ceiling_bps or math.inf,
                    self._steering.expected_bps(name, level, total),
                ),
                asked_bps[name],
            )
            for name, level in epoch.concurrencies.items()
        }

    async def _next(
        self, number: int, epoch: SharedEpoch, base: BaseCase, *, is_base: bool
    ) -> Concurrencies:
        """After an epoch: learn from it, take the user's orders, and set new concurrencies."""
        if epoch.is_whole:
            # From those beside one at its rate limit too: in this run they stay beside it.
            self._steering.learn(epoch.concurrencies, epoch.rates_bps, epoch.errors)
        reasons = self._hear_orders()
        levels = {name: one.concurrency for name, one in self.sessions.items() if one.is_served}
        if reason := base.reason_to_end(self._unfinished, is_seen=is_base):
            self._steering.replan()
            reasons.insert(0, reason)
        if base.is_due:
            return levels
        if levels.keys() != epoch.concurrencies.keys():
            reasons.append("other destinations are served now")
        # In a thread: with many destinations it takes long, and clients must start meanwhile.
        wanted = await asyncio.to_thread(self._steering.wanted, levels) if levels else None
        if wanted is None or wanted.concurrency == levels:
            return levels
        self.events.emit(
            ev.SharesChanged,
            epoch=number,
            old=levels,
            new=wanted.concurrency,
            reason="; ".join(reasons) or "the measured rates differ from the requested ones",
        )
        self._expect(wanted.concurrency)
        return wanted.concurrency

    def _hear_orders(self) -> list[str]:
        """Apply the shares that the user requests from now on; returns the reason for a change."""
        reasons = []
        while self.control.asks:
            order = self.control.asks.popleft()
            try:
                if order.destination not in self._steering.asked:
                    raise ValueError(f"no files go to {order.destination}")
                asked = parse_asked(order.asked)
                check(self._steering.asked | {order.destination: asked})
            except ValueError as error:
                self.events.notice(str(error))
                continue
            before = self._steering.asked[order.destination]
            self._steering.asked[order.destination] = msgspec.structs.replace(
                asked, most=before.most, ceiling_bps=before.ceiling_bps
            )
            reasons.append(f"{order.destination}: {asked.words} requested")
        return reasons

    def _end(self) -> int:
        ended = [one.ended for one in self.sessions.values()]
        there = sum(one is not None and one.complete for one in ended)
        message = f"everything has arrived at {there} of {len(ended)} destinations"
        exit_code = EXIT_DONE if there == len(ended) else EXIT_FAILED
        if exit_code and self.control.stop.is_set():
            exit_code = EXIT_INTERRUPTED
        if exit_code:
            message += "; the same command resumes from there"
        self.events.emit(
            ev.SharesEnded,
            complete=exit_code == EXIT_DONE,
            message=message,
            exit_code=exit_code,
            elapsed_s=self.events.at_s,
            rows=self.outcomes(),
        )
        return exit_code
