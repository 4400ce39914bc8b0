"""Requests: what was stored of them earlier reads back, and what is missing is said."""

import msgspec
import pytest

from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.runtime.request import AdviceRequest, ProfiledFiles, ShareRequest, TransferRequest

THERE = Endpoint("there")
FILES = Dataset(total_bytes=10**9, path="/data", files=3)


def test_a_request_of_an_earlier_version_reads_back() -> None:
    stored = {
        "destination": {"host": "siteB", "user": "alice"},
        "agent": ["siteB", 5199],
        "secret_file": "/s",
        "ports": [40000, 40100],
        "bandwidth_bps": 1e10,
        "budget_s": 60.0,
        "method": "nelder-mead",
        "tool": "globus-url-copy",
        "dataset": {"total_bytes": 5, "path": "/d"},
        "destination_path": "/to",
        "server_url": "gsiftp://siteB:2811",
    }
    request = msgspec.convert(stored, AdviceRequest)
    assert (request.destination_host, request.is_local) == ("siteB", False)
    assert (request.agent, request.server_url) == (("siteB", 5199), "gsiftp://siteB:2811")
    assert (request.method, request.budget_s) == ("nelder-mead", 60.0)
    assert stored.keys() <= msgspec.to_builtins(request).keys()


def test_a_request_reads_back_as_it_was_stored() -> None:
    request = AdviceRequest(destination=THERE, tool="xdd", dataset=FILES, destination_path="/to")
    assert msgspec.convert(msgspec.to_builtins(request), AdviceRequest) == request


def test_profiling_a_tool_needs_files_and_a_place_for_them() -> None:
    request = AdviceRequest(destination=THERE, tool="xdd", dataset=FILES, destination_path="/to")
    assert request.profiled == ProfiledFiles("xdd", FILES, "/data", "/to")
    missing = [
        AdviceRequest(destination=THERE, tool="xdd", destination_path="/to"),
        AdviceRequest(destination=THERE, tool="xdd", dataset=FILES),
        AdviceRequest(
            destination=THERE, tool="xdd", dataset=Dataset(total_bytes=1), destination_path="/to"
        ),
    ]
    for one in missing:
        with pytest.raises(ValueError, match="needs --data and --to"):
            _ = one.profiled


def test_a_share_is_moved_over_the_same_connection() -> None:
    share = ShareRequest(destination=THERE, ports=(1, 2), server_url="ftp://there:2811")
    assert share.moving(FILES, "/to") == TransferRequest(
        destination=THERE,
        ports=(1, 2),
        server_url="ftp://there:2811",
        dataset=FILES,
        destination_path="/to",
    )
