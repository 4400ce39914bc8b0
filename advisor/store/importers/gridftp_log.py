"""Transfer logs of GridFTP servers: what `globus-gridftp-server -log-transfer FILE` (`-Z`) writes.

One line for each completed file, with fields in this order:

    DATE=20041209222014.654321 HOST=… PROG=globus-gridftp-server NL.EVNT=FTP_INFO
    START=20041209222014.123456 USER=… FILE=… BUFFER=… BLOCK=… NBYTES=… VOLUME=/ STREAMS=4
    STRIPES=1 DEST=[192.0.2.1] TYPE=RETR CODE=226 TASKID=none retrans=0,0,0,0

DATE is the end time; both times are UTC. HOST is the server, DEST the other end of the data
connection in both directions, 0.0.0.0 where the server did not know it. File names may contain
blanks. TASKID (`none` unless the client sets one, as the Globus service does) and `retrans` (of
each stream) came with later versions and may be missing. Servers write the same after
`[PID] DATE :: Transfer stats: ` into their own log, whose other lines are skipped.
"""

import re
from typing import Final

from advisor.models.log_transfers import LoggedFile, Movement, Place
from advisor.store.importers.entries import RefusedError
from advisor.store.importers.server_logs import is_received, logged_file

ORIGIN: Final = "gridftp-log"
_EVENT: Final = "NL.EVNT=FTP_INFO"
_SERVER: Final = r"\[\d{1,10}\] [^\n]{0,64}? :: "
_OTHER: Final = re.compile(rf"\s*$|{_SERVER}(?!Transfer stats)")
# Only the file name may contain blanks: otherwise matching long lines would be slow.
_LINE: Final = re.compile(
    rf"(?:{_SERVER}Transfer stats: )?"
    r"DATE=(\d{14}(?:\.\d{1,6})?) HOST=(\S*) PROG=\S* NL\.EVNT=FTP_INFO "
    r"START=(\d{14}(?:\.\d{1,6})?) USER=(\S*) FILE=(.*) BUFFER=(\d{1,19}) BLOCK=(\d{1,19}) "
    r"NBYTES=(\d{1,19}) VOLUME=\S* STREAMS=(\d{1,9}) STRIPES=(\d{1,9}) DEST=\d?\[([^\]\s]*)\] "
    r"TYPE=(\S+) CODE=(\d{1,9})(?: TASKID=(\S+))?(?: retrans=((?:\d{0,19},)*\d{0,19}))?\s*$"
)
_NO_TASK: Final = "none"


def looks_like(line: str) -> bool:
    """Whether a line belongs to such a log, or to a server's own log."""
    return _EVENT in line or (bool(line.strip()) and _OTHER.match(line) is not None)


def parse(line: str, place: Place) -> LoggedFile | None:
    """The file of a line; None for a line about no transfer. Raises RefusedError."""
    found = _LINE.match(line)
    # A truncated line may have run into the next one.
    if found is None or _EVENT in found[5]:
        if _OTHER.match(line):
            return None
        raise RefusedError("it is not a complete line of a GridFTP transfer log")
    end, host, start, user, name, buffer, block, size, *others = found.groups("")
    streams, stripes, peer, kind, code, task, retransmits = others
    movement = Movement(
        host=host,
        peer=peer,
        user=user,
        task="" if task == _NO_TASK else task,
        received=is_received(kind),
        streams=int(streams),
        sizes=(buffer, block),
    )
    return logged_file(
        movement,
        code=code,
        stripes=stripes,
        name=name,
        size=size,
        start=start,
        end=end,
        retransmits=retransmits,
        place=place,
    )
