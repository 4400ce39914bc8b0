"""From what was typed and configured to the question: the options that say where, and how."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from advisor.cli import parameters as p
from advisor.cli.completion import destinations
from advisor.cli.config import configuration
from advisor.domain.addresses import parse_address
from advisor.domain.endpoints import Endpoint

_Command = TypeVar("_Command", bound=Callable[..., Any])

_TYPED = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


def reach_options_for(destination: click.ParamType[Any]) -> Callable[[_Command], _Command]:
    """DESTINATION of this type, and the options that say how to reach it and what is known."""
    return lambda command: _decorated(command, destination)


def reach_options(command: _Command) -> _Command:
    """The same, with a host for DESTINATION."""
    return _decorated(command, p.ENDPOINT)


def _decorated(command: _Command, destination: click.ParamType[Any]) -> _Command:
    for decorate in reversed(
        [
            click.argument(
                "destination", type=destination, required=False, shell_complete=destinations
            ),
            click.option("--agent", type=p.HOST_PORT, help="A listening agent instead of ssh."),
            click.option(
                "--secret-file",
                type=click.Path(path_type=Path),
                help="The secret that agent printed.",
            ),
            click.option(
                "--agent-command", help="The agent's command on the other side, if not in PATH."
            ),
            click.option(
                "--address", help="The destination's IP address for data, if not that of its name."
            ),
            click.option(
                "--ports", type=p.PORTS, help="Ports the agent may open for data (with ssh)."
            ),
            click.option(
                "--bandwidth", type=p.RATE, help="The reserved rate of the path, as in 10Gbit."
            ),
            click.option(
                "--rtt", type=p.DURATION, help="The round-trip time, where it cannot be measured."
            ),
        ]
    ):
        command = decorate(command)
    return command


def with_those_of_the_host(context: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """The options, and those the configuration has for this destination where none was typed."""
    destination: Endpoint | None = options["destination"]
    for name, text in configuration.of_host(destination.host if destination else "").items():
        found = next((one for one in context.command.params if one.name == name), None)
        if found is None or context.get_parameter_source(name) in _TYPED:
            continue
        try:
            options[name] = found.type_cast_value(context, text)
        except click.BadParameter as error:
            raise configuration.BadConfiguration(
                f"{configuration.path()}: {destination}: {name}: {error.message}"
            ) from None
    return options


def reach_fields(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of an AdviceRequest that `reach_options` fill."""
    return {
        "destination": _destination(options),
        "agent": options["agent"],
        "secret_file": str(options["secret_file"].absolute()) if options["secret_file"] else None,
        "agent_command": options["agent_command"],
        "address": _address(options["address"]),
        "ports": options["ports"] or (0, 0),
        "bandwidth_bps": options["bandwidth"],
        "rtt_s": options["rtt"],
    }


def _destination(options: dict[str, Any]) -> Endpoint:
    destination: Endpoint | None = options["destination"]
    agent = options["agent"]
    if agent and not options["secret_file"]:
        raise click.UsageError("--agent needs --secret-file, with the secret that agent printed")
    if options["secret_file"] and not agent:
        raise click.UsageError("--secret-file is for --agent HOST:PORT: give both")
    if destination is None and not agent:
        raise click.UsageError("DESTINATION is missing: give [USER@]HOST, localhost or --agent")
    return destination or Endpoint(agent[0])


def _address(text: str | None) -> str | None:
    try:
        return parse_address(text) if text is not None else None
    except ValueError as error:
        raise click.UsageError(f"--address {error}") from None
