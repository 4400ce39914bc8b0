"""`advisor lab up` and `down`."""

from pathlib import Path
from typing import Annotated, Final, Literal, NewType

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options, command
from advisor.cli.errors import UsageError
from advisor.cli.lab.options import (
    NAME,
    PATH,
    RATE,
    NameArgument,
    PathOptions,
    StatusAsJson,
    changes_of,
    lab_name,
)
from advisor.cli.lab.orders import lab_errors, show_status, steps_of
from advisor.lab import catalogue
from advisor.lab.paths import BadPath, Changes, Direction, EmulatedPath, changed
from advisor.lab.state import LabError
from advisor.report.output import say

_TAKEN: Final = {"source", "localhost"}


def _host_paths(text: str) -> list[tuple[str, str | None]]:
    """`kraken,mason=anl-tacc`: hosts, each with its named path if there is one."""
    found = []
    for part in text.split(","):
        name, _, path = part.strip().partition("=")
        found.append((lab_name(name), path or None))
    if len({name for name, _ in found}) < len(found) or any(n in _TAKEN for n, _ in found):
        raise ValueError("each host needs a unique name other than source and localhost")
    if len(found) > 32:
        raise ValueError("a lab has at most 32 hosts")
    return found


_Hosts = NewType("_Hosts", list[tuple[str, str | None]])


class NewPathOptions(PathOptions, frozen=True):
    """The properties of a path, with those that are fixed once the lab is up."""

    path_name: Annotated[
        str | None,
        typer.Option(
            "--path",
            metavar="NAME|FILE",
            help="A named path ('advisor lab paths'), or a TOML file.",
            rich_help_panel=PATH,
        ),
    ] = None
    mtu_bytes: Annotated[
        int | None,
        typer.Option(
            "--mtu",
            **p.SIZE,
            show_default="9000",
            help="MTU of the path and its hosts, in bytes.",
            rich_help_panel=PATH,
        ),
    ] = None
    tcp_buffer_bytes: Annotated[
        int | None,
        typer.Option(
            "--tcp-buffer",
            **p.SIZE,
            show_default="64MiB",
            help="Largest TCP buffer that the hosts' kernels allow.",
            rich_help_panel=PATH,
        ),
    ] = None


class HostsOptions(Options, frozen=True):
    """The hosts of a lab, and what they share."""

    hosts: Annotated[
        _Hosts | None,
        typer.Option(
            "--hosts",
            parser=p.parsed(_host_paths),
            metavar="HOST[=PATH],…",
            show_default="one, far",
            help="Several destinations, each with a named path of its own if you give one.",
        ),
    ] = None
    mesh: Annotated[
        bool,
        typer.Option(
            "--mesh", help="With --hosts: they reach each other too, over the paths of both."
        ),
    ] = False
    source_rate: Annotated[
        float | None,
        typer.Option(
            "--source-rate", **RATE, help="Rate of the source's interface, which all paths share."
        ),
    ] = None
    source_queue: Annotated[
        int | None,
        typer.Option(
            "--source-queue",
            **p.SIZE,
            show_default="one bandwidth-delay product of the longest path",
            help="With --source-rate: size of that interface's queue.",
        ),
    ] = None


@command()
@lab_errors
def up(
    name: NameArgument,
    path: NewPathOptions,
    hosts: HostsOptions,
    *,
    schedule: Annotated[
        Path | None,
        typer.Option(
            "--schedule",
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="Timed changes while the lab is up, as a file for 'advisor lab schedule'.",
        ),
    ] = None,
    seed: Annotated[
        int,
        p.whole(
            "--seed",
            low=0,
            high=2**31,
            help="Seed of the random losses and delays: the same seed repeats them.",
        ),
    ] = 0,
    backend: Annotated[
        Literal["auto", "netem", "own"],
        typer.Option(
            "--backend",
            help="What emulates the path: the kernel's netem, advisor's own emulator, or auto: "
            "netem if this kernel has it.",
        ),
    ] = "auto",
    as_json: StatusAsJson = False,
) -> int:
    """Create hosts and the paths to them, with an agent and a GridFTP server on each.

    Without --path, NAME also selects the path of that name, if there is one.
    """
    from advisor.lab.lifecycle import Plan, bring_up

    if hosts.mesh and len(hosts.hosts or ()) < 2:
        raise UsageError("--mesh needs two hosts", remedy="give --hosts a,b")
    plan = Plan(
        hosts=_hosts(name, path, hosts.hosts),
        mesh=hosts.mesh,
        own=_source_link(hosts),
        seed=seed,
        steps=steps_of(schedule),
        backend=backend,
    )
    show_status(bring_up(name, plan), as_json)
    if not as_json:
        first = next(iter(plan.hosts))
        where = name if len(plan.hosts) == 1 else f"{name}:{first}"
        say(f"\n  advisor advise lab:{where}")
    return 0


def _source_link(options: HostsOptions) -> Direction | None:
    """The rate and queue of the source's own interface. Raises UsageError."""
    if not options.source_rate:
        if options.source_queue:
            raise UsageError("--source-queue needs --source-rate")
        return None
    wanted = Changes(rate_bps=options.source_rate, delay_s=0.0, queue_bytes=options.source_queue)
    try:
        return changed(EmulatedPath(), wanted).forward
    except BadPath as error:
        raise UsageError.about("--source-rate", error) from None


def _hosts(name: str, path: NewPathOptions, hosts: _Hosts | None) -> dict[str, EmulatedPath]:
    """The path to each host."""
    changes = changes_of(path)
    common = path.path_name or (name if catalogue.has(name) else None)
    if hosts is None:
        return {"far": _path(common, changes)}
    paths = {}
    for host, own in hosts:
        named = own or path.path_name or (host if catalogue.has(host) else common)
        paths[host] = _path(named, changes)
    return paths


def _path(name: str | None, changes: Changes) -> EmulatedPath:
    return changed(catalogue.find(name) if name else EmulatedPath(), changes)


@command()
@lab_errors
def down(
    name: Annotated[str | None, typer.Argument(**NAME, help="The name of the lab.")] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All labs of this user.")] = False,
) -> int:
    """End the lab and everything in it."""
    from advisor.lab.lifecycle import take_down
    from advisor.lab.state import labs

    if every == (name is not None):
        raise UsageError("give either NAME or --all")
    for one in [place.name for place in labs()] if every else [str(name)]:
        if not take_down(one):
            raise LabError(f"no lab '{one}' is up")
        say(f"{one} is down")
    return 0
