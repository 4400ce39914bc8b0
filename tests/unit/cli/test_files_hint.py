"""What is said where files were named and only the network was measured."""

from pathlib import Path

import msgspec
import pytest

from advisor.cli.advise.sessions import files_hint
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.runtime.request import AdviceRequest

FILES = Dataset(total_bytes=10**9, path="/d", files=9, largest="a", largest_bytes=10**8)
REQUEST = AdviceRequest(destination=Endpoint("dtn"), dataset=FILES, destination_path="/t")


@pytest.fixture(autouse=True)
def only_rclone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "rclone"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_the_tool_that_is_installed_is_named() -> None:
    assert files_hint(REQUEST).endswith("the same command with --profile-tool rclone")


@pytest.mark.parametrize(
    "changes",
    [
        {"tool": "rclone"},
        {"dataset": None},
        {"dataset": Dataset(total_bytes=10**9)},
        {"destination_path": None},
    ],
)
def test_without_files_at_both_ends_nothing_is_said(changes: dict[str, object]) -> None:
    assert files_hint(msgspec.structs.replace(REQUEST, **changes)) == ""


def test_without_any_tool_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert files_hint(REQUEST) == ""
