"""Finds free ports for a program to listen on."""

import random
import socket
from typing import Final

# Below the range from which the kernel assigns ephemeral ports.
_USUAL_PORTS: Final = (20000, 32767)


def free_run(
    count: int, ports: tuple[int, int], family: socket.AddressFamily, address: str = ""
) -> int:
    """The first of `count` consecutive free TCP ports within `ports`; (0, 0) for any.

    Any is one below the ephemeral range. `address`: where they are to be free; "" everywhere.
    Nothing reserves them until the program binds them. Raises OSError if there are none.
    """
    if ports != (0, 0):
        return _free_run(count, *ports, family, address)
    first, last = _USUAL_PORTS
    # Not the same each time: another agent on this host may have chosen some just before.
    begin = random.randint(first, last - count)
    try:
        return _free_run(count, begin, last, family, address)
    except OSError:
        return _free_run(count, first, last, family, address)


def _free_run(count: int, first: int, last: int, family: socket.AddressFamily, address: str) -> int:
    free = 0
    for port in range(first, last + 1):
        free = free + 1 if _is_free(port, family, address) else 0
        if free == count:
            return port - count + 1
    raise OSError(f"of the ports {first} to {last}, no {count} in a row are free")


def _is_free(port: int, family: socket.AddressFamily, address: str) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as one:
        # As servers do: remnants of closed connections do not count.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((address, port))
        except OSError:
            return False
    return True
