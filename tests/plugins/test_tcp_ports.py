"""The port of iperf3's server, where others take ports at the same time."""

import errno
import socket
from typing import Any

import pytest

from advisor.api.transport import ReceiveOrder
from advisor.domain.measurement import FailureKind
from plugins.transports.tcp_iperf3 import receiving

LOST_RACES = 3
TAKEN = "unable to start listener for connections: Address already in use"


class Channel:
    """In place of a channel: the troubles that it received."""

    def __init__(self) -> None:
        self.troubles: list[tuple[FailureKind, str]] = []

    def trouble(self, kind: FailureKind, message: str) -> None:
        self.troubles.append((kind, message))


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Those tried; of the first few another program was faster."""
    tried: list[int] = []

    class Receiver:
        def __init__(self, address: str, port: int, *_: Any) -> None:
            tried.append(port)

        def serve(self) -> str:
            return TAKEN if len(tried) <= LOST_RACES else ""

    monkeypatch.setattr(receiving, "_Receiver", Receiver)
    return tried


def order(ports: tuple[int, int]) -> ReceiveOrder:
    return ReceiveOrder(
        setting={"streams": 1},
        source_address="127.0.0.1",
        token=b"0" * 32,
        ports=ports,
        ceiling_s=1.0,
        sample_every_s=0.1,
    )


def free_ports(number: int) -> tuple[int, int]:
    """A range of ports that are free at the moment."""
    for first in range(20000, 30000, number):
        taken = []
        try:
            for port in range(first, first + number):
                one = socket.socket()
                taken.append(one)
                one.bind(("127.0.0.1", port))
        except OSError:
            continue
        finally:
            for one in taken:
                one.close()
        return first, first + number - 1
    raise AssertionError("no ports are free")


def test_any_port_is_tried_again_where_another_program_was_faster(ports: list[int]) -> None:
    channel = Channel()
    receiving.receive(order((0, 0)), channel)  # type: ignore[arg-type] # of a channel, this alone
    assert channel.troubles == []
    assert len(ports) == LOST_RACES + 1
    # Another connection of this host would begin at an ephemeral one while libiperf opens it again.
    assert all(20000 <= port <= 32767 for port in ports)


def test_the_next_port_of_a_range_is_tried(ports: list[int]) -> None:
    first, last = free_ports(LOST_RACES + 1)
    channel = Channel()
    receiving.receive(order((first, last)), channel)  # type: ignore[arg-type] # as above
    assert channel.troubles == []
    assert ports == list(range(first, last + 1))


def test_a_range_without_a_free_port_is_named(ports: list[int]) -> None:
    first, last = free_ports(LOST_RACES)
    channel = Channel()
    receiving.receive(order((first, last)), channel)  # type: ignore[arg-type] # as above
    [(kind, message)] = channel.troubles
    assert kind is FailureKind.REFUSED
    assert message == f"no port from {first} to {last} is free on this host"


class WithoutIpv6(socket.socket):
    """As where the kernel was started with `ipv6.disable=1`."""

    def __init__(self, family: int = -1, *arguments: Any, **named: Any) -> None:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        super().__init__(family, *arguments, **named)


@pytest.mark.parametrize("limits", [(0, 0), (20000, 32767)])
def test_a_kernel_without_ipv6_has_free_ports(
    ports: list[int], monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int]
) -> None:
    monkeypatch.setattr(socket, "socket", WithoutIpv6)
    channel = Channel()
    receiving.receive(order(limits), channel)  # type: ignore[arg-type] # as above
    assert channel.troubles == []
    assert len(ports) == LOST_RACES + 1
