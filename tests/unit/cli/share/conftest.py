"""`advisor share` as a user types it, with a store of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from advisor.cli.share.command import share
from advisor.store.history import Store
from tests.commands import invoke

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def run(store: Store) -> Run:
    def call(*arguments: str) -> Result:
        return invoke(share, [*arguments, "--store", store.argument])

    return call
