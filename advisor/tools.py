"""What a tool plugin is: something that moves files, for which a command line is written."""

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


@runtime_checkable
class Tool(Protocol):
    """What a file in plugins/tools offers as `plugin`."""

    @property
    def name(self) -> str:
        """The program's own name."""

    @property
    def summary(self) -> str:
        """One line for `advisor plugins`."""

    def available(self) -> Availability:
        """Whether the program is on this machine. Its lines are written all the same."""

    def commands(self, request: CommandRequest) -> list[Command]:
        """The lines to run, in the order they are started. Pure: opens and looks up nothing."""
