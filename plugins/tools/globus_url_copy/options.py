"""The options of the data connections, for printed and for measured lines."""

from typing import Final

from advisor.api.values import Setting

_TCP_BLOCK_BYTES: Final = 2**20
"""A block is sent over one stream, so a large one leaves streams idle for a small file; with files,
64 KiB, 256 KiB and 16 MiB were all slower."""

AS_TYPED: Final[Setting] = {"pipelining": 1}
"""Marks a setting whose line has `-cc` and `-p` alone, as typed by users who tune nothing.

As the papers count, a pipelining of 1 sends no command ahead. Over 20 ms, 300 files of 200 kB took
11.5 s with plain `-cc 2 -p 8` and 8.6 s with the options that are added here, all of it due to
`-pp`; two ranges of 200 MiB took the same time.
"""

_UDP_HEADER_BYTES: Final = 28


def joint_options(setting: Setting, *, several: bool) -> list[str]:
    """For a setting of this tool itself: files at a time, and streams for each.

    `several`: whether more than one file or range is to be moved.
    """
    at_once, per_file = int(setting["concurrency"]), int(setting["parallelism"])
    if is_as_typed(setting):
        concurrency = ["-cc", str(at_once)] if at_once > 1 else []
        return concurrency + (["-p", str(per_file)] if per_file > 1 else [])
    return tcp_options(at_once=at_once, per_file=per_file, several=several)


def is_as_typed(setting: Setting) -> bool:
    """Whether a setting has this mark."""
    return setting.items() >= AS_TYPED.items()


def tcp_options(
    *, at_once: int, per_file: int, buffer_bytes: int = 0, several: bool = True
) -> list[str]:
    """The options for files at a time and streams for each; a buffer of 0 is the kernel's own."""
    options = ["-fast", "-p", str(per_file)]
    if buffer_bytes:
        options += ["-tcp-bs", str(buffer_bytes)]
    options += ["-bs", str(_TCP_BLOCK_BYTES)]
    if several:
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
