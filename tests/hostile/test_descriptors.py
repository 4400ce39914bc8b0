"""Ctrl-C as soon as a descriptor is closed: it is not closed again.

Its number may be another file's by then.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.agent.claims import claim
from advisor.agent.files import ANYWHERE, opened_folder
from advisor.hosts.private_folders import runtime_folder


def walks(folder: Path) -> Callable[[], None]:
    def walk() -> None:
        with opened_folder(str(folder)):
            pass

    return walk


def makes(_: Path) -> Callable[[], None]:
    def make() -> None:
        runtime_folder("lab")

    return make


def claims(folder: Path) -> Callable[[], None]:
    held = claim(ANYWHERE, str(folder / "target"), "a" * 64, "b" * 64, "me")

    def give_up() -> None:
        try:
            held.release(done=True)
        finally:
            held.release(done=False)

    return give_up


@pytest.mark.parametrize(
    ("prepare", "number"),
    [*((one, number) for one in (walks, makes) for number in (1, 2, 3)), (claims, 1)],
)
def test_it_is_closed_once(
    prepare: Callable[[Path], Callable[[], None]],
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "run"))
    act = prepare(tmp_path)
    close, calls = os.close, 0

    def interrupted(descriptor: int) -> None:
        nonlocal calls
        close(descriptor)
        calls += 1
        if calls == number:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        act()
