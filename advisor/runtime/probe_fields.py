"""The fields on path and files that every session stores with its probes."""

from typing import Any

from advisor.domain.connection import Connection
from advisor.domain.path import PathFacts
from advisor.models.transfer_heuristics import buffer_of


def path_fields(path: PathFacts, rtt_s: float | None = None) -> dict[str, Any]:
    """The fields of a ProbeRecord on the path. `rtt_s`: a newer round-trip time than the path's."""
    return {
        "rtt_s": path.rtt_s if rtt_s is None else rtt_s,
        "mtu_bytes": path.mtu_bytes,
        "bandwidth_bps": path.bandwidth_bps,
        "buffer_bytes": buffer_of(path),
        "connection": Connection.of(path),
    }


def file_fields(total_bytes: int, files: int) -> dict[str, Any]:
    """The fields of a ProbeRecord on the files that are moved, of which there is at least one."""
    return {"file_bytes": total_bytes / files, "files": files}
