"""Finds the profile that a user names."""

from typing import Annotated, Final

import typer

from advisor.cli.completion import profiles
from advisor.cli.errors import CommandFailed, UsageError
from advisor.store.history import Store
from advisor.store.profiles import StoredProfile, named, stored_profiles

_MOST_CHOICES: Final = 5

ProfileArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROFILE",
        autocompletion=profiles,
        help="Its name in 'advisor profile list', or its id.",
    ),
]


def resolve_profile(store: Store, text: str) -> StoredProfile:
    """The profile of this name; of several with one name, the newest of the user's own.

    Raises CommandFailed if there is none, UsageError if the beginning of an id is ambiguous.
    """
    found = named(stored_profiles(store), text)
    if not found:
        raise CommandFailed(
            f"there is no profile '{text}'",
            remedy="`advisor profile list` lists them",
            command="advisor profile list",
        )
    ids = {one.record.session for one in found}
    if len(ids) > 1 and found[0].record.name != text:
        choices = ", ".join(sorted(ids)[:_MOST_CHOICES])
        raise UsageError(
            f"PROFILE: '{text}' is ambiguous", remedy=f"write more of one of {choices}"
        )
    return found[0]
