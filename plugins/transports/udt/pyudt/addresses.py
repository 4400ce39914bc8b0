"""Conversion between Python's addresses and those of the C functions."""

import ctypes
import socket
import struct

Address = tuple[str, int]


def packed(family: int, address: Address) -> ctypes.Array[ctypes.c_char]:
    """`address` as a sockaddr; names are resolved. Raises `socket.gaierror`."""
    found = socket.getaddrinfo(*address, family=family, type=socket.SOCK_DGRAM)[0][4]
    host, port = str(found[0]), int(found[1])
    if family == socket.AF_INET:
        raw = struct.pack("=H2s4s8x", family, port.to_bytes(2, "big"), _number(family, host))
    else:
        flow, scope = (int(part) for part in found[2:4])
        number = _number(family, host.partition("%")[0])
        raw = struct.pack("=H2sI16sI", family, port.to_bytes(2, "big"), flow, number, scope)
    return ctypes.create_string_buffer(raw, len(raw))


def unpacked(family: int, name: ctypes.Array[ctypes.c_char]) -> Address:
    """The (host, port) of the sockaddr `name`."""
    first, length = (4, 4) if family == socket.AF_INET else (8, 16)
    host = socket.inet_ntop(family, name.raw[first : first + length])
    return host, int.from_bytes(name.raw[2:4], "big")


def _number(family: int, host: str) -> bytes:
    return socket.inet_pton(family, host)
