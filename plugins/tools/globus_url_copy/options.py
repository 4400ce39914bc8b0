"""The options of the data connections, for printed and for measured lines."""

from typing import Final

from advisor.api.flow_space import is_as_typed
from advisor.api.values import AUTOMATIC, Setting

_TCP_BLOCK_BYTES: Final = 2**20
"""A block is sent over one stream, so a large one leaves streams idle for a small file; with files,
64 KiB, 256 KiB and 16 MiB were all slower."""

PIPELINED: Final[Setting] = {"pipelining": AUTOMATIC}
"""As many commands ahead as the tool likes; 1 sends none ahead, as the papers count.

Over 60 ms, 315 files of 0.3 MB (median) took 51 s with it and 75 s without, one at a time; 12.8 s
and 14.3 s with 8 at a time.
"""

_UDP_HEADER_BYTES: Final = 28


def joint_options(setting: Setting, *, several: bool) -> list[str]:
    """For a setting of this tool itself: files at a time, and streams for each.

    `several`: whether more than one file or range is to be moved.
    """
    if is_as_typed(setting):
        return []
    return tcp_options(
        at_once=int(setting["concurrency"]),
        per_file=int(setting["parallelism"]),
        several=several,
        pipelined=setting.get("pipelining", AUTOMATIC) != 1,
    )


def tcp_options(
    *,
    at_once: int,
    per_file: int,
    buffer_bytes: int = 0,
    several: bool = True,
    pipelined: bool = True,
) -> list[str]:
    """The options for files at a time and streams for each; a buffer of 0 is the kernel's own."""
    options = ["-fast", "-p", str(per_file)]
    if buffer_bytes:
        options += ["-tcp-bs", str(buffer_bytes)]
    options += ["-bs", str(_TCP_BLOCK_BYTES)]
    if several and pipelined:
        # Without -pp every file waits a round trip for the previous one.
        options += ["-pp"]
    if at_once > 1:
        options += ["-cc", str(at_once)]
    return options


def payload_bytes(setting: Setting) -> int:
    """The bytes of its buffer that libudt counts per packet."""
    return int(setting["mss_bytes"]) - _UDP_HEADER_BYTES


def udt_options(setting: Setting) -> list[str]:
    """Block and driver stack for UDT, one stream, one file at a time."""
    packets = -(-int(setting["buffer_bytes"]) // payload_bytes(setting))
    stack = f"udt:mss={setting['mss_bytes']};fc={packets}"
    return ["-bs", str(setting["block_bytes"]), "-dcstack", stack]
