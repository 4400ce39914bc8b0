"""From what was typed of several destinations, and configured for each, to a request for each."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec

from advisor.cli import parameters as p
from advisor.cli.advise.sessions import on_lab
from advisor.cli.connection import reach_fields, reach_options, with_those_of_the_host
from advisor.cli.urls import GridFtpUrl, parse_file_url
from advisor.domain.addresses import parse_server
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.shares import BASE, Asked
from advisor.hosts.datasets import scan
from advisor.models.shares.estimating import Estimate
from advisor.models.shares.features import Form, Load
from advisor.models.shares.forecast import DEFAULT, Modelling
from advisor.runtime.request import ShareRequest
from advisor.transfer.shared.parsing import parse_asked, parse_destination

_Command = TypeVar("_Command", bound=Callable[..., Any])

_NAME: Final = "%h"
_LOADS: Final = {"EL1": Load.EL1, "EL2": Load.EL2, "EL3": Load.EL3, "none": Load.NONE}


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A destination as it was typed. `server`, `path`: what its URL says, None without one."""

    endpoint: Endpoint
    asked: Asked = Asked(held=BASE)
    server: str | None = None
    path: str | None = None

    @property
    def name(self) -> str:
        """Its host, also of a lab."""
        return self.endpoint.host

    @property
    def names(self) -> set[str]:
        """All by which other options may mean it."""
        return {self.name, self.short_name, str(self.endpoint)}

    @property
    def short_name(self) -> str:
        """Its host's own, also in a lab."""
        return self.name.rpartition(":")[2] if self.endpoint.lab_host else self.name


def parse_place(text: str) -> Wanted:
    """`[USER@]HOST` or a GridFTP URL. Raises ValueError."""
    if "://" not in text:
        return Wanted(endpoint=Endpoint.parse(text))
    url = GridFtpUrl.parse(text)
    return Wanted(endpoint=url.endpoint, server=url.server, path=url.path)


def parse_wanted(text: str) -> Wanted:
    """The same with `=ASKED` after it, which may be left out. Raises ValueError."""
    if "://" not in text:
        endpoint, asked = parse_destination(text)
        return Wanted(endpoint=endpoint, asked=asked)
    url, equals, what = text.rpartition("=")
    if not equals or "/" in what:
        return parse_place(text)
    return msgspec.structs.replace(parse_place(url), asked=parse_asked(what))


def all_reach_options(command: _Command) -> _Command:
    """How to reach the destinations: what can hold for all of them."""
    for decorate in (
        click.option("--bandwidth", type=p.RATE, help="The reserved rate of each path."),
        click.option("--ports", type=p.PORTS, help="Ports the agents may open for data."),
        click.option("--agent-command", help="The agents' command, if not in PATH there."),
    ):
        command = decorate(command)
    return command


def model_options(command: _Command) -> _Command:
    """Which form of model, with which external load in it."""
    for decorate in (
        click.option(
            "--load",
            type=click.Choice(list(_LOADS)),
            default=DEFAULT.load.value,
            show_default=True,
            help="What the models take for the external load.",
        ),
        click.option(
            "--model",
            type=click.Choice([Form.LOG.value, Form.LINEAR.value, Form.RATIO.value]),
            default=DEFAULT.form.value,
            show_default=True,
            help="How throughput depends on concurrency.",
        ),
    ):
        command = decorate(command)
    return command


def estimate_option(command: _Command) -> _Command:
    """How the present load is had."""
    return click.option(
        "--estimate",
        type=click.Choice([one.value for one in Estimate]),
        default=DEFAULT.estimate.value,
        show_default=True,
        help="The present load: followed through all measurements (FT), of the last half hour, "
        "with the model's own errors taken out (RTEC) or not (RT), or of the last one (PT).",
    )(command)


def streams_option(command: _Command) -> _Command:
    """With how many streams the models were learnt, and files are moved."""
    return click.option(
        "--streams",
        type=click.IntRange(1, 128),
        help="Streams for each file, of all. [those that most was measured with]",
    )(command)


def modelling_of(options: Mapping[str, Any]) -> Modelling:
    """What these options say."""
    estimate = Estimate(options.get("estimate", DEFAULT.estimate))
    return Modelling(Form(options["model"]), _LOADS[options["load"]], estimate)


# What the configuration may say of one host.
_ONE_HOST: Final = reach_options(
    click.option("--server")(click.option("--to")(click.Command("destination")))
)
_HOLD_FOR_ALL: Final = ("bandwidth", "ports", "agent_command")


def requests_for(
    context: click.Context, wanted: Sequence[Wanted], options: Mapping[str, Any]
) -> list[ShareRequest]:
    """One for each destination, which may have `to`. Raises UsageError.

    For destinations in a lab this process goes there.
    """
    _check(wanted)
    _check_paths(wanted, options["to"])
    places = of_each("--to", options["to"], wanted)
    requests = [_request(context, one, places[one.name], options) for one in wanted]
    twice = [name for name, n in Counter(r.destination_host for r in requests).items() if n > 1]
    if twice:
        raise click.UsageError(f"{twice[0]} is named twice: name each destination once")
    return [on_lab(one) for one in requests]


def _check(wanted: Sequence[Wanted]) -> None:
    names = [one.name for one in wanted]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"{name} is named twice: name each destination once")
    labs = {one.endpoint.lab_host for one in wanted if not one.endpoint.is_local}
    if len({lab and lab.lab for lab in labs}) > 1:
        raise click.UsageError(
            f"{', '.join(names)} have no source in common: name hosts of one lab, or of none"
        )


def _check_paths(wanted: Sequence[Wanted], texts: Iterable[str]) -> None:
    """Where a URL says where files go, a path for all does not count, and its own contradicts."""
    named = {text.partition("=")[0]: text for text in texts if "=" in text}
    for one in wanted:
        if one.path and (twice := one.names & named.keys()):
            raise click.UsageError(
                f"--to {named[twice.pop()]}: the URL of {one.name} says {one.path}: leave one out"
            )


def _request(
    context: click.Context, one: Wanted, places: Sequence[str], options: Mapping[str, Any]
) -> ShareRequest:
    own = with_those_of_the_host(
        click.Context(_ONE_HOST, parent=context),
        dict.fromkeys(str(known.name) for known in _ONE_HOST.params)
        | {"destination": one.endpoint},
    )
    typed = {name: options[name] for name in _HOLD_FOR_ALL if options[name] is not None}
    to = one.path or (places[-1] if places else own["to"])
    try:
        server = one.server or own["server"]
        return ShareRequest(
            **reach_fields(own | typed),
            destination_path=to.replace(_NAME, one.short_name) if to else None,
            server_url=parse_server(server) if server else None,
        )
    except ValueError as error:
        raise click.UsageError(f"{one.name}: server {error}") from None


def of_each(option: str, texts: Iterable[str], wanted: Sequence[Wanted]) -> dict[str, list[str]]:
    """By destination what `VALUE` and `DEST=VALUE` say: that of all first. Raises UsageError.

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
            raise click.UsageError(f"{option} {text}: '{name}' is none of {', '.join(found)}")
    return {name: for_all + own for name, own in found.items()}


def with_datasets(
    requests: Sequence[ShareRequest], wanted: Sequence[Wanted], texts: Iterable[str]
) -> list[ShareRequest]:
    """With what goes to each, where that was said. Raises UsageError."""
    said = of_each("--data", texts, wanted)
    known = {text: _dataset(text) for text in {some[-1] for some in said.values() if some}}
    return [
        msgspec.structs.replace(request, dataset=known[said[one.name][-1]])
        if said[one.name]
        else request
        for request, one in zip(requests, wanted, strict=True)
    ]


def _dataset(text: str) -> Dataset:
    try:
        return scan(Path(parse_file_url(text)))
    except OSError as error:
        raise click.UsageError(f"--data {text}: {error.strerror or error}") from None
    except ValueError as error:
        raise click.UsageError(f"--data {text}: {error}") from None
