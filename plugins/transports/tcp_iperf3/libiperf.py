"""libiperf through the PyPI binding `iperf3`, and the calls under it that the binding lacks."""

import ctypes
from typing import Final

import iperf3

from advisor.api.values import FailureKind

# libiperf's error messages, and the kind of failure each means.
_MEANINGS: Final = (
    ("connection refused", FailureKind.REFUSED),
    ("busy", FailureKind.BUSY),
    # A server given a buffer size closes its port, and listens again at the same one.
    ("address already in use", FailureKind.BUSY),
    ("buffer size", FailureKind.REJECTED_SETTING),
    ("congestion", FailureKind.REJECTED_SETTING),
    ("timed out", FailureKind.TIMED_OUT),
    ("unreachable", FailureKind.REFUSED),
    ("no route", FailureKind.REFUSED),
    ("reset by peer", FailureKind.RESET),
    # What the kernel says of a connection that is used again after that.
    ("broken pipe", FailureKind.RESET),
    ("not connected", FailureKind.RESET),
    ("closed unexpectedly", FailureKind.PEER_GONE),
    ("has terminated", FailureKind.PEER_GONE),
)


_CANNOT_LISTEN: Final = -2


class Library:
    """The libiperf calls that the binding lacks, for one of its test objects."""

    def __init__(self, role: iperf3.IPerf3) -> None:
        self._lib = role.lib
        # The binding keeps the pointer as a plain number, which ctypes would truncate to 32 bits.
        self._test = ctypes.c_void_p(role._test)
        self.could_listen = True
        """Of a server, after its run: whether it has listened at all."""
        self._lib.iperf_get_test_extra_data.restype = ctypes.c_char_p
        self._lib.iperf_strerror.restype = ctypes.c_char_p
        self._lib.iperf_get_iperf_version.restype = ctypes.c_char_p

    def set_int(self, knob: str, value: int) -> None:
        """Set a number of the test."""
        getattr(self._lib, f"iperf_set_test_{knob}")(self._test, ctypes.c_int(value))

    def set_text(self, knob: str, value: str) -> None:
        """Set a text of the test."""
        getattr(self._lib, f"iperf_set_test_{knob}")(self._test, ctypes.c_char_p(value.encode()))

    def set_interval(self, seconds: float) -> None:
        """How often it prints."""
        for knob in ("stats", "reporter"):
            setter = getattr(self._lib, f"iperf_set_test_{knob}_interval")
            setter(self._test, ctypes.c_double(seconds))

    def token(self) -> str | None:
        """What the client sent as extra data; None before it has."""
        found: bytes | None = self._lib.iperf_get_test_extra_data(self._test)
        return found.decode(errors="replace") if found is not None else None

    def control_descriptor(self) -> int:
        """The descriptor of the control connection, -1 without one."""
        return int(self._lib.iperf_get_control_socket(self._test))

    def run(self, end: str) -> str:
        """Run as client or server; "" or the error."""
        result = getattr(self._lib, f"iperf_run_{end}")(self._test)
        self.could_listen = result != _CANNOT_LISTEN
        if result >= 0:
            return ""
        number = ctypes.c_int.in_dll(self._lib, "i_errno").value
        return str(self._lib.iperf_strerror(number).decode(errors="replace"))

    @property
    def version(self) -> str:
        """libiperf's own version."""
        return str(self._lib.iperf_get_iperf_version().decode())


def kind_of(trouble: str) -> FailureKind:
    """What a sentence of libiperf's means for the probe."""
    lowered = trouble.lower()
    found = (kind for words, kind in _MEANINGS if words in lowered)
    return next(found, FailureKind.CRASHED)
