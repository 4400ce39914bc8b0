"""Transfers that are killed repeatedly at random moments, and resume each time.

    python -m tests.soak.killed_transfers                     50 transfers, 500 kills: half an hour
    python -m tests.soak.killed_transfers --transfers 3 --kills 15 --seed 4

Made-up files are moved by `advisor transfer` over a GridFTP server on this host. `kill -9` hits the
advisor alone, all of its processes, the server's connections or the server, which is then started
again. Invariants: everything arrives unchanged, and nothing else; what the journal has is there and
is never sent again; no process is left. Exit code 1 where something is wrong; the folder of such a
transfer is kept.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from advisor.domain.quantities import format_bytes, format_duration
from tests.soak.datasets import KINDS, make
from tests.soak.gridftp import KillableServer
from tests.soak.repeatedly_killed import KilledTransfer, Outcome

_TUNERS: Final = ("nelder-mead", "compass", "fixed")
_RATES: Final = ((), (), ("--max-rate", "1Gbit"))


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A transfer, by the command with its options."""

    number: int
    kind: str
    words: tuple[str, ...]
    outcome: Outcome


def _words(command: str, number: int, rng: Random) -> tuple[str, ...]:
    if command == "plan":
        return ("plan", "--run", "--no-sample", "--method", "promc")
    tuner = _TUNERS[number % len(_TUNERS)]
    start = ("--start", rng.choice(("3x2", "4x1", "2x4"))) if tuner == "fixed" else ()
    epoch = rng.choice(("1s", "1500ms", "2s"))
    own = ("--method", tuner, "--epoch", epoch, "--max-streams", "4", *start)
    return ("transfer", *own, *rng.choice(_RATES))


def _moved(options: argparse.Namespace, base: Path, progress: Progress) -> Iterator[Moved]:
    rng = Random(options.seed)
    kinds = list(KINDS)
    task = progress.add_task("", total=options.kills)
    for number in range(options.transfers):
        own = Random(rng.getrandbits(64))
        kills = (number + 1) * options.kills // options.transfers
        kills -= number * options.kills // options.transfers
        kind, words = kinds[number % len(kinds)], _words(options.command, number, own)
        progress.update(task, description=f"{number + 1} of {options.transfers}: {kind}")
        place = base / f"transfer {number + 1}"
        place.mkdir()
        source = make(place / "from here", kind, own)
        server_place = place / "server"
        server_place.mkdir()
        with KillableServer(server_place) as server:
            transfer = KilledTransfer(place / "home", source, server, words)
            outcome = transfer.go(own, kills, lambda: progress.advance(task))
        if not outcome.troubles:
            shutil.rmtree(place)
        yield Moved(number=number + 1, kind=kind, words=words, outcome=outcome)


def _line(moved: Moved) -> str:
    outcome = moved.outcome
    said = "; ".join(outcome.troubles) or "as it should be"
    return (
        f"{moved.number:3} {moved.kind}, {outcome.files} files, "
        f"{format_bytes(outcome.total_bytes)}, {outcome.kills.total()} kills, "
        f"{outcome.runs} runs, {format_duration(outcome.seconds)}: {said}"
    )


def _tables(all_moved: Sequence[Moved]) -> Iterator[Table]:
    yield _of_kinds(all_moved)
    table = Table("phase that was hit", "kills")
    for phase, count in _sum(one.outcome.phases for one in all_moved).most_common():
        table.add_row(phase, str(count))
    yield table
    table = Table("killed", "kills")
    for victim, count in _sum(one.outcome.kills for one in all_moved).most_common():
        table.add_row(victim, str(count))
    yield table


def _of_kinds(all_moved: Sequence[Moved]) -> Table:
    table = Table(
        *("files", "transfers", "kills", "runs", "rounds", "due", "in flight"),
        *("retried", "received", "clients", "wrong"),
    )
    for kind in [*KINDS, "all"]:
        found = [one.outcome for one in all_moved if kind in (one.kind, "all")]
        if not found:
            continue
        sent = [
            sum(one.rounds * one.total_bytes for one in found),
            sum(one.in_flight_bytes for one in found),
            sum(one.retried_bytes for one in found),
            sum(one.received_bytes for one in found),
        ]
        table.add_row(
            *(kind, str(len(found)), str(sum(one.kills.total() for one in found))),
            *(str(sum(one.runs for one in found)), str(sum(one.rounds for one in found))),
            *(format_bytes(count) for count in sent),
            str(max(one.most_in_flight for one in found)),
            str(sum(bool(one.troubles) for one in found)),
        )
    return table


def _sum(counters: Iterator[Counter[str]]) -> Counter[str]:
    return sum(counters, Counter[str]())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--transfers", type=int, default=50, help="[50]")
    parser.add_argument("--kills", type=int, default=500, help="of all transfers together [500]")
    parser.add_argument("--seed", type=int, default=0, help="of files, options and moments [0]")
    parser.add_argument("--command", choices=("transfer", "plan"), default="transfer")
    parser.add_argument("--out", type=Path, help="a file for each transfer as a line of JSON")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    base = Path(tempfile.mkdtemp(prefix="soak-"))
    # The server's account has to get through.
    base.chmod(0o711)
    all_moved: list[Moved] = []
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(separator=" of "),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        for moved in _moved(options, base, progress):
            all_moved.append(moved)
            progress.console.print(_line(moved), markup=False, soft_wrap=True)
            if options.out:
                with options.out.open("ab") as out:
                    out.write(msgspec.json.encode(moved) + b"\n")
    for table in _tables(all_moved):
        console.print(table)
    if any(moved.outcome.troubles for moved in all_moved):
        sys.exit(f"something is wrong: see {base}")
    base.rmdir()


if __name__ == "__main__":
    main()
