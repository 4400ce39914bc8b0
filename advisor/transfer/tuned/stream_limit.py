"""What a tool that moves a file over one stream leaves of a start, and of what a user asks for."""

from advisor.domain.transfers import Levels
from advisor.runtime.request import TransferRequest
from advisor.transfer.engine.route import Route


def most_streams(
    route: Route, request: TransferRequest, streams: int | None, start: Levels | None
) -> int:
    """The streams for each file at most.

    `streams`, `start`: what the user asks for. Raises ValueError where the tool cannot
    do that, or it is more than is allowed.
    """
    asked = max(streams or 1, start.parallelism if start else 1)
    if not route.has_streams(request.dataset):
        if asked > 1:
            raise ValueError(
                f"{route.tool.name} moves a file over one stream, not {asked}: leave out "
                "--streams, and the streams of --start"
            )
        return 1
    if asked > request.max_streams:
        raise ValueError(
            f"{asked} streams for each file are more than the {request.max_streams} allowed: raise "
            "--max-streams, or ask for fewer"
        )
    return request.max_streams


def within(levels: Levels | None, most_streams: int, most_files: int) -> Levels | None:
    """The same number of flows, as more files at a time where one may have fewer streams."""
    if levels is None or levels.parallelism <= most_streams:
        return levels
    flows = min(levels.concurrency * levels.parallelism, most_files)
    return Levels(concurrency=flows, parallelism=most_streams)
