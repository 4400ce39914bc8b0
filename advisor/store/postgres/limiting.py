"""Time limits of this side for whoever waits for a database: a server that hangs, or a network that
swallows everything, enforces none."""

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import psycopg

AnyConnection: TypeAlias = psycopg.Connection[Any] | psycopg.AsyncConnection[Any]

_T = TypeVar("_T")


class NoAnswer(psycopg.OperationalError):
    """The database has not answered in time; the message says in what time."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"no answer within {limit_s:g} s")


def within_limit(work: Callable[[], _T], limit_s: float, abandon: Callable[[], None]) -> _T:
    """What `work` returns or raises, which runs in a thread of its own.

    When nobody waits for it any more, `abandon` is called, which is to end it. Raises NoAnswer.
    """
    answers: queue.SimpleQueue[tuple[_T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answer = work()
        except BaseException as error:  # noqa: BLE001 -- it is raised in the thread that asked
            answers.put((None, error))
        else:
            answers.put((answer, None))

    # libpq resolves names, and waits for sockets, without a limit of its own.
    threading.Thread(target=run, daemon=True, name="database").start()
    try:
        answer, error = answers.get(timeout=limit_s)
    except queue.Empty:
        abandon()
        raise NoAnswer(limit_s) from None
    except BaseException:
        abandon()
        raise
    if error is not None:
        raise error
    return answer  # type: ignore[return-value] # without an error it is the answer


def shut_down(connection: AnyConnection) -> None:
    """Wake up whoever waits for this connection: it is lost to them, and may be in any state."""
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as there,
    ):
        there.shutdown(socket.SHUT_RDWR)
