"""The destinations that this host knows, for completion."""

import contextlib
import re
from typing import NamedTuple

from advisor.domain.endpoints import LOCALHOST
from advisor.hosts.ssh_config import host_aliases
from advisor.lab.state import LabState, labs
from advisor.store.errors import StoreError
from advisor.store.history import Store


class KnownDestination(NamedTuple):
    """A destination, and how it is known."""

    name: str
    what: str


def known_destinations(store: Store) -> list[KnownDestination]:
    """This machine, labs that are up, pairs in the history, and names in the ssh configuration."""
    found = [KnownDestination(LOCALHOST, "this machine"), *_in_labs()]
    with contextlib.suppress(StoreError):
        found += [KnownDestination(s.pair.destination, "measured before") for s in store.pairs()]
    found += [KnownDestination(alias, "of your ssh configuration") for alias in host_aliases()]
    # A shell would split a name that contains a space.
    usable = (known for known in found if not re.search(r"\s", known.name))
    return list({known.name: known for known in reversed(list(usable))}.values())[::-1]


def _in_labs() -> list[KnownDestination]:
    states = [(place.name, place.read()) for place in labs() if place.is_up]
    return [
        KnownDestination(name, "a lab that is up")
        for lab, state in states
        for name in _hosts(lab, state)
    ]


def _hosts(lab: str, state: LabState | None) -> list[str]:
    """The only destination of a lab is known by the lab's name."""
    far = state.hosts[1:] if state else []
    return [f"lab:{lab}:{host.name}" for host in far] if len(far) > 1 else [f"lab:{lab}"]
