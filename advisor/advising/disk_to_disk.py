"""Profiles a transfer tool: the network and both disks alone, then the tool.

Rao et al. 2016: the throughput of each subsystem alone bounds that of a file transfer, which may
stay well below it. So both are measured, and shown side by side.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor import registry, traits
from advisor.advising.context import Context
from advisor.advising.prior_knowledge import expected_rates
from advisor.advising.prober import Probed, Watcher
from advisor.advising.recorder import ProbePurpose
from advisor.advising.tool_in_memory import MemoryProber
from advisor.advising.tool_probing import ToolProber, length_of
from advisor.advising.user_orders import apply_user_orders
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.api.tool import ToolLimits, TransferTool
from advisor.domain import events as ev
from advisor.domain.dataset import Dataset
from advisor.domain.file_io import (
    DESTINATION_DISK,
    IO_MODE,
    NETWORK,
    SCRATCH_PREFIX,
    SOURCE_DISK,
    TOOL_IN_MEMORY,
    FileIoJob,
    Filesystem,
    IoDirection,
    tool_setting,
)
from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.quantities import format_bytes
from advisor.domain.space import Baseline, Setting, Space, setting_key
from advisor.hosts.file_io import (
    FileIoError,
    Workplace,
    file_io_workplace,
    fio_available,
)
from advisor.hosts.filesystems import filesystem_of
from advisor.models.file_io import quick_jobs
from advisor.models.filesystems import can_stripe, notes_on, takes_direct_io, with_stripes
from advisor.models.slicing import slice_bytes
from advisor.models.transfer_length import WHOLE_TIMES
from advisor.runtime.request import AdviceRequest
from advisor.runtime.stop import uninterrupted
from advisor.runtime.tool_lookups import informed

_NETWORK_STREAMS: Final = (1, 8)
_UNKNOWN_CAPACITY_BPS: Final = 10e9
STRETCH: Final = 1.5
"""Factor between the slices of the closing comparison and those of the search."""

_ALONE_SHARE: Final = 0.3
"""The fraction of the session's time that measuring the subsystems alone may take."""

_MEMORY_TIMES: Final = 1.2
_MEMORY_SHARE: Final = 0.35
"""For measuring the tool from memory to memory at most this fraction of the time for the closing
comparison is held back, and nothing where that is not this multiple of what it takes."""

_NO_AGENT: Final = "no agent runs at the destination"
_MOST_SHARE: Final = 0.5
"""The fraction of the free space at the destination that a slice may take."""


class ToolStage(msgspec.Struct, frozen=True):
    """The search over a tool's own settings; with `stripes`, over those of its new files too."""

    tool: TransferTool
    dataset: Dataset
    limits: ToolLimits
    stripes: bool = False

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    @property
    def subject(self) -> str:
        """The tool's name."""
        return self.tool.name

    def space(self, context: Context) -> Space:
        """The tool's space for this dataset."""
        space = self.tool.space(context.path, self.dataset, self.limits)
        return with_stripes(space) if self.stripes else space

    def baselines(self, context: Context) -> list[Baseline]:
        """The tool's defaults."""
        return self.tool.baselines(context.path, self.dataset)


class DiskProber:
    """Measures the disk of one end. `folder`: where test files may be written."""

    def __init__(self, folder: str, jobs: Sequence[FileIoJob], *, is_here: bool) -> None:
        self._folder = folder
        self._jobs = {setting_key(job.setting): job for job in jobs}
        self._is_here = is_here
        self._workplace: Workplace | None = None

    @property
    def settings(self) -> list[Setting]:
        """The settings that can be measured."""
        return [job.setting for job in self._jobs.values()]

    @property
    def most_bytes(self) -> int:
        """The largest size of the test file."""
        return max(job.total_bytes for job in self._jobs.values())

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Inside the block, the file to read is written once for all jobs."""
        if not self._is_here:
            yield
            return
        async with file_io_workplace(self._folder, self.most_bytes) as self._workplace:
            yield
        self._workplace = None

    def next_probe_s(self, setting: Setting | None = None) -> float:
        """Writing the test file first may take as long again."""
        return 2 * max(job.ceiling_s for job in self._jobs.values())

    def waits_there(self, setting: Setting) -> bool:
        """Whether it is the destination's disk."""
        return not self._is_here

    async def measure(self, link: AgentLink, setting: Setting, _watcher: Watcher) -> Probed:
        """Run one job. Raises PeerGone."""
        job = self._jobs[setting_key(setting)]
        began_s = asyncio.get_running_loop().time()
        try:
            if self._workplace:
                result = await self._workplace.run(job)
            else:
                result = await link.file_io(self._folder, job)
        except PeerGone:
            raise
        except (FileIoError, PeerError) as error:
            elapsed_s = asyncio.get_running_loop().time() - began_s
            kind = FailureKind.REJECTED_SETTING
            return Probed(Failure(kind=kind, message=str(error), elapsed_s=elapsed_s), b"")
        elapsed_s = asyncio.get_running_loop().time() - began_s
        return Probed(msgspec.structs.replace(result.measurement, elapsed_s=elapsed_s), b"")


class DiskToDisk:
    """The work of such a session besides searching. Made by `prepared`; must be closed."""

    def __init__(
        self,
        context: Context,
        stage: ToolStage,
        prober: ToolProber,
        disks: dict[str, DiskProber],
        memory: MemoryProber | None,
        absent: dict[str, str],
    ) -> None:
        """`absent`: see `Composition`; more may turn out not to be measurable.

        `held_back_s`: what the closing comparison leaves for `measure_tool_in_memory`.
        """
        self._context = context
        self._disks = disks
        self._memory = memory
        self.absent = absent
        self._until_left_s = (1 - _ALONE_SHARE) * context.budget.left_s
        self.stage = stage
        self.prober = prober
        self.held_back_s = 0.0
        prober.expect_by(
            lambda settings: _expected(context, settings),
            lambda: context.budget.left_s - self.held_back_s,
        )

    @classmethod
    async def prepared(cls, context: Context) -> "DiskToDisk":
        """Examine both file systems, and report what will be written where.

        Raises ValueError (with a sentence) if it cannot be done, PeerError.
        """
        stage = await _stage_of(context)
        dataset, request = stage.dataset, context.request
        length = length_of(stage.tool, request, context.path)
        capacity_bps = context.path.capacity_bps or _UNKNOWN_CAPACITY_BPS
        # The closing comparison's slices are longer than those of the search.
        wanted = slice_bytes(capacity_bps, STRETCH * length.data_s, dataset.total_bytes)
        at_once = stage.limits.max_concurrency
        prober = await asyncio.to_thread(
            ToolProber.of, stage.tool, request, context.path, wanted, at_once
        )
        here = await asyncio.to_thread(filesystem_of, _folder_of(dataset))
        there = await _folder_there(context, prober.folder)
        if there:
            room_bytes = int(_MOST_SHARE * there.free_bytes)
            prober.most_bytes = min(wanted, room_bytes)
            whole_s = WHOLE_TIMES * STRETCH * length.ceiling_s
            prober.whole_bytes = min(room_bytes, int(capacity_bps * whole_s / 8))
        if not prober.most_bytes:
            raise ValueError(f"{prober.folder} has no free space at the destination: free some")
        both = takes_direct_io(here) and there is not None and takes_direct_io(there)
        limits = msgspec.structs.replace(stage.limits, direct_io=both)
        # Files that stay were written at many settings: they keep the layout of their folder.
        stripes = there is not None and can_stripe(there) and not request.keep
        prober.writes_back = stripes
        stage = msgspec.structs.replace(stage, limits=limits, stripes=stripes)
        absent: dict[str, str] = {}
        disks = _disks(context, here, there, absent, both_modes=_has_modes(stage.space(context)))
        memory = _memory(context, stage.tool, absent)
        _tell_plan(context, prober, here, there, disks)
        context.runner.use(stage.subject, prober)
        return cls(context, stage, prober, disks, memory, absent)

    async def measure_subsystems(self) -> None:
        """Measure the network and the disks, each alone. Raises Stopped, PeerLost."""
        await self._measure_network()
        for name, disk in self._disks.items():
            await self._measure_disk(name, disk)
        rates = [
            probe.result.throughput_bps
            for probe in self._context.probes
            if probe.stage == NETWORK and isinstance(probe.result, Measurement)
        ]
        if rates and self._memory:
            self._memory.expected_bps = max(rates)

    async def _measure_network(self) -> None:
        """With the reference transport's defaults: one flow, and as many as Globus uses."""
        transport = registry.transport(traits.reference_transport())
        if not self._context.path.destination.is_known:
            _leave_out(self._context, self.absent, NETWORK, _NO_AGENT)
            return
        if not (availability := registry.availability(transport)).ok:
            _leave_out(self._context, self.absent, NETWORK, availability.reason)
            return
        [default, *_] = transport.baselines(self._context.path)
        flows = traits.transport_traits(transport.name).flow_parameter
        counts = _NETWORK_STREAMS if flows else (1,)
        settings = [default.setting | ({flows: n} if flows else {}) for n in counts]
        await self._measure_all(NETWORK, transport.name, settings, self._until_left_s)

    async def _measure_disk(self, name: str, prober: DiskProber) -> None:
        try:
            async with prober.at_work():
                await self._measure_all(name, name, prober.settings, self._until_left_s)
        except FileIoError as error:
            _leave_out(self._context, self.absent, name, str(error))

    async def measure_tool_in_memory(self, setting: Setting) -> None:
        """Measure the tool's own ceiling at the advised setting. Raises Stopped, PeerLost."""
        if self._memory:
            settings = [tool_setting(setting)]
            least_s = self._memory.least_s
            await self._measure_all(TOOL_IN_MEMORY, TOOL_IN_MEMORY, settings, least_s)

    async def _measure_all(
        self, name: str, subject: str, settings: Sequence[Setting], until_left_s: float
    ) -> None:
        context = self._context
        # A resumed session already has some.
        wanted = [s for s in settings if not context.recorder.has_measured(subject, s)]
        if not wanted:
            return
        budget_s = len(wanted) * context.runner.next_probe_s(subject)
        async with context.stage(name, subject, budget_s) as stage_end:
            for setting in wanted:
                await apply_user_orders(context)
                if context.control.is_skipped(name):
                    stage_end.reason = self.absent[name] = "skipped"
                    return
                if context.budget.left_s < until_left_s:
                    stage_end.reason = self.absent[name] = "the time for it is used up"
                    return
                purpose = ProbePurpose(stage=name, kind="search", label="alone")
                await context.record(await context.measure(subject, setting, purpose))
            stage_end.reason = "measured"

    def prepare_closing(self) -> None:
        """From now on use longer slices, so that the closing comparison is more precise, and keep
        time for `measure_tool_in_memory`."""
        self.prober.stretch = STRETCH
        if self._memory:
            usual_s = self._memory.next_probe_s()
            most_s = _MEMORY_SHARE * self._context.budget.left_s
            if most_s > _MEMORY_TIMES * usual_s:
                self.held_back_s = min(most_s, usual_s + self.prober.overrun_s)

    async def close(self) -> None:
        """Move the kept files to their place, and remove everything else. Reports failures."""
        try:
            reason = await uninterrupted(self.prober.close(self._context.runner.link))
        except PeerError as error:
            reason = str(error)
        if reason:
            self._context.events.notice(reason)


def _expected(context: Context, settings: Sequence[Setting]) -> Sequence[float]:
    """What the cost model expects of settings after the probes so far, in bit/s."""
    expected = expected_rates(context.request, context.probes)
    assert expected  # The session has a tool and a dataset.
    return expected(settings)


async def _folder_there(context: Context, folder: str) -> Filesystem | None:
    """The file system at the destination, None where no agent reports it. Raises ValueError."""
    if not context.path.destination.is_known:
        return None
    there = await context.runner.link.folder(folder)
    if not there.writable:
        raise ValueError(
            f"--to {context.request.destination_path}: {there.folder} is not writable there: "
            "create a writable folder, or give another one"
        )
    return there


async def _stage_of(context: Context) -> ToolStage:
    request, profiled = context.request, context.request.profiled
    # One that stands in for an agent has looked up what it needs when its server was reached.
    tool = context.runner.stand_in or await _usable_tool(request)
    if profiled.dataset.largest and not tool.moves_several:
        raise ValueError(
            f"--profile-tool {tool.name}: {tool.name} moves one file: give --data FILE"
        )
    streams = min(request.max_streams, ToolLimits().max_streams)
    limits = ToolLimits(max_concurrency=request.max_concurrency, max_streams=streams)
    return ToolStage(tool, profiled.dataset, limits)


async def _usable_tool(request: AdviceRequest) -> TransferTool:
    """The tool to profile, with what it has looked up. Raises ValueError where it is missing."""
    profiled = request.profiled
    tool = registry.transfer_tool(profiled.tool)
    availability = registry.availability(tool)
    if not availability.ok and not traits.tool_traits(tool.name).fetches:
        raise ValueError(
            f"--profile-tool {tool.name}: {availability.reason} ({availability.remedy})"
        )
    try:
        return await informed(tool, request, profiled.destination_path, profiled.source_path)
    except ValueError as error:
        raise ValueError(f"--profile-tool {tool.name}: {error}") from None


def _folder_of(dataset: Dataset) -> str:
    path = Path(dataset.path or "/")
    return str(path if path.is_dir() else path.parent)


def _has_modes(space: Space) -> bool:
    """Whether direct or buffered I/O is a choice of the search."""
    return any(parameter.name == IO_MODE for parameter in space.parameters)


def _memory(context: Context, tool: TransferTool, absent: dict[str, str]) -> MemoryProber | None:
    """A prober of the tool without files; None where it cannot do that."""
    if not traits.tool_traits(tool.name).memory_to_memory:
        absent[TOOL_IN_MEMORY] = f"{tool.name} moves only files"
        return None
    prober = MemoryProber(tool, context.request, context.path, lambda: context.budget.left_s)
    context.runner.use(TOOL_IN_MEMORY, prober)
    return prober


def _disks(
    context: Context,
    here: Filesystem,
    there: Filesystem | None,
    absent: dict[str, str],
    *,
    both_modes: bool,
) -> dict[str, DiskProber]:
    """A prober for each disk that can be measured; for the others the reason is reported."""
    ends = {SOURCE_DISK: here, DESTINATION_DISK: there}
    probers = {}
    for name, filesystem in ends.items():
        if filesystem is None:
            _leave_out(context, absent, name, _NO_AGENT)
            continue
        is_here = name == SOURCE_DISK
        direction: IoDirection = "read" if is_here else "write"
        jobs = quick_jobs(direction, filesystem, both_modes=both_modes)
        missing = fio_available()
        if is_here and not missing.ok:
            why = f"{missing.reason} ({missing.remedy})"
        elif not filesystem.writable:
            why = f"{filesystem.folder} is not writable for a test file"
        elif not jobs:
            why = f"{filesystem.folder} has no space for a test file"
        else:
            probers[name] = DiskProber(filesystem.folder, jobs, is_here=is_here)
            context.runner.use(name, probers[name])
            continue
        _leave_out(context, absent, name, why)
    return probers


def _leave_out(context: Context, absent: dict[str, str], name: str, why: str) -> None:
    absent[name] = why
    context.events.notice(f"the {name} is not measured alone: {why}")


def _tell_plan(
    context: Context,
    prober: ToolProber,
    here: Filesystem,
    there: Filesystem | None,
    disks: Mapping[str, DiskProber],
) -> None:
    profiled = context.request.profiled
    total_bytes = profiled.dataset.total_bytes
    notes = notes_on(here, "source")
    if there is None:
        notes.append(
            "No agent is at the destination: if advisor is killed, a folder "
            f"{SCRATCH_PREFIX}… stays in {prober.folder}, or in the nearest existing one above."
        )
    else:
        notes += notes_on(there, "destination")
        if total_bytes > there.free_bytes:
            notes.append(
                f"All of it ({format_bytes(total_bytes)}) exceeds the free space "
                f"at the destination ({format_bytes(there.free_bytes)})."
            )
    context.events.emit(
        ev.FilesPlanned,
        tool=profiled.tool,
        source_path=profiled.source_path,
        destination_path=profiled.destination_path,
        folder=prober.folder,
        most_bytes=total_bytes if prober.can_move_all else prober.most_bytes,
        keep=context.request.keep,
        source=here,
        destination=there,
        source_io_bytes=disks[SOURCE_DISK].most_bytes if SOURCE_DISK in disks else 0,
        destination_io_bytes=(
            disks[DESTINATION_DISK].most_bytes if DESTINATION_DISK in disks else 0
        ),
        notes=notes,
    )
