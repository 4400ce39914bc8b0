"""Sends commands to a running lab."""

import socket
from typing import Any, Final

import msgspec

from advisor.lab import messages as m
from advisor.lab.state import LabError, LabFolder, state_of

_TIMEOUT_S: Final = 15.0


def tell(name: str, order: m.LabCommand) -> m.LabStatus:
    """Run a command; return the lab's new status. Raises LabError with the lab's own message."""
    state_of(name)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_TIMEOUT_S)
            connection.connect(str(LabFolder(name).control))
            connection.sendall(msgspec.json.encode(order) + b"\n")
            with connection.makefile("rb") as replies:
                reply: Any = msgspec.json.decode(replies.readline(), type=m.LabReply)
    except (OSError, msgspec.MsgspecError):
        raise LabError(
            f"lab {name} does not answer: 'advisor lab down {name}' takes it down"
        ) from None
    if isinstance(reply, m.CommandFailed):
        raise LabError(reply.message)
    status: m.LabStatus = reply.status
    return status
