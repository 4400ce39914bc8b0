"""The only place that starts processes.

Each child is the leader of its own process group, has a pipe for all three streams, and is ended
with its whole group on every way out: a normal end, an error, a cancelled task. If this process
itself is killed, the child's standard input closes, which every child of ours treats as the order
to exit.
"""

import asyncio
import contextlib
import os
import pwd
import signal
import subprocess
from collections.abc import AsyncIterator, Coroutine, Sequence
from pathlib import Path
from typing import IO, Any, Final, NoReturn

LINE_LIMIT_BYTES: Final = 64 * 1024
_STDERR_KEPT_BYTES: Final = 256 * 1024
# A server ignores the end of its standard input; this shell does not, and ends the whole group.
_WHILE_INPUT_LASTS: Final = '"$@" </dev/null & cat >/dev/null; kill -9 0'

# As above for a program that ends by itself: this process becomes the program, next to a process
# that watches the input. A shell gives background jobs no input, hence the third descriptor.
_ENDED_WITH_INPUT: Final = (
    'exec 3<&0; { cat <&3; kill -9 0; } >/dev/null 2>&1 & exec "$@" </dev/null 3<&-'
)


class Child:
    """A running child process. Made by `running`; ended when the block is left."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("a child has pipes for all three streams")
        self.stdin = process.stdin
        self.stdout = process.stdout
        self._process = process
        self._stderr = bytearray()
        self._drain = asyncio.create_task(self._keep_stderr(process.stderr))

    @property
    def pid(self) -> int:
        """The process id, which is also its group's."""
        return self._process.pid

    @property
    def stderr(self) -> bytes:
        """The first 256 KiB of what it wrote to standard error so far."""
        return bytes(self._stderr)

    async def _keep_stderr(self, stream: asyncio.StreamReader) -> None:
        # Read to the end even when no more is stored: a full pipe would block the child.
        while chunk := await stream.read(65536):
            self._stderr += chunk[: max(0, _STDERR_KEPT_BYTES - len(self._stderr))]

    async def wait(self) -> int:
        """Wait for its end; return the exit status."""
        status = await self._process.wait()
        await asyncio.wait([self._drain], timeout=0.5)
        return status

    def send(self, number: int) -> None:
        """Send it a signal, and not its group. Raises ProcessLookupError once it has ended."""
        self._process.send_signal(number)

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    async def end(self, grace_s: float = 0.0) -> None:
        """End it and its group; `grace_s`: how long it may take after its input is closed."""
        try:
            if grace_s > 0 and self._process.returncode is None:
                self.stdin.close()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._process.wait(), grace_s)
        finally:
            self._signal_group(signal.SIGKILL)
            await self._let_go()

    async def _let_go(self) -> None:
        self.stdin.close()
        # Python 3.11 waits for the pipes too, and one whose buffer is full is closed only when it
        # has been read: a child that was ended in the middle of its output would never have ended.
        drains = [self._drain, asyncio.create_task(_to_its_end(self.stdout))]
        await self._process.wait()
        # In Python 3.11.2 and 3.14 the process may have ended before its pipes have. A grandchild
        # that left the group may hold them open; do not wait for it.
        await asyncio.wait(drains, timeout=0.2)
        for drain in drains:
            drain.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await drain
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await self.stdin.wait_closed()


async def _to_its_end(stream: asyncio.StreamReader) -> None:
    with contextlib.suppress(RuntimeError):  # Somebody else is reading it.
        while await stream.read(65536):
            pass


def server_bound_to_stdin(argv: Sequence[str]) -> list[str]:
    """The command for a program that does not exit when its standard input is closed."""
    return ["/bin/sh", "-c", _WHILE_INPUT_LASTS, "sh", *argv]


def command_bound_to_stdin(argv: Sequence[str]) -> list[str]:
    """The command for a program that ends by itself, killed when its standard input is closed.

    It has the child's process id, and its exit status.
    """
    return ["/bin/sh", "-c", _ENDED_WITH_INPUT, "sh", *argv]


def replace_by(argv: Sequence[str]) -> NoReturn:
    """Replace this process by that program. Raises OSError."""
    os.execvp(argv[0], list(argv))


class Daemon:
    """A process in a session of its own, with pipes to it while it is being started.

    It outlives this one after `let_go`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        log: Path,
        environment: dict[str, str],
        account: int | None = None,
    ) -> None:
        """Start it as the leader of its own session, with its standard error going to `log`.

        `account`: the number of the user that it becomes, with no group but that user's; only root
        may name one. Raises OSError, KeyError without such an account.
        """
        own = None if account is None else pwd.getpwuid(account).pw_gid
        with log.open("ab") as stderr:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
                cwd="/",
                env=os.environ | environment,
                user=account,
                group=own,
                extra_groups=None if own is None else [],
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe to its standard input."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe from its standard output."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._process.poll()

    def send(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        self._process.send_signal(number)

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end; whether it came. Its pipes are closed then."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        self._close_pipes()
        return True

    def let_go(self) -> None:
        """Close the pipes and detach from it."""
        self._close_pipes()
        self._process.returncode = 0  # Otherwise the interpreter warns that nobody waited for it.

    def kill(self) -> None:
        """End it and its group now."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._close_pipes()

    def _close_pipes(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # Unread input is lost with the process.
            self.stdin.close()
        self.stdout.close()


async def start(argv: Sequence[str]) -> Child:
    """Start a process. The caller must call `end`. Raises OSError when it cannot be started.

    If cancelled meanwhile, it leaves neither a process nor a pipe behind.
    """
    starting = asyncio.ensure_future(_started(argv))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await whole(_undone(starting))
        raise


async def _started(argv: Sequence[str]) -> Child:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LINE_LIMIT_BYTES,
        process_group=0,
    )
    return Child(process)


async def _undone(starting: asyncio.Future[Child]) -> None:
    with contextlib.suppress(OSError):
        child = await starting
        await child.end()


async def whole(work: Coroutine[Any, Any, None]) -> None:
    """Run it to its end, even if this task is cancelled meanwhile, and then raise that."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError


@contextlib.asynccontextmanager
async def running(argv: Sequence[str], grace_s: float = 0.0) -> AsyncIterator[Child]:
    """Run a process for the duration of the block."""
    child = await start(argv)
    try:
        yield child
    finally:
        await whole(child.end(grace_s))


async def output_of(argv: Sequence[str], timeout_s: float) -> tuple[int, str]:
    """Exit status and standard output of a short command. Raises OSError, TimeoutError."""
    async with running(argv) as child:
        child.stdin.close()
        async with asyncio.timeout(timeout_s):
            text = await child.stdout.read()
            return await child.wait(), text.decode(errors="replace")
