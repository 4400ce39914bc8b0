"""Finds libudt, binds its functions, and turns its errors into exceptions."""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from advisor.api.values import install_line

from .errors import CLOSED, TIMED_OUT, UdtClosed, UdtError, UdtMissing, UdtTimeout

Function = Callable[..., int]

_SONAME = "libudt.so.0"


@dataclass(frozen=True, slots=True)
class Library:
    """libudt's functions, found once."""

    socket: Function
    bind: Function
    bind_udp: Function
    listen: Function
    accept: Function
    connect: Function
    close: Function
    peer_name: Function
    own_name: Function
    get_option: Function
    set_option: Function
    send: Function
    receive: Function
    perf: Function
    error_code: Function
    error_text: Callable[[], bytes]

    def failure(self) -> UdtError:
        """The calling thread's last error."""
        code = self.error_code()
        text = self.error_text().decode(errors="replace").strip().rstrip(".")
        return _KINDS.get(code, UdtError)(code, text)


_KINDS: Mapping[int, type[UdtError]] = {CLOSED: UdtClosed, TIMED_OUT: UdtTimeout}


@cache
def library() -> Library:
    """Load libudt and start it; later calls return the same object.

    Raises `UdtMissing` when there is no libudt, or one that lacks the functions.
    """
    try:
        loaded = ctypes.CDLL(_SONAME)
        return _bound(loaded)
    except (OSError, AttributeError) as error:
        raise UdtMissing(
            f"libudt 4 cannot be loaded ({error}); remedy: {install_line('libudt')}"
        ) from error


def _bound(loaded: ctypes.CDLL) -> Library:
    def function(symbol: str, *arguments: Any, result: Any = ctypes.c_int) -> Any:
        found = loaded[f"_ZN3UDT{symbol}"]
        found.restype = result
        # Left unset where no types are given: ctypes then takes plain ints and byref() as they
        # are, which is three times faster, and matters in the two loops.
        if arguments:
            found.argtypes = arguments
        return found

    number, pointer = ctypes.c_int, ctypes.c_void_p
    functions = Library(
        socket=function("6socketEiii", number, number, number),
        bind=function("4bindEiPK8sockaddri", number, pointer, number),
        bind_udp=function("5bind2Eii", number, number),
        listen=function("6listenEii", number, number),
        accept=function("6acceptEiP8sockaddrPi", number, pointer, pointer),
        connect=function("7connectEiPK8sockaddri", number, pointer, number),
        close=function("5closeEi", number),
        peer_name=function("11getpeernameEiP8sockaddrPi", number, pointer, pointer),
        own_name=function("11getsocknameEiP8sockaddrPi", number, pointer, pointer),
        get_option=function("10getsockoptEii6UDTOptPvPi", number, number, number, pointer, pointer),
        set_option=function("10setsockoptEii6UDTOptPKvi", number, number, number, pointer, number),
        send=function("4sendEiPKcii"),
        receive=function("4recvEiPcii"),
        perf=function("7perfmonEiP8CPerfMonb", number, pointer, ctypes.c_bool),
        error_code=function("17getlasterror_codeEv"),
        error_text=function("17getlasterror_descEv", result=ctypes.c_char_p),
    )
    function("7startupEv")()
    return functions
