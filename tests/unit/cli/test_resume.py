"""`advisor resume`: which session it continues."""

from pathlib import Path

import msgspec
import pytest

from advisor.advising.session import Interrupted
from advisor.domain.endpoints import Endpoint
from advisor.domain.records import ClosingRecord, SessionRecord
from advisor.runtime.connect import pair_of
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.testing.samples import a_path
from tests.unit.cli.conftest import Typed


def session_to(destination: str, name: str, recorded_s: float) -> SessionRecord:
    request = AdviceRequest(destination=Endpoint(destination))
    return SessionRecord(
        session=name,
        pair=pair_of(request),
        recorded_s=recorded_s,
        request=msgspec.to_builtins(request),
        path=a_path(),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A history with two interrupted sessions, on two hosts, and one that has ended."""
    store = Store(tmp_path / "history")
    ended = session_to("dtn02", "ended", 1.5e9)
    for record in (
        session_to("dtn02", "older", 1.6e9),
        session_to("dtn03", "newer", 1.7e9),
        ended,
        ClosingRecord(
            session="ended",
            pair=ended.pair,
            recorded_s=1.5e9 + 60,
            outcome="nothing usable",
            message="no",
        ),
    ):
        store.append(record)
    return tmp_path / "history"


@pytest.fixture
def resumed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions that were resumed, each with its destination."""
    found: list[str] = []

    def run(request: AdviceRequest, *_: object, interrupted: Interrupted, **__: object) -> int:
        found.append(f"{interrupted.record.session} to {request.destination}")
        return 0

    monkeypatch.setattr("advisor.cli.advise.resume.run_session", run)
    return found


@pytest.mark.parametrize(
    ("words", "session"),
    [
        ([], "newer to dtn03"),
        (["--session", "older"], "older to dtn02"),
        (["--session", "older", "--more", "30s"], "older to dtn02"),
        (["--session", "ended", "--more", "30s"], "ended to dtn02"),
    ],
)
def test_the_session_that_is_named_is_resumed_else_the_last_one(
    typed: Typed, folder: Path, resumed: list[str], words: list[str], session: str
) -> None:
    done = typed("resume", *words, "--store", folder)
    assert done.returncode == 0
    assert resumed == [session]


def test_a_session_that_has_ended_is_not_resumed(
    typed: Typed, folder: Path, resumed: list[str]
) -> None:
    done = typed("resume", "--session", "ended", "--store", folder)
    assert done.returncode == 2
    assert "session ended has ended" in done.stderr
    assert "--more 30s" in done.stderr
    assert resumed == []
