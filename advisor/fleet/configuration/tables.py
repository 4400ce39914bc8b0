"""The keys of `fleet.toml`, as they are written."""

from datetime import datetime
from typing import Final, Literal

import msgspec

from advisor.fleet.plan.fleet import What

HOSTS_LIMIT: Final = 2000
OTHERS_LIMIT: Final = 200
"""Groups, resources, tasks: of each."""
PLANNED_LIMIT: Final = 2000


class Table(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """One table of the file."""


class LimitsTable(Table, frozen=True):
    """`[limits]`."""

    share_per_day: str = "1%"
    at_once: int | None = None
    retry: str = "15min"
    retry_most: str = "12h"


class HostTable(Table, frozen=True):
    """`[hosts.NAME]`."""

    bandwidth: str
    reach: str | None = None
    interfaces: list[str] = []
    agent: str = ""
    agent_command: str = ""
    tags: list[str] = []
    quiet_hours: list[str] = []
    time_zone: str = "UTC"


class GroupTable(Table, frozen=True):
    """`[groups.NAME]`."""

    hosts: list[str]


class ResourceTable(Table, frozen=True):
    """`[resources.NAME]`."""

    hosts: list[str]
    at_once: int
    bandwidth: str | None = None
    inside: bool = False


class MeasureTable(Table, frozen=True):
    """`[measure.NAME]`."""

    what: What
    between: Literal["mesh", "hub-and-spokes", "pairs"]
    every: str
    budget: str
    hosts: list[str] = []
    hubs: list[str] = []
    spokes: list[str] = []
    sources: list[str] = []
    destinations: list[str] = []
    direction: Literal["both", "from-hubs", "to-hubs"] = "both"
    transports: list[str] = []
    set: list[str] = []
    tool: str = ""
    data: str = ""
    to: str = ""


class PlannedTable(Table, frozen=True):
    """`[[planned]]`."""

    source: str
    destination: str
    at: datetime


class FleetFile(Table, frozen=True):
    """The whole file."""

    hosts: dict[str, HostTable]
    measure: dict[str, MeasureTable]
    limits: LimitsTable = LimitsTable()
    groups: dict[str, GroupTable] = {}
    resources: dict[str, ResourceTable] = {}
    planned: list[PlannedTable] = []
