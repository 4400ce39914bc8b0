"""Usage records of GridFTP servers: what they sent to `-usage-stats-target`, until version 13.

One record for each completed file. As text, one line each:

    HOSTNAME=… START=20050225073026.426286 END=20050225073026.560613 VER="0.17 (…)" BUFFER=16000
    BLOCK=262144 NBYTES=504 STREAMS=1 STRIPES=1 TYPE=RETR CODE=226 [FILE=… CLIENTIP=… DATAIP=…
    USER=… …]

in any order, values with blanks in quotes. Or as packets, as globus-usage-collector stores them in
its .gup files: length and address of the sender, length of the packet, both lengths of two bytes;
then 2 bytes that identify the program (0 is GridFTP), 2 the version, 16 the host, 4 the time, and
that text. Times are UTC.

DATAIP (tag I) is the other end of the data connection; without it CLIENTIP (i), the address of the
client, is used instead. Servers send neither unless configured to: such records need --pair.
"""

import re
import struct
from collections.abc import Iterator
from typing import Final, Protocol

from advisor.models.log_transfers import LoggedFile, Movement, Place
from advisor.store.importers.entries import RefusedError
from advisor.store.importers.server_logs import is_received, logged_file

ORIGIN: Final = "gridftp-usage"
_FIELD: Final = re.compile(r'(?<![A-Za-z_.])([A-Za-z_.]+)=(?:"([^"]*)"|([^\s"]*))')
_TIME: Final = re.compile(r"\d{14}(\.\d{1,6})?")
_COUNT: Final = re.compile(r"\d{1,19}")
_TIMES: Final = ("START", "END")
_COUNTS: Final = ("NBYTES", "STREAMS", "STRIPES", "CODE")
_LIKE: Final = re.compile(r"\bSTART=\d{14}")

_LENGTH: Final = struct.Struct("!H")
_ADDRESS_BYTES: Final = (4, 16)
_HEADER_BYTES: Final = 24
_GRIDFTP: Final = b"\0\0"


class Bytes(Protocol):
    """A file that is read from start to end."""

    def read(self, size: int, /) -> bytes:
        """The next `size` bytes; fewer only at the end of the file."""
        ...


def looks_like(line: str) -> bool:
    """Whether a line has the fields common to all such records."""
    return " END=" in line and " NBYTES=" in line and _LIKE.search(line) is not None


def looks_like_packets(head: bytes) -> bool:
    """Whether a file starts with a packet of the collector."""
    for length in _ADDRESS_BYTES:
        at = _LENGTH.size * 2 + length
        if head.startswith(_LENGTH.pack(length)) and len(head) >= at + _HEADER_BYTES:
            return head[at + _HEADER_BYTES :].startswith(b"HOSTNAME=") or head[at] == 0
    return False


def texts(packets: Bytes) -> Iterator[str]:
    """The text of each GridFTP packet, as a line; "" for packets of other programs.

    Data after a truncated packet cannot be read, and is returned as one line that is not a record.
    """
    while head := packets.read(_LENGTH.size):
        if len(head) < _LENGTH.size or _LENGTH.unpack(head)[0] not in _ADDRESS_BYTES:
            yield "?"
            return
        packets.read(_LENGTH.unpack(head)[0])
        head = packets.read(_LENGTH.size)
        length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else _HEADER_BYTES
        packet = packets.read(length)
        if len(packet) < max(length, _HEADER_BYTES):
            yield "?"
            return
        is_gridftp = packet.startswith(_GRIDFTP)
        yield packet[_HEADER_BYTES:].decode("utf-8", "replace") if is_gridftp else ""


def parse(line: str, place: Place) -> LoggedFile | None:
    """The file of a line; None for a blank line. Raises RefusedError."""
    if not line.strip():
        return None
    fields = {name: quoted or plain for name, quoted, plain in _FIELD.findall(line)}
    fields.setdefault("STRIPES", "1")
    if not (
        all(_TIME.fullmatch(fields.get(name, "")) for name in _TIMES)
        and all(_COUNT.fullmatch(fields.get(name, "")) for name in _COUNTS)
    ):
        raise RefusedError("it is not a complete usage record of a GridFTP server")
    movement = Movement(
        host=fields.get("HOSTNAME", ""),
        peer=fields.get("DATAIP") or fields.get("CLIENTIP", ""),
        user=fields.get("USER", ""),
        task="",
        received=is_received(fields.get("TYPE", "")),
        streams=int(fields["STREAMS"]),
        sizes=(fields.get("BUFFER", ""), fields.get("BLOCK", "")),
    )
    return logged_file(
        movement,
        code=fields["CODE"],
        stripes=fields["STRIPES"],
        name=fields.get("FILE", ""),
        size=fields["NBYTES"],
        start=fields["START"],
        end=fields["END"],
        retransmits="",
        place=place,
    )
