"""The destination of a command, and how it is reached."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from advisor.cli import parameters as p
from advisor.cli.commands import Options, command_words, default_map
from advisor.cli.completion import destinations
from advisor.cli.config import configuration
from advisor.cli.errors import UsageError
from advisor.cli.options import CONNECTION
from advisor.cli.urls import GridFtpUrl
from advisor.domain.addresses import parse_address
from advisor.domain.endpoints import Endpoint


def with_host_defaults(
    context: typer.Context, destination: Endpoint | GridFtpUrl | Path | None
) -> Endpoint | GridFtpUrl | Path | None:
    """What is configured for this destination becomes the default of the other options.

    For a destination that is parsed before them (`is_eager`). Raises BadConfiguration.
    """
    endpoint = destination.endpoint if isinstance(destination, GridFtpUrl) else destination
    words = command_words(context.info_name, context.parent)
    host = endpoint.host if isinstance(endpoint, Endpoint) else ""
    own = configuration.of_host(host, words)
    assert isinstance(context.command, TyperCommand)
    context.default_map = {**(context.default_map or {}), **default_map(context.command, own)}
    return destination


AgentCommandOption = Annotated[
    str | None,
    typer.Option(
        "--agent-command",
        metavar="COMMAND",
        help="The command that starts advisor at the destination, if it is not in PATH there.",
        rich_help_panel=CONNECTION,
    ),
]
PushOption = Annotated[
    bool,
    typer.Option(
        "--push",
        help="Bring an agent along over ssh, where advisor is not installed; nothing of it stays.",
        rich_help_panel=CONNECTION,
    ),
]
KeepAgentOption = Annotated[
    bool,
    typer.Option(
        "--keep-agent",
        help="With --push: leave a copy in your cache folder there, so that it is sent only once.",
        rich_help_panel=CONNECTION,
    ),
]
PortsOption = Annotated[
    p.Ports | None,
    typer.Option(
        "--ports",
        **p.PORTS,
        show_default="any",
        help="TCP and UDP ports that the agent may open for data (with ssh).",
        rich_help_panel=CONNECTION,
    ),
]
BandwidthOption = Annotated[
    float | None,
    typer.Option(
        "--bandwidth",
        **p.RATE,
        help="The rate reserved for you on the path to a destination, as in 10Gbit.",
        rich_help_panel=CONNECTION,
    ),
]


class ReachOptions(Options, frozen=True):
    """How a destination is reached, and what is known of the path."""

    agent: Annotated[
        p.HostPort | None,
        typer.Option(
            "--agent",
            **p.HOST_PORT,
            help="Connect to an agent that listens there, instead of starting one over ssh.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    secret_file: Annotated[
        Path | None,
        typer.Option(
            "--secret-file",
            metavar="FILE",
            help="With --agent: the file with the secret that the agent printed.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    agent_command: AgentCommandOption = None
    push: PushOption = False
    keep_agent: KeepAgentOption = False
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="IP",
            help="The destination's IP address for data, if its name has another one.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    ports: PortsOption = None
    bandwidth: BandwidthOption = None
    rtt: Annotated[
        float | None,
        typer.Option(
            "--rtt",
            **p.RTT,
            help="The initial round-trip time, as in 47ms; measured again during the session.",
            rich_help_panel=CONNECTION,
        ),
    ] = None

    def request_fields(self, destination: Endpoint | None) -> dict[str, Any]:
        """The fields of an AdviceRequest that say what is reached, and how. Raises UsageError."""
        return {
            "destination": self._endpoint(destination),
            "agent": self.agent,
            "secret_file": str(self.secret_file.absolute()) if self.secret_file else None,
            "agent_command": self.agent_command,
            "push": self.push,
            "keep_agent": self.keep_agent,
            "address": _address("--address", self.address),
            "ports": self.ports or (0, 0),
            "bandwidth_bps": self.bandwidth,
            "rtt_s": self.rtt,
        }

    def _endpoint(self, destination: Endpoint | None) -> Endpoint:
        if self.agent and not self.secret_file:
            raise UsageError("--agent needs --secret-file, with the secret that the agent printed")
        if self.secret_file and not self.agent:
            raise UsageError("--secret-file is for --agent HOST:PORT", remedy="give both")
        if self.push and self.agent:
            raise UsageError("--push is for ssh, and --agent for an agent that listens")
        if self.keep_agent and not self.push:
            raise UsageError("--keep-agent is for --push", remedy="give both")
        if destination is None and not self.agent:
            raise UsageError(
                "DESTINATION is missing", remedy="give [USER@]HOST, localhost or --agent"
            )
        return destination or Endpoint(self.agent[0] if self.agent else "")


class DataReachOptions(ReachOptions, frozen=True):
    """That, and what data leave from."""

    source_address: Annotated[
        str | None,
        typer.Option(
            "--source-address",
            metavar="IP",
            show_default="as routed",
            help="This host's IP address that data leave from.",
            rich_help_panel=CONNECTION,
        ),
    ] = None
    interface: Annotated[
        str | None,
        typer.Option(
            "--interface",
            metavar="NAME",
            show_default="as routed",
            help="This host's interface that data leave by, as in eth1.",
            rich_help_panel=CONNECTION,
        ),
    ] = None

    def request_fields(self, destination: Endpoint | None) -> dict[str, Any]:
        """Those of ReachOptions, and the source. Raises UsageError."""
        if self.source_address and self.interface:
            raise UsageError("--source-address and --interface exclude each other")
        return super().request_fields(destination) | {
            "source_address": _address("--source-address", self.source_address),
            "interface": self.interface,
        }


def _address(option: str, text: str | None) -> str | None:
    """The IP address. Raises UsageError."""
    try:
        return parse_address(text) if text is not None else None
    except ValueError as error:
        raise UsageError(f"{option} {error}") from None


def destination_argument(**settings: Any) -> Any:
    """DESTINATION, whose configuration the other options have for defaults."""
    return typer.Argument(
        autocompletion=destinations,
        callback=with_host_defaults,
        is_eager=True,
        metavar="DESTINATION",
        **settings,
    )


DestinationArgument = Annotated[
    Endpoint | None,
    destination_argument(
        parser=p.parsed(Endpoint.parse), help="[USER@]HOST, localhost, or lab:NAME for a lab."
    ),
]
