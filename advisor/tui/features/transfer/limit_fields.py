"""The fields that limit what a transfer takes of hosts and network."""

from collections.abc import Iterable
from typing import Final

from advisor.domain.quantities import parse_given_rate
from advisor.transfer.tuned.parsing import parse_price
from advisor.tui.features.transfer.draft import TransferDraft
from advisor.tui.kit.fields.checks import whole_number
from advisor.tui.kit.fields.field import Field

_MOST_FILES: Final = 128
_MOST_STREAMS: Final = 128
_NICEST: Final = 19


def limit_fields(draft: TransferDraft) -> Iterable[Field]:
    """Numbers of files and streams, rate, niceness and price."""
    yield Field(
        "Files at a time",
        "max_concurrency",
        draft,
        check=whole_number(1, _MOST_FILES),
        example="default: 32 at most",
        explained="How many files, and parts of large files, may be moved at a time.",
    )
    yield Field(
        "Streams for each",
        "max_streams",
        draft,
        check=whole_number(1, _MOST_STREAMS),
        example="default: 16 at most",
        explained="How many TCP connections one file may have.",
    )
    yield Field(
        "Streams in total",
        "max_flows",
        draft,
        check=whole_number(1, _MOST_FILES * _MOST_STREAMS),
        example="default: 128 at most",
        explained="Files at a time × streams for each. Some sites ask for few.",
    )
    yield Field(
        "Rate",
        "max_rate",
        draft,
        check=parse_given_rate,
        example="default: no limit; 2Gbit leaves the rest to others",
        explained="The mean rate limit of all streams together, in bit/s. With a limit, the "
        "rates say nothing about the settings: the epochs are not stored in the history.",
    )
    yield Field(
        "Niceness",
        "nice",
        draft,
        check=whole_number(0, _NICEST),
        example="default: 0; up to 19 yields cores to others",
        explained="The nice value of the clients on this host.",
    )
    yield Field(
        "Stream price",
        "price",
        draft,
        check=parse_price,
        example="default: none; 2% asks a gain of 2 % per stream",
        explained="With a price, two tuned transfers from one source converge, instead of "
        "outbidding each other with ever more streams.",
    )
