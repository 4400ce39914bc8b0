"""`advisor lab`: a wide-area testbed on this machine."""

import functools
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from advisor.cli import parameters as p
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

_Command = TypeVar("_Command", bound=Callable[..., Any])


_TAKEN = {"source", "localhost"}


def _name(text: str) -> str:
    if not LAB_NAME.fullmatch(text):
        raise ValueError("a name has letters, digits and dashes, at most 31")
    return text


def _host_paths(text: str) -> list[tuple[str, str | None]]:
    """`kraken,mason=anl-tacc`: hosts, and the named path to each where it is said."""
    found = []
    for part in text.split(","):
        name, _, path = part.strip().partition("=")
        found.append((_name(name), path or None))
    if len({name for name, _ in found}) < len(found) or any(n in _TAKEN for n, _ in found):
        raise ValueError("each host needs a name of its own, other than source and localhost")
    if len(found) > 32:
        raise ValueError("a lab has at most 32 hosts")
    return found


NAME = p.Parsed("NAME", _name)
SHARE = p.Parsed("share", parse_share)
TIME = p.Parsed("time", parse_time)


def _path_options(command: _Command) -> _Command:
    """What of a path can be changed while it runs."""
    for option in reversed(
        (
            click.option("--rtt", "rtt_s", type=TIME, help="Round-trip propagation time."),
            click.option("--rate", "rate_bps", type=p.RATE, help="Bottleneck rate, each way."),
            click.option("--loss", type=SHARE, help="Share of packets lost, each way."),
            click.option("--burst", "burst_packets", type=float, help="Lost in a row, on average."),
            click.option("--queue", "queue_bytes", type=p.SIZE, help="Drop-tail queue. [one BDP]"),
            click.option("--jitter", "jitter_s", type=TIME, help="Random delay, from 0 to this."),
            click.option("--reordering/--no-reordering", default=None, help="Jitter may reorder."),
        )
    ):
        command = option(command)
    return command


def _changes(options: dict[str, Any]) -> Changes:
    known = {name: options[name] for name in Changes.__struct_fields__ if name in options}
    return Changes(**known)


def _errors(command: Callable[..., int]) -> Callable[..., int]:
    """What a lab refuses is one sentence and exit code 2."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> int:
        try:
            return command(*args, **options)
        except (LabError, BadPath) as error:
            raise click.UsageError(str(error)) from None

    return run


@click.group()
def lab() -> None:
    """Make hosts joined by an emulated wide-area path on this machine, and use it.

    \b
    advisor lab up wan --rtt 93.6ms --loss 3e-4
    advisor advise lab:wan
    advisor lab down wan

    Needs no rights where user namespaces are allowed; else root. No interface of this machine is
    touched.
    """


@lab.command()
@click.argument("name", type=NAME)
@click.option("--path", "path_name", help="A named path ('advisor lab paths'), or a TOML file.")
@_path_options
@click.option("--mtu", "mtu_bytes", type=p.SIZE, help="Of the path and its hosts. [9000]")
@click.option("--tcp-buffer", "tcp_buffer_bytes", type=p.SIZE, help="Kernels' limit. [64MiB]")
@click.option("--hosts", type=p.Parsed("HOST[=PATH],…", _host_paths), help="Several destinations.")
@click.option("--source-rate", type=p.RATE, help="Of the source's interface, which all share.")
@click.option("--source-queue", type=p.SIZE, help="Of that interface. [one BDP]")
@click.option("--schedule", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**31), default=0, show_default=True)
@click.option(
    "--backend",
    type=click.Choice(["auto", "netem", "own"]),
    default="auto",
    help="The kernel's netem, or the emulator of our own. [netem where there is one]",
)
@click.option("--json", "as_json", is_flag=True)
@_errors
def up(name: str, **options: Any) -> int:
    """Make hosts and the paths to them, with an agent and a GridFTP server on each.

    Without --path, NAME is the path too if there is one of that name.
    """
    from advisor.lab.lifecycle import Plan, bring_up

    own = None
    if options["source_rate"]:
        queue = options["source_queue"]
        wanted = Changes(rate_bps=options["source_rate"], delay_s=0.0, queue_bytes=queue)
        try:
            own = changed(EmulatedPath(), wanted).forward
        except BadPath as error:
            raise click.UsageError(f"--source-rate: {error}") from None
    elif options["source_queue"]:
        raise click.UsageError("--source-queue needs --source-rate")
    steps = _schedule(options["schedule"])
    plan = Plan(
        hosts=_hosts(name, options),
        own=own,
        seed=options["seed"],
        steps=steps,
        backend=options["backend"],
    )
    _show(bring_up(name, plan), options["as_json"])
    if not options["as_json"]:
        first = next(iter(plan.hosts))
        where = name if len(plan.hosts) == 1 else f"{name}:{first}"
        click.echo(f"\n  advisor advise lab:{where}")
    return 0


def _hosts(name: str, options: dict[str, Any]) -> dict[str, EmulatedPath]:
    changes = _changes(options)
    common = options["path_name"] or (name if catalogue.has(name) else None)
    if options["hosts"] is None:
        return {"far": _path(common, changes)}
    paths = {}
    for host, own in options["hosts"]:
        named = own or options["path_name"] or (host if catalogue.has(host) else common)
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
        raise click.UsageError(f"{file}: {error}") from None


def _tell(name: str, order: LabCommand, as_json: bool) -> int:
    from advisor.lab.control import tell

    _show(tell(name, order), as_json)
    return 0


def _show(status: LabStatus, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(status))
        return
    from advisor.report.lab import status_text

    click.echo(status_text(status))


@lab.command(name="set")
@click.argument("name", type=NAME)
@click.option("--host", help="Of several: this one's path only.")
@click.option("--forward", "which", flag_value="forward", help="Only from the source.")
@click.option("--reverse", "which", flag_value="reverse", help="Only to the source.")
@_path_options
@click.option("--json", "as_json", is_flag=True)
@_errors
def set_(name: str, host: str | None, which: str | None, as_json: bool, **options: Any) -> int:
    """Change the path while things run."""
    changes = _changes(options)
    if not changes.said:
        raise click.UsageError("nothing to change: give --rtt, --rate, --loss, …")
    return _tell(name, SetPath(changes=changes, host=host, which=which), as_json)


@lab.command()
@click.argument("name", type=NAME)
@click.option("--host", help="Of several: only the path to this one.")
@click.option("--json", "as_json", is_flag=True)
@_errors
def cut(name: str, host: str | None, as_json: bool) -> int:
    """Let nothing through any more, either way."""
    return _tell(name, Cut(is_cut=True, host=host), as_json)


@lab.command()
@click.argument("name", type=NAME)
@click.option("--host", help="Of several: only the path to this one.")
@click.option("--json", "as_json", is_flag=True)
@_errors
def restore(name: str, host: str | None, as_json: bool) -> int:
    """Let packets through again."""
    return _tell(name, Cut(is_cut=False, host=host), as_json)


@lab.command()
@click.argument("name", type=NAME)
@click.option("--transfers", type=click.IntRange(0, 128), help="ext.tfr: parallel TCP streams.")
@click.option("--compute", type=click.IntRange(0, 256), help="ext.cmp: matrix products.")
@click.option("--host", help="Of several: where the streams go. [the first]")
@click.option("--json", "as_json", is_flag=True)
@_errors
def load(
    name: str, transfers: int | None, compute: int | None, host: str | None, as_json: bool
) -> int:
    """Put external load on path and machine, as much as said from now on; 0 takes it away.

    Computing loads this whole machine: the hosts of a lab share its cores.
    """
    if transfers is None and compute is None:
        raise click.UsageError("give --transfers, --compute or both")
    return _tell(name, SetLoad(transfers=transfers, compute=compute, host=host), as_json)


@lab.command()
@click.argument("name", type=NAME)
@click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option("--stop", is_flag=True, help="Stop the one that runs.")
@click.option("--json", "as_json", is_flag=True)
@_errors
def schedule(name: str, file: Path | None, stop: bool, as_json: bool) -> int:
    """Have changes happen by themselves, from now on, after the lines of FILE.

    \b
    at 60s: transfers 64
    at 90s: loss 1%, rate 500Mbit
    at 120s: cut
    at 125s: restore
    """
    if stop == (file is not None):
        raise click.UsageError("give either FILE or --stop")
    return _tell(name, Play(steps=_schedule(file)), as_json)


@lab.command()
@click.argument("name", type=NAME, required=False)
@click.option("--json", "as_json", is_flag=True)
@_errors
def status(name: str | None, as_json: bool) -> int:
    """Hosts, paths, and what has crossed; without NAME, every lab."""
    from advisor.lab.state import labs

    if name is not None:
        return _tell(name, GetStatus(), as_json)
    found = labs()
    for place in found:
        if place.is_up:
            _tell(place.name, GetStatus(), as_json)
        elif not as_json:
            why = place.last_words() or "its supervisor has ended"
            click.echo(f"{place.name}: ended ({why}): 'advisor lab down {place.name}' tidies up")
    if not found and not as_json:
        click.echo("no lab is up: 'advisor lab up wan' makes one")
    return 0


@lab.command()
@click.argument("name", type=NAME)
@click.option("--host", help="Of several: the path to this one.")
@click.option("--json", "as_json", is_flag=True)
@_errors
def check(name: str, host: str | None, as_json: bool) -> int:
    """Measure the path against what was asked: RTT, rate and loss, both ways.

    Takes about 15 seconds; nothing else may use the path. Exits with 0 when it is what was asked,
    with 1 when it is not or this machine is too slow for it.
    """
    from advisor.lab import checking
    from advisor.report.lab_check import check_text, progress

    with progress() as narrate:
        found = checking.check_path(name, host, narrate)
    click.echo(msgspec.json.encode(found) if as_json else check_text(found))
    return 0 if found.is_as_asked else 1


@lab.command()
@click.argument("name", type=NAME, required=False)
@click.option("--all", "every", is_flag=True, help="All labs of this user.")
@_errors
def down(name: str | None, every: bool) -> int:
    """End the lab and everything in it."""
    from advisor.lab.lifecycle import take_down
    from advisor.lab.state import labs

    if every == (name is not None):
        raise click.UsageError("give either NAME or --all")
    for one in [place.name for place in labs()] if every else [str(name)]:
        if not take_down(one):
            raise LabError(f"no lab '{one}' is up")
        click.echo(f"{one} is down")
    return 0


@lab.command()
@click.option("--json", "as_json", is_flag=True)
@_errors
def paths(as_json: bool) -> int:
    """List the paths that have names, and where to put your own."""
    found = {name: catalogue.find(name) for name in catalogue.names()}
    if as_json:
        click.echo(msgspec.json.encode(found))
        return 0
    from advisor.cli.terminal import stdout_columns
    from advisor.report.lab import paths_text

    click.echo(paths_text(found, stdout_columns()))
    click.echo(f"\nYour own: a TOML file each in {catalogue.user_paths_folder()}")
    return 0


@lab.command(name="exec", context_settings={"ignore_unknown_options": True})
@click.argument("name", type=NAME)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--host", default="source", show_default=True, help="The host to run it on.")
@_errors
def exec_(name: str, command: tuple[str, ...], host: str) -> int:
    """Run COMMAND on a host of the lab, the source by default; without one, a shell.

    \b
    advisor lab exec wan -- ping far
    advisor lab exec wan --host far -- iperf3 -s
    """
    import os

    from advisor.lab.enter import become
    from advisor.lab.state import state_of

    state = state_of(name)
    argv = list(command) or [os.environ.get("SHELL", "/bin/sh")]
    try:
        become(state, state.host(host), argv)
    except OSError as error:
        raise LabError(f"{shlex.join(argv)}: {error.strerror}") from None
