"""`advisor lab`: a wide-area testbed on this machine."""

import functools
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NewType

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import Options, command, group
from advisor.cli.errors import UsageError
from advisor.cli.options import ResultAsJson, json_option
from advisor.domain.endpoints import LAB_NAME
from advisor.lab import catalogue
from advisor.lab.messages import Cut, GetStatus, LabCommand, LabStatus, Play, SetLoad, SetPath
from advisor.lab.paths import (
    BadPath,
    Changes,
    EmulatedPath,
    changed,
    parse_share,
    parse_time,
)
from advisor.lab.state import LabError

_PATH: Final = "The path"
_TAKEN = {"source", "localhost"}


def _name(text: str) -> str:
    if not LAB_NAME.fullmatch(text):
        raise ValueError("a name has letters, digits and dashes, at most 31")
    return text


def _host_paths(text: str) -> list[tuple[str, str | None]]:
    """`kraken,mason=anl-tacc`: hosts, each with its named path if there is one."""
    found = []
    for part in text.split(","):
        name, _, path = part.strip().partition("=")
        found.append((_name(name), path or None))
    if len({name for name, _ in found}) < len(found) or any(n in _TAKEN for n, _ in found):
        raise ValueError("each host needs a name of its own, other than source and localhost")
    if len(found) > 32:
        raise ValueError("a lab has at most 32 hosts")
    return found


NAME: Final[Any] = {"parser": p.parsed(_name), "metavar": "NAME"}
SHARE: Final[Any] = {"parser": p.parsed(parse_share), "metavar": "SHARE"}
TIME: Final[Any] = {"parser": p.parsed(parse_time), "metavar": "TIME"}
_Hosts = NewType("_Hosts", list[tuple[str, str | None]])

NameArgument = Annotated[str, typer.Argument(**NAME, help="The name of the lab.")]
HostOption = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="HOST",
        show_default="all; for load the first",
        help="In a lab with several destinations: only this one, or the path to it.",
    ),
]
StatusAsJson = Annotated[bool, json_option("Print the state of the lab as JSON.")]


class PathOptions(Options, frozen=True):
    """The properties of a path, which can also be changed while the lab runs."""

    rtt_s: Annotated[
        float | None,
        typer.Option(
            "--rtt",
            **TIME,
            help="Round-trip propagation time, as in 47ms.",
            rich_help_panel=_PATH,
        ),
    ] = None
    rate_bps: Annotated[
        float | None,
        typer.Option(
            "--rate",
            **p.RATE,
            help="Bottleneck rate in each direction, as in 1Gbit.",
            rich_help_panel=_PATH,
        ),
    ] = None
    loss: Annotated[
        float | None,
        typer.Option(
            "--loss",
            **SHARE,
            help="Share of packets lost in each direction, as in 0.1% or 3e-4.",
            rich_help_panel=_PATH,
        ),
    ] = None
    burst_packets: Annotated[
        float | None,
        typer.Option(
            "--burst",
            **p.DECIMAL,
            metavar="PACKETS",
            help="Mean number of packets lost in a row.",
            rich_help_panel=_PATH,
        ),
    ] = None
    queue_bytes: Annotated[
        int | None,
        typer.Option(
            "--queue",
            **p.SIZE,
            show_default="one bandwidth-delay product",
            help="Size of the drop-tail queue at the bottleneck.",
            rich_help_panel=_PATH,
        ),
    ] = None
    jitter_s: Annotated[
        float | None,
        typer.Option(
            "--jitter",
            **TIME,
            help="Each packet is delayed at random by 0 up to this.",
            rich_help_panel=_PATH,
        ),
    ] = None
    reordering: Annotated[
        bool | None,
        typer.Option(
            "--reordering/--no-reordering",
            show_default="no",
            help="Whether jitter may change the order of packets.",
            rich_help_panel=_PATH,
        ),
    ] = None


def _changes(options: PathOptions, **more: Any) -> Changes:
    return Changes(**msgspec.structs.asdict(options), **more)


def _errors(command: Callable[..., int]) -> Callable[..., int]:
    """Errors of a lab end the command with one sentence and exit code 2."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> int:
        try:
            return command(*args, **options)
        except (LabError, BadPath) as error:
            raise UsageError(str(error)) from None

    return run


@group()
def lab() -> None:
    """Create hosts joined by an emulated wide-area path on this machine, and use it.

    \b
    advisor lab up wan --rtt 93.6ms --loss 3e-4
    advisor advise lab:wan
    advisor lab down wan

    Needs no rights where user namespaces are allowed; else root. No interface of this machine is
    touched.
    """


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
    source_rate: Annotated[
        float | None,
        typer.Option(
            "--source-rate", **p.RATE, help="Rate of the source's interface, which all paths share."
        ),
    ] = None
    source_queue: Annotated[
        int | None,
        typer.Option(
            "--source-queue",
            **p.SIZE,
            show_default="one bandwidth-delay product",
            help="With --source-rate: size of that interface's queue.",
        ),
    ] = None


@command()
@_errors
def up(
    name: NameArgument,
    path: PathOptions,
    hosts: HostsOptions,
    *,
    path_name: Annotated[
        str | None,
        typer.Option(
            "--path",
            metavar="NAME|FILE",
            help="A named path ('advisor lab paths'), or a TOML file.",
            rich_help_panel=_PATH,
        ),
    ] = None,
    mtu_bytes: Annotated[
        int | None,
        typer.Option(
            "--mtu",
            **p.SIZE,
            show_default="9000",
            help="MTU of the path and its hosts, in bytes.",
            rich_help_panel=_PATH,
        ),
    ] = None,
    tcp_buffer_bytes: Annotated[
        int | None,
        typer.Option(
            "--tcp-buffer",
            **p.SIZE,
            show_default="64MiB",
            help="Largest TCP buffer that the hosts' kernels allow.",
            rich_help_panel=_PATH,
        ),
    ] = None,
    schedule: Annotated[
        Path | None,
        typer.Option(
            "--schedule",
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="Changes that happen by themselves while the lab is up, as a file for "
            "'advisor lab schedule'.",
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

    Without --path, NAME is the path too if there is one of that name.
    """
    from advisor.lab.lifecycle import Plan, bring_up

    own = None
    if hosts.source_rate:
        queue = hosts.source_queue
        wanted = Changes(rate_bps=hosts.source_rate, delay_s=0.0, queue_bytes=queue)
        try:
            own = changed(EmulatedPath(), wanted).forward
        except BadPath as error:
            raise UsageError(f"--source-rate: {error}") from None
    elif hosts.source_queue:
        raise UsageError("--source-queue needs --source-rate")
    steps = _schedule(schedule)
    plan = Plan(
        hosts=_hosts(
            name,
            path_name,
            hosts.hosts,
            _changes(path, mtu_bytes=mtu_bytes, tcp_buffer_bytes=tcp_buffer_bytes),
        ),
        own=own,
        seed=seed,
        steps=steps,
        backend=backend,
    )
    _show(bring_up(name, plan), as_json)
    if not as_json:
        first = next(iter(plan.hosts))
        where = name if len(plan.hosts) == 1 else f"{name}:{first}"
        typer.echo(f"\n  advisor advise lab:{where}")
    return 0


def _hosts(
    name: str, path_name: str | None, hosts: _Hosts | None, changes: Changes
) -> dict[str, EmulatedPath]:
    common = path_name or (name if catalogue.has(name) else None)
    if hosts is None:
        return {"far": _path(common, changes)}
    paths = {}
    for host, own in hosts:
        named = own or path_name or (host if catalogue.has(host) else common)
        paths[host] = _path(named, changes)
    return paths


def _path(name: str | None, changes: Changes) -> EmulatedPath:
    return changed(catalogue.find(name) if name else EmulatedPath(), changes)


def _schedule(file: Path | None) -> list[Any]:
    from advisor.lab.schedule import BadSchedule, parse_schedule

    if file is None:
        return []
    try:
        return list(parse_schedule(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, BadSchedule) as error:
        raise UsageError(f"{file}: {error}") from None


def _tell(name: str, order: LabCommand, as_json: bool) -> int:
    from advisor.lab.control import tell

    _show(tell(name, order), as_json)
    return 0


def _show(status: LabStatus, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(status))
        return
    from advisor.report.lab import status_text

    typer.echo(status_text(status))


@command("set")
@_errors
def set_(
    name: NameArgument,
    path: PathOptions,
    *,
    host: HostOption = None,
    forward: Annotated[
        bool, typer.Option("--forward", help="Only the direction from the source.")
    ] = False,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Only the direction to the source.")
    ] = False,
    as_json: StatusAsJson = False,
) -> int:
    """Change the path while the lab is in use."""
    changes = _changes(path)
    if not changes.said:
        raise UsageError("nothing to change: give --rtt, --rate, --loss, …")
    which = None if forward == reverse else "forward" if forward else "reverse"
    return _tell(name, SetPath(changes=changes, host=host, which=which), as_json)


@command()
@_errors
def cut(name: NameArgument, *, host: HostOption = None, as_json: StatusAsJson = False) -> int:
    """Cut the path: drop all packets in both directions."""
    return _tell(name, Cut(is_cut=True, host=host), as_json)


@command()
@_errors
def restore(name: NameArgument, *, host: HostOption = None, as_json: StatusAsJson = False) -> int:
    """Restore a path that was cut."""
    return _tell(name, Cut(is_cut=False, host=host), as_json)


@command()
@_errors
def load(
    name: NameArgument,
    *,
    transfers: Annotated[
        int | None,
        p.whole(
            "--transfers",
            low=0,
            high=128,
            help="Parallel TCP streams that fill the path (ext.tfr in the papers).",
        ),
    ] = None,
    compute: Annotated[
        int | None,
        p.whole(
            "--compute",
            low=0,
            high=256,
            help="Matrix products that keep the cores busy (ext.cmp in the papers).",
        ),
    ] = None,
    host: HostOption = None,
    as_json: StatusAsJson = False,
) -> int:
    """Set the external load on the path and this machine; 0 removes it.

    Computing loads this whole machine: the hosts of a lab share its cores.
    """
    if transfers is None and compute is None:
        raise UsageError("give --transfers, --compute or both")
    return _tell(name, SetLoad(transfers=transfers, compute=compute, host=host), as_json)


@command()
@_errors
def schedule(
    name: NameArgument,
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True, dir_okay=False, metavar="FILE", help="A line for each change, as above."
        ),
    ] = None,
    *,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the schedule that runs.")] = False,
    as_json: StatusAsJson = False,
) -> int:
    """Run the timed changes in FILE, starting now.

    \b
    at 60s: transfers 64
    at 90s: loss 1%, rate 500Mbit
    at 120s: cut
    at 125s: restore
    """
    if stop == (file is not None):
        raise UsageError("give either FILE or --stop")
    return _tell(name, Play(steps=_schedule(file)), as_json)


@command()
@_errors
def status(
    name: Annotated[
        str | None, typer.Argument(**NAME, help="The name of the lab; without it, every lab.")
    ] = None,
    *,
    as_json: StatusAsJson = False,
) -> int:
    """Show hosts, paths and traffic counters; without NAME, of every lab."""
    from advisor.lab.state import labs

    if name is not None:
        return _tell(name, GetStatus(), as_json)
    found = labs()
    for place in found:
        if place.is_up:
            _tell(place.name, GetStatus(), as_json)
        elif not as_json:
            why = place.last_words() or "its supervisor has ended"
            typer.echo(f"{place.name}: ended ({why}): 'advisor lab down {place.name}' tidies up")
    if not found and not as_json:
        typer.echo("no lab is up: 'advisor lab up wan' makes one")
    return 0


@command()
@_errors
def check(name: NameArgument, *, host: HostOption = None, as_json: ResultAsJson = False) -> int:
    """Measure the path and compare it with its definition: RTT, rate and loss, both ways.

    Takes about 15 seconds; nothing else may use the path. Exits with 0 when it is what was asked,
    with 1 when it is not or this machine is too slow for it.
    """
    from advisor.lab import checking
    from advisor.report.lab_check import check_text, progress

    with progress() as narrate:
        found = checking.check_path(name, host, narrate)
    typer.echo(msgspec.json.encode(found) if as_json else check_text(found))
    return 0 if found.is_as_asked else 1


@command()
@_errors
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
        typer.echo(f"{one} is down")
    return 0


@command()
@_errors
def paths(*, as_json: ResultAsJson = False) -> int:
    """List the named paths, and where to put your own."""
    found = {name: catalogue.find(name) for name in catalogue.names()}
    if as_json:
        typer.echo(msgspec.json.encode(found))
        return 0
    from advisor.cli.terminal import stdout_columns
    from advisor.report.lab import paths_text

    typer.echo(paths_text(found, stdout_columns()))
    typer.echo(f"\nYour own: a TOML file each in {catalogue.user_paths_folder()}")
    return 0


@command("exec", context_settings={"ignore_unknown_options": True})
@_errors
def exec_(
    name: NameArgument,
    argv: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND", show_default="a shell", help="The command and its arguments."
        ),
    ] = None,
    *,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The host to run it on.")
    ] = "source",
) -> int:
    """Run COMMAND on a host of the lab, the source by default; without one, a shell.

    \b
    advisor lab exec wan -- ping far
    advisor lab exec wan --host far -- iperf3 -s
    """
    import os

    from advisor.lab.enter import become
    from advisor.lab.state import state_of

    state = state_of(name)
    words = argv or [os.environ.get("SHELL", "/bin/sh")]
    try:
        become(state, state.host(host), words)
    except OSError as error:
        raise LabError(f"{shlex.join(words)}: {error.strerror}") from None


for _command in (
    up,
    set_,
    cut,
    restore,
    load,
    schedule,
    status,
    check,
    down,
    paths,
    exec_,
):
    lab.add_command(_command)
