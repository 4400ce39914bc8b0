"""One transfer that is killed repeatedly, and its invariants."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from tests.benchmarks.disk.files import difference, remove
from tests.soak.clients import Clients, put_before
from tests.soak.datasets import files_of
from tests.soak.gridftp import KillableServer
from tests.soak.moments import Moment, moments, sooner
from tests.soak.ranges import Range, Ranges
from tests.soak.runs import AdvisorRun, Journal, Phase, is_open, kill, processes_of

_AT_A_TIME: Final = 4
_TIMEOUT_S: Final = 120.0
_GONE_WITHIN_S: Final = 10.0
_LOGGED_WITHIN_S: Final = 5.0
_ALIKE: Final = ["--bandwidth", "1Gbit", "--rtt", "20ms", "--max-concurrency", str(_AT_A_TIME)]
_BLOCK_BYTES: Final = 2**20


class Outcome(msgspec.Struct, kw_only=True):
    """What became of it.

    `rounds`: how often all of it was moved: what is complete before all kills are over is removed
    at the destination, and moved again. `in_flight_bytes`: given to clients of killed runs, and not
    in the journal then. `retried_bytes`: given again within a run whose server was killed.
    `told_bytes`: to all clients; `received_bytes`: by the server's log. `troubles`: what is wrong.
    """

    files: int = 0
    total_bytes: int = 0
    rounds: int = 0
    runs: int = 0
    kills: Counter[str] = msgspec.field(default_factory=Counter)
    phases: Counter[str] = msgspec.field(default_factory=Counter)
    early: int = 0
    most_in_flight: int = 0
    in_flight_bytes: int = 0
    retried_bytes: int = 0
    reported_bytes: int = 0
    received_bytes: int = 0
    seconds: float = 0.0
    troubles: list[str] = msgspec.field(default_factory=list)


class KilledTransfer:
    """A transfer of `source` into a folder of the server. `home`: the user's, made here."""

    def __init__(self, home: Path, source: Path, server: KillableServer, words: Sequence[str]):
        """`words`: the command and the options of its own."""
        self.outcome = Outcome()
        self._home = home
        self._source = source
        self._server = server
        self._words = list(words)
        self._target = server.folder / f"{home.name} there"
        self._sizes = files_of(source)
        self._journal = Journal(home / ".local/state/advisor/transfers")
        self._marks: list[str] = []
        self._run: AdvisorRun | None = None
        self._server_killed = False
        home.mkdir()
        (home / "tmp").mkdir()
        put_before(home / "bin")
        self.outcome.files = len(self._sizes)
        self.outcome.total_bytes = sum(self._sizes.values())

    def go(self, rng: Random, kills: int, tell: Callable[[], None] = lambda: None) -> Outcome:
        """Kill it so often, then let it come to its end. `tell` is called after each kill."""
        began_s = time.monotonic()
        try:
            for moment in moments(rng, kills):
                self._killed_at(moment)
                tell()
            self._to_its_end()
        finally:
            if self._run is not None:
                self._run.kill_all()
        self._check_received()
        self.outcome.seconds = time.monotonic() - began_s
        remove(self._target)
        return self.outcome

    def _killed_at(self, moment: Moment) -> None:
        """Where the run is over before its moment, all is moved again, to another moment."""
        run = self._begun(hang=moment.clients_hang)
        while not self._comes(run, moment):
            self.outcome.early += 1
            self._check_end(run)
            if self.outcome.troubles:
                return
            run, moment = self._begun(), sooner(moment)
        self._kill(run, moment)
        time.sleep(moment.pause_s)
        if moment.pause_s:
            self._check_left()
            self._check_contents()

    def _begun(self, *, hang: bool = False) -> AdvisorRun:
        self.outcome.runs += 1
        place = self._home / f"run {self.outcome.runs}"
        to = ["localhost", "--to", str(self._target), "--server", self._server.url, "--json"]
        command, *options = self._words
        environment = {
            "PATH": f"{self._home / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin",
            "HOME": str(self._home),
            "ADVISOR_RUNTIME_DIR": str(self._home / "advisor"),
            # What a killed run leaves there is gone with the home.
            "TMPDIR": str(self._home / "tmp"),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        self._run = AdvisorRun(
            [command, str(self._source), *to, *_ALIKE, *options],
            environment,
            place,
            Clients(Path(f"{place}.lists"), self._source, self._sizes, hang=hang),
            self._journal,
            self._sizes,
        )
        return self._run

    def _comes(self, run: AdvisorRun, moment: Moment) -> bool:
        if not run.wait_for(lambda: moment.is_due(run), _TIMEOUT_S):
            return False
        due_s = time.monotonic() + moment.after_s
        return run.wait_for(lambda: time.monotonic() >= due_s, _TIMEOUT_S)

    def _kill(self, run: AdvisorRun, moment: Moment) -> None:
        phase: Phase = run.phase()
        is_servers = moment.victim in ("server", "connections")
        match moment.victim:
            case "advisor":
                run.kill()
            case "all its processes":
                run.kill_all()
            case "connections":
                self._server.kill_connections()
            case "server":
                self._server.kill()
                self._server.start()
        self._server_killed |= is_servers
        if is_servers:
            until_s = time.monotonic() + moment.advisor_after_s
            run.wait_for(lambda: time.monotonic() >= until_s, _TIMEOUT_S)
            run.kill()
        run.process.wait()
        self.outcome.kills[moment.victim] += 1
        self.outcome.phases[phase] += 1
        self._account(run, retries=is_servers)
        self._marks.append(run.mark)

    def _to_its_end(self) -> None:
        """Where it is complete already, it moves everything again."""
        if self.outcome.troubles:
            return
        run = self._begun()
        run.wait_for(lambda: False, _TIMEOUT_S)
        self._check_end(run)
        self._check_left()

    def _check_end(self, run: AdvisorRun) -> None:
        """Of a run that was let alone."""
        if run.process.poll() is None:
            self._wrong(f"run {self.outcome.runs} did not end in {_TIMEOUT_S:.0f} s")
            run.kill_all()
            run.process.wait()
            return
        self._marks.append(run.mark)
        ends = [one for one in run.events() if one["event"] == "transfer_ended"]
        wanted = {"complete": True, "files": len(self._sizes), "moved_bytes": self._total_bytes}
        reported = {name: ends[-1][name] for name in wanted} if ends else {}
        if run.process.returncode or reported != wanted:
            message = ends[-1]["message"] if ends else run.errors[-300:]
            self._wrong(f"exit code {run.process.returncode}, {reported or 'no end'}: {message}")
        if self._journal.state is not None:
            self._wrong("it is over, and its journal is there still")
        self._account(run, retries=False)

    @property
    def _total_bytes(self) -> int:
        return self.outcome.total_bytes

    def _account(self, run: AdvisorRun, *, retries: bool) -> None:
        """What its clients were given, against what the journal had before and has now."""
        noted, batches = self._journal.ranges(), run.client_runs.reported()
        reported = [one for batch in batches for one in batch]
        covered = Ranges(reported)
        reported_bytes = sum(one.end - one.begin for one in reported)
        self.outcome.reported_bytes += reported_bytes
        self._none("is sent again, and was noted before", reported, run.there_before.meets)
        twice_bytes = reported_bytes - covered.total_bytes
        self.outcome.retried_bytes += twice_bytes
        if twice_bytes and not retries:
            self._wrong(f"{twice_bytes} bytes were sent twice by run {self.outcome.runs}")
        if self._journal.state is None and (reported or run.had_journal):
            self._round_over()
            return
        self._none("was noted before, and is not now", run.there_before, lambda r: not noted.has(r))
        known = Ranges([*run.there_before, *reported])
        self._none("is noted, and was never sent", noted, lambda r: not known.has(r))
        in_flight = [batch for batch in batches if is_open(batch, noted)]
        self.outcome.in_flight_bytes += Ranges(
            one for batch in in_flight for one in batch if not noted.has(one)
        ).total_bytes
        if not retries:
            self.outcome.most_in_flight = max(self.outcome.most_in_flight, len(in_flight))
            # Each has a successor while it is about to end.
            if len(in_flight) > 2 * _AT_A_TIME:
                self._wrong(f"{len(in_flight)} clients were under way, or are not noted")

    def _none(
        self, what: str, ranges: Sequence[Range] | Ranges, wrong: Callable[[Range], bool]
    ) -> None:
        found = [one for one in ranges if wrong(one)]
        if found:
            name, begin, end = found[0]
            self._wrong(
                f"{len(found)} times, first {name!r} from {begin} to {end}: it {what} "
                f"(run {self.outcome.runs})"
            )

    def _round_over(self) -> None:
        """The journal is gone: all has to be there. What follows is a transfer of its own."""
        if found := difference(self._source, self._target):
            self._wrong(f"its journal is gone, but {found}")
        self._check_left()
        self.outcome.rounds += 1
        remove(self._target)

    def _check_contents(self) -> None:
        """What is noted is there, and as it is at the source."""
        self._none("is noted, and differs there", self._journal.ranges(), self._differs)

    def _differs(self, one: Range) -> bool:
        source, target = (root / one.name if one.name else root for root in self._roots)
        with contextlib.ExitStack() as files:
            try:
                here, there = (files.enter_context(p.open("rb")) for p in (source, target))
            except FileNotFoundError:
                return True
            here.seek(one.begin)
            there.seek(one.begin)
            return any(here.read(n) != there.read(n) for n in _blocks(one.end - one.begin))

    @property
    def _roots(self) -> tuple[Path, Path]:
        return self._source, self._target

    def _check_left(self) -> None:
        """No process of a run that is over is there for more than a moment."""
        deadline_s = time.monotonic() + _GONE_WITHIN_S
        while found := [one for mark in self._marks for one in processes_of(mark)]:
            if time.monotonic() > deadline_s:
                self._wrong(f"{len(found)} processes are left: {found}")
                kill(found)
                break
            time.sleep(0.05)
        self._marks.clear()

    def _check_received(self) -> None:
        """What the server wrote is what had to be sent, and no more than was under way beside."""
        outcome = self.outcome
        least_bytes = 0 if self._server_killed else outcome.rounds * outcome.total_bytes
        most_bytes = outcome.rounds * outcome.total_bytes
        most_bytes += outcome.in_flight_bytes + outcome.retried_bytes
        deadline_s = time.monotonic() + _LOGGED_WITHIN_S
        while (received := self._server.received_bytes(self._target)) < least_bytes:
            if time.monotonic() > deadline_s:
                self._wrong(f"the server logged {received} bytes, at least {least_bytes} were due")
                break
            time.sleep(0.1)
        outcome.received_bytes = received
        if max(received, outcome.reported_bytes) > most_bytes:
            self._wrong(
                f"{outcome.reported_bytes} bytes were sent and {received} received; {most_bytes} "
                "with all that was under way"
            )

    def _wrong(self, what: str) -> None:
        self.outcome.troubles.append(what)


def _blocks(total_bytes: int) -> Iterator[int]:
    for begin in range(0, total_bytes, _BLOCK_BYTES):
        yield min(_BLOCK_BYTES, total_bytes - begin)
