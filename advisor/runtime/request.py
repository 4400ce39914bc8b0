"""What users ask of sessions. Rates in bit/s, times in seconds; None where nothing was said."""

from typing import Final

import msgspec

from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import LOCALHOST, Endpoint
from advisor.domain.manifest import ListingRules
from advisor.domain.space import Scale, SettingValue
from advisor.traits import default_method, default_tools, default_transports

PROFILE: Final = "profile"
"""What records of a profile's probes have in place of a search method, and as their stage."""


class ConnectionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The destination, how to connect to it, and what is known of the path to it.

    `agent`: HOST and port of a listening agent, whose secret is in `secret_file`; None for ssh.
    `push`: whether an agent is brought along over ssh; `keep_agent`: whether a copy may stay there.
    `address`: the destination's address for data, if not the one its name resolves to.
    `source_address`, `interface`: what data leave from, at most one of them.
    `ports`: the first and last port the agent may open, (0, 0) for any.
    `server_url`: the destination's server for the tool.
    """

    destination: Endpoint
    agent: tuple[str, int] | None = None
    secret_file: str | None = None
    agent_command: str | None = None
    push: bool = False
    keep_agent: bool = False
    address: str | None = None
    source_address: str | None = None
    interface: str | None = None
    ports: tuple[int, int] = (0, 0)
    bandwidth_bps: float | None = None
    rtt_s: float | None = None
    server_url: str | None = None

    @property
    def destination_host(self) -> str:
        """The name of the destination in the history and in command lines."""
        return self.agent[0] if self.agent else self.destination.host

    @property
    def user(self) -> str:
        """The account that ssh logs in to there; "" for its configuration's, or without ssh."""
        return "" if self.agent else self.destination.user or ""

    @property
    def is_local(self) -> bool:
        """Whether the destination is this host, with an agent inside this process."""
        return self.agent is None and self.destination.host == LOCALHOST


class ProfiledFiles(msgspec.Struct, frozen=True):
    """What a tool is profiled with: it moves parts of the dataset to the destination path."""

    tool: str
    dataset: Dataset
    source_path: str
    destination_path: str


class AdviceRequest(ConnectionOptions, frozen=True, kw_only=True):
    """What an advice session is asked. It is stored, so that the session can be resumed.

    `constants`: constants of the method that were set. `tools`: whose command lines are wanted, in
    this order; none for those that are installed. `tool`: the tool to profile from disk to disk,
    None to profile transports memory to memory; with it `dataset` has a path and `destination_path`
    is known. `without_agent`: no agent is started at the destination, where the tool's own server
    has to do. `keep`: whether what it moved stays. `verify`: whether the command line is to compare
    checksums. `interfaces`: pairs of an interface or address here and one there, to be profiled
    each and all at once.
    """

    budget_s: float | None = None
    method: str = msgspec.field(default_factory=lambda: default_method("network"))
    constants: dict[str, float] = {}
    transports: list[str] = msgspec.field(default_factory=default_transports)
    congestion: list[str] = []
    tools: list[str] = msgspec.field(default_factory=default_tools)
    tool: str | None = None
    without_agent: bool = False
    keep: bool = False
    verify: bool = False
    max_concurrency: int = 64
    max_streams: int = 25
    buffer_scale: Scale | None = None
    seed: int = 0
    accept_history: bool = False
    dataset: Dataset | None = None
    destination_path: str | None = None
    interfaces: list[tuple[str, str]] = []

    @property
    def profiled(self) -> ProfiledFiles:
        """What the tool is profiled with. Raises ValueError if it was not said."""
        dataset = self.dataset
        if not self.tool or not dataset or dataset.path is None or self.destination_path is None:
            raise ValueError(
                "--profile-tool needs --data and --to: what to move, and where it goes"
            )
        return ProfiledFiles(self.tool, dataset, dataset.path, self.destination_path)


class AxisValues(msgspec.Struct, frozen=True, kw_only=True):
    """The values of one parameter to measure: a list, or `count` of them from `low` to `high`.

    `subject`: the transport or tool, "" for every one that has the parameter.
    """

    name: str
    subject: str = ""
    values: tuple[SettingValue, ...] = ()
    low: int = 0
    high: int = 0
    count: int = 0


class ProfileRequest(ConnectionOptions, frozen=True, kw_only=True):
    """What a profile measures. Parameters that no `axes` name get `points` values each.

    `name`: of the profile, "" for one made of the destination and the date. `tool`, `dataset`,
    `destination_path`: as in an AdviceRequest; with a tool no transport is measured.
    """

    name: str = ""
    transports: list[str] = msgspec.field(default_factory=default_transports)
    congestion: list[str] = []
    axes: list[AxisValues] = []
    points: int = 4
    repeats: int = 5
    max_streams: int = 16
    max_concurrency: int = 16
    seed: int = 0
    tool: str | None = None
    dataset: Dataset | None = None
    destination_path: str | None = None
    about: str = ""

    @property
    def probing(self) -> AdviceRequest:
        """What its probes are measured and recorded with."""
        own = msgspec.structs.asdict(self)
        shared = {name: own[name] for name in AdviceRequest.__struct_fields__ if name in own}
        return AdviceRequest(method=PROFILE, tools=[], **shared)


class TransferRequest(ConnectionOptions, frozen=True, kw_only=True):
    """A dataset to move, and where it goes. `method`: what tunes the transfer, if anything does.

    `rules`: what of the source is moved. `tool`: what moves it, "" for the usual one.
    """

    dataset: Dataset
    destination_path: str
    rules: ListingRules = ListingRules()
    method: str = ""
    tool: str = ""
    max_concurrency: int = 16
    max_streams: int = 25
    seed: int = 0


class ShareRequest(ConnectionOptions, frozen=True, kw_only=True):
    """One of several destinations of a source; what goes there may be left open in a plan.

    `tool`: what moves it, "" for the usual one, in a plan for that of most measurements.
    """

    dataset: Dataset | None = None
    destination_path: str | None = None
    rules: ListingRules = ListingRules()
    tool: str = ""

    def moving(self, dataset: Dataset, destination_path: str) -> TransferRequest:
        """The request to move this dataset to this destination."""
        fields = msgspec.structs.asdict(self)
        return TransferRequest(
            **fields | {"dataset": dataset, "destination_path": destination_path}
        )
