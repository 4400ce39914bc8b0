"""Orders on standard input: from a pipe, from nobody, and from what is neither."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.cli.errors import UsageError
from advisor.cli.signals import with_signals
from advisor.domain import events as ev
from advisor.runtime.control import Control
from advisor.runtime.exit_codes import EXIT_INTERRUPTED

STOP = b'{"order": "stop"}\n'


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """What callbacks and tasks raised that nobody waited for."""
    found: list[object] = []
    monkeypatch.setattr(
        asyncio.BaseEventLoop,
        "call_exception_handler",
        lambda self, context: found.append(context),
    )
    yield found
    assert found == []


def ran_with(stdin: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """The exit code of a session that waits for the order to stop, and its notices."""
    notices: list[str] = []
    control = Control()

    def publish(event: ev.AnyEvent) -> None:
        assert isinstance(event, ev.Notice)
        notices.append(event.message)

    async def session() -> int:
        await asyncio.wait_for(control.stop.wait(), 10)
        return EXIT_INTERRUPTED

    with os.fdopen(stdin) as file:
        monkeypatch.setattr("sys.stdin", file)
        status = asyncio.run(with_signals(session, control, publish, orders=True))
    return status, notices


def piped(text: bytes) -> int:
    ours, theirs = os.pipe()
    os.write(theirs, text)
    os.close(theirs)
    return ours


@pytest.mark.usefixtures("raised")
def test_orders_come_from_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ran_with(piped(STOP), monkeypatch) == (EXIT_INTERRUPTED, [])
    status, notices = ran_with(piped(b"no order\n"), monkeypatch)
    assert status == EXIT_INTERRUPTED  # Its end stops the session.
    assert len(notices) == 1
    assert notices[0].startswith("not an order: ")


@pytest.mark.usefixtures("raised")
def test_the_null_device_is_a_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = os.open(os.devnull, os.O_RDONLY)
    status, notices = ran_with(stdin, monkeypatch)
    assert status == EXIT_INTERRUPTED
    assert notices == ["standard input is closed: the session stops"]


@pytest.mark.usefixtures("raised")
@pytest.mark.parametrize("text", [STOP, b""])
def test_a_file_is_refused(text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "orders").write_bytes(text)
    with pytest.raises(UsageError, match="--orders: standard input is a file"):
        ran_with(os.open(tmp_path / "orders", os.O_RDONLY), monkeypatch)


@pytest.mark.usefixtures("raised")
def test_orders_are_read_after_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.pipe()

    def write() -> None:
        with os.fdopen(theirs, "wb") as pipe:
            pipe.write(b"x" * 200_000 + b"\n" + STOP)

    # No pipe holds as much at once.
    writing = threading.Thread(target=write)
    writing.start()
    status, notices = ran_with(ours, monkeypatch)
    writing.join()
    assert status == EXIT_INTERRUPTED
    assert notices
    assert all(notice.startswith("not an order: ") for notice in notices)
