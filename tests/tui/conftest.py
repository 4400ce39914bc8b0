"""What the tests of the screens share: folders of their own, and an application to drive."""

from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.store.history import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft

from . import shared
from .shares_screen import know

NewApp = Callable[..., AdvisorApp]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's is read or written."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for kind in ("STATE", "CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "advisor"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "history")


@pytest.fixture
def new_app(store: Store) -> NewApp:
    """`new_app(draft=…, drawing=…, keys=…)`: the application over this test's store."""

    def make(draft: Draft | None = None, **options: object) -> AdvisorApp:
        return AdvisorApp(store, draft or Draft(), **options)  # type: ignore[arg-type]  # any of them

    return make


@pytest.fixture
def five(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five destinations, with the same plan whatever is asked."""
    shared.know_by_name(monkeypatch, shared.NAMES)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two destinations, with real models."""
    know(monkeypatch)
