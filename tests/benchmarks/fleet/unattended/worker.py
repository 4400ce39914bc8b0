"""A worker that notes each record once it is acknowledged, where no trouble of the bench gets to.

    python -m tests.benchmarks.fleet.unattended.worker FOLDER WORDS…

is `advisor WORDS…` otherwise. FOLDER/PID has a line for each record: it is written after the
history or the spool has said that the record is safe, so that a worker that is killed between the
two notes too little, and never too much.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from advisor.cli.main import main
from advisor.domain.endpoints import Pair
from advisor.domain.records import Record
from advisor.store.postgres.sending import Sender, Sent
from advisor.store.postgres.spool import Waiting


class Acknowledged(msgspec.Struct, frozen=True):
    """A record that is safe. `spooled`: on this host, since the database did not take it."""

    record: Record
    spooled: bool


def note_in(folder: Path) -> None:
    """Have every record noted that this process stores from now on."""
    number = os.open(folder / str(os.getpid()), os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    store = Sender.store

    def noted(self: Sender, pair: Pair, records: Sequence[Waiting]) -> Sent:
        sent = store(self, pair, records)
        spooled = sent.waiting > 0
        for one in records:
            line = msgspec.json.encode(Acknowledged(one.record, spooled)) + b"\n"
            os.write(number, line)
        return sent

    Sender.store = noted  # type: ignore[method-assign] # to see what it returns


if __name__ == "__main__":
    note_in(Path(sys.argv[1]))
    main(sys.argv[2:])
