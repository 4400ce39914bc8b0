"""globus: has the Globus service move files between two of its collections.

Not run, as it needs an account and an endpoint: written from the help of globus-cli 3.43.0, which
lists all options.
"""

from collections.abc import Mapping
from typing import Final

from advisor.api.command_line import command_of, congestion_note, files_at_once, path_notes
from advisor.api.tool import CommandRequest, ToolTraits
from advisor.api.values import Availability, Command, Setting, format_bytes, program_available

_ENDPOINT: Final = "ENDPOINT_ID"
_SOURCE: Final = "SOURCE_COLLECTION_ID"
_DESTINATION: Final = "DESTINATION_COLLECTION_ID"

_FLAGS: Final[Mapping[str, str]] = {
    "globus gcs endpoint update": "Changes an endpoint of Globus Connect Server 5.",
    "--network-use custom": "Takes concurrency and parallelism from the four options that follow.",
    "--preferred-concurrency FILES": "How many files a transfer moves at a time.",
    "--max-concurrency FILES": "The maximum number of files that a transfer moves at a time.",
    "--preferred-parallelism STREAMS": "How many TCP connections each of these files uses.",
    "--max-parallelism STREAMS": "The maximum number of TCP connections for each of these files.",
    "globus transfer": "Submits a transfer to the Globus service without waiting for its end.",
    "--recursive": "Moves the contents of the directory and its subdirectories.",
}


def _network_use(request: CommandRequest, setting: Setting) -> Command:
    at_once = files_at_once(request, setting)
    per_file = int(setting["streams"]) // at_once
    argv = ["globus", "gcs", "endpoint", "update", "--network-use", "custom"]
    for word, value in (("concurrency", at_once), ("parallelism", per_file)):
        argv += [f"--preferred-{word}", str(value), f"--max-{word}", str(value)]
    notes = [
        "For both endpoints, run by an administrator of each, and only if it is managed under a "
        "subscription; it applies to every transfer of the endpoint. On its own host: "
        f"`globus-connect-server endpoint update` with the same options and no {_ENDPOINT}. Unless "
        "set, an endpoint prefers concurrency 2 and parallelism 4, and older ones parallelism 8. "
        f"Log in with `globus login --gcs {_ENDPOINT}` before.",
        *_udt_note(request),
        *_buffer_note(setting),
        *congestion_note(request, setting, "Globus"),
    ]
    return command_of(plugin.name, "source", [*argv, _ENDPOINT], notes)


def _buffer_note(setting: Setting) -> list[str]:
    if not (buffer_bytes := int(setting["buffer_bytes"])):
        return []
    return [f"Measured with {format_bytes(buffer_bytes)} per socket, for which it has no option."]


def _udt_note(request: CommandRequest) -> list[str]:
    if request.subject != "udt":
        return []
    return [
        "UDT was faster; this is the best TCP setting. Globus uses UDT with its own settings, "
        "if both endpoints have --allow-udt true."
    ]


def _transfer(request: CommandRequest) -> Command:
    source, target = request.source, request.target
    recursive = []
    if request.is_directory:
        source, target, recursive = (
            source.rstrip("/") + "/",
            target.rstrip("/") + "/",
            ["--recursive"],
        )
    argv = ["globus", "transfer", *recursive, f"{_SOURCE}:{source}", f"{_DESTINATION}:{target}"]
    notes = [
        f"From any machine, after `globus login`. {_SOURCE} and {_DESTINATION} are found with "
        "`globus endpoint search`; paths are those that the collections show.",
        *path_notes(request, argv),
    ]
    return command_of(plugin.name, "source", argv, notes)


class Globus:
    """Writes the endpoint's line and the transfer's."""

    name = "globus"
    summary = "command line of the Globus service, between two of its collections"
    flags = _FLAGS
    traits = ToolTraits(imported_from=("globus-tasks",))

    def available(self) -> Availability:
        """Whether globus is on the search path."""
        return program_available(self.name, remedy="pipx install globus-cli")

    def commands(self, request: CommandRequest) -> list[Command]:
        """How the endpoints are set to the best TCP setting, and the transfer; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        return [_network_use(request, setting), _transfer(request)]


plugin = Globus()
