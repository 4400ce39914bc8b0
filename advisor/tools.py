"""What a tool plugin is: something that moves files, for which a command line is written."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from advisor.availability import Availability
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a command line is to be written from.

    `settings`: the best known setting of each transport, by its name. `transport`: the recommended
    one. `source_path`, `destination_path`, `server_url`: None where the user did not say, and only
    there may the line hold a placeholder.
    """

    transport: str
    settings: dict[str, Setting]
    path: PathFacts
    destination_host: str
    dataset: Dataset | None = None
    source_path: str | None = None
    destination_path: str | None = None
    server_url: str | None = None


def congestion_note(request: CommandRequest, setting: Setting, program: str) -> list[str]:
    """The sentence for a setting whose congestion control the program cannot choose; else none."""
    wanted, default = setting.get("congestion"), request.path.source.congestion
    if not wanted or wanted == default:
        return []
    return [
        f"Measured with {wanted} congestion control, which {program} cannot choose; the source's "
        f"default is {default or 'not known'}. To change it, on the source: "
        f"`sysctl -w net.ipv4.tcp_congestion_control={wanted}`."
    ]


def explain(argv: Sequence[str], flags: Mapping[str, str]) -> list[tuple[tuple[str, ...], str]]:
    """The line taken apart: each flag with its values, and its sentence of `flags`.

    Every word of the line is in one of the parts, in its order. Words that `flags` knows nothing of
    stand alone with "". Of usages that fit, the one with the most words of its own is taken.
    """
    usages = [(usage.split(), sentence) for usage, sentence in flags.items()]
    usages.sort(key=lambda pair: sum(not is_value(word) for word in pair[0]), reverse=True)
    parts, rest = [], list(argv)
    while rest:
        fitting = (pair for pair in usages if _fits(pair[0], rest))
        words, sentence = next(fitting, (rest[:1], ""))
        parts.append((tuple(rest[: len(words)]), sentence))
        rest = rest[len(words) :]
    return parts


def is_value(word: str) -> bool:
    """Whether a word of a usage stands for a value. `-P` is a flag all the same."""
    return word.isupper() and not word.startswith("-")


def _fits(usage: list[str], words: list[str]) -> bool:
    if len(usage) > len(words):
        return False
    return all(is_value(u) or u == w for u, w in zip(usage, words, strict=False))


@runtime_checkable
class Tool(Protocol):
    """What a file in plugins/tools offers as `plugin`."""

    @property
    def name(self) -> str:
        """The program's own name."""

    @property
    def summary(self) -> str:
        """One line for `advisor plugins`."""

    @property
    def flags(self) -> Mapping[str, str]:
        """A sentence for each flag a line may have, by its usage.

        A usage is the flag and what follows it, where words in capitals stand for values: `-fast`,
        `-p STREAMS`, `-op read`. Its first word is the flag itself.
        """

    def available(self) -> Availability:
        """Whether the program is on this machine. Its lines are written all the same."""

    def commands(self, request: CommandRequest) -> list[Command]:
        """The lines to run, in the order they are started. Pure: opens and looks up nothing."""
