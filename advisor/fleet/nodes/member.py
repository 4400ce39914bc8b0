"""One node as its coordinator sees it: how it is started, what it says, how it does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec

import advisor
from advisor.agent.connect import ssh_argv, ssh_failure
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.nodes import NodePair, server_on
from advisor.domain.path import PathFacts
from advisor.domain.plan import NodeProgress
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.fleet.work.ordering import SSH_ALIVE
from advisor.models.slicing import Part
from advisor.runtime.advisor_child import ADVISOR, AdvisorChild
from advisor.runtime.request import TransferRequest
from advisor.transfer.nodes import messages as n

DEFAULT_NODE_COMMAND: Final = "advisor node"

_GREETING_S: Final = 30.0
_NEVER_THERE: Final = (126, 127)


class NodeGone(ProblemError):
    """A node has ended without saying that its clients have; the message is one sentence."""

    kind = ProblemKind.LOST


class NodeLink:
    """A node that runs, and the conversation with it. `close` it on every way out."""

    def __init__(self, child: AdvisorChild, source: Endpoint, command: str) -> None:
        self._child = child
        self._source = source
        self._command = command

    @classmethod
    async def start(cls, source: Endpoint, command: str) -> "NodeLink":
        """Start a node on this host, or over the user's own ssh. Raises NodeGone."""
        argv = [*ADVISOR, "node"] if source.is_local else ssh_argv(source, command, SSH_ALIVE)
        try:
            return cls(await AdvisorChild.started_by(argv), source, command)
        except OSError as error:
            raise NodeGone.about("", error) from None

    def say(self, order: n.NodeOrder) -> None:
        """Give an order."""
        self._child.send(n.as_line(order))

    def lease(self, parts: Sequence[Part]) -> None:
        """Give it these parts to move."""
        for first in range(0, len(parts), n.PARTS_IN_LINE):
            some = parts[first : first + n.PARTS_IN_LINE]
            self.say(n.Lease(parts=[n.LeasedPart.of(one) for one in some]))

    async def messages(self) -> AsyncIterator[n.FromNode]:
        """What it says, up to `Ended`. Raises NodeGone when it is silent or gone, BadData."""
        lines = self._child.lines(n.LINE_BYTES)
        limit_s = _GREETING_S
        while True:
            try:
                async with asyncio.timeout(limit_s):
                    line = await anext(lines)
            except TimeoutError:
                raise NodeGone(f"the node on {self._source} was silent for {limit_s:g} s") from None
            except StopAsyncIteration:
                raise await self._why() from None
            if limit_s == _GREETING_S and not line.startswith(b"{"):
                continue  # What a login prints.
            received = n.read_message(line)
            limit_s = n.SILENT_S
            yield received
            if isinstance(received, n.Ended):
                return

    async def _why(self) -> ProblemError:
        """Why its output ended."""
        status, words = 0, ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                status, words = await self._child.last_words()
        if not self._source.is_local and (status == 255 or status in _NEVER_THERE):
            return ssh_failure(self._source, self._command, status, words)
        said = [line for line in words.strip().splitlines() if line.strip()]
        last = f": {said[-1]}" if said else ""
        return NodeGone(f"the node on {self._source} ended with status {status}{last}")

    async def close(self) -> bool:
        """End it; whether its clients have ended for certain. A node that is there ends them first,
        and says so by its exit status."""
        await asyncio.shield(self._child.close())
        status, _ = await self._child.last_words()
        return status == 0


class Member:
    """One of the nodes, over all of its runs. `number`: from 1.

    `why`: what sort of thing went wrong last. `link`: while it can be given something.
    `wanted_bytes`: how much more it asks for. `key`: of the agent at its destination.
    `carried_bytes`: over its path, in all its runs. `is_held_back`: by its part of the rate limit.
    """

    def __init__(self, number: int, nodes: NodePair, pair: Pair) -> None:
        self.number = number
        self.nodes = nodes
        self.link: NodeLink | None = None
        self.wanted_bytes = 0
        self.key = ""
        self.path: PathFacts | None = None
        self.progress = NodeProgress(number=number, pair=pair, state="connecting")
        self.flying_bytes = 0
        self.is_held_back = False
        self.why: ProblemKind | None = None
        self._earlier_bytes = 0
        self._carried_bytes = 0

    @property
    def pair(self) -> Pair:
        """The pair under which its epochs are stored."""
        return self.progress.pair

    @property
    def name(self) -> str:
        """For sentences."""
        return f"node {self.number} ({self.pair})"

    @property
    def carried_bytes(self) -> int:
        """Never decreases."""
        return self._earlier_bytes + self._carried_bytes

    @property
    def shown(self) -> NodeProgress:
        """What others may see: a message may name a file."""
        return msgspec.structs.replace(self.progress, message=str(self.why or ""))

    def request_of(self, request: TransferRequest) -> TransferRequest:
        """What it is asked to move, and where."""
        destination = self.nodes.destination
        if destination is None or destination == request.destination:
            server = self.nodes.server_url or request.server_url
            return msgspec.structs.replace(request, server_url=server)
        server = self.nodes.server_url or server_on(request.server_url, destination.host)
        return msgspec.structs.replace(
            request,
            destination=destination,
            server_url=server,
            agent=None,
            secret_file=None,
            address=None,
        )

    def greeted(self, greeting: n.NodeGreeting) -> None:
        """Raises NodeGone for a node that speaks another protocol."""
        if greeting.protocol != n.NODE_PROTOCOL:
            raise NodeGone(
                f"the node on {self.nodes.source} runs advisor {greeting.version}, this is "
                f"{advisor.__version__}",
                remedy="run the same version on all nodes",
                kind=ProblemKind.UNSUPPORTED,
            )

    def moves(self, moving: n.Moving) -> None:
        """It says how it does."""
        self._carried_bytes = max(self._carried_bytes, moving.carried_bytes)
        self.flying_bytes = moving.flying_bytes
        self.is_held_back = moving.is_held_back
        self.set(
            clients=moving.clients,
            concurrency=moving.concurrency,
            parallelism=moving.parallelism,
        )

    def leaves(self) -> None:
        """Its run has ended."""
        self.link, self.wanted_bytes, self.flying_bytes = None, 0, 0
        self.is_held_back = False
        self._earlier_bytes += self._carried_bytes
        self._carried_bytes = 0
        self.set(clients=0, rate_bps=0.0)

    def set(self, **fields: object) -> None:
        """Change its progress."""
        self.progress = msgspec.structs.replace(self.progress, **fields)
