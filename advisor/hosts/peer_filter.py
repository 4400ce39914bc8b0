"""Makes the kernel drop every packet that does not come from a given address."""

import ctypes
import ipaddress
import socket
import struct
from collections.abc import Iterator
from typing import Final

_SO_ATTACH_FILTER: Final = 26  # asm-generic/socket.h; the socket module does not name it.
_NET_OFF: Final = 0xFFF00000  # SKF_NET_OFF: offsets from the start of the IP header.
_LOAD_BYTE: Final = 0x30  # BPF_LD | BPF_B | BPF_ABS
_LOAD_WORD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_SHIFT_RIGHT: Final = 0x74  # BPF_ALU | BPF_RSH | BPF_K
_JUMP_IF_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K
_WHOLE_PACKET: Final = 0xFFFFFFFF
_SOURCE_OFFSET: Final = {4: 12, 6: 8}  # Of the source address in the header, by IP version.

_Instruction = tuple[int, int, int, int]


_Ip = ipaddress.IPv4Address | ipaddress.IPv6Address


def only_from(sock: socket.socket, address: str) -> None:
    """Make the kernel drop packets to `sock` from any source but the IP address `address`.

    For UDP, where it needs no privilege, and for listening TCP sockets, whose accepted connections
    inherit it. On a dual-stack IPv6 socket an IPv4 address, plain or mapped (::ffff:a.b.c.d),
    admits that IPv4 host. Packets already queued stay: attach it before `bind`, or for TCP before
    `listen`, to leave no gap. Excluded hosts get no answer, not even a refusal.

    Raises ValueError when `address` is not an IP address, OSError when the kernel refuses. For TCP
    that is PermissionError without CAP_NET_ADMIN on kernels of 2026 and later (Linux 5d39580f68e6,
    also in stable series); then check every accepted connection with `comes_from`, or where foreign
    code accepts, watch its port (`port_watch`).
    """
    program = b"".join(struct.pack("=HBBI", *step) for step in _program(_plain(address)))
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)


def can_filter_tcp() -> bool:
    """Whether the kernel lets this account filter a TCP socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        try:
            only_from(trial, "127.0.0.1")
        except OSError:
            return False
    return True


def comes_from(connection: socket.socket, address: str) -> bool:
    """Whether the peer of a connection has this IP address; False when there is no peer.

    Plain and mapped IPv4 addresses are equal. Raises ValueError when `address` is not an address.
    """
    wanted = _plain(address)
    try:
        return _plain(str(connection.getpeername()[0])) == wanted
    except OSError:
        return False


def _plain(address: str) -> _Ip:
    # The scope (%eth0) is this host's own name for the interface, not part of the address.
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        return ip.ipv4_mapped  # On the wire such packets are IPv4.
    return ip


def _program(ip: _Ip) -> Iterator[_Instruction]:
    words = struct.unpack(f"!{len(ip.packed) // 4}I", ip.packed)
    offset = _SOURCE_OFFSET[ip.version]
    # The version first: an IPv6 packet may contain the wanted IPv4 address at the same place by
    # chance or intent. Each failed comparison jumps over all that follows, to the drop.
    yield _LOAD_BYTE, 0, 0, _NET_OFF
    yield _SHIFT_RIGHT, 0, 0, 4
    yield _JUMP_IF_EQUAL, 0, 2 * len(words) + 1, ip.version
    for index, word in enumerate(words):
        yield _LOAD_WORD, 0, 0, _NET_OFF + offset + 4 * index
        yield _JUMP_IF_EQUAL, 0, 2 * (len(words) - index) - 1, word
    yield _RETURN, 0, 0, _WHOLE_PACKET
    yield _RETURN, 0, 0, 0
