"""The question a session answers, whole: what a resumed session is asked again."""

import msgspec

from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import LOCALHOST, Endpoint
from advisor.domain.space import Scale


class AdviceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """All that the user said. Rates in bit/s, times in seconds, None where nothing was said.

    `agent`: HOST:PORT of a listening agent, whose secret is in `secret_file`; None for ssh.
    `address`: the destination's address for data when it is not the one its name resolves to.
    `ports`: the first and last port the agent may open, (0, 0) for any.
    `constants`: the method's constants that were set.
    `tools`: those whose command lines are wanted, in this order.
    `tool`: what is profiled from disk to disk, None for memory to memory; then `dataset` has a path
    and `destination_path` is known. `keep`: whether what it moved stays. `verify`: whether the line
    is to compare checksums.
    """

    destination: Endpoint
    agent: tuple[str, int] | None = None
    secret_file: str | None = None
    agent_command: str | None = None
    address: str | None = None
    ports: tuple[int, int] = (0, 0)
    bandwidth_bps: float | None = None
    rtt_s: float | None = None
    budget_s: float | None = None
    method: str = "bayes"
    constants: dict[str, float] = {}
    transports: list[str] = msgspec.field(default_factory=lambda: ["tcp", "udt"])
    congestion: list[str] = []
    tools: list[str] = msgspec.field(default_factory=lambda: ["globus-url-copy", "xdd"])
    tool: str | None = None
    keep: bool = False
    verify: bool = False
    max_concurrency: int = 16
    max_streams: int = 25
    buffer_scale: Scale | None = None
    seed: int = 0
    accept_history: bool = False
    dataset: Dataset | None = None
    destination_path: str | None = None
    server_url: str | None = None

    @property
    def destination_host(self) -> str:
        """The name history and command lines know the destination by."""
        return self.agent[0] if self.agent else self.destination.host

    @property
    def is_local(self) -> bool:
        """Whether the embedded agent is the other side."""
        return self.agent is None and self.destination.host == LOCALHOST
