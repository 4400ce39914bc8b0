"""Makes a request for each of several destinations, from arguments and configuration."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options, command
from advisor.cli.completion import destinations
from advisor.cli.connection import (
    AgentCommandOption,
    BandwidthOption,
    DestinationArgument,
    KeepAgentOption,
    PortsOption,
    PushOption,
    ReachOptions,
)
from advisor.cli.errors import UsageError
from advisor.cli.lab_source import on_lab
from advisor.cli.options import FILES, LIMITS, ServerOption, ToOption
from advisor.cli.transfer.options import check_tool, tool_option
from advisor.cli.urls import GridFtpUrl, parse_file_url
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.manifest import ListingRules
from advisor.domain.shares import BASE, Asked
from advisor.domain.target_path import parse_target_path
from advisor.hosts.datasets import scan
from advisor.models.shares.estimating import LoadEstimation
from advisor.models.shares.features import Form, Load
from advisor.models.shares.forecast import DEFAULT, Modelling
from advisor.runtime.request import ShareRequest
from advisor.traits import checked_server
from advisor.transfer.shared.parsing import parse_asked, parse_destination

MODELS: Final = "Models"
_NAME: Final = "%h"
_LOADS: Final = {"EL1": Load.EL1, "EL2": Load.EL2, "EL3": Load.EL3, "none": Load.NONE}


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A destination as typed. `server`, `path`: from its URL, None without one."""

    endpoint: Endpoint
    asked: Asked = Asked(held=BASE)
    server: str | None = None
    path: str | None = None

    @property
    def name(self) -> str:
        """Its host, with the name of its lab."""
        return self.endpoint.host

    @property
    def names(self) -> set[str]:
        """All names that other options may use for it."""
        return {self.name, self.short_name, str(self.endpoint)}

    @property
    def short_name(self) -> str:
        """The host's own name, without that of its lab."""
        return self.name.rpartition(":")[2] if self.endpoint.lab_host else self.name


def parse_place(text: str) -> Wanted:
    """`[USER@]HOST` or a GridFTP URL. Raises ValueError."""
    if "://" not in text:
        return Wanted(endpoint=Endpoint.parse(text))
    url = GridFtpUrl.parse(text)
    return Wanted(endpoint=url.endpoint, server=url.server, path=url.path)


def parse_wanted(text: str) -> Wanted:
    """`DESTINATION` or `DESTINATION=ASKED`. Raises ValueError."""
    if "://" not in text:
        endpoint, asked = parse_destination(text)
        return Wanted(endpoint=endpoint, asked=asked)
    url, equals, what = text.rpartition("=")
    if not equals or "/" in what:
        return parse_place(text)
    return msgspec.structs.replace(parse_place(url), asked=parse_asked(what))


class AllReachOptions(Options, frozen=True):
    """Connection options that apply to all destinations."""

    bandwidth: BandwidthOption = None
    ports: PortsOption = None
    agent_command: AgentCommandOption = None
    push: PushOption = False
    keep_agent: KeepAgentOption = False


class ModelOptions(Options, frozen=True):
    """The form of the models, and how they represent the external load."""

    load: Annotated[
        Literal["EL1", "EL2", "EL3", "none"],
        typer.Option(
            "--load",
            help="How the models take the load by others into account.",
            rich_help_panel=MODELS,
        ),
    ] = "EL1"
    model: Annotated[
        Literal["log", "linear", "ratio"],
        typer.Option(
            "--model",
            help="How throughput depends on concurrency.",
            rich_help_panel=MODELS,
        ),
    ] = "log"


EstimateOption = Annotated[
    LoadEstimation,
    typer.Option(
        "--estimate",
        help="How the present load by others is estimated: followed through all measurements "
        "(FT), from the last half hour with the model's own errors taken out (RTEC) or not (RT), "
        "or from the last measurement (PT).",
        rich_help_panel=MODELS,
    ),
]


def streams_option(**settings: Any) -> Any:
    """`--streams`."""
    return p.whole(
        "--streams",
        low=1,
        high=128,
        help="Streams for each file, at all destinations.",
        rich_help_panel=LIMITS,
        **settings,
    )


StreamsOption = Annotated[int | None, streams_option(show_default="those of most measurements")]
ServersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        metavar="[DEST=]URL",
        help="The destinations' servers for the tool, as in root://%h:1094; %h is the name of "
        "each. Can be repeated.",
        rich_help_panel=FILES,
    ),
]
MeasuredToolOption = Annotated[str | None, tool_option("that of most measurements")]
DESTINATIONS: Final[Any] = {"autocompletion": destinations}


def modelling_of(options: ModelOptions, estimate: LoadEstimation = DEFAULT.estimate) -> Modelling:
    """The models that these options select."""
    return Modelling(Form(options.model), _LOADS[options.load], estimate)


class _Configured(Options, frozen=True):
    """What can be configured for one destination."""

    reach: ReachOptions
    to: str | None
    server: str | None


@command("destination")
def _one_host(
    reach: ReachOptions,
    *,
    destination: DestinationArgument = None,
    to: ToOption = None,
    server: ServerOption = None,
) -> _Configured:
    return _Configured(reach=reach, to=to, server=server)


def _configured(destination: Endpoint) -> _Configured:
    """The configuration of a destination. Raises UsageError."""
    with _one_host.make_context("destination", ["--", str(destination)]) as context:
        found: _Configured = _one_host.invoke(context)
    return found


def requests_for(
    wanted: Sequence[Wanted],
    to: Sequence[str],
    for_all: AllReachOptions,
    servers: Sequence[str] = (),
    tool: str | None = None,
) -> list[ShareRequest]:
    """A request for each destination. Raises UsageError.

    `to`, `servers`: the values of --to and --server. `tool`: None for that of most measurements.

    For destinations in a lab this process goes there.
    """
    check_tool(tool)
    _check(wanted)
    _check_urls("--to", to, {one: one.path for one in wanted})
    _check_urls("--server", servers, {one: one.server for one in wanted})
    places, at = of_each("--to", to, wanted), of_each("--server", servers, wanted)
    _check_places(places)
    requests = [_request(one, places[one.name], at[one.name], for_all, tool) for one in wanted]
    twice = [name for name, n in Counter(r.destination_host for r in requests).items() if n > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice", remedy="name each destination once")
    return [on_lab(one) for one in requests]


def _check(wanted: Sequence[Wanted]) -> None:
    names = [one.name for one in wanted]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is named twice", remedy="name each destination once")
    labs = {one.endpoint.lab_host for one in wanted if not one.endpoint.is_local}
    if len({lab and lab.lab for lab in labs}) > 1:
        raise UsageError(
            f"{', '.join(names)} have no source in common",
            remedy="name hosts of one lab, or of none",
        )


def _check_urls(option: str, texts: Iterable[str], said: Mapping[Wanted, str | None]) -> None:
    """A URL overrides what an option says for all; what it says for one contradicts it.

    `said`: the part of the URL of each that the option may name.
    """
    named = {text.partition("=")[0]: text for text in texts if "=" in text}
    for one, part in said.items():
        if part and (twice := one.names & named.keys()):
            raise UsageError(
                f"{option} {named[twice.pop()]}: the URL of {one.name} says {part}",
                remedy="leave one out",
            )


def _check_places(places: Mapping[str, Sequence[str]]) -> None:
    for place in (place for of_one in places.values() for place in of_one):
        try:
            parse_target_path(place)
        except ValueError as error:
            raise UsageError.about(f"--to '{place}'", error) from None


def _request(
    one: Wanted,
    places: Sequence[str],
    servers: Sequence[str],
    for_all: AllReachOptions,
    tool: str | None,
) -> ShareRequest:
    own = _configured(one.endpoint)
    said = {name: value for name, value in msgspec.structs.asdict(for_all).items() if value}
    reach = msgspec.structs.replace(own.reach, **said)
    to = one.path or (places[-1] if places else own.to)
    typed = servers[-1].replace(_NAME, one.short_name) if servers else None
    server = one.server or typed or own.server
    try:
        return ShareRequest(
            **reach.request_fields(one.endpoint),
            destination_path=to.replace(_NAME, one.short_name) if to else None,
            server_url=checked_server(server, [tool] if tool else ()) if server else None,
            tool=tool or "",
        )
    except ValueError as error:
        raise UsageError(f"{one.name}: server {error}") from None


def of_each(option: str, texts: Iterable[str], wanted: Sequence[Wanted]) -> dict[str, list[str]]:
    """The values of each destination: first those without DEST, then its own. Raises UsageError.

    A text with a slash before its first = is a path.
    """
    known = {text: one.name for one in wanted for text in one.names}
    found: dict[str, list[str]] = {one.name: [] for one in wanted}
    for_all: list[str] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or "/" in name:
            for_all.append(text)
        elif name in known:
            found[known[name]].append(value)
        else:
            raise UsageError(f"{option} {text}: '{name}' is none of {', '.join(found)}")
    return {name: for_all + own for name, own in found.items()}


def with_datasets(
    requests: Sequence[ShareRequest],
    wanted: Sequence[Wanted],
    texts: Iterable[str],
    rules: ListingRules,
) -> list[ShareRequest]:
    """The requests with the datasets that were given. Raises UsageError."""
    said = of_each("--data", texts, wanted)
    known = {text: _dataset(text, rules) for text in {some[-1] for some in said.values() if some}}
    return [
        msgspec.structs.replace(request, dataset=known[said[one.name][-1]], rules=rules)
        if said[one.name]
        else request
        for request, one in zip(requests, wanted, strict=True)
    ]


def _dataset(text: str, rules: ListingRules) -> Dataset:
    try:
        return scan(Path(parse_file_url(text)), rules)
    except OSError as error:
        raise UsageError(f"--data {text}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError.about(f"--data {text}", error) from None
