"""How many streams a file may have: what the tool can do, and what the user allows."""

import pytest

from advisor import registry
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.transfers import Levels
from advisor.runtime.request import TransferRequest
from advisor.testing.samples import a_path
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.route import Route
from advisor.transfer.tuned.stream_limit import most_streams

REQUEST = TransferRequest(
    destination=Endpoint("dtn02"),
    dataset=Dataset(total_bytes=10**9, files=4, path="/a"),
    destination_path="/b",
    max_streams=16,
)


def most(tool: str, streams: int | None = None, start: Levels | None = None) -> int:
    places = Places(source="/a", target="/b", destination_host="dtn02")
    route = Route(tool=registry.transfer_tool(tool), path=a_path(), places=places)
    return most_streams(route, REQUEST, streams, start)


def test_it_is_the_users_limit_unless_the_tool_has_one_stream() -> None:
    assert most("globus-url-copy") == most("globus-url-copy", 16) == 16
    assert most("rclone") == most("rclone", 1) == 1


@pytest.mark.parametrize(
    ("streams", "start"), [(2, None), (None, Levels(concurrency=4, parallelism=2))]
)
def test_a_tool_of_one_stream_says_so(streams: int | None, start: Levels | None) -> None:
    with pytest.raises(ValueError, match="rclone moves a file over one stream, not 2"):
        most("rclone", streams, start)


@pytest.mark.parametrize(
    ("streams", "start"), [(20, None), (None, Levels(concurrency=4, parallelism=20))]
)
def test_more_than_is_allowed_is_not_blamed_on_the_tool(
    streams: int | None, start: Levels | None
) -> None:
    with pytest.raises(ValueError, match="20 streams for each file are more than the 16 allowed"):
        most("globus-url-copy", streams, start)
