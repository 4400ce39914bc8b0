"""`advisor profile export`, `import` and `delete`."""

import sys
import time
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

import advisor
from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.files import output_errors, write_records
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import OutputOption, StoredOption, StoreOption
from advisor.cli.profile.lookup import ProfileArgument, resolve_profile
from advisor.domain.printable import printable
from advisor.domain.records import ProfileRecord, Record, RemarkRecord
from advisor.report.output import say
from advisor.store.completeness import in_full
from advisor.store.exporters import write_sealed
from advisor.store.files import replace_file
from advisor.store.importers import BadEntry, read_files
from advisor.store.importers.refused import RefusedEntries
from advisor.store.profiles import StoredProfile


@command()
def export(
    profile: ProfileArgument,
    *,
    store: StoredOption,
    format_name: Annotated[
        Literal["sealed", "jsonl", "csv", "prof"],
        typer.Option("--format", help="The format of the output."),
    ] = "sealed",
    output: OutputOption = None,
) -> None:
    """Write PROFILE to a file that 'advisor profile import' reads.

    sealed is a compressed file with a checksum, to be mailed to a colleague, and never goes to
    stdout: without a FILE it is named like the profile. jsonl and csv have the same content in the
    open; prof is ProbData's .PROF, which holds measurements of TCP and UDT with declared buffers.
    Exit code 1 if a database was not always reached: then some measurements may be missing.
    """
    with store_errors(), in_full(store.kept, "the export"):
        _write(resolve_profile(store, profile), format_name, output)


def _write(found: StoredProfile, format_name: str, output: Path | None) -> None:
    records = _records_of(found)
    if format_name != "sealed":
        write_records(format_name, records, output)
        return
    path = output or Path(f"{Path(found.record.name).name}.profile.gz")
    with output_errors(path):
        replace_file(path, write_sealed(records, f"advisor {advisor.__version__}"), public=True)
    say(f"{path}: {len(records)} records")


def _records_of(profile: StoredProfile) -> list[Record]:
    """The profile and its probes. What would resume it stays here: it names programs to run."""
    return [msgspec.structs.replace(profile.record, request={}), *profile.probes]


@command("import")
def import_profiles(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Exported profiles.")],
    *,
    store: StoreOption,
) -> None:
    """Import profiles that were exported; importing the same twice adds nothing.

    Their measurements become part of the history of their pair of hosts.
    """
    refused = RefusedEntries()
    records: list[Record] = []
    for path, entry in read_files(files):
        if isinstance(entry, BadEntry):
            refused.add(path, entry)
        else:
            records.append(entry)
    for line in refused.lines():
        say(line, err=True)
    names = [record.name for record in records if isinstance(record, ProfileRecord)]
    if not names:
        raise CommandFailed(
            "no profile was found",
            remedy="give files of 'advisor profile export'; for measurements alone there is "
            "'advisor history import'",
        )
    with store_errors():
        added = store.append_missing(records)
    what = f"{added} new records" if added else "nothing new"
    say(f"{', '.join(map(printable, names))}: {what}")


@command()
def delete(
    profile: ProfileArgument,
    *,
    store: StoredOption,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete PROFILE: it is hidden, and its measurements no longer count in the history.

    Deleting a profile made with --from-history deletes no measurements. 'advisor history
    delete --undo' brings a session back.
    """
    with store_errors():
        found = resolve_profile(store, profile)
    if found.shipped:
        raise UsageError(f"'{found.record.name}' is a reference profile: it cannot be deleted")
    probes = 0 if found.record.members else len(found.probes)
    question = f"Delete '{found.record.name}' and its {probes} probes?"
    if not yes and not (sys.stdin.isatty() and typer.confirm(question, err=True)):
        raise UsageError("nothing was deleted", remedy="give --yes")
    with store_errors():
        store.append(
            RemarkRecord(
                pair=found.record.pair,
                recorded_s=time.time(),
                session=found.record.session,
                kind="deleted",
            )
        )
    say(f"{found.record.name} is deleted.")
