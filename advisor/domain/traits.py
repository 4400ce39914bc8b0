"""What a plugin may state about itself beyond its interface: all that the core asks by name.

A plugin offers it as an attribute `traits`. Each field has a default, and a plugin without the
attribute has all of them.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal

import msgspec

Use = Literal["network", "tool", "transfer", "priced transfer"]
"""What a method searches: a transport from memory to memory, a tool from disk to disk, a transfer
that runs, or one in which every flow has a price."""


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """A program or library that a plugin uses on this host, as `advisor doctor` lists it.

    `purpose`: what it is for, to follow the word "to". `find`: its version or path, None where it
    is missing. `remedy`: the command or step that installs it.
    """

    name: str
    purpose: str
    find: Callable[[], str | None]
    remedy: str


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What plugins of every kind may state.

    `former_names`: earlier names, which stored records, saved states, configuration and the command
    line may still use. `requirements`: empty where `available()` says it all. `imported_from`: the
    formats of `advisor history import` whose rows are measurements of this plugin.
    """

    former_names: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    imported_from: tuple[str, ...] = ()


class GaugeLabel(msgspec.Struct, frozen=True, kw_only=True):
    """How a gauge is shown. `is_share`: its value is a share of 1, shown in percent."""

    words: str
    is_share: bool = False


class ProbeLabel(msgspec.Struct, frozen=True, kw_only=True):
    """How a probe is shown that the method labels `name`. `full`, `hollow`: its marks on charts."""

    name: str
    full: str
    hollow: str
    meaning: str


USUAL_GAUGES: Final[Mapping[str, GaugeLabel]] = {
    "N": GaugeLabel(words="rounds"),
    "L": GaugeLabel(words="no gain"),
    "C": GaugeLabel(words="goal", is_share=True),
}
"""The letters that the papers share."""


class MethodTraits(Traits, frozen=True, kw_only=True):
    """What a method may state.

    `default_for`: the uses for which it is taken where the user names no method.
    `tool_constants`: constants that have another default where a tool is profiled.
    `gauge_labels`: by the gauge's name, beside the usual ones. `probe_labels`: its own labels of
    probes. `form_text`: what it does, for the form of a transfer; "" keeps it off the form.
    `form_rank`: the form lists the lowest first. `hint`: shown beside a form where it is chosen.
    `shows_evidence`: its searches show which past transfers they rely on. `asks_transfers`: a
    transfer that it tunes gives it the past ones. `instead`: what to do where somebody asks for an
    advice by it, "" for a method that gives one.
    """

    default_for: tuple[Use, ...] = ()
    tool_constants: Mapping[str, float] = {}
    gauge_labels: Mapping[str, GaugeLabel] = {}
    probe_labels: tuple[ProbeLabel, ...] = ()
    form_text: str = ""
    form_rank: int = 100
    hint: str = ""
    shows_evidence: bool = False
    asks_transfers: bool = False
    instead: str = ""


class TransportTraits(Traits, frozen=True, kw_only=True):
    """What a transport may state.

    `label`: its name on screens and in reports, "" for the plugin's name. `cost_rank`: of two
    transports with the same throughput, the lower rank is advised; the lowest of all is the
    reference, drawn with full marks and used where the network is measured for a tool.
    `budget_weight`: its part of the search time relative to the others. `mark`, `colour`: on charts
    of the history; a colour is blue, orange or violet, or another word of the theme.
    `flow_parameter`: the parameter that counts its parallel flows, "" where it has one flow.
    `is_default`: profiled where the user names none.
    """

    label: str = ""
    cost_rank: int = 100
    budget_weight: float = 2.0
    mark: str = "◆"
    colour: str = "violet"
    flow_parameter: str = ""
    is_default: bool = False


class KnownCosts(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool's transfer costs beside its bytes, in round trips, as far as known.

    `start`: from its first connection until it begins with the first file. `connection`: of a tool
    that opens another connection only when a file finds none free, until that one can be used; they
    are opened one after another. `turn`: of each file, while no other file may begin. `file`: of
    each file, while what moves it waits; 0 for a tool that begins with the next file at once.
    `window_bytes`: what one connection may have under way by the tool's own protocol, 0 without a
    limit.
    """

    start: float = 0.0
    connection: float = 0.0
    turn: float = 0.0
    file: float = 2.0
    window_bytes: int = 0


FOUND_TOOL: Final = "auto"
"""In place of a tool's name: the first one that is installed here and can be used."""


class ToolTraits(Traits, frozen=True, kw_only=True):
    """What a tool may state.

    `rank`: the lowest comes first wherever tools are listed or one is chosen. `is_default`: command
    lines are written for it where the user names no tool. `moves_ranges`: it moves ranges of files
    and lists of files, so that `advisor transfer`, `plan` and `share` can run it.
    `whole_files`: it moves lists of files, but each of them whole, and under its own name below one
    folder. `fetches`: profiled, it runs at the destination and fetches from a server of this host;
    what several of them move at the same time cannot be distinguished, so those three cannot run
    it. `memory_to_memory`: it moves pieces from `api.tool.ZEROS` to `api.tool.NOWHERE`, without a
    file. `stream_parameter`: the parameter that counts the streams of one file.
    `server_pattern`: what `--server` may be for it, as a regular expression, "" where it has no
    server to name; `server_form`: the same in words, to follow the word "write". `known_costs`:
    by what `--server` is, None for the usual one. `needed_at`: the hosts on which it is
    installed.
    """

    rank: int = 100
    is_default: bool = False
    moves_ranges: bool = False
    whole_files: bool = False
    fetches: bool = False
    memory_to_memory: bool = False
    stream_parameter: str = "streams"
    server_pattern: str = ""
    server_form: str = ""
    needed_at: tuple[Literal["source", "destination"], ...] = ("source",)
    known_costs: Callable[[str | None], KnownCosts] = lambda _: KnownCosts()
