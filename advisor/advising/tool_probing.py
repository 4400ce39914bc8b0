"""Runs one probe of a transfer tool: moves a slice of the real files, checks and removes it."""

import asyncio
import contextlib
import itertools
import math
import posixpath
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from advisor.advising.prober import Probed, Watcher
from advisor.advising.tool_measurement import (
    ProbeFailed,
    measurement_of,
    peak_bps,
    with_moved,
    with_write_back,
)
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.api.tool import (
    CommandRequest,
    Kept,
    LimitedTool,
    Piece,
    Step,
    TransferOrder,
    TransferTool,
)
from advisor.domain.dataset import Dataset, Work
from advisor.domain.file_io import IO_MODE, STRIPES, tool_setting
from advisor.domain.measurement import Failure, FailureKind, Measurement, Outcome
from advisor.domain.path import PathFacts
from advisor.domain.proof import Algorithm
from advisor.domain.space import Setting, concurrency_of, flows_of
from advisor.hosts.file_samples import is_unchanged, sample_files
from advisor.methods.api import Expected
from advisor.models.slicing import Part, Slicer, moved_work, slice_bytes
from advisor.models.transfer_length import TransferLength, transfer_length, whole_limit_s
from advisor.probing.transfer import Ran, run_transfer
from advisor.runtime.arrival_check import is_short, shortage, written_sizes
from advisor.runtime.content_check import check_content
from advisor.runtime.request import AdviceRequest
from advisor.runtime.stop import uninterrupted
from advisor.runtime.tool_steps import run_steps, runs_there, server_port_of
from advisor.traits import flow_names, tool_traits

_TIDY_S: Final = 20.0
_ROOM_TO_GROW: Final = 1.1
"""Slices are sized for this multiple of the rate that is expected of a setting, else of the highest
peak so far, so that a better setting is measured in full. The peak within a probe, not its mean: a
small slice on a long path consists of start-up only, and its mean would make the next slice as
small."""

_SUPPOSED_BPS: Final = 1e9


class _Slice(msgspec.Struct, frozen=True):
    """What is moved in one probe: parts of files, and the piece for each that the tool is given.

    `limit_s`: the time limit.
    """

    parts: list[Part]
    pieces: tuple[Piece, ...]
    limit_s: float


class ToolProber:
    """Measures settings of a tool on a dataset. Made by `of`.

    `stretch`: factor on the usual size of slices. `most_bytes`: the largest slice. `whole_bytes`:
    the largest dataset that may be moved as a whole, 0 for none. `kept`: what
    arrived and stays. `writes_back`: whether data count when they are on the disk; those of a
    setting with direct or buffered I/O always do. `refused`: what the server said to more
    connections than it accepts, by the number of flows at which it did.
    """

    def __init__(
        self,
        tool: TransferTool,
        request: AdviceRequest,
        dataset: Dataset,
        path: PathFacts,
        slicer: Slicer,
        most_bytes: int,
    ) -> None:
        self._tool = tool
        self._request = request
        self._path = path
        self._slicer = slicer
        self.most_bytes = most_bytes
        self._length = length_of(tool, request, path)
        self._total_bytes = dataset.total_bytes
        self._places = CommandRequest(
            subject=tool.name,
            settings={},
            path=path,
            destination_host=request.destination_host,
            dataset=dataset,
            source_path=dataset.path,
            destination_path=request.destination_path,
        )
        self._peak_bps = 0.0
        self._expected: Expected | None = None
        self._left_s: Callable[[], float] = lambda: 0.0
        self._own_folder = tempfile.TemporaryDirectory(prefix="advisor-")
        self._scratch: str | None = None
        self._not_kept = ""
        self._around_s = 0.0
        self.stretch = 1.0
        self.whole_bytes = 0
        self._last_s = 0.0
        self.writes_back = False
        self.kept = Kept()
        self.refused: dict[int, str] = {}
        self._keeps_names = tool_traits(tool.name).whole_files

    @classmethod
    def of(
        cls,
        tool: TransferTool,
        request: AdviceRequest,
        path: PathFacts,
        most_bytes: int,
        at_once: int,
    ) -> "ToolProber":
        """For the dataset of the request. `most_bytes`: the largest slice.

        Raises ValueError, OSError.
        """
        profiled = request.profiled
        files = sample_files(Path(profiled.source_path), request.seed)
        rng = np.random.default_rng(request.seed)
        if whole := tool_traits(tool.name).whole_files:
            # No other name can be given to them.
            files = [file for file in files if not tool.carries(file.name)]
        slicer = Slicer(files, profiled.dataset.sizes, at_once, rng, whole=whole)
        return cls(tool, request, profiled.dataset, path, slicer, most_bytes)

    def expect_by(self, expected: Expected, left_s: Callable[[], float]) -> None:
        """Size slices by what is expected of each setting for the whole dataset.

        `left_s`: how much time the session has left.
        """
        self._expected = expected
        self._left_s = left_s

    def next_probe_s(self, setting: Setting | None = None) -> float:
        """The time that one more probe usually takes, in seconds, with what is done around it.

        `setting`: its setting, if that is known: the whole dataset takes what is expected of it.
        """
        if setting and self._expected and self.can_move_all:
            [expected_bps] = self._expected([setting])
            if self._limit_of_all_s(expected_bps):
                return self._all_s(expected_bps) + self._around_s
        return max(self._length.usual_s * self.stretch, self._last_s) + self._around_s

    @property
    def overrun_s(self) -> float:
        """How much longer than usual a slice may take, in seconds."""
        return self._ceiling_s - self._length.usual_s * self.stretch

    @property
    def can_move_all(self) -> bool:
        """Whether a probe may move the whole dataset, and leave nothing of it."""
        fits = self._total_bytes <= self.whole_bytes
        return fits and not self._request.keep and self._slicer.has_all

    def waits_there(self, setting: Setting) -> bool:
        """Whether the tool has a step at the destination."""
        return runs_there(self._tool, self._order(setting, (self._any_piece,)))

    @property
    def _any_piece(self) -> Piece:
        return Piece(source=self._places.source, target=self.folder, size_bytes=1)

    @property
    def folder(self) -> str:
        """The folder at the destination that the dataset goes to."""
        target = self._places.target
        return target if self._places.is_directory else posixpath.dirname(target)

    async def measure(self, link: AgentLink, setting: Setting, watcher: Watcher) -> Probed:
        """One probe. Failures at the other side are outcomes; raises PeerGone."""
        began_s = asyncio.get_running_loop().time()
        raw = b""
        try:
            outcome, raw = await self._measured(link, setting, watcher)
        except PeerGone:
            raise
        except PeerError as error:
            outcome = _failure(FailureKind.NO_ACCESS, str(error), began_s)
        except ProbeFailed as failed:
            outcome = _failure(failed.kind, str(failed), began_s)
        except OSError as error:
            outcome = _failure(
                FailureKind.NO_ACCESS, f"{error.filename}: {error.strerror}", began_s
            )
        else:
            took_s = asyncio.get_running_loop().time() - began_s
            self._around_s = max(0.0, took_s - outcome.elapsed_s)
            self._last_s = outcome.elapsed_s
        return Probed(outcome, raw)

    async def _measured(
        self, link: AgentLink, setting: Setting, watcher: Watcher
    ) -> tuple[Outcome, bytes]:
        self._check_flows(setting)
        try:
            await uninterrupted(self._make_scratch(link, setting))
            taken = self._slice(setting)
            try:
                ran = await self._run(link, taken, setting, watcher)
                outcome = await uninterrupted(self._outcome(link, setting, taken, ran))
                if ran.status == 0 and self._request.keep:
                    await uninterrupted(self._keep(link, taken))
            finally:
                self._give_back(taken)
            return outcome, (ran.output + ran.errors).encode()
        finally:
            if not self._keeps_ranges:
                await self._remove_scratch(link)

    def _give_back(self, taken: _Slice) -> None:
        """A range that is not kept is moved again next: only what is kept from the first byte on
        without a hole counts."""
        if self._keeps_ranges and taken.parts[-1].offset_bytes >= self.kept.first_bytes:
            self._slicer.give_back(taken.parts)

    def _check_flows(self, setting: Setting) -> None:
        """Raises ProbeFailed, without any traffic, where the server refused as many before."""
        flows = flows_of(setting, flow_names())
        if self.refused and flows >= (least := min(self.refused)):
            raise ProbeFailed(
                FailureKind.REJECTED_SETTING,
                f"not tried, as the server refused {least} connections: {self.refused[least]}",
            )

    async def _make_scratch(self, link: AgentLink, setting: Setting) -> None:
        if self._scratch is None:
            port = self._server_port(setting)
            stripes = int(setting.get(STRIPES, 0))
            self._scratch = await link.make_scratch(self.folder, port, stripes)

    def _server_port(self, setting: Setting) -> int:
        """Where the server listens that the tool sends to, -1 if not known, 0 without one.

        Raises ProbeFailed.
        """
        try:
            steps = self._tool.steps(self._order(setting, (self._any_piece,)))
        except ValueError as error:
            raise ProbeFailed(FailureKind.NO_ACCESS, str(error)) from None
        return server_port_of(steps)

    async def _remove_scratch(self, link: AgentLink) -> None:
        """Remove the scratch folder at the destination, unless the agent is gone."""
        if self._scratch is None:
            return
        scratch, self._scratch = self._scratch, None
        with contextlib.suppress(PeerGone, TimeoutError):
            async with asyncio.timeout(_TIDY_S):
                await uninterrupted(link.remove(scratch))

    @property
    def _keeps_ranges(self) -> bool:
        return self._request.keep and not self._places.is_directory

    def _slice(self, setting: Setting) -> _Slice:
        expected_bps = self._expected([setting])[0] if self._expected else None
        limit_s = self._limit_of_all_s(expected_bps)
        parts = self._slicer.all() if limit_s else self._part_of_all(expected_bps)
        source = self._places.source
        pieces = tuple(
            Piece(
                source=posixpath.join(source, part.file.name) if part.file.name else source,
                target=f"{self._scratch}/{self._name_of(part, number)}",
                size_bytes=part.size_bytes,
                offset_bytes=part.offset_bytes,
                is_whole=part.is_whole,
            )
            for number, part in enumerate(parts)
        )
        return _Slice(parts, pieces, limit_s or self._ceiling_s)

    def _name_of(self, part: Part, number: int) -> str:
        """A neutral name where the tool can give one: the real one might not be allowed there, and
        only the transfer is timed."""
        name = part.file.name
        return f"named/{name}" if self._keeps_names and name else f"{number:06d}"

    @property
    def _ceiling_s(self) -> float:
        """The time limit of a slice."""
        return self._length.ceiling_s * max(1.0, self.stretch)

    def _all_s(self, expected_bps: float) -> float:
        return self._total_bytes * 8 / expected_bps

    def _limit_of_all_s(self, expected_bps: float | None) -> float | None:
        """The time limit for the whole dataset; None where a slice is to be moved, as before the
        first probe."""
        if not (expected_bps and self._last_s and self.can_move_all):
            return None
        return whole_limit_s(self._all_s(expected_bps), self._ceiling_s, self._left_s())

    def _part_of_all(self, expected_bps: float | None) -> list[Part]:
        """For the rate that is expected of the setting, else for the highest so far."""
        rate_bps = _ROOM_TO_GROW * (expected_bps or self._peak_bps)
        rate_bps = rate_bps or self._path.capacity_bps or _SUPPOSED_BPS
        data_s = self._length.data_s * self.stretch
        wanted = slice_bytes(rate_bps, data_s, self._total_bytes)
        try:
            return self._slicer.take(min(wanted, self.most_bytes))
        except ValueError as error:
            raise ProbeFailed(FailureKind.NO_ACCESS, str(error)) from None

    def _order(self, setting: Setting, pieces: tuple[Piece, ...]) -> TransferOrder:
        return TransferOrder(
            setting=tool_setting(setting),
            pieces=pieces,
            path=self._path,
            destination_host=self._request.destination_host,
            list_file=str(Path(self._own_folder.name) / "files"),
            server_url=self._request.server_url,
        )

    async def _run(self, link: AgentLink, taken: _Slice, setting: Setting, watcher: Watcher) -> Ran:
        order = self._order(setting, taken.pieces)

        async def run_source(step: Step) -> Ran:
            return await run_transfer(
                step,
                self._tool.reader(),
                Path(order.list_file),
                order.total_bytes,
                ceiling_s=taken.limit_s,
                sample_every_s=self._length.sample_every_s,
                seen=watcher.interval,
            )

        try:
            return await run_steps(link, self._tool, order, run_source)
        except ValueError as error:
            # No other setting helps with what a tool cannot move.
            raise ProbeFailed(FailureKind.NO_ACCESS, str(error)) from None

    async def _outcome(
        self, link: AgentLink, setting: Setting, taken: _Slice, ran: Ran
    ) -> Measurement:
        """The result of the run. Raises ProbeFailed."""
        for part, piece in zip(taken.parts, taken.pieces, strict=True):
            if not is_unchanged(Path(piece.source), part.file):
                message = f"{piece.source} changed or disappeared while it was read"
                raise ProbeFailed(FailureKind.FILES_CHANGED, message)
        if isinstance(self._tool, LimitedTool) and (
            why := self._tool.refusal(ran.output, ran.errors)
        ):
            flows = flows_of(setting, flow_names())
            self.refused[flows] = why
            raise ProbeFailed(FailureKind.REJECTED_SETTING, why)
        if ran.status is not None:
            trouble = self._tool.trouble(ran.status, ran.output, ran.errors)
            if trouble:
                raise ProbeFailed(trouble.kind, trouble.message)
            await _check_sizes(link, taken.pieces)
        elif not self._keeps_names:
            ran = await self._with_arrived(link, setting, taken, ran)
        measurement = msgspec.structs.replace(
            measurement_of(ran), work=await self._work(link, taken, ran)
        )
        if self.writes_back or IO_MODE in setting:
            # Compared by when the data are on the disk: buffered writing is over in memory before.
            written_s = await link.sync([piece.target for piece in taken.pieces])
            measurement = with_write_back(measurement, ran.moved_bytes, written_s)
        self._peak_bps = max(self._peak_bps, peak_bps(ran.intervals))
        return measurement

    async def _with_arrived(
        self, link: AgentLink, setting: Setting, taken: _Slice, ran: Ran
    ) -> Ran:
        """A stopped run, with what is at the destination.

        A tool that opens a connection for each small file closes it before anything is
        acknowledged, so that nobody saw these bytes pass.
        """
        sizes = await link.sizes([piece.target for piece in taken.pieces])
        begun = sum(1 for _ in itertools.takewhile(lambda size: size is not None, sizes))
        # Of those under way the size may precede the content.
        complete = taken.pieces[: max(0, begun - concurrency_of(setting))]
        return with_moved(ran, sum(piece.size_bytes for piece in complete))

    async def _work(self, link: AgentLink, taken: _Slice, ran: Ran) -> Work:
        """What was moved; of a tool with an order of its own, stopped, file by file."""
        if ran.status == 0:
            return moved_work(taken.parts, math.inf)
        if not self._keeps_names:
            return moved_work(taken.parts, ran.moved_bytes)
        sizes = await link.sizes([piece.target for piece in taken.pieces])
        arrived = [not is_short(*one) for one in zip(taken.pieces, sizes, strict=True)]
        return moved_work(taken.parts, ran.moved_bytes, arrived)

    async def _keep(self, link: AgentLink, taken: _Slice) -> None:
        """Move complete files to their place; of a single file, count the bytes that are there.

        Only content that is equal at both ends is kept.
        """
        checks = await check_content(link, Algorithm.BLAKE3, taken.pieces)
        if wrong := next((one.reason for one in checks if one.reason), ""):
            self._not_kept = self._not_kept or wrong
        if self._keeps_ranges:
            [part], [check] = taken.parts, checks
            if part.offset_bytes == self.kept.first_bytes and not check.reason:
                self.kept = Kept(first_bytes=part.offset_bytes + part.size_bytes)
            return
        moves = [
            (piece.target, posixpath.join(self._places.target, part.file.name))
            for part, piece, check in zip(taken.parts, taken.pieces, checks, strict=True)
            if piece.is_whole and not check.reason and not self._tool.carries(part.file.name)
        ]
        reasons = await link.move(moves) if moves else []
        self._not_kept = self._not_kept or next((one for one in reasons if one), "")
        self.kept = Kept(files=self.kept.files + sum(not reason for reason in reasons))

    async def close(self, link: AgentLink) -> str:
        """Move the first bytes of a single file to their place, and remove everything else.

        Returns why something could not be kept, "" if all could or nothing was to be.
        """
        self._own_folder.cleanup()
        if self._scratch and self.kept.first_bytes:
            moves = [(f"{self._scratch}/000000", self._places.target)]
            [self._not_kept] = await link.move(moves)
            if self._not_kept:
                self.kept = Kept()
        await self._remove_scratch(link)
        return f"not everything that arrived is kept: {self._not_kept}" if self._not_kept else ""


def length_of(tool: TransferTool, request: AdviceRequest, path: PathFacts) -> TransferLength:
    """How long a probe of a tool lasts, by what is known of its start."""
    costs = tool_traits(tool.name).known_costs(request.server_url)
    return transfer_length(path.rtt_s, costs.start)


async def _check_sizes(link: AgentLink, pieces: Sequence[Piece]) -> None:
    """Check that everything arrived. Raises ProbeFailed."""
    sizes = await written_sizes(link.sizes, pieces)
    for piece, size in zip(pieces, sizes, strict=True):
        if is_short(piece, size):
            raise ProbeFailed(FailureKind.INCOMPLETE, shortage(piece, size))


def _failure(kind: FailureKind, message: str, began_s: float) -> Failure:
    elapsed_s = asyncio.get_running_loop().time() - began_s
    return Failure(kind=kind, message=message, elapsed_s=elapsed_s)
