"""The port of an agent that listens, and what strangers can use up there.

Whoever connects is a newcomer until the TLS handshake has proven the secret. Newcomers are few,
from one address and in all; where one more comes, another one has to leave: one that has not sent a
byte before one that has, then the oldest, of the address that has the most. So the port is never
full. A newcomer that sends nothing costs a descriptor and a task; TLS, with its buffers of 290 kB,
begins with the first byte, if that is TLS's.
"""

import asyncio
import contextlib
import errno
import ipaddress
import itertools
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from advisor.agent.event_log import EventLog
from advisor.hosts.processes import LINE_LIMIT_BYTES

_BACKLOG: Final = 1024
_PAUSE_S: Final = 0.05
_TLS_HANDSHAKE: Final = b"\x16"  # The content type of the first record (RFC 8446, 5.1).
_IPV6_SITE: Final = 64
"""Bits of the prefix that one IPv6 site has for itself."""

_ABSENT: Final = frozenset({errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL})
"""A kernel without IPv6, or with IPv6 disabled, though the name has an address of it."""

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Newcomers from one address (of IPv6: from one /64) and in all, and their time in seconds."""

    of_one_address: int = 32
    in_all: int = 128
    proof_s: float = 5.0


class _Newcomer:
    def __init__(self, connection: socket.socket, address: str, number: int) -> None:
        self.connection = connection
        self.address = address
        self.site = _site(address)
        self.number = number
        self.has_spoken = False
        self.task: asyncio.Task[None] | None = None


class Door:
    """Listens, and serves who proves the secret that `context` asks for."""

    def __init__(
        self, context: ssl.SSLContext, serve: Serve, log: EventLog, limits: Limits | None = None
    ) -> None:
        self._context = context
        self._serve = serve
        self._log = log
        self._limits = limits or Limits()
        self._numbers = itertools.count()
        self._listeners: list[socket.socket] = []
        self._accepting: list[asyncio.Task[None]] = []
        self._newcomers: list[_Newcomer] = []
        self._admitted: set[asyncio.Task[None]] = set()

    async def open(self, address: str, port: int) -> int:
        """Listen on all addresses of that name that this host has; return the port (0 means any).

        Raises OSError if it has none of them, or if one of them is in use.
        """
        found = await asyncio.get_running_loop().getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        absent: OSError | None = None
        try:
            for family, _, _, _, where in dict.fromkeys(found):
                try:
                    listener = _listening(family, (where[0], port, *where[2:]))
                except OSError as error:
                    if error.errno not in _ABSENT:
                        raise
                    absent = error
                    self._log.say("an address is left out", f"{where[0]}: {error.strerror}")
                else:
                    self._listeners.append(listener)
                    port = int(listener.getsockname()[1])
            if absent and not self._listeners:
                raise absent
        except OSError:
            await self.close()
            raise
        self._accepting = [asyncio.create_task(self._accept(one)) for one in self._listeners]
        return port

    async def close(self) -> None:
        """Stop listening, and end all conversations."""
        ending = [*self._accepting, *self._admitted]
        ending += [one.task for one in self._newcomers if one.task]
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending)
        for listener in self._listeners:
            listener.close()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, where = await loop.sock_accept(listener)
            except OSError as error:  # Also out of descriptors: a newcomer's is the next.
                self._log.say("a connection could not be accepted", error.strerror or str(error))
                self._dismiss_one_of(self._newcomers)
                await asyncio.sleep(_PAUSE_S)
                continue
            self._welcome(_Newcomer(connection, str(where[0]), next(self._numbers)))
            # While more are queued, accepting does not wait: those who are here have their turn.
            await asyncio.sleep(0)

    def _welcome(self, newcomer: _Newcomer) -> None:
        present = self._newcomers
        neighbours = [one for one in present if one.site == newcomer.site]
        if len(neighbours) >= self._limits.of_one_address:
            self._dismiss_one_of(neighbours)
        elif len(present) >= self._limits.in_all:
            ((most, _),) = Counter(one.site for one in present).most_common(1)
            self._dismiss_one_of([one for one in present if one.site == most])
        present.append(newcomer)
        newcomer.task = asyncio.create_task(self._prove(newcomer))
        newcomer.task.add_done_callback(lambda _: self._forget(newcomer))

    def _forget(self, newcomer: _Newcomer) -> None:
        """Its task is over, which may have been cancelled before it began."""
        with contextlib.suppress(ValueError):
            self._newcomers.remove(newcomer)
        if not newcomer.has_spoken:
            newcomer.connection.close()

    def _dismiss_one_of(self, some: list[_Newcomer]) -> None:
        if not some:
            return
        one = min(some, key=lambda one: (one.has_spoken, one.number))
        self._newcomers.remove(one)
        self._log.say("too many connections without the secret", f"one of {one.address} is closed")
        if one.task:
            one.task.cancel()

    async def _prove(self, newcomer: _Newcomer) -> None:
        """Let it in once it has proven the secret, or close it when its time is over."""
        try:
            async with asyncio.timeout(self._limits.proof_s):
                streams = await self._handshake(newcomer)
        except (OSError, EOFError) as error:  # TimeoutError and ssl.SSLError are OSErrors.
            why = getattr(error, "reason", None) or str(error) or "in time"
            self._log.say("a stranger did not prove the secret", f"{newcomer.address}: {why}")
            return
        serving = asyncio.create_task(self._admit(*streams))
        self._admitted.add(serving)
        serving.add_done_callback(self._admitted.discard)

    async def _handshake(
        self, newcomer: _Newcomer
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Raises OSError, EOFError; the connection is then closed, unless it never spoke."""
        loop = asyncio.get_running_loop()
        connection = newcomer.connection
        connection.setblocking(False)
        await _readable(connection)
        first = connection.recv(1, socket.MSG_PEEK)
        if first != _TLS_HANDSHAKE:
            raise EOFError("it left, or speaks something else")
        newcomer.has_spoken = True
        reader = asyncio.StreamReader(limit=LINE_LIMIT_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        # If it fails or is cancelled, the transport closes the connection.
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol,
            connection,
            ssl=self._context,
            ssl_handshake_timeout=self._limits.proof_s,
        )
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):  # It has left already.
            _detect_loss(writer.get_extra_info("socket"))
        await self._serve(reader, writer)


def _listening(family: int, where: tuple[Any, ...]) -> socket.socket:
    """Raises OSError."""
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setblocking(False)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(where)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _site(address: str) -> str:
    """What one stranger has many of counts as one: a /64 of IPv6."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip.version == 4:
        return address
    return str(ipaddress.ip_network((ip, _IPV6_SITE), strict=False))


async def _readable(connection: socket.socket) -> None:
    """Wait until there is something to read, or the other side has left."""
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    descriptor = connection.fileno()
    loop.add_reader(descriptor, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(descriptor)


def _detect_loss(connection: socket.socket) -> None:
    """Let the kernel detect an advisor whose host vanished, within two minutes."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 15)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4)
