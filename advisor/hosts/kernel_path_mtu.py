"""What the kernel knows of a path's MTU, and the sockets whose datagrams it does not fragment."""

import socket
from typing import Final

# linux/in.h and linux/in6.h; the socket module does not name them.
_DISCOVER_DO: Final = 2
DISCOVER_PROBE: Final = 3
_DISCOVER: Final = {
    socket.AF_INET: (socket.IPPROTO_IP, 10),
    socket.AF_INET6: (socket.IPPROTO_IPV6, 23),
}
_MTU: Final = {
    socket.AF_INET: (socket.IPPROTO_IP, 14),
    socket.AF_INET6: (socket.IPPROTO_IPV6, 24),
}
_DISCARD_PORT: Final = 9  # Nothing is sent; connecting needs some port.


def kernel_path_mtu(address: str, bound: str = "") -> int:
    """The kernel's path MTU to an IP address, in bytes. Sends nothing.

    That is the interface's MTU until a router has reported less. Raises OSError without a route.
    """
    with unfragmented_socket(address, _DISCARD_PORT, _DISCOVER_DO, bound) as sock:
        return sock.getsockopt(*_MTU[socket.AddressFamily(sock.family)])


def unfragmented_socket(address: str, port: int, discover: int, bound: str) -> socket.socket:
    """A connected UDP socket. Raises OSError without a route.

    `discover`: DISCOVER_PROBE also sends what is larger than the kernel's path MTU. `bound`: the
    address of this host to send from; "" where the kernel chooses.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        sock.setsockopt(*_DISCOVER[family], discover)
        if bound:
            sock.bind((bound, 0))
        sock.connect((address, port))
    except OSError:
        sock.close()
        raise
    return sock
