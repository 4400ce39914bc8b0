"""Measures a tool from memory to memory: its own ceiling on these hosts and this path.

Rao et al. 2016, section IV.A: xdd's flows are measured without file systems, to see what the tool's
use of them costs, and whether it limits what disks and network would give.
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from advisor.advising.prober import Probed, Watcher
from advisor.advising.tool_measurement import measurement_of
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.api.tool import NOWHERE, ZEROS, Piece, Step, TransferOrder, TransferTool
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting, concurrency_of
from advisor.models.transfer_length import transfer_length
from advisor.probing.transfer import Ran, run_transfer
from advisor.runtime.request import AdviceRequest
from advisor.runtime.tool_steps import run_steps, runs_there

_LEAST_BYTES: Final = 2**20
_ROOM: Final = 4.0
"""There are data for this multiple of the expected rate: time ends a probe, so that all flows are
busy to its end."""

_START_SHARE: Final = 0.5
"""The part of the time for data that is added for a start that takes longer than usual."""

_LEAST_SHARE: Final = 0.5
"""Where less time is left than usual, a probe is made in this fraction of it or more: only its
steady part counts, and that is shorter then."""


class MemoryProber:
    """Runs the tool at a setting with zeros that are dropped at the destination.

    There are as many pieces as the setting moves files at a time. No file is read or written.
    """

    def __init__(
        self,
        tool: TransferTool,
        request: AdviceRequest,
        path: PathFacts,
        left_s: Callable[[], float],
    ) -> None:
        """`left_s`: how much time the session has left."""
        self._tool = tool
        self._request = request
        self._path = path
        self._length = transfer_length(path.rtt_s)
        self._left_s = left_s
        self.expected_bps = path.capacity_bps or 1e9

    def next_probe_s(self, setting: Setting | None = None) -> float:
        """The time that one more probe takes, in seconds."""
        return self._length.usual_s + _START_SHARE * self._length.data_s

    @property
    def least_s(self) -> float:
        """The shortest time in which a probe is worth making, in seconds."""
        return _LEAST_SHARE * self.next_probe_s()

    def waits_there(self, setting: Setting) -> bool:
        """Whether the tool has a step at the destination."""
        return runs_there(self._tool, self._order(setting, list_file="-"))

    async def measure(self, link: AgentLink, setting: Setting, watcher: Watcher) -> Probed:
        """One probe. Whatever fails concerns this part alone; raises PeerGone."""
        clock = asyncio.get_running_loop().time
        began_s, raw = clock(), b""
        try:
            ran = await self._run(link, setting, watcher)
            raw = (ran.output + ran.errors).encode()
            if ran.status and (trouble := self._tool.trouble(ran.status, ran.output, ran.errors)):
                raise ValueError(f"{ZEROS} to {NOWHERE} failed: {trouble.message}")
            return Probed(measurement_of(ran), raw)
        except PeerGone:
            raise
        except (PeerError, ValueError, OSError) as error:
            # Of another kind, a failure would be tried again, or end the session.
            failure = Failure(
                kind=FailureKind.REJECTED_SETTING,
                message=str(error),
                elapsed_s=clock() - began_s,
            )
            return Probed(failure, raw)

    async def _run(self, link: AgentLink, setting: Setting, watcher: Watcher) -> Ran:
        with tempfile.TemporaryDirectory(prefix="advisor-") as own_folder:
            order = self._order(setting, str(Path(own_folder) / "files"))

            async def run_source(step: Step) -> Ran:
                return await run_transfer(
                    step,
                    self._tool.reader(),
                    Path(order.list_file),
                    order.total_bytes,
                    ceiling_s=max(self.least_s, min(self.next_probe_s(), self._left_s())),
                    sample_every_s=self._length.sample_every_s,
                    seen=watcher.interval,
                )

            return await run_steps(link, self._tool, order, run_source)

    def _order(self, setting: Setting, list_file: str) -> TransferOrder:
        at_once = concurrency_of(setting)
        wanted = int(_ROOM * self.expected_bps * self._length.data_s / 8)
        each = max(_LEAST_BYTES, wanted // at_once)
        piece = Piece(source=ZEROS, target=NOWHERE, size_bytes=each, is_whole=False)
        return TransferOrder(
            setting=setting,
            pieces=(piece,) * at_once,
            path=self._path,
            destination_host=self._request.destination_host,
            list_file=list_file,
            server_url=self._request.server_url,
            make_folders=False,
        )
