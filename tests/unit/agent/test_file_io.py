"""An agent measures a file system with fio."""

import asyncio
import contextlib
from pathlib import Path

import psutil
import pytest

from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, Refusal
from advisor.domain.file_io import FileIoJob
from advisor.hosts.file_io import fio_available
from tests.unit.agent.asking import a_job, asked


def fio_runs() -> bool:
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # It has just ended.
            if child.name() == "fio":
                return True
    return False


@pytest.mark.skipif(not fio_available().ok, reason="fio is not installed here")
def test_file_io(tmp_path: Path) -> None:
    result = asked(lambda link: link.file_io(str(tmp_path), a_job()))
    assert result.moved_bytes == 2**20
    assert list(tmp_path.iterdir()) == []


def test_file_io_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"\w+"):
        asked(lambda link: link.file_io(str(tmp_path / "none"), a_job()))


@pytest.mark.skipif(not fio_available().ok, reason="fio is not installed here")
@pytest.mark.parametrize("way", ["cancelled", "the connection lost"])
def test_file_io_ends_with_whoever_wanted_it(tmp_path: Path, way: str) -> None:
    long = FileIoJob(
        direction="write",
        threads=1,
        request_bytes=512,
        direct=False,
        total_bytes=2**50,
        ceiling_s=600,
    )

    async def ask(link: AgentLink) -> None:
        measuring = asyncio.create_task(link.file_io(str(tmp_path), long))
        while not fio_runs():
            assert not measuring.done()
            await asyncio.sleep(0.02)
        if way == "the connection lost":
            await link.close()
        measuring.cancel()
        with contextlib.suppress(asyncio.CancelledError, PeerError):
            await measuring
        assert not fio_runs()

    asked(ask)
    assert list(tmp_path.iterdir()) == []
