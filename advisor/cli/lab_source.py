"""Commands with a destination in a lab run on the lab's source."""

import sys
from typing import TypeVar

import msgspec

from advisor.runtime.request import ConnectionOptions

_Request = TypeVar("_Request", bound=ConnectionOptions)


def on_lab(request: _Request) -> _Request:
    """For a destination in a lab: move this process to its source, unless it runs on a host of a
    mesh, and fill in the lab's GridFTP server, for a tool that can use it.

    If that fails, the session reports why.
    """
    wanted = request.destination.lab_host
    if wanted is None:
        return request
    from advisor.lab.enter import become, is_on, measures_from
    from advisor.lab.state import LabError, state_of

    try:
        state = state_of(wanted.lab)
        far = state.far(wanted.host)
    except LabError:
        return request
    if not is_on(measures_from(state)):
        become(state, state.source, [sys.executable, "-P", "-m", "advisor", *sys.argv[1:]])
    if request.server_url or not far.gridftp_url or not _takes(request, far.gridftp_url):
        return request
    return msgspec.structs.replace(request, server_url=far.gridftp_url)


def _takes(request: ConnectionOptions, url: str) -> bool:
    """Whether the tool that the request names can use that server; so if it names none."""
    from advisor.traits import takes_server

    tool = getattr(request, "tool", None)
    return not tool or takes_server(tool, url)
