"""The options of the data connections, in a printed line as in a measured one."""

from typing import Final

from advisor.api.values import Setting

_TCP_BLOCK_BYTES: Final = 2**20
"""A block goes over one stream, so a large one leaves the streams of a small file idle; into files
64 KiB, 256 KiB and 16 MiB were all slower."""

AS_TYPED: Final[Setting] = {"pipelining": 1}
"""The mark of a setting whose line has `-cc` and `-p` alone, as users type it who tune nothing.

In the papers' count a pipelining of 1 sends no command ahead. Over 20 ms, 300 files of 200 kB took
11.5 s by plain `-cc 2 -p 8` and 8.6 s with the options that are added here, all of it by `-pp`;
two ranges of 200 MiB took the same.
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
    """Whether it has the mark."""
    return setting.items() >= AS_TYPED.items()


def tcp_options(
    *, at_once: int, per_file: int, buffer_bytes: int = 0, several: bool = True
) -> list[str]:
    """So many files at a time over so many streams each; a buffer of 0 is the kernel's own."""
    options = ["-fast", "-p", str(per_file)]
    if buffer_bytes:
        options += ["-tcp-bs", str(buffer_bytes)]
    options += ["-bs", str(_TCP_BLOCK_BYTES)]
    if several:
        # Without -pp every file waits a round trip for the one before.
        options += ["-pp"]
    if at_once > 1:
        options += ["-cc", str(at_once)]
    return options


def payload_bytes(setting: Setting) -> int:
    """What libudt counts as a packet's share of its buffer."""
    return int(setting["mss_bytes"]) - _UDP_HEADER_BYTES


def udt_options(setting: Setting) -> list[str]:
    """Block and driver stack for UDT, one stream, one file at a time."""
    packets = -(-int(setting["buffer_bytes"]) // payload_bytes(setting))
    stack = f"udt:mss={setting['mss_bytes']};fc={packets}"
    return ["-bs", str(setting["block_bytes"]), "-dcstack", stack]
