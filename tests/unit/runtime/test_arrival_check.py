"""What is believed of the sizes at a destination."""

import asyncio
from collections.abc import Sequence

import pytest

from advisor.api.tool import Piece
from advisor.runtime import arrival_check as arriving
from advisor.runtime.arrival_check import is_short, shortage, written_sizes

ONE = Piece(source="/a/one", target="/b/one", size_bytes=10)
TWO = Piece(source="/a/two", target="/b/two", size_bytes=10, offset_bytes=30, is_whole=False)


class Server:
    """One that writes a file's next size each time it is asked, and keeps the last."""

    def __init__(self, **sizes: list[int | None]) -> None:
        self._sizes = {f"/b/{name}": of_one for name, of_one in sizes.items()}
        self.asked: list[list[str]] = []

    async def sizes(self, paths: Sequence[str]) -> list[int | None]:
        self.asked.append(list(paths))
        return [
            self._sizes[path].pop(0) if len(self._sizes[path]) > 1 else self._sizes[path][0]
            for path in paths
        ]


def _found(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    monkeypatch.setattr(arriving, "_STILL_WRITING_S", (0.0, 0.0))
    return asyncio.run(written_sizes(server.sizes, [ONE, TWO]))


def test_what_is_there_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(one=[10], two=[40])
    assert _found(server, monkeypatch) == [10, 40]
    assert len(server.asked) == 1


def test_what_is_still_written_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(one=[10], two=[None, 35, 40])
    assert _found(server, monkeypatch) == [10, 40]
    assert server.asked == [["/b/one", "/b/two"], ["/b/two"], ["/b/two"]]


def test_what_stays_short_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(one=[None], two=[39])
    assert _found(server, monkeypatch) == [None, 39]
    assert len(server.asked) == 3


def test_a_range_needs_what_is_before_it() -> None:
    assert is_short(TWO, 39)
    assert not is_short(TWO, 40)
    assert not is_short(TWO, 41)
    assert is_short(ONE, None)


def test_what_is_short_is_said_with_both_sizes() -> None:
    assert shortage(TWO, 39).startswith("/a/two has 39 bytes there instead of 40")
    assert "is missing there" in shortage(ONE, None)
