"""Results of an importer other than probes."""

import hashlib
from functools import lru_cache
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.printable import escape_fields, shortened

# TCP needs about ten round trips to come up to speed. The RTT is not in a log: assume 100 ms, as
# between continents.
_SHORTEST_S: Final = 1.0
_LONGEST_REASON: Final = 100


class BadEntry(msgspec.Struct, frozen=True):
    """A part of a file that is not imported.

    `place`: line or result within the file, "" for the whole file or where it is not known.
    `why`: one sentence, made printable. `count`: the number of such parts it stands for.
    """

    place: str
    why: str
    count: int = 1

    def __post_init__(self) -> None:
        escape_fields(self, ("place", "why"))

    @classmethod
    def about(cls, place: str, error: Exception) -> "BadEntry":
        """For one of REFUSALS."""
        if isinstance(error, RefusedError):
            return cls(place, str(error))
        what = f"{type(error).__name__}: {shortened(str(error), _LONGEST_REASON)}"
        return cls(place, f"it is damaged in a way that its format does not have ({what})")


class RefusedError(Exception):
    """An entry is not imported; the message is a sentence that says why."""


REFUSALS: Final = (
    RefusedError,
    ValueError,
    ArithmeticError,
    LookupError,
    TypeError,
    AttributeError,
    msgspec.MsgspecError,
)
"""What the parser of an entry raises to refuse it, and for unexpected damage.

No damage may cost the good entries around it: who parses one catches all of these.
"""


def require_long(elapsed_s: float) -> None:
    """Raises RefusedError for a transfer that is too short to show a rate."""
    if elapsed_s < _SHORTEST_S:
        raise RefusedError(f"it took less than {_SHORTEST_S:g} s: too short to show a rate")


def whole_transfer(rate_bps: float, moved_bytes: int, elapsed_s: float) -> Measurement:
    """What is known of a transfer by one figure for all of it: its variation is not."""
    return Measurement(
        throughput_bps=rate_bps,
        stderr_bps=rate_bps,
        intervals=[Interval(0.0, elapsed_s, moved_bytes)],
        steady_from=0,
        settled=False,
        elapsed_s=elapsed_s,
    )


# The same few hosts occur in every line.
@lru_cache(maxsize=1024)
def pair_of(source: str, destination: str) -> Pair:
    """The hosts that a file names. Raises RefusedError for what cannot be the name of one."""
    pair = Pair.named(source, destination)
    if pair is None:
        raise RefusedError(
            "its host names are empty, too long, or contain control characters: name them with "
            "--pair"
        )
    return pair


def identity(content: str) -> str:
    """The session id of an imported record: depends only on its content."""
    return f"import:{hashlib.sha256(content.encode()).hexdigest()[:32]}"
