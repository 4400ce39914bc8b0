"""`advisor profile list`, `show` and `compare`."""

from typing import Annotated

import msgspec
import typer

from advisor.cli.commands import command
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import ResultAsJson, StoredOption
from advisor.cli.profile.lookup import ProfileArgument, resolve_profile
from advisor.models.profile_comparison import compare_profiles
from advisor.report.output import say, say_json
from advisor.report.profile import (
    BOX_COLUMNS,
    LIST_COLUMNS,
    boxes_of,
    head_lines,
    list_row,
    maps_of,
)
from advisor.report.profile_comparison import (
    CHANGE_COLUMNS,
    FACT_COLUMNS,
    by_size,
    change_row,
    fact_rows,
    summary_lines,
)
from advisor.report.tables import print_table
from advisor.report.unimodality import unimodality_tables
from advisor.store.profiles import stored_profiles


@command("list")
def list_(*, store: StoredOption, as_json: ResultAsJson = False) -> None:
    """List the profiles, the newest first, and the reference profiles."""
    with store_errors():
        found = stored_profiles(store)
    for line in store.references.refused:
        say(line, err=True)
    if as_json:
        listed = [msgspec.to_builtins(one.record) | {"reference": one.shipped} for one in found]
        say_json(msgspec.json.encode(listed))
        return
    if found:
        print_table(LIST_COLUMNS, [list_row(one) for one in found])
    if all(one.shipped for one in found):
        say("There are no profiles of yours: measure one with `advisor profile HOST`.", err=True)


@command()
def show(profile: ProfileArgument, *, store: StoredOption, as_json: ResultAsJson = False) -> None:
    """Show PROFILE: what each setting reached, and how much its repeats vary."""
    with store_errors():
        found = resolve_profile(store, profile)
    if as_json:
        say_json(msgspec.json.encode({"profile": found.record, "probes": found.probes}))
        return
    for line in head_lines(found):
        say(line)
    for one in maps_of(found):
        say(f"\n{one.title}")
        print_table(one.columns, one.rows)
    say("\nMedians; ± is half the range of the repeats, * the highest.")
    for title, rows in boxes_of(found):
        say(f"\n{title}: all measurements by the number of flows")
        print_table(BOX_COLUMNS, rows)
    for heading, columns, shares in unimodality_tables(found):
        say(f"\n{heading}")
        print_table(columns, shares)
        say("The share of the choices of d repeats of every w-th number of flows.")


@command()
def compare(
    first: ProfileArgument,
    second: ProfileArgument,
    *,
    store: StoredOption,
    all_cells: Annotated[
        bool, typer.Option("--all", help="List also the settings that did not change clearly.")
    ] = False,
    as_json: ResultAsJson = False,
) -> None:
    """Compare two profiles: over time, between hosts, before and after a change of the system.

    Settings that both measured are tested one by one, and the results adjusted for their number.
    What differs between the hosts and paths is listed too.
    """
    with store_errors():
        before, after = (resolve_profile(store, text) for text in (first, second))
    comparison = compare_profiles(before.rates_bps, after.rates_bps)
    if as_json:
        say_json(msgspec.json.encode(comparison))
        return
    for one in (before, after):
        say(head_lines(one)[0])
    if facts := fact_rows(before.record.path, after.record.path):
        say("")
        print_table(FACT_COLUMNS, facts)
    say("")
    for line in summary_lines(comparison):
        say(line)
    if listed := by_size(comparison, all_cells=all_cells):
        say("")
        print_table(CHANGE_COLUMNS, [change_row(one) for one in listed])
