"""Sessions that end without anything to advise: which can be resumed."""

from pathlib import Path

import pytest

from advisor.advising.advice_session import INTERRUPTED, AdviceSession
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.problem import Problem, ProblemKind
from advisor.runtime.control import Control
from advisor.runtime.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PEER
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.testing.samples import a_path

FILES = Dataset(total_bytes=10**9, path="/data", files=10, largest="f", largest_bytes=10**8)
LOST = Problem(kind=ProblemKind.UNREACHABLE, reason="the agent was lost")


class _Session(AdviceSession):
    async def _run(self) -> int:
        raise NotImplementedError


@pytest.mark.asyncio
@pytest.mark.parametrize("tool", ["rclone", None])
@pytest.mark.parametrize(
    ("trouble", "is_final", "code"),
    [
        (LOST, False, EXIT_PEER),
        (LOST, True, EXIT_FAILED),
        (INTERRUPTED, False, EXIT_INTERRUPTED),
        (None, False, EXIT_FAILED),
    ],
)
async def test_what_was_cut_short_can_be_resumed(
    tmp_path: Path, tool: str | None, trouble: Problem | None, is_final: bool, code: int
) -> None:
    store = Store(tmp_path)
    request = AdviceRequest(destination=Endpoint("far"), tool=tool, dataset=FILES)
    session = _Session(request, store, lambda _: None, Control(), None)
    session.record_request(a_path())
    assert session.end_without([], trouble, is_final=is_final) == code
    can_resume = store.latest_unfinished_session(session.pair) is not None
    assert can_resume == (code != EXIT_FAILED)
