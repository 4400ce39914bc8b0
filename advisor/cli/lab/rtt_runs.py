"""The profiles that `advisor lab profile` measures, one after another, and resumes."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence

import msgspec

from advisor.cli.errors import CommandFailed
from advisor.cli.history.lookup import store_errors
from advisor.domain import events as ev
from advisor.domain.orders import Stop
from advisor.hosts.filesystems import filesystem_of
from advisor.lab.state import LabFolder
from advisor.report.narration import Narration
from advisor.report.output import say
from advisor.runtime.advisor_child import AdvisorChild
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED
from advisor.store.history import Store
from advisor.store.profiles import StoredProfile, stored_profiles

_MEMORY = frozenset({"tmpfs", "ramfs"})
_DATA_BYTES = 2**30


class ProfileRun(msgspec.Struct, frozen=True, kw_only=True):
    """One profile: its name and the words that measure it."""

    name: str
    words: list[str]

    def words_after(self, stored: StoredProfile | None) -> list[str] | None:
        """The command that measures what is left; None if nothing is."""
        if stored is None:
            return ["profile", "measure", *self.words, "--name", self.name]
        return ["profile", "resume", self.name] if stored.left else None


@contextlib.contextmanager
def memory_folders(lab: str, host: str) -> Iterator[tuple[str, str]]:
    """A file of zeros and a folder, both in memory, where the tools of a lab may read and write.

    Raises CommandFailed where the lab's files are on a disk.
    """
    folder = LabFolder(lab).files(host)
    filesystem = filesystem_of(folder)
    if filesystem.kind not in _MEMORY:
        raise CommandFailed(
            f"--tools: the lab's files are not in memory but on {filesystem.kind} ({folder})",
            remedy="set ADVISOR_RUNTIME_DIR to a folder of your own below /dev/shm",
        )
    source, target = folder / "from-memory", folder / "to-memory"
    target.mkdir(exist_ok=True)
    with source.open("wb") as file:
        file.truncate(_DATA_BYTES)
    try:
        yield str(source), str(target)
    finally:
        source.unlink(missing_ok=True)


def measure_in_turn(runs: Sequence[ProfileRun], store: Store) -> int:
    """Measure what is left of each profile. Returns the exit code of the first that is stopped.

    Raises CommandFailed for one that fails.
    """
    stored = profiles_by_name(store)
    options = ["--store", store.argument, "--json", "--orders"]
    for number, run in enumerate(runs, 1):
        words = run.words_after(stored.get(run.name))
        measured = "" if words else ": measured before"
        say(f"{number} of {len(runs)}: {run.name}{measured}", err=True)
        if words:
            status = asyncio.run(_measure([*words, *options]))
            if status != EXIT_DONE:
                return status
    return EXIT_DONE


async def _measure(words: Sequence[str]) -> int:
    """Run the command and show its progress; the first signal stops it, the second ends it."""
    child = await AdvisorChild.start(words)
    stopped = asyncio.Event()
    here = asyncio.current_task()

    def stop() -> None:
        if stopped.is_set() and here:
            here.cancel()
        stopped.set()
        child.order(Stop())

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    last: ev.AnyEvent | None = None
    try:
        with Narration(sys.stderr) as narration:
            async for last in child.events():
                narration(last)
        status, said = await child.ended()
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    finally:
        await child.close(at_once=True)
    if status not in (EXIT_DONE, EXIT_INTERRUPTED):
        message = last.message if isinstance(last, ev.ProfileEnded | ev.GaveUp) else said
        raise CommandFailed(message.removeprefix("advisor: ") or "the measurement ended early")
    return status


def profiles_by_name(store: Store) -> dict[str, StoredProfile]:
    """The user's own profiles, the newest of each name."""
    with store_errors():
        found = [one for one in stored_profiles(store) if not one.shipped]
    return {one.record.name: one for one in reversed(found)}
