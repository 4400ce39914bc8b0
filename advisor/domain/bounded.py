"""Numbers from outside, with the range that anything real is in.

Peers, records and imported files are written by others. A number beyond its range is damage or an
attack; what is decoded as one of these types can be calculated with, and stored in any format. The
ranges are wide: what an advisor has measured is never outside.
"""

from typing import Annotated, Final

import msgspec

MOST: Final = 2**62
"""The largest magnitude of a whole number: with room in 64 bits, so that two can be added."""
SHORTEST_S: Final = 1e-6
"""What is shorter has no rate."""
LONGEST_S: Final = 1e9
_CENTURIES_S: Final = (-6e10, 2.5e11)

Whole = Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
ByteCount = Count
Size = Annotated[float, msgspec.Meta(ge=-float(MOST), le=float(MOST))]
"""What is mostly a whole number."""
Figure = Annotated[float, msgspec.Meta(ge=-1e100, le=1e100)]
"""A rate in bit/s, its error, a sum of squares: products of three of them are finite."""
LinkRate = Annotated[float, msgspec.Meta(ge=1, le=1e18)]
"""The speed of an interface in bit/s."""
Span = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_S)]
"""How many seconds something took."""
Lasted = Annotated[float, msgspec.Meta(ge=SHORTEST_S, le=LONGEST_S)]
"""How many seconds something took that has a rate."""
Moment = Annotated[float, msgspec.Meta(ge=-LONGEST_S, le=LONGEST_S)]
"""Seconds since something began."""
Clock = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
"""Seconds since a host was started, or CPU seconds of all its cores since then."""
UnixTime = Annotated[float, msgspec.Meta(ge=_CENTURIES_S[0], le=_CENTURIES_S[1])]
"""A time of which there is a date."""
