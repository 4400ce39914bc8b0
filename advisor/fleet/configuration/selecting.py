"""Which hosts a list in `fleet.toml` means: hosts, groups and `tag:NAME`."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from advisor.fleet.configuration.reading import BadFleet, wrong
from advisor.fleet.plan.fleet import Host

ALL: Final = "all"
_TAG: Final = "tag:"

Place = tuple[str | int, ...]


class Selector:
    """The names of hosts, groups and tags. Raises BadFleet for groups that cannot be resolved."""

    def __init__(self, hosts: Sequence[Host], groups: Mapping[str, Sequence[str]]) -> None:
        self._numbers = {host.name: number for number, host in enumerate(hosts)}
        self._tags: dict[str, list[int]] = {}
        for number, host in enumerate(hosts):
            for tag in host.tags:
                self._tags.setdefault(tag, []).append(number)
        self._groups: dict[str, list[int]] = {}
        for name, members in groups.items():
            if name in self._numbers or name == ALL:
                raise wrong(
                    ("groups", name), "a host has this name, or all hosts have", "rename the group"
                )
            # Those above it alone: a group cannot contain itself.
            self._groups[name] = self.hosts(("groups", name, "hosts"), members)

    def hosts(self, place: Place, words: Sequence[str]) -> list[int]:
        """The numbers of the hosts, each once, in the order of the file. Raises BadFleet."""
        if not words:
            raise wrong(place, "it is empty", "list hosts, groups, or tags as in tag:10g")
        found: set[int] = set()
        for number, word in enumerate(words):
            found.update(self._meant((*place, number), word))
        return sorted(found)

    def host(self, place: Place, name: str) -> int:
        """The number of one host. Raises BadFleet."""
        if name not in self._numbers:
            raise _unknown(place, "host", name, self._numbers)
        return self._numbers[name]

    def _meant(self, place: Place, word: str) -> Collection[int]:
        if word.startswith(_TAG):
            tag = word.removeprefix(_TAG)
            if tag not in self._tags:
                raise _unknown(place, "host with the tag", tag, self._tags)
            return self._tags[tag]
        if word == ALL:
            return self._numbers.values()
        if word in self._groups:
            return self._groups[word]
        if word in self._numbers:
            return (self._numbers[word],)
        raise _unknown(place, "host or group", word, [*self._numbers, *self._groups])


def _unknown(place: Place, what: str, word: str, known: Collection[str]) -> BadFleet:
    near = difflib.get_close_matches(word, known, 1)
    remedy = f"did you mean '{near[0]}'?" if near else "write a table for it, or correct the name"
    return wrong(place, f"there is no {what} '{word}'", remedy)
