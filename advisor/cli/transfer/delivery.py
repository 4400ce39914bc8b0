"""Options of the commands that move files: what is moved, what is replaced, how it is proven."""

import os
from pathlib import Path
from typing import Annotated

import typer
from platformdirs import user_state_path

from advisor.cli.commands import Options
from advisor.cli.errors import UsageError
from advisor.cli.options import FILES
from advisor.domain.manifest import ListingRules
from advisor.domain.proof import Algorithm, Existing
from advisor.transfer.engine.options import DeliveryOptions


class ListingFlags(Options, frozen=True):
    """What of the source is moved."""

    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="PATTERN",
            help="Leave out what matches, relative to DATA, as in '*.tmp'. Can be repeated. What "
            "is left out without this is an error.",
            rich_help_panel=FILES,
        ),
    ] = None
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links",
            help="Move what symbolic links point to, instead of the links.",
            rich_help_panel=FILES,
        ),
    ] = False


class DeliveryFlags(Options, frozen=True):
    """What a transfer may replace, and how it is proven."""

    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Move everything, whatever an earlier run has moved.",
            rich_help_panel=FILES,
        ),
    ] = False
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace files that exist at the destination.",
            rich_help_panel=FILES,
        ),
    ] = False
    skip_existing: Annotated[
        bool,
        typer.Option(
            "--skip-existing",
            help="Keep files that exist at the destination, if their content is the same.",
            rich_help_panel=FILES,
        ),
    ] = False
    take_over: Annotated[
        bool,
        typer.Option(
            "--take-over",
            help="Take over a target that an abandoned transfer still claims.",
            rich_help_panel=FILES,
        ),
    ] = False
    checksum: Annotated[
        Algorithm | None,
        typer.Option(
            "--checksum",
            show_default=Algorithm.BLAKE3.value,
            help="The hash that both hosts compute of each piece that arrived.",
            rich_help_panel=FILES,
        ),
    ] = None
    no_checksum: Annotated[
        bool,
        typer.Option(
            "--no-checksum",
            help="Compare sizes only. Then there is no receipt.",
            rich_help_panel=FILES,
        ),
    ] = False
    receipt: Annotated[
        Path | None,
        typer.Option(
            "--receipt",
            metavar="FILE",
            dir_okay=False,
            show_default="a new one of advisor's own",
            help="Write the signed proof of what arrived to this file.",
            rich_help_panel=FILES,
        ),
    ] = None


def rules_of(flags: ListingFlags) -> ListingRules:
    """What of a source is listed."""
    return ListingRules(exclude=tuple(flags.exclude or ()), follow_links=flags.follow_links)


def delivery_of(flags: DeliveryFlags) -> DeliveryOptions:
    """Where an interrupted transfer is resumed from, and so on. Raises UsageError."""
    if flags.overwrite and flags.skip_existing:
        raise UsageError("--overwrite and --skip-existing contradict", remedy="leave one out")
    if flags.no_checksum and (flags.checksum or flags.receipt):
        option = "--checksum" if flags.checksum else "--receipt"
        raise UsageError(f"--no-checksum and {option} contradict", remedy="leave one out")
    if flags.receipt:
        _check_receipt(flags.receipt.absolute())
    existing = Existing.OVERWRITE if flags.overwrite else Existing.REFUSE
    state = user_state_path("advisor")
    return DeliveryOptions(
        journals=state / "transfers",
        receipts=state / "receipts",
        restart=flags.restart,
        existing=Existing.SKIP if flags.skip_existing else existing,
        algorithm=None if flags.no_checksum else flags.checksum or Algorithm.BLAKE3,
        take_over=flags.take_over,
        receipt=flags.receipt.absolute() if flags.receipt else None,
    )


def _check_receipt(path: Path) -> None:
    """Raise UsageError where the receipt could not be written at the end, which makes folders."""
    try:
        there = next(folder for folder in path.parents if os.path.lexists(folder))
        if not there.is_dir():
            raise UsageError(
                f"--receipt {path}: '{there}' is no folder", remedy="name a file elsewhere"
            )
        if not os.access(there, os.W_OK | os.X_OK):
            raise UsageError(
                f"--receipt {path}: nothing may be written into '{there}'",
                remedy="name a file elsewhere",
            )
    except OSError as error:
        raise UsageError(f"--receipt {path}: {error.strerror or error}") from None


def check_unused(flags: DeliveryFlags) -> None:
    """Raises UsageError for flags of a transfer where nothing is moved."""
    for name in flags.__struct_fields__:
        if getattr(flags, name) != getattr(DeliveryFlags(), name):
            option = name.replace("_", "-")
            raise UsageError(f"--{option} is about --run", remedy="give that too")
