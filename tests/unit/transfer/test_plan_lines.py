"""The lines of a plan, for a tool that is not on this host and so has looked up nothing."""

import asyncio
from pathlib import Path

import pytest

from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.plan import ClassPlan
from advisor.domain.transfers import Levels
from advisor.models.file_classes import Size
from advisor.models.planning import SizedFiles
from advisor.models.slicing import FileEntry
from advisor.runtime.request import TransferRequest
from advisor.testing.samples import a_path
from advisor.transfer.engine.route import Route, route_of
from advisor.transfer.planned.lines import write_lines

LEVELS = Levels(concurrency=2, parallelism=1)
CLASSES = [SizedFiles(Size.TINY, [FileEntry("a", 10, 0), FileEntry("b", 20, 0)])]
PLAN = ClassPlan(size="tiny", files=2, total_bytes=30, levels=LEVELS, alone=LEVELS)


def _route(tool: str, monkeypatch: pytest.MonkeyPatch) -> Route:
    """To an account that is named, with a tool that is not on this host."""
    monkeypatch.setenv("PATH", "")
    request = TransferRequest(
        destination=Endpoint("dtn", "me"),
        dataset=Dataset(total_bytes=30, path="/d", files=2, largest="b", largest_bytes=20),
        destination_path="/t",
        tool=tool,
    )
    return asyncio.run(route_of(request, a_path(), must_run=False))


@pytest.mark.parametrize(
    ("tool", "there"),
    [
        ("rsync", "me@dtn:/t/"),
        ("rclone", ":sftp,host=dtn,user=me,known_hosts_file=~/.ssh/known_hosts:/t"),
    ],
)
def test_a_line_logs_in_as_the_user_who_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, there: str
) -> None:
    route = _route(tool, monkeypatch)
    assert route.places.destination_host == "dtn", "the name in journals and receipts"
    [line] = write_lines(route, [PLAN], CLASSES, "together", tmp_path)
    assert there in line.argv


def test_no_account_is_named_to_a_server_without_a_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = _route("globus-url-copy", monkeypatch)
    write_lines(route, [PLAN], CLASSES, "together", tmp_path)
    assert " ftp://dtn:2811/t/a\n" in (tmp_path / "tiny.files").read_text()
