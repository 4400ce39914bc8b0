"""The sessions of a destination: one that moves its files, and one that only checks the path."""

import asyncio
from collections.abc import Callable

import msgspec

from advisor import registry
from advisor.domain import events as ev
from advisor.runtime.control import Control
from advisor.runtime.exit_codes import EXIT_DONE
from advisor.runtime.request import ShareRequest, TransferRequest
from advisor.runtime.tool_lookups import informed
from advisor.store.history import Store
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.outcome import TransferOutcome, TransferState
from advisor.transfer.engine.retry import Retry
from advisor.transfer.engine.route import Route, manifest_of, route_of
from advisor.transfer.shared.destination import DestinationSession


class DestinationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for the transfer to one destination: see `ShareOptions`."""

    parallelism: int
    epoch_s: float
    rate_limit_bps: float | None
    retry_s: float
    delivery_options: DeliveryOptions


class DestinationCheck(DestinationSession):
    """Connects, and examines the path; nothing is moved."""

    def __init__(
        self,
        request: ShareRequest,
        options: DeliveryOptions,
        store: Store,
        hear: Callable[[str, ev.AnyEvent], None],
        control: Control,
    ) -> None:
        super().__init__(request, options, store, hear, control)
        self._request = request

    async def _run(self) -> int:
        await self.connect()
        tool = registry.transfer_tool(self._request.tool)
        self.tool = await informed(tool, self._request, self._request.destination_path)
        return EXIT_DONE


class DestinationTransfer(DestinationSession):
    """Moves its files once `go` is set; its own journal records what has arrived."""

    def __init__(
        self,
        request: TransferRequest,
        options: DestinationOptions,
        go: asyncio.Event,
        store: Store,
        hear: Callable[[str, ev.AnyEvent], None],
        control: Control,
    ) -> None:
        super().__init__(request, options.delivery_options, store, hear, control)
        self._request = request
        self._options = options
        self._go = go
        self.total_bytes = 0
        self.parallelism = options.parallelism

    async def _run(self) -> int:
        manifest = await manifest_of(self._request)
        route = await route_of(self._request, await self.connect())
        self.tool = route.tool
        self.tell_limits(route)
        with self.journal(route) as journal:
            files = self.open_delivery(route, manifest).files
            done = await self.done(journal)
            group = route.group(files, done, self.destination)
            state = TransferState([group], journal, manifest.unwanted)
            self.total_bytes = group.total_bytes
            self.is_looked_at.set()
            await self._go.wait()
            retry = Retry(self, route, state, self._options.retry_s)
            outcome = None
            while outcome is None:
                attempt = await self._move(route, retry.state, retry.began_s)
                outcome = await retry.outcome_after(attempt)
            outcome = await self.completed(self._request, route, outcome)
            if outcome.complete:
                self.forget(journal)
                self.keep_transfer(outcome, "advisor share plan --run")
        return self._end(outcome)

    async def _move(self, route: Route, state: TransferState, began_s: float) -> TransferOutcome:
        [group] = state.groups
        self.take_up(group)
        client_options = self.client_options(
            route, self._options.epoch_s, self._options.rate_limit_bps
        )
        try:
            async with self.engine(route, state, client_options, began_s=began_s) as run:
                await run.mover.finished()
        finally:
            self.lay_down()
        return run.outcome

    def _end(self, outcome: TransferOutcome) -> int:
        if not outcome.complete:
            self.failure = outcome.message
        return self.end(
            ev.DestinationEnded(
                at_s=0,
                destination=self.destination,
                complete=outcome.complete,
                message=outcome.message,
                files=outcome.files,
                moved_bytes=outcome.moved_bytes,
                earlier_bytes=outcome.earlier_bytes,
                elapsed_s=outcome.elapsed_s,
            )
        )
