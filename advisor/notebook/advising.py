"""`advisor.advise`: one advice session, awaited or followed event by event.

The session is the command `advisor advise` in a process of its own, as for the screens: what it
does and stores is the same, it can enter a lab, and foreign code cannot disturb a notebook.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from operator import index
from os import PathLike, fspath
from typing import Any, Final, SupportsFloat, SupportsIndex, TypeAlias

from advisor.domain.advice import Advice
from advisor.domain.events import AdviceGiven, AnyEvent, GaveUp
from advisor.domain.orders import Stop
from advisor.domain.problem import Problem, ProblemKind
from advisor.hosts.processes import whole
from advisor.notebook.errors import AdvisorError
from advisor.runtime.advisor_child import AdvisorChild
from advisor.runtime.exit_codes import EXIT_INTERRUPTED, EXIT_USAGE

Option: TypeAlias = (
    str | SupportsIndex | SupportsFloat | Sequence[str] | Mapping[str, SupportsFloat]
)
"""The value of an option: True for a flag, texts for a list, a mapping for NAME=NUMBER.

Numbers may be numpy's, as those of a table are.
"""

_HELP: Final = "advisor advise --help"


class Advising:
    """One session that `advise` has prepared. It starts when it is awaited or iterated, once.

    `await` gives the advice. `async for` gives each event when it happens; the advice, an event
    too, is the last. Both raise AdvisorError if there is no advice. Leaving the loop, cancelling
    the task and `cancel` end the session and all its processes; what was measured is stored.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """`words`: what follows `advisor` on a command line."""
        self._words = list(words)
        self._child: AdvisorChild | None = None
        self._begun = False

    def __await__(self) -> Generator[Any, None, Advice]:
        return self._advice().__await__()

    def __aiter__(self) -> AsyncIterator[AnyEvent]:
        return self._events()

    def wait(self) -> Advice:
        """The advice, for scripts without an event loop: blocks until the session has ended.

        Raises AdvisorError, also where a loop runs, as in a notebook.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self._advice())
        raise AdvisorError(
            "wait() would block the event loop that runs here",
            remedy="write `await advisor.advise(…)`",
            kind=ProblemKind.INVALID,
        )

    def stop(self) -> None:
        """End the measuring: the session gives the best advice it can, and ends."""
        if self._child:
            self._child.order(Stop())

    async def cancel(self) -> None:
        """End the session now, without advice. When this returns, none of its processes is left."""
        if self._child:
            await self._child.cancel()

    async def _advice(self) -> Advice:
        given: Advice | None = None
        async for event in self:
            if isinstance(event, AdviceGiven):
                given = event
        assert given is not None
        return given

    async def _events(self) -> AsyncGenerator[AnyEvent, None]:
        child = await self._start()
        last: AnyEvent | None = None
        try:
            async for last in child.events():
                yield last
            status, said = await child.ended()
        finally:
            await whole(child.cancel())
        if not isinstance(last, AdviceGiven):
            raise AdvisorError.of(_why_none(last, status, said))

    async def _start(self) -> AdvisorChild:
        if self._begun:
            raise AdvisorError(
                "this session was started before",
                remedy="call advisor.advise(…) for another one",
                kind=ProblemKind.INVALID,
            )
        self._begun = True
        try:
            self._child = await AdvisorChild.start(self._words)
        except OSError as error:
            raise AdvisorError.about("the session cannot be started", error) from error
        return self._child


def _why_none(last: AnyEvent | None, status: int, said: str) -> Problem:
    """Why a session ended without advice. `said`: its last line on standard error."""
    reason = said.removeprefix("advisor: ").partition(" (see '")[0]
    if isinstance(last, GaveUp):
        return last.problem or Problem(kind=ProblemKind.FAILED, reason=last.message)
    if status == EXIT_INTERRUPTED or status < 0:
        return Problem(kind=ProblemKind.STOPPED, reason="the session was cancelled")
    if status == EXIT_USAGE:
        return Problem(kind=ProblemKind.INVALID, reason=reason, command=_HELP)
    return Problem(
        kind=ProblemKind.FAILED, reason=reason or f"the session ended with status {status}"
    )


def advise(
    destination: str,
    *,
    budget_s: SupportsFloat | None = None,
    size_bytes: SupportsIndex | None = None,
    data: str | PathLike[str] | None = None,
    to: str | None = None,
    profile_tool: str | None = None,
    transports: Sequence[str] = (),
    congestion: Sequence[str] = (),
    method: str | None = None,
    max_streams: SupportsIndex | None = None,
    bandwidth_bps: SupportsFloat | None = None,
    rtt_s: SupportsFloat | None = None,
    seed: SupportsIndex | None = None,
    accept_history: bool = False,
    store: str | PathLike[str] | None = None,
    options: Mapping[str, Option] | None = None,
) -> Advising:
    """Measure the path from this host to `destination`: `[USER@]HOST`, `localhost` or `lab:NAME`.

    Await it for the advice, or iterate over its events with `async for`. Without an argument the
    configuration file applies, then the defaults of `advisor advise`, whose options these are.

    `budget_s`: most time for the whole session, in seconds. `size_bytes`: how much there is to
    move. `data`, `to`: the files here, and their place at the destination. `profile_tool`: the tool
    to measure from disk to disk, in place of the network alone. `transports`, `congestion`: which
    to compare. `bandwidth_bps`: the rate reserved for you. `rtt_s`: the initial round-trip time.
    `accept_history`: use stored results of this path and measure nothing; an error without any.
    `store`: the folder or address of the history. `options`: further options of `advisor advise`
    by their long names, as in `{"gain-ratio": 0.9, "agent-command": "~/advisor"}`.

    Nothing is started or checked by the call itself.
    """
    typed: dict[str, Option | None] = {
        "budget": budget_s,
        "size": None if size_bytes is None else f"{size_bytes}B",
        "data": None if data is None else fspath(data),
        "to": to,
        "profile-tool": profile_tool,
        "transports": transports or None,
        "congestion": congestion or None,
        "method": method,
        "max-streams": max_streams,
        "bandwidth": None if bandwidth_bps is None else f"{float(bandwidth_bps):.0f}bit",
        "rtt": None if rtt_s is None else f"{float(rtt_s):.9f}s",
        "seed": seed,
        "accept-history": accept_history,
        "store": None if store is None else fspath(store),
        **(options or {}),
    }
    words = [word for name, value in typed.items() for word in _words(name, value)]
    # What begins with a dash is a destination too, and no option.
    return Advising(["advise", "--json", "--orders", *words, "--", destination])


def _words(name: str, value: Option | None) -> Iterator[str]:
    """The option as typed on a command line; nothing without a value."""
    value = _plain(value)
    if value is True:
        yield f"--{name}"
    elif value is None or value is False:
        return
    elif isinstance(value, str):
        yield f"--{name}={value}"
    elif isinstance(value, SupportsIndex):
        yield f"--{name}={index(value)}"
    elif isinstance(value, SupportsFloat):
        # Without an exponent, which the command does not read.
        yield f"--{name}={float(value):.9f}"
    elif isinstance(value, Mapping):
        yield from (f"--{name}={word}={number}" for word, number in value.items())
    else:
        yield f"--{name}={','.join(value)}"


def _plain(value: Any) -> Any:
    """A scalar of numpy as Python's: its bool is neither a bool nor a number."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value
