"""Plans the transfer of a dataset, and runs the plan (HARP 2018, section 3.1)."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain import events as ev
from advisor.domain.manifest import EntryKind
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.plan import TransferPlan
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord
from advisor.hosts.datasets import file_entry
from advisor.models.harp.optimum import RELAXATION
from advisor.models.past_transfers import completed
from advisor.models.planning import LevelLimits, Rule
from advisor.models.slicing import FileEntry
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE
from advisor.runtime.probe_fields import file_fields, path_fields
from advisor.runtime.request import TransferRequest
from advisor.store.history import Store
from advisor.transfer.engine.client_options import ClientOptions
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.outcome import TransferState
from advisor.transfer.engine.route import SUPPOSED_CAPACITY_BPS, Route, manifest_of, route_of
from advisor.transfer.engine.session import TransferSession
from advisor.transfer.planned.lines import write_lines
from advisor.transfer.planned.planner import Planner
from advisor.transfer.planned.retuning import EPOCH_S, Retuned
from advisor.transfer.planned.running import Alone, PlanRun

_WORTH_TRYING: Final = 0.3
"""The gain over the rules of thumb that samples are expected to bring under an unknown load: the
paper reports 10 to 80 %, and 36 and 48 % where there is other traffic."""


class PlanOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a plan. `lists`: the folder for lists of files and the script.

    `sample` None: sample where it is expected to pay off. `online`: change levels while the plan
    runs. `relaxation`: see `Planner`.
    """

    rule: Rule
    lists: Path
    delivery_options: DeliveryOptions
    run: bool = False
    sample: bool | None = None
    online: bool = True
    relaxation: float = RELAXATION


async def plan_transfer(
    request: TransferRequest,
    options: PlanOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Plan, and run the plan if wanted; returns the exit code.

    The last event is `plan_made`, or with --run `transfer_ended`; `gave_up` if there is neither.
    """
    return await _PlanSession(request, options, store, publish, control).run()


class _PlanSession(TransferSession):
    def __init__(
        self,
        request: TransferRequest,
        options: PlanOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(request, options.delivery_options, store, publish, control)
        self.request = request
        self._options = options

    async def _run(self) -> int:
        manifest = await manifest_of(self.request)
        files = [file_entry(one) for one in manifest.of_kind(EntryKind.FILE)]
        path = await self.connect()
        route = await route_of(self.request, path, must_run=self._options.run)
        planner = await asyncio.to_thread(self._planner, route, files)
        for one in planner.classes:
            await asyncio.to_thread(planner.look, one)
        self.tell_limits(route)
        if not self._options.run:
            await self._tell_plan(planner, route, final=True)
            return EXIT_DONE
        with self.journal(route) as journal:
            sampling = self._samples_pay(planner)
            plan = await self._tell_plan(planner, route, final=not sampling)
            self.open_delivery(route, manifest)
            done = await self.done(journal)
            groups = [
                FileGroup(one.size, one.files, done=done, whole=one.whole)
                for one in planner.classes
            ]
            state = TransferState(groups, journal, manifest.unwanted)
            return await self._move(planner, route, plan, state, sampling)

    async def _move(
        self,
        planner: Planner,
        route: Route,
        plan: TransferPlan,
        state: TransferState,
        sampling: bool,
    ) -> int:
        """Run the plan to its end; returns the exit code."""
        running = PlanRun(
            planner,
            state.groups,
            lambda alone: self._keep_alone(route, alone),
            retuned=self._tell_change if self._is_tuned else None,
        )
        clients = max(one.levels.concurrency for one in plan.classes)
        client_options = ClientOptions(
            expected_bps=route.capacity_bps / clients, longest_piece_s=EPOCH_S
        )
        async with self.engine(route, state, client_options, lambda: running.phase) as run:
            if sampling:
                await running.sample(run.mover)
                await self._tell_plan(planner, route, final=True)
            await running.move(run.mover)
        outcome = await self.completed(self.request, route, run.outcome)
        if outcome.complete:
            self.forget(state.journal)
            self.keep_transfer(outcome, f"advisor plan, {self._options.rule}")
        self.events.emit(ev.TransferEnded, **outcome.fields)
        return outcome.exit_code

    def _planner(self, route: Route, files: Sequence[FileEntry]) -> Planner:
        request, path = self.request, route.path
        is_harp = self._options.rule is Rule.HARP
        limits = LevelLimits(
            channels=request.max_concurrency,
            streams=request.max_streams if route.has_streams(request.dataset) else 1,
            whole_files=route.moves_whole_files,
        )
        return Planner(
            self._options.rule,
            path,
            files,
            list(completed(self.store.transfers(), self.pair, path)) if is_harp else (),
            limits,
            request.seed,
            self._options.relaxation,
        )

    @property
    def _is_tuned(self) -> bool:
        return self._options.online and self._options.rule is Rule.HARP

    def _tell_change(self, epoch: int, one: Retuned) -> None:
        self.events.emit(
            ev.PlanChanged,
            epoch=epoch,
            size=one.size,
            old=one.old,
            new=one.new,
            throughput_bps=one.bps,
            reason=one.reason,
        )

    def _samples_pay(self, planner: Planner) -> bool:
        if planner.rule is not Rule.HARP or self._options.sample is not None:
            return planner.rule is Rule.HARP and bool(self._options.sample)
        pay_off = planner.pay_off()
        return bool(pay_off and pay_off.least_gain(planner.total_bytes) <= _WORTH_TRYING)

    async def _tell_plan(self, planner: Planner, route: Route, *, final: bool) -> TransferPlan:
        classes = planner.class_plans()
        commands = await asyncio.to_thread(
            write_lines, route, classes, planner.classes, planner.rule.order, self._options.lists
        )
        pay_off = planner.pay_off()
        plan = TransferPlan(
            method=planner.rule,
            order=planner.rule.order,
            classes=classes,
            commands=commands,
            pay_off=pay_off.sentence(planner.total_bytes) if pay_off else "",
            notes=_notes(planner, route),
        )
        self.events.emit(ev.PlanMade, plan=plan, final=final)
        return plan

    def _keep_alone(self, route: Route, alone: Alone) -> None:
        """Store the rate of a class that was moved alone, for later plans to learn from."""
        moved_bytes = round(alone.bps * alone.elapsed_s / 8)
        levels, files = alone.levels, alone.files
        self.keep(
            ProbeRecord(
                pair=self.pair,
                subject=route.tool.name,
                setting=levels.files_and_streams,
                result=Measurement(
                    throughput_bps=alone.bps,
                    stderr_bps=0.0,
                    intervals=[Interval(0.0, alone.elapsed_s, moved_bytes)],
                    steady_from=0,
                    settled=True,
                    elapsed_s=alone.elapsed_s,
                ),
                recorded_s=time.time(),
                session=self.id,
                stage=f"{alone.label}/{files.size}",
                label=alone.label,
                method=self._options.rule,
                **path_fields(route.path),
                **file_fields(files.total_bytes, len(files.files)),
            )
        )


def _notes(planner: Planner, route: Route) -> list[str]:
    notes = []
    if planner.rule is Rule.HARP and not planner.knows_transfers:
        notes.append(
            "No past transfer of files is stored: profile this one with "
            "`advisor advise --profile-tool`, or import the logs of your GridFTP server with "
            "`advisor history import`."
        )
    if route.path.capacity_bps is None:
        notes.append(
            f"The capacity of the path is not known and assumed to be "
            f"{format_rate(SUPPOSED_CAPACITY_BPS)}: give it with --bandwidth."
        )
    refused = [
        why for one in planner.classes for f in one.files if (why := route.tool.carries(f.name))
    ]
    if refused:
        notes.append(f"{len(refused)} files cannot be carried, the first one: {refused[0]}.")
    return notes
