"""A binding for libudt 4 (Debian's `libudt0`): stream sockets, their options, and two fast loops.

Nothing needs a compiler: the C++ functions are called through ctypes by their mangled names. They
catch every C++ exception themselves and report it by a code kept per thread, which becomes a
`UdtError` here. `library()` says whether libudt can be used at all.

Pitfalls of libudt for callers:

- A process that used libudt takes about a second to end, because the library's clean-up at exit
  waits for closed sockets. Do not fork after the first socket.
- libudt reports free space in the receiver's buffer only with an acknowledgement, every 10 ms while
  packets arrive and every 100 ms when none do. Buffers that the path fills within 10 ms (2.5 MB for
  each 2 Gbit/s) therefore stall the transfer for 100 ms at a time.
- When only the processor limits the rate (loopback), the receiver's kernel buffer sometimes
  overflows, and libudt slows down for seconds: single short probes there differ by a factor of two.
"""

from .errors import UdtClosed, UdtError, UdtMissing, UdtTimeout
from .loops import REPEAT_SOURCE, Counter, End, receive_blocks, send_blocks
from .native import library
from .options import HEADER_BYTES, MSS_RANGE, Option, State
from .perf import Perf
from .sockets import Socket

__all__ = [
    "HEADER_BYTES",
    "MSS_RANGE",
    "REPEAT_SOURCE",
    "Counter",
    "End",
    "Option",
    "Perf",
    "Socket",
    "State",
    "UdtClosed",
    "UdtError",
    "UdtMissing",
    "UdtTimeout",
    "library",
    "receive_blocks",
    "send_blocks",
]
