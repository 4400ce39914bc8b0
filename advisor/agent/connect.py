"""The ways to an agent: in this process, over the user's own ssh, and over TLS.

Where no agent may run, a tool's server is reached, and something in this process stands in.
"""

import asyncio
import contextlib
import os
import shlex
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from advisor.agent.client import AgentLink
from advisor.agent.files import ANYWHERE
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.agent.secret import tls_context
from advisor.agent.service import AgentService
from advisor.agent.stand_in import StandIn
from advisor.api.server_files import ServerFilesTool
from advisor.domain.endpoints import Endpoint
from advisor.domain.problem import ProblemKind
from advisor.domain.shell import shell_line
from advisor.hosts.packages import installation
from advisor.hosts.processes import LINE_LIMIT_BYTES, Child, output_of, start

_CONNECT_S: Final = 15.0
_SSH_GREETING_S: Final = 30.0
DEFAULT_AGENT_COMMAND: Final = "advisor agent --stdio"


# Any port of this host answers at once; this one usually refuses, which serves as well.
_OWN_PORT: Final = 9


class Reached(msgspec.Struct, frozen=True):
    """An agent that answered: the conversation, its host's address for data, and TCP ports there
    that answer handshakes, by which the RTT is measured.

    `stand_in`: the tool whose server stands in for an agent, of which there is none.
    """

    link: AgentLink
    address: str
    answering_ports: tuple[int, ...]
    stand_in: ServerFilesTool | None = None


async def resolve(host: str) -> str:
    """The first address of a host. Raises PeerError with the remedy."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise PeerError(f"no address is known for '{host}'", remedy="check the name") from None
    return str(found[0][4][0])


async def reach_embedded() -> Reached:
    """The agent inside this process, for localhost."""
    return Reached(await _embedded(AgentService(files=ANYWHERE)), "127.0.0.1", (_OWN_PORT,))


async def reach_without_agent(tool: ServerFilesTool, host: str) -> Reached:
    """The tool's server on this host, and in this process what stands in for an agent.

    Raises PeerError with the remedy.
    """
    named, port = tool.server_address()
    address = await resolve(named or host)
    return Reached(await _embedded(StandIn(tool)), address, (port,), stand_in=tool)


async def _embedded(service: AgentService) -> AgentLink:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_LIMIT_BYTES)
    its_reader, its_writer = await asyncio.open_connection(sock=theirs, limit=LINE_LIMIT_BYTES)
    serving = asyncio.create_task(service.serve(its_reader, its_writer))

    async def close() -> None:
        await serving
        await service.close()

    async def explain() -> PeerGone:
        return PeerGone("the embedded agent ended")

    link = AgentLink(reader, writer, close, explain)
    await link.greet(_CONNECT_S)
    return link


async def reach_tls(host: str, port: int, secret: str) -> Reached:
    """An agent that listens at HOST:PORT. Raises PeerError: unreachable, wrong secret, no agent."""
    address = await resolve(host)
    where = f"{host}:{port}"
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(
                address,
                port,
                ssl=tls_context(secret, "advisor"),
                server_hostname="agent",
                limit=LINE_LIMIT_BYTES,
            )
    except TimeoutError:
        raise PeerError(
            f"{where} does not answer",
            remedy="check the address, and that a firewall lets the port through",
        ) from None
    except ssl.SSLCertVerificationError:
        raise PeerError(
            f"the agent at {where} has a different secret",
            kind=ProblemKind.REFUSED,
            remedy="copy the one it printed when it started",
        ) from None
    except (ssl.SSLError, ConnectionResetError):
        raise PeerError(
            f"what listens at {where} is not an agent", remedy="check the port"
        ) from None
    except OSError as error:
        # What asyncio says repeats the call and its arguments.
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise PeerError(
            f"connection to {where} refused"
            if isinstance(error, ConnectionRefusedError)
            else f"{where} cannot be reached ({reason})",
            remedy="is 'advisor agent --listen' running there?",
            command=f"advisor agent --listen 0.0.0.0:{port}",
            host=host,
        ) from None

    async def close() -> None:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(2):
                await writer.wait_closed()

    async def explain() -> PeerGone:
        return PeerGone(
            f"the agent at {where} closed the connection",
            remedy="was it stopped, or the secret changed?",
        )

    link = AgentLink(reader, writer, close, explain)
    await _greeted(link, _CONNECT_S)
    return Reached(link, address, (port,))


async def _ssh_configuration(endpoint: Endpoint) -> dict[str, str]:
    """How the user's ssh resolves the name: host name and port, by its configuration."""
    try:
        status, text = await output_of(["ssh", "-G", str(endpoint)], timeout_s=10)
    except FileNotFoundError:
        how = installation("ssh")
        raise PeerError(
            "ssh is not installed here",
            remedy=how.remedy,
            command=how.command,
            kind=ProblemKind.MISSING,
        ) from None
    except TimeoutError:
        status, text = 255, ""
    if status:
        raise PeerError(
            f"ssh does not understand '{endpoint}'",
            remedy=f"try 'ssh -G {endpoint}'",
            command=shell_line(["ssh", "-G", str(endpoint)]),
        )
    pairs = (line.partition(" ") for line in text.splitlines())
    return {key: value for key, _, value in pairs}


def ssh_failure(endpoint: Endpoint, command: str, status: int, words: str) -> PeerGone:
    """Why `ssh ENDPOINT COMMAND` ended with this status and these words on standard error."""
    said = [line.strip() for line in words.splitlines() if line.strip()]
    last = said[-1] if said else f"ssh ended with status {status}"
    program = shlex.split(command)[0]
    if status in (126, 127) or "not found" in last:
        return PeerGone(
            f"there is no '{program}' on {endpoint}",
            remedy="bring an agent along with --push, install advisor there, or say where it is "
            "with --agent-command",
            command="make install",
            host=endpoint.host,
            folder="advisor's sources",
            kind=ProblemKind.MISSING,
        )
    if "Permission denied" in last:
        return PeerGone(
            f"{endpoint} refused the login",
            remedy=f"'ssh {endpoint}' must work without a password "
            f"(ssh-copy-id {endpoint}, or an ssh-agent)",
            command=shell_line(["ssh-copy-id", str(endpoint)]),
            kind=ProblemKind.REFUSED,
        )
    if "Host key verification failed" in words:
        return PeerGone(
            f"{endpoint} is not a known host",
            remedy=f"log in once with 'ssh {endpoint}'",
            command=shell_line(["ssh", str(endpoint)]),
            kind=ProblemKind.REFUSED,
        )
    return PeerGone(
        f"the connection to {endpoint} failed: {last}",
        remedy=f"see why with 'ssh -v {endpoint} true'",
        command=shell_line(["ssh", "-v", str(endpoint), "true"]),
    )


def ssh_argv(endpoint: Endpoint, command: str, more: Sequence[str] = ()) -> list[str]:
    """The line that runs a command on another host over the user's own ssh. `more`: options.

    BatchMode: a prompt for a password could not be answered from a separate process group.
    """
    options = ("-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S:.0f}", *more)
    return ["ssh", *options, "--", str(endpoint), command]


async def reach_ssh(
    endpoint: Endpoint,
    command: str,
    ssh_options: Sequence[str] = (),
    begin: Callable[[Child], Awaitable[None]] | None = None,
) -> Reached:
    """Start an agent on the other host over the user's own ssh. Raises PeerError.

    `begin` holds the conversation with what `command` starts until that becomes the agent; it
    raises EOFError if the connection ends.
    """
    settings = await _ssh_configuration(endpoint)
    child = await start(ssh_argv(endpoint, command, ssh_options))

    async def close() -> None:
        await asyncio.shield(child.end(grace_s=2.0))

    async def explain() -> PeerGone:
        return ssh_failure(endpoint, command, *await _last_words(child))

    if begin:
        try:
            await begin(child)
        except EOFError:
            gone = await explain()
            await close()
            raise gone from None
        except (PeerError, asyncio.CancelledError):
            await close()
            raise
    link = AgentLink(child.stdout, child.stdin, close, explain)
    await _greeted(link, _SSH_GREETING_S)
    try:
        address = await resolve(settings.get("hostname", endpoint.host))
    except PeerError:
        await link.close()
        raise
    return Reached(link, address, (int(settings.get("port", "22")),))


async def _last_words(child: Child) -> tuple[int, str]:
    try:
        async with asyncio.timeout(2):
            status = await child.wait()
    except TimeoutError:
        return 255, "the connection stopped responding"
    return status, child.stderr.decode(errors="replace")


async def _greeted(link: AgentLink, timeout_s: float) -> None:
    try:
        await link.greet(timeout_s)
    except (PeerError, asyncio.CancelledError):
        await asyncio.shield(link.close())
        raise
