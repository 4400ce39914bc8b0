"""What had reached a receiver over TCP by each report, whether its program could read it or not.

A program reads in order. Behind a hole that a loss leaves nothing is read, and when the hole is
filled all that waited behind it is read at once: pauses and bursts that the path does not have. In
the kernel's count of segments they do not show, but it counts segments that came twice, and each as
a full one. Both counts together show what was waiting: the surplus of the second over the first is
what waits and what is counted too often. The latter never falls, so it is at most the least surplus
of any later report: what is beyond that was waiting.
"""

import itertools
from collections.abc import Sequence


def reached_bytes(read: Sequence[int], arrived: Sequence[int | None]) -> list[int]:
    """The bytes that had reached the receiver by each report: at least what was read by then.

    `read`: running totals in order. `arrived`: running upper bounds of what came in any order; None
    where they are not known. In the last report it is what was read.
    """
    known = [total for total in arrived if total is not None]
    if len(known) < len(read):
        return list(read)
    surpluses = [total - in_order for total, in_order in zip(known, read, strict=True)]
    least = list(itertools.accumulate(reversed(surpluses), min))[::-1]
    return [total - twice for total, twice in zip(known, least, strict=True)]
