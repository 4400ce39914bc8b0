"""What messages are made of: bounded types of fields, and the bases of both directions."""

from typing import Annotated, Final

import msgspec

from advisor.domain.bounded import Whole
from advisor.domain.printable import SHOWN

PATHS_LIMIT: Final = 400
"""The number of files per request: an answer about that many fits a message."""

FilePath = Annotated[str, msgspec.Meta(min_length=1, max_length=4096, pattern=r"^/[^\x00]*\Z")]
"""Absolute, in UTF-8, without NUL, which no path may contain."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+\Z")]
Address = Annotated[str, msgspec.Meta(min_length=2, max_length=45, pattern=r"^[0-9A-Fa-f:.]+\Z")]
OwnAddress = Annotated[str, msgspec.Meta(max_length=45, pattern=r"^[0-9A-Fa-f:.]*\Z")]
Host = Annotated[str, msgspec.Meta(min_length=1, max_length=255, pattern=r"^[\w.:%][\w.:%-]*\Z")]
SENTENCE_LIMIT: Final = 1024
Sentence = Annotated[str, msgspec.Meta(max_length=SENTENCE_LIMIT)]
Url = Annotated[str, msgspec.Meta(max_length=1024, pattern=SHOWN)]
Who = Annotated[str, msgspec.Meta(max_length=200, pattern=SHOWN)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
_Value = Whole | float | Annotated[str, msgspec.Meta(max_length=64)]
BoundedSetting = Annotated[dict[Name, _Value], msgspec.Meta(max_length=16)]
"""A setting to use: which floats are none is for the plugin to say, in a sentence."""
SEVERAL = msgspec.Meta(min_length=1, max_length=PATHS_LIMIT)
Paths = Annotated[list[FilePath], SEVERAL]
HexHash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Mode = Annotated[int, msgspec.Meta(ge=0, le=0o7777)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]


class AdvisorMessage(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True
):
    """The base of the advisor's messages."""


class FileRequest(AdvisorMessage, frozen=True, kw_only=True):
    """Work on files. It ends with the reply that its request names, `Refused` or `WorkStopped`.

    Until then the agent sends `AtWork`.
    """


class AgentMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="say"):
    """The base of the agent's messages. Unknown fields are ignored: a newer agent may add some."""
