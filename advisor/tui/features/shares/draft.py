"""The form of shares: the entries for several destinations as typed, stored on disk."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import field

from advisor.domain.endpoints import LOCALHOST, Endpoint
from advisor.domain.shares import Asked
from advisor.domain.shell import shell_line
from advisor.traits import moving_tool
from advisor.transfer.shared.parsing import parse_asked
from advisor.tui.features.transfer.move_draft import MoveDraft
from advisor.tui.kit.fields.form_state import load_form, save_form

_FILE: Final = "shares.json"
_USUAL: Final = "1"
_COMMAND: Final = ("share", "plan")


class SharesDraft(MoveDraft, kw_only=True):
    """The request of each destination, and what is moved to all of them.

    Of a draft's fields only `data` and `to` are used. `asked`: requests as typed, by destination.
    `left_out`: destinations that get nothing this time.
    """

    asked: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def add_new(self, destinations: Sequence[str]) -> None:
        """Add new destinations with a share of 1, if they have a source in common."""
        first = sources_of(destinations)[:1]
        for name in destinations:
            if name not in self.asked:
                self.asked[name] = _USUAL
                if sources_of([name]) not in ([], first):
                    self.left_out.append(name)

    def taken_in(self, destinations: Iterable[str]) -> list[str]:
        """The destinations among them that take part."""
        return [name for name in destinations if name not in self.left_out]

    def toggle(self, destination: str) -> None:
        """Toggle whether it takes part."""
        if destination in self.left_out:
            self.left_out.remove(destination)
        else:
            self.left_out.append(destination)

    def problem_of(self, destination: str) -> str:
        """What is wrong with its text, "" for a valid one."""
        try:
            parse_asked(self.asked[destination])
        except ValueError as error:
            return str(error)
        return ""

    def asked_of(self, destinations: Iterable[str]) -> dict[str, Asked]:
        """The requests of those that take part. Raises ValueError."""
        return {name: parse_asked(self.asked[name]) for name in self.taken_in(destinations)}

    def why_not(self, destinations: Iterable[str]) -> str:
        """Why these cannot be planned: a sentence with the remedy; "" when they can."""
        names = self.taken_in(destinations)
        if not names:
            return "all destinations are left out: space includes one"
        for name in names:
            if problem := self.problem_of(name):
                return f"{name}: {problem}"
        if len(sources_of(names)) > 1:
            return (
                f"{', '.join(names)} have no source in common: leave out (space) all but the hosts "
                "of one lab, or those of none"
            )
        return ""

    def plan_line(self, destinations: Iterable[str], tool: str = "") -> str:
        """The equivalent command, to be copied. `tool`: that of the models, "" for the usual."""
        return shell_line(["advisor", *_COMMAND, *_by(tool), *self._wanted(destinations)])

    def run_arguments(
        self, history: Sequence[str], destinations: Iterable[str], tool: str = ""
    ) -> list[str]:
        """The arguments of the command that moves the files, and takes orders.

        `history`: the option that names it. `tool`: as for `plan_line`.
        """
        words = [*_COMMAND, "--run", "--json", "--orders", *history, *_by(tool)]
        words += ["--data", self.data_path, f"--to={self.to.strip()}"]
        words += [f"--epoch={self.epoch.strip()}"] if self.epoch.strip() else []
        words += self.once_flags
        return [*words, "--", *self._wanted(destinations)]

    def _wanted(self, destinations: Iterable[str]) -> list[str]:
        return [f"{name}={self.asked[name].strip()}" for name in self.taken_in(destinations)]


def _by(tool: str) -> list[str]:
    return [f"--tool={tool}"] if tool not in ("", moving_tool()) else []


def sources_of(destinations: Iterable[str]) -> list[str]:
    """The sources of these destinations: names of labs, "" for this host."""
    endpoints = [Endpoint(name) for name in destinations if name != LOCALHOST]
    labs = (one.lab_host.lab if one.lab_host else "" for one in endpoints)
    return list(dict.fromkeys(labs))


def asked_words(asked: Mapping[str, Asked]) -> str:
    """All requests in one line."""
    return ", ".join(f"{name} {one.words}" for name, one in asked.items())


def load_shares_draft() -> SharesDraft:
    """The draft stored last; an empty one where none can be read."""
    return load_form(_FILE, SharesDraft) or SharesDraft()


def save_shares_draft(sharing: SharesDraft) -> None:
    """Store the entries for the next run. If that fails, they last as long as the program."""
    save_form(_FILE, sharing)
