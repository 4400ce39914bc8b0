"""Connects to the agent at the destination, and finds out the facts of the path to it."""

import asyncio
import secrets
import shlex
import socket
import time
from pathlib import Path

import msgspec

from advisor import registry
from advisor.agent.client import AgentLink
from advisor.agent.connect import (
    DEFAULT_AGENT_COMMAND,
    Reached,
    reach_embedded,
    reach_ssh,
    reach_tls,
    reach_without_agent,
)
from advisor.agent.peer_errors import PeerError, Refusal
from advisor.agent.pushing import Tell, reach_pushed
from advisor.agent.secret import read_secret
from advisor.api.server_files import ServerFilesTool
from advisor.domain.endpoints import LabHost, Pair
from advisor.domain.path import PathFacts
from advisor.domain.printable import printable
from advisor.hosts.facts import host_facts
from advisor.hosts.kernel_path_mtu import kernel_path_mtu
from advisor.hosts.path_mtu import UdpBlocked, probe_path_mtu
from advisor.hosts.source_address import chosen_source
from advisor.lab.enter import own_name
from advisor.lab.state import AGENT_PORT, Host, LabError, LabFolder, state_of
from advisor.runtime.request import AdviceRequest, ConnectionOptions
from advisor.runtime.round_trip import GIVEN, measured_rtt
from advisor.runtime.tool_lookups import informed


def pair_of(request: ConnectionOptions) -> Pair:
    """The pair as the history has it: this host's name, and the destination as the user gave it.

    A host of a lab that is a mesh is named as the others are.
    """
    lab_host = request.destination.lab_host
    source = lab_host and own_name(lab_host)
    return Pair(source or printable(socket.gethostname()) or "localhost", request.destination_host)


def _tell_nobody(sentence: str) -> None:
    """For whoever has no place for sentences on how the agent was reached."""


async def reach(request: ConnectionOptions, tell: Tell = _tell_nobody) -> Reached:
    """Connect to an agent at the destination. Raises PeerError (with the remedy), BadSecret.

    `tell` gets sentences for the user, about an agent that is brought along.
    """
    if request.is_local:
        return await reach_embedded()
    if isinstance(request, AdviceRequest) and request.without_agent:
        return await _reach_server(request)
    lab_host = request.destination.lab_host
    if lab_host:
        return await _reach_lab(lab_host)
    if request.agent:
        host, port = request.agent
        return await reach_tls(host, port, read_secret(Path(request.secret_file or "")))
    if request.push:
        keep = request.keep_agent
        return await reach_pushed(request.destination, request.ports, tell, keep=keep)
    command = request.agent_command or DEFAULT_AGENT_COMMAND
    if any(request.ports):
        command += shlex.join(["", "--ports", f"{request.ports[0]}-{request.ports[1]}"])
    return await reach_ssh(request.destination, command)


async def _reach_server(request: AdviceRequest) -> Reached:
    """The server of the tool that is profiled. Raises PeerError."""
    profiled = request.profiled
    try:
        named = registry.transfer_tool(profiled.tool)
        tool = await informed(named, request, profiled.destination_path, profiled.source_path)
    except ValueError as error:
        raise PeerError(f"--profile-tool {profiled.tool}: {error}") from None
    if not isinstance(tool, ServerFilesTool):
        raise PeerError(
            f"--without-agent: {tool.name} does not look after its files at the server itself"
        )
    lab_host = request.destination.lab_host
    host = _far_host(lab_host).address if lab_host else request.destination.host
    return await reach_without_agent(tool, host)


def _far_host(wanted: LabHost) -> Host:
    """Raises PeerError."""
    try:
        return state_of(wanted.lab).far(wanted.host)
    except LabError as error:
        raise PeerError.about("", error) from None


async def _reach_lab(wanted: LabHost) -> Reached:
    """Connect to the agent of a lab host, from the lab's source. Raises PeerError."""
    host = _far_host(wanted)
    try:
        return await reach_tls(host.address, AGENT_PORT, read_secret(LabFolder(wanted.lab).secret))
    except PeerError:
        raise PeerError(
            f"the agent on {host.name} cannot be reached",
            remedy=(
                f"'advisor lab status {wanted.lab}' shows whether the path is cut; else take "
                "the lab down and up again"
            ),
        ) from None


def _address_facing(address: str) -> str:
    """The source address of packets to `address`, as the kernel routes them. Sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as trial:
        try:
            trial.connect((address, 9))
        except OSError as error:
            raise PeerError(f"there is no route to {address}: {error.strerror}") from None
        return str(trial.getsockname()[0])


async def _path_mtu(
    link: AgentLink, address: str, source_address: str, bound: str
) -> tuple[int, str]:
    """The path MTU in bytes and how it was found: echoed packets, else the kernel's value."""
    believed = kernel_path_mtu(address, bound)
    token = secrets.token_hex(16)
    try:
        port = await link.open_echo(source_address, token, bound)
        try:
            return await probe_path_mtu(address, port, token, believed, bound), "echoed packets"
        finally:
            await link.close_echo()
    except (Refusal, UdpBlocked, OSError):
        return believed, "kernel"


async def look_at_path(reached: Reached, request: ConnectionOptions) -> PathFacts:
    """RTT, path MTU and the facts of both hosts, measured before any load.

    Raises PeerError, NoSourceAddress.
    """
    address = request.address or reached.address
    chosen = await chosen_source(address, request.source_address, request.interface)
    bound, source_address = chosen or "", chosen or _address_facing(address)
    asked_s = time.time()
    answer = await reached.link.facts(source_address, bound)
    answered_s = time.time()
    source = await asyncio.to_thread(host_facts, address, bound)
    source = msgspec.structs.replace(source, tools=registry.installed_tools())
    if request.rtt_s:
        rtt_s, method = request.rtt_s, GIVEN
    else:
        found = await measured_rtt(reached, address, bound)
        rtt_s, method = found.rtt_s, found.method
    mtu_bytes, mtu_method = await _path_mtu(reached.link, address, source_address, bound)
    return PathFacts(
        source_address=source_address,
        destination_address=address,
        rtt_s=rtt_s,
        rtt_method=method,
        mtu_bytes=mtu_bytes,
        mtu_method=mtu_method,
        bandwidth_bps=request.bandwidth_bps,
        source=source,
        destination=answer.facts,
        # The agent read its clock about halfway between the request and the reply.
        clock_offset_s=(
            answer.facts.clock_s - (asked_s + answered_s) / 2 if answer.facts.is_known else None
        ),
        receivable=answer.transports,
        chose_source=True if bound else msgspec.UNSET,
    )


class FarEnd:
    """The connection to the agent of one request, which can be replaced after it was lost.

    `tell` gets sentences for the user, about an agent that is brought along.
    """

    def __init__(self, request: ConnectionOptions, tell: Tell = _tell_nobody) -> None:
        self._request = request
        self._tell = tell
        self._reached: Reached | None = None

    @property
    def reached(self) -> Reached:
        """The connected agent. Raises RuntimeError before `connect`."""
        if self._reached is None:
            raise RuntimeError("no agent is connected yet")
        return self._reached

    @property
    def link(self) -> AgentLink:
        """The conversation with the connected agent. Raises RuntimeError before `connect`."""
        return self.reached.link

    async def connect(self) -> None:
        """Connect, ending an earlier connection first. Raises PeerError, BadSecret."""
        # If it cannot be replaced, the ended one stays: whoever uses it then sees that it is gone.
        if self._reached:
            await asyncio.shield(self._reached.link.close())
        self._reached = await reach(self._request, self._tell)

    async def close(self) -> None:
        """End the connection, if there is one."""
        if self._reached:
            link, self._reached = self._reached.link, None
            await asyncio.shield(link.close())
