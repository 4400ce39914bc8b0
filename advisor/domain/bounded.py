"""Numbers from outside, with the range that anything real is in.

Peers, records and imported files are written by others. A number beyond its range is damage or an
attack; what is decoded as one of these types can be calculated with, and stored in any format.
"""

from typing import Annotated, Final

import msgspec

MOST: Final = 2**62
"""The largest magnitude of a whole number: with room in 64 bits, so that two can be added."""

Whole = Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]
ByteCount = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Real = Annotated[float, msgspec.Meta(ge=-float(MOST), le=float(MOST))]
"""A number of whatever unit. Products of a few of them are finite."""
