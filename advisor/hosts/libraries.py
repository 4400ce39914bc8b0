"""The versions of the libraries that transports need."""

import contextlib
import ctypes
from pathlib import Path
from typing import Final

LIBIPERF: Final = "libiperf.so.0"
"""Its name for the loader, and for the binding, which otherwise runs a compiler to find it."""


def library_versions() -> dict[str, str]:
    """The versions of libiperf and libudt, by name; one that cannot be loaded is left out."""
    found = {"libiperf": libiperf_version(), "libudt": libudt_version()}
    return {name: version for name, version in found.items() if version}


def libiperf_version() -> str | None:
    """`3.12`, as libiperf reports; None when it cannot be loaded."""
    with contextlib.suppress(OSError, AttributeError):
        version = ctypes.CDLL(LIBIPERF).iperf_get_iperf_version
        version.restype = ctypes.c_char_p
        return (version() or b"").decode("ascii", "replace") or None
    return None


def libudt_version() -> str | None:
    """`so 0.0.0`: libudt does not report its version, only its file name contains one.

    None when it cannot be loaded.
    """
    with contextlib.suppress(OSError):
        ctypes.CDLL("libudt.so.0")
        # The file the loader chose, wherever it found it.
        for line in Path("/proc/self/maps").read_text().splitlines():
            # Of a library that a pushed agent brings along: "/memfd:libudt.so.0 (deleted)".
            name = Path(line.removesuffix(" (deleted)").rpartition(" ")[2]).name
            name = name.removeprefix("memfd:")
            if name.startswith("libudt.so."):
                return "so " + name.removeprefix("libudt.so.")
    return None
