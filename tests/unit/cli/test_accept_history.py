"""Stored results in place of measuring: without any nothing is sent, and the question is asked
until it is answered."""

import asyncio
import io
import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest

from advisor.advising.session import Interrupted, _OneConnection, advise
from advisor.domain.endpoints import Endpoint
from advisor.domain.records import SessionRecord
from advisor.report.narration import Narration
from advisor.runtime.connect import pair_of
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.testing.samples import a_path
from tests.unit.cli.conftest import Typed

NOTHING = "nothing applicable is stored for this pair: run without --accept-history to measure"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """One entry for each session that began to measure."""
    begun: list[bool] = []

    async def measure(*_: Any) -> int:
        begun.append(True)
        return 0

    monkeypatch.setattr(_OneConnection, "_measure", measure)
    return begun


def test_without_stored_results_nothing_is_measured(
    typed: Typed, tmp_path: Path, measured: list[bool]
) -> None:
    options = ("--accept-history", "--store", tmp_path / "history")
    done = typed("advise", "localhost", *options)
    assert not measured
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count(NOTHING) == 1
    done = typed("advise", "localhost", "--json", *options)
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["event"], last["exit_code"]) == ("gave_up", 1)
    assert last["problem"]["kind"] == "no data"
    # No session has begun, so none is stored.
    assert not list((tmp_path / "history").rglob("*.jsonl"))


@pytest.mark.asyncio
async def test_a_session_that_is_resumed_measures(tmp_path: Path, measured: list[bool]) -> None:
    """One that was asked for stored results measured before there was this rule."""
    request = AdviceRequest(destination=Endpoint("localhost"), accept_history=True)
    record = SessionRecord(
        session="s", pair=pair_of(request), recorded_s=0.0, request={}, path=a_path()
    )
    done = await advise(
        request,
        store=Store(tmp_path),
        publish=lambda _: None,
        control=Control(),
        accept_history=_refuse,
        interrupted=Interrupted(record, []),
    )
    assert (done, measured) == (0, [True])


async def _refuse(_: object) -> bool:
    return False


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("typed_lines", "accepted", "asked"),
    [
        (b"y\n", True, 1),
        (b"No\n", False, 1),
        (b"\n", False, 1),
        (b"", False, 1),
        (b"ja\n yes \n", True, 2),
        (b"maybe\n?\nn\n", False, 3),
    ],
)
async def test_any_other_answer_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, typed_lines: bytes, accepted: bool, asked: int
) -> None:
    ours, theirs = pty.openpty()
    shown = io.StringIO()
    with os.fdopen(ours, "wb", buffering=0) as keyboard, os.fdopen(theirs) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        keyboard.write(typed_lines or b"\x04")
        answer = await asyncio.wait_for(Narration(shown, bar=False).ask([]), 10)
    assert answer is accepted
    assert shown.getvalue().count("[y/N]") == asked
