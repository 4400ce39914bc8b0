"""Sends commands to a running lab."""

from typing import Final

import msgspec

from advisor.hosts.decoding import BadData, decoded
from advisor.lab import messages as m
from advisor.lab.state import LabError, LabFolder, silent, state_of

_TIMEOUT_S: Final = 15.0
_REPLIES: Final[msgspec.json.Decoder[m.LabReply]] = msgspec.json.Decoder(m.LabReply)


def tell(name: str, order: m.LabCommand) -> m.LabStatus:
    """Run a command; return the lab's new status. Raises LabError with the lab's own message."""
    state_of(name)
    try:
        with LabFolder(name).connected() as connection:
            connection.settimeout(_TIMEOUT_S)
            connection.sendall(msgspec.json.encode(order) + b"\n")
            with connection.makefile("rb") as replies:
                reply = decoded(_REPLIES, replies.readline(m.LINE_BYTES), m.LINE_BYTES)
    except (OSError, BadData):
        raise silent(name) from None
    if isinstance(reply, m.CommandFailed):
        raise LabError(reply.message)
    status: m.LabStatus = reply.status
    return status
