"""Settings in a history that others may write to: what is none is not advised."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from advisor.advising.advice import AdviceInputs, advice_from_history
from advisor.advising.advice_session import AdviceSession
from advisor.advising.stored_settings import permitted, what_is_lacking
from advisor.api.tool import ToolLimits
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.events import PastResult
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, flows_of, processes_of
from advisor.registry import transfer_tool
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Past, Store
from advisor.testing.samples import a_path, measured

PATH = a_path()
FILES = Dataset(total_bytes=10**9, path="/data", files=10, largest="f", largest_bytes=10**8)


def past(folder: Path, subject: str, *settings: Setting, **request: Any) -> Past:
    """What a session takes from a history with these settings, each of them fast."""

    async def take() -> Past:
        return _past(Store(folder), subject, settings, request)

    return asyncio.run(take())


def _past(store: Store, subject: str, settings: Sequence[Setting], request: dict[str, Any]) -> Past:
    asked = AdviceRequest(destination=Endpoint("far"), **request)
    session = _Session(asked, store, lambda _: None, Control(), None)
    for number, setting in enumerate(settings):
        store.append(
            ProbeRecord(
                pair=session.pair,
                subject=subject,
                setting=setting,
                # The later ones are faster.
                result=measured(1e9 * (number + 1)),
                recorded_s=time.time(),
                session="another's",
            )
        )
    found = session.past(PATH)
    # The command lines are written too.
    if found.results:
        inputs = AdviceInputs(
            session=session.id, request=asked, pair=session.pair, path=PATH, past=found.results
        )
        assert advice_from_history(inputs).commands
    return found


class _Session(AdviceSession):
    async def _run(self) -> int:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("subject", "setting", "lacking"),
    [
        ("tcp", {"concurrency": 1}, "buffer_bytes, streams"),
        ("tcp", {"streams": 4}, "buffer_bytes"),
        ("tcp", {}, "buffer_bytes, streams"),
        ("tcp", {"streams": "4; id", "buffer_bytes": -1}, "buffer_bytes, streams"),
        ("tcp", {"streams": 2**60, "buffer_bytes": 0}, "streams"),
        ("tcp", {"streams": 2**17, "buffer_bytes": 0}, "streams"),
        ("udt", {"streams": 4, "buffer_bytes": 0}, "block_bytes"),
    ],
)
def test_what_is_no_setting_is_left_out_and_said(
    tmp_path: Path, subject: str, setting: Setting, lacking: str
) -> None:
    found = past(tmp_path, subject, setting)
    assert found.results == []
    assert f"Ignored: 1 probe of {subject} without {lacking}." in found.notes


def test_it_does_not_compete_with_honest_ones(tmp_path: Path) -> None:
    honest: Setting = {"streams": 4, "buffer_bytes": 0}
    found = past(tmp_path, "tcp", honest, {"streams": 8}, {"streams": "4; id", "buffer_bytes": 0})
    assert [result.setting for result in found.results] == [honest]
    assert {
        "Ignored: 1 probe of tcp without buffer_bytes.",
        "Ignored: 1 probe of tcp without streams.",
    } <= set(found.notes)


def test_a_text_in_the_place_of_a_number_is_one_flow() -> None:
    setting: Setting = {"streams": "4; id", "concurrency": 2, "processes": "many"}
    assert flows_of(setting) == 2
    assert processes_of(setting) == 1


def test_so_is_one_of_a_tool(tmp_path: Path) -> None:
    found = past(tmp_path, "globus-url-copy", {"streams": 4}, tool="globus-url-copy", dataset=FILES)
    assert found.results == []
    assert any("without" in note for note in found.notes)


def test_no_setting_beyond_the_limits_of_the_session_is_measured() -> None:
    tool = transfer_tool("rclone")
    space = tool.space(PATH, FILES, ToolLimits(max_concurrency=4))
    most: Setting = {one.name: int(one.upper) for one in space.parameters} | space.fixed
    more: Setting = most | {"concurrency": 8}
    results = [
        PastResult(
            subject=subject, setting=setting, throughput_bps=1e9, spread=None, probes=1, age_s=0.0
        )
        for subject, setting in (("rclone", most), ("rclone", more), ("tcp", most))
    ]
    assert permitted(results, {"rclone": space}) == results[:1]


@pytest.mark.parametrize(("mean_bytes", "counts"), [(30e6, True), (390e6, True), (1e4, False)])
def test_a_tool_with_quite_other_files_shows_nothing(mean_bytes: float, counts: bool) -> None:
    """`FILES` have 100 MB each."""
    probe = ProbeRecord(
        pair=Pair("here", "far"),
        subject="rclone",
        setting={},
        result=measured(1e9),
        recorded_s=0.0,
        file_bytes=mean_bytes,
        files=10,
    )
    why = what_is_lacking({}, FILES)(probe)
    assert why == ("" if counts else "of rclone with files of quite another mean size")
    assert what_is_lacking({})(probe) == "", "of no files"


def test_only_what_is_to_be_measured_is_advised(tmp_path: Path) -> None:
    setting: Setting = {"block_bytes": 2**16, "buffer_bytes": 2**26, "mss_bytes": 1500}
    assert past(tmp_path, "udt", setting).results
    assert past(tmp_path, "udt", setting, transports=["tcp"]).results == []


def test_honest_settings_are_advised(tmp_path: Path) -> None:
    tcp = past(tmp_path / "tcp", "tcp", {"streams": 4, "buffer_bytes": 0})
    assert [result.subject for result in tcp.results] == ["tcp"]
    tool = transfer_tool("globus-url-copy")
    [first, *_] = tool.baselines(PATH, FILES)
    assert first.setting.keys() >= tool.space(PATH, FILES, ToolLimits()).names
    files = past(tmp_path / "files", tool.name, first.setting, tool=tool.name, dataset=FILES)
    assert [result.subject for result in files.results] == [tool.name]
