"""The line of one measured transfer, and its list of files."""

from advisor.api.tool import Piece, Step, TransferOrder

from .lines import NAME
from .options import joint_options
from .urls import control_port, measured_server, url_path


def steps_for(order: TransferOrder) -> list[Step]:
    """One program, on the source."""
    several = len(order.pieces) > 1
    options = [*joint_options(order.setting, several=several), *_verify(order)]
    # -cd takes ten round trips, so the line of a single file has it only on request.
    makes_folders = several if order.make_folders is None else order.make_folders
    folders = ["-cd"] if makes_folders else []
    server = measured_server(order.server_url, order.destination_host)
    return [
        Step(
            side="source",
            argv=[NAME, "-vb", *options, *folders, "-f", order.list_file],
            list_text=_list_text(order, server),
            control_port=control_port(server),
        )
    ]


def _verify(order: TransferOrder) -> list[str]:
    """Checksums cover whole files at both ends, so a range would never match."""
    wanted = order.verify and all(piece.is_whole for piece in order.pieces)
    return ["-verify-checksum"] if wanted else []


def _list_text(order: TransferOrder, server: str) -> str:
    """A line for each piece.

    A range's length also applies to later files without one on the same connection: they are
    truncated, with status 0. So if any piece is a range, all are given as ranges.
    """
    as_ranges = not all(piece.is_whole for piece in order.pieces)
    return "".join(f"{_entry(piece, server, as_range=as_ranges)}\n" for piece in order.pieces)


def _entry(piece: Piece, server: str, *, as_range: bool) -> str:
    urls = f"file://{url_path(piece.source)} {server}{url_path(piece.target)}"
    return f"{urls} {piece.offset_bytes},{piece.size_bytes}" if as_range else urls
