"""The user's configuration: one TOML file with defaults of the commands.

    store = "/data/advisor/history"   # every command

    [advise]                          # every advice session
    budget = "2min"
    agent-command = "~/advisor"       # this and ports: every command that starts an agent
    transports = ["tcp"]

    [transfer]                        # also [plan], [share], [backtest] and [lab]
    max-rate = "4Gbit"

    [hosts."dtn02.example.org"]       # every command to this destination
    bandwidth = "10Gbit"
    server = "gsiftp://dtn02.example.org:2811"

    [screen]                          # the terminal interface
    theme = "textual-light"
    drawing = "block"                 # braille, block or ascii

    [keys]                            # an action, and the key for it
    next = "f8"

`Configuration` is the file's definition: its keys, its JSON schema and the defaults of the
commands are derived from it. The command line takes precedence over the destination's table, that
over the command's, and that over the built-in defaults.
"""

import difflib
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import platformdirs
from msgspec import inspect

from advisor.cli.config.values import Value
from advisor.cli.errors import UsageError
from advisor.domain.shell import shell_line
from advisor.hosts.changeable import changeable_by_all


class Table(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="kebab",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """Values of options, by the options' long names."""


class Connections(Table, frozen=True):
    """How the agent at a destination is started."""

    ports: Value | None = None
    agent_command: Value | None = None
    push: Value | None = None
    keep_agent: Value | None = None


class Sessions(Connections, frozen=True):
    """`[advise]`: options of `advisor advise`."""

    budget: Value | None = None
    method: Value | None = None
    gain_ratio: Value | None = None
    impeded: Value | None = None
    iterations: Value | None = None
    constant: Value | None = None
    transports: Value | None = None
    congestion: Value | None = None
    for_tool: Value | None = None
    tools: Value | None = None
    max_streams: Value | None = None
    buffer_scale: Value | None = None


class Transfers(Table, frozen=True):
    """`[transfer]`: options of `advisor transfer`."""

    method: Value | None = None
    epoch: Value | None = None
    start: Value | None = None
    streams: Value | None = None
    price: Value | None = None
    relaxation: Value | None = None
    restart_epochs: Value | None = None
    max_concurrency: Value | None = None
    max_streams: Value | None = None
    max_flows: Value | None = None
    max_rate: Value | None = None
    nice: Value | None = None
    retry_time: Value | None = None
    verify: Value | None = None


class Plans(Table, frozen=True):
    """`[plan]`: options of `advisor plan`."""

    method: Value | None = None
    sample: Value | None = None
    online_tuning: Value | None = None
    relaxation: Value | None = None
    max_concurrency: Value | None = None
    max_streams: Value | None = None


class Shares(Table, frozen=True):
    """`[share]`: options of the commands of `advisor share`."""

    load: Value | None = None
    model: Value | None = None
    estimate: Value | None = None
    streams: Value | None = None
    step: Value | None = None
    time: Value | None = None
    space: Value | None = None
    epoch: Value | None = None
    retry_time: Value | None = None


class Backtests(Table, frozen=True):
    """`[backtest]`: options of `advisor backtest`."""

    method: Value | None = None
    seeds: Value | None = None
    budget: Value | None = None
    drift: Value | None = None
    learn_from_others: Value | None = None


class Labs(Table, frozen=True):
    """`[lab]`: options of `advisor lab up`."""

    rtt: Value | None = None
    rate: Value | None = None
    loss: Value | None = None
    burst: Value | None = None
    queue: Value | None = None
    jitter: Value | None = None
    reordering: Value | None = None
    mtu: Value | None = None
    tcp_buffer: Value | None = None
    source_rate: Value | None = None
    source_queue: Value | None = None
    backend: Value | None = None


class HostTable(Sessions, frozen=True):
    """`[hosts."NAME"]`: the same, and what is known of this destination."""

    agent: Value | None = None
    secret_file: Value | None = None
    address: Value | None = None
    bandwidth: Value | None = None
    rtt: Value | None = None
    server: Value | None = None
    to: Value | None = None


class Screen(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`[screen]`: the look of the terminal interface."""

    theme: str = "textual-dark"
    drawing: Literal["braille", "block", "ascii"] = "braille"


class Configuration(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The whole file. `store`: the folder or address of the history, None
    for the user's data folder."""

    store: str | None = None
    advise: Sessions = Sessions()
    transfer: Transfers = Transfers()
    plan: Plans = Plans()
    share: Shares = Shares()
    backtest: Backtests = Backtests()
    lab: Labs = Labs()
    hosts: dict[str, HostTable] = {}
    screen: Screen = Screen()
    keys: dict[str, str | int] = {}


TABLES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "advise": (("advise",),),
    "transfer": (("transfer",),),
    "plan": (("plan",),),
    "share": (("share", "train"), ("share", "plan"), ("share", "more"), ("share", "models")),
    "backtest": (("backtest",),),
    "lab": (("lab", "up"),),
}
"""Of each table of options the commands whose options they are."""

_FORMER: Final = {"tools"}
"""Former names: still read, no longer offered."""

_OF_ADVICE: Final = {"method"}
"""Of a destination's table for `advise` alone: other commands choose among other methods."""


class BadConfiguration(UsageError):
    """The file cannot be used; the message names the file, the entry and the remedy."""


def path() -> Path:
    """The path of the file, which need not exist."""
    return platformdirs.user_config_path("advisor") / "config.toml"


def keys_of(table: type[msgspec.Struct]) -> tuple[str, ...]:
    """The keys of a table, without former names."""
    known = (field.encode_name for field in msgspec.structs.fields(table))
    return tuple(word for word in known if word not in _FORMER)


def load() -> Configuration:
    """The file's content; the defaults without a file.

    Raises BadConfiguration.
    """
    file = path()
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Configuration()
    except UnicodeDecodeError:
        raise BadConfiguration(f"{file} is not UTF-8 text", remedy="store it as UTF-8") from None
    except OSError as error:
        raise BadConfiguration(f"{file}: {error.strerror or error}") from None
    if place := changeable_by_all(file):
        raise BadConfiguration(
            f"{file} is not read, as every user may change it: {place} is writable by everyone",
            remedy=f"run {shell_line(['chmod', 'o-w', str(place)])}",
        )
    try:
        tables = tomllib.loads(text)
        _check(tables, inspect.type_info(Configuration), [])
        return msgspec.convert(tables, Configuration)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, _Wrong) as error:
        raise BadConfiguration.about(str(file), error) from None


class _Wrong(Exception):
    """An entry is wrong; why, and the remedy."""


def _check(value: object, kind: inspect.Type, place: list[str]) -> None:
    """Raise _Wrong for the first unknown key, with the known ones.

    msgspec checks the rest; its messages name no alternatives.
    """
    match kind:
        case inspect.StructType(fields=fields):
            known = {field.encode_name: field.type for field in fields}
            for word, inner in _as_table(value, place).items():
                if word not in known:
                    raise _Wrong(_unknown(word, list(known), place))
                _check(inner, known[word], [*place, word])
        case inspect.DictType(value_type=inner_kind):
            for word, inner in _as_table(value, place).items():
                _check(inner, inner_kind, [*place, word])
        case inspect.LiteralType(values=values) if value not in values:
            choices = ", ".join(map(str, values))
            raise _Wrong(f"[{'.'.join(place[:-1])}] {place[-1]} is one of {choices}")
        case _ if place == ["store"] and not isinstance(value, str):
            raise _Wrong('store must be a directory or a database: write store = "/…"')


def _as_table(value: object, place: list[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong(f"{place[-1]} must be a table: write {_heading(place)}")
    return value


def _heading(place: list[str]) -> str:
    head, *names = place
    quoted = (f'"{name}"' for name in names)
    return f"[{'.'.join([head, *quoted])}]"


def _unknown(word: str, known: list[str], place: list[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    remedy = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
    where = f"{_heading(place)} " if place else ""
    return f"{where}has no '{word}': {remedy}"


def entries(configuration: Configuration) -> Iterator[tuple[str, str, Value]]:
    """The entries of the file: heading, key and value."""
    tables = msgspec.to_builtins(configuration)
    for name, value in tables.items():
        if name == "hosts":
            for host, table in value.items():
                yield from ((_heading([name, host]), word, said) for word, said in table.items())
        elif isinstance(value, dict):
            yield from ((_heading([name]), word, said) for word, said in value.items())
        else:
            yield "", name, value


def of_command(command: tuple[str, ...], options: Collection[str]) -> dict[str, Value]:
    """The configured values of a command's options, by their long names.

    The connection keys of [advise] apply to every command that starts an agent.

    Raises BadConfiguration.
    """
    tables = [table for table, commands in TABLES.items() if command in commands]
    if not tables and "agent-command" not in options:
        return {}
    configured = load()
    connections = keys_of(Connections)
    found = {word: value for word, value in _said(configured.advise).items() if word in connections}
    for table in tables:
        found |= _said(getattr(configured, table))
    return {word: value for word, value in found.items() if word in {*options, *_FORMER}}


def _said(table: msgspec.Struct) -> dict[str, Value]:
    said: dict[str, Value] = msgspec.to_builtins(table)
    return said


def of_host(name: str, command: tuple[str, ...]) -> dict[str, Value]:
    """The configured values of options of a command to this destination, by their long names.

    Raises BadConfiguration.
    """
    said = _said(load().hosts.get(name, HostTable()))
    if command == ("advise",):
        return said
    return {word: value for word, value in said.items() if word not in _OF_ADVICE}
