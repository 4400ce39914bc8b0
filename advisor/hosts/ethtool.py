"""What a network card's driver says to ethtool's ioctl: rings, pause frames, offloads.

Reading needs no privilege. No library does it without a netlink stack of its own.
"""

import ctypes
import fcntl
import socket
import struct
from typing import Final

from advisor.models.card_audit import Pause, Rings

# linux/sockios.h, linux/ethtool.h
_ETHTOOL: Final = 0x8946
_GET_RINGS: Final = 0x10
_GET_PAUSE: Final = 0x12
_OFFLOADS: Final = {"tx": 0x16, "rx": 0x14, "sg": 0x18, "tso": 0x1E, "gso": 0x23, "gro": 0x2B}
_NAME_BYTES: Final = 16
_REQUEST: Final = struct.Struct(f"@{_NAME_BYTES}sP16x")  # struct ifreq


def rings(card: str) -> Rings | None:
    """The sizes of its rings; None where its driver does not say, or has none to set."""
    found = _asked(card, _GET_RINGS, 9)
    if found is None or not (found[1] and found[4]):
        return None
    return Rings(rx_most=found[1], tx_most=found[4], rx=found[5], tx=found[8])


def pause(card: str) -> Pause | None:
    """Its flow control; None where its driver does not say."""
    found = _asked(card, _GET_PAUSE, 4)
    return None if found is None else Pause(rx=bool(found[2]), tx=bool(found[3]))


def offloads(card: str) -> dict[str, bool]:
    """Checksums (`tx`, `rx`), scatter-gather and segmentation, those that its driver reports."""
    asked = {name: _asked(card, number, 2) for name, number in _OFFLOADS.items()}
    return {name: bool(found[1]) for name, found in asked.items() if found is not None}


def _asked(card: str, command: int, words: int) -> tuple[int, ...] | None:
    """The answer to a command, as 32-bit words, the first being the command; None without one."""
    name = card.encode()
    if len(name) >= _NAME_BYTES:
        return None
    answer = (ctypes.c_uint32 * words)(command)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            fcntl.ioctl(sock, _ETHTOOL, _REQUEST.pack(name, ctypes.addressof(answer)))
        except OSError:
            return None
    return tuple(answer)
