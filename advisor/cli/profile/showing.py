"""`advisor profile list` and `show`."""

import msgspec

from advisor.cli.commands import command
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.cli.profile.lookup import ProfileArgument, resolve_profile
from advisor.report.output import say, say_json
from advisor.report.profile import (
    BOX_COLUMNS,
    LIST_COLUMNS,
    boxes_of,
    head_lines,
    list_row,
    maps_of,
)
from advisor.report.tables import print_table
from advisor.store.profiles import stored_profiles


@command("list")
def list_(*, store: StoreOption, as_json: ResultAsJson = False) -> None:
    """List the profiles, the newest first, and the reference profiles."""
    with store_errors():
        found = stored_profiles(store)
    if as_json:
        say_json(msgspec.json.encode([one.record for one in found]))
    elif found:
        print_table(LIST_COLUMNS, [list_row(one) for one in found])
    else:
        say("There are no profiles: measure one with `advisor profile HOST`.", err=True)


@command()
def show(profile: ProfileArgument, *, store: StoreOption, as_json: ResultAsJson = False) -> None:
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
