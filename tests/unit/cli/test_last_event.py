"""The last event of a session stays the last one, whenever a signal is heard."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.advise import sessions
from advisor.domain import events as ev
from advisor.domain.endpoints import Endpoint
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store


def test_a_signal_after_it_adds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def advise(request: AdviceRequest, **given: Any) -> int:
        given["publish"](ev.GaveUp(at_s=0, message="nothing usable", exit_code=1))
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(given["control"].stop.wait(), 10)
        return 1

    monkeypatch.setattr(sessions, "advise", advise)
    request = AdviceRequest(destination=Endpoint("dtn"))
    status = sessions.run_session(request, Store(tmp_path), as_json=True, ask=False)
    assert status == 1
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["event"] == "gave_up"
