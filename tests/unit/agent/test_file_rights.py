"""An agent reads and writes only in the folders that it was given."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from advisor.agent.client import AgentLink
from advisor.agent.files import NOWHERE, FileRights
from advisor.agent.peer_errors import Refusal
from advisor.domain.file_io import SCRATCH_PREFIX
from tests.unit.agent.asking import a_job, asked, written

REQUESTS: list[Callable[[AgentLink, str], Awaitable[object]]] = [
    lambda link, path: link.folder(path),
    lambda link, path: link.file_io(path, a_job()),
    lambda link, path: link.sizes([path]),
    lambda link, path: link.checksum(path),
    lambda link, path: link.make_scratch(path),
    lambda link, path: link.move([(path, path + "1")]),
    lambda link, path: link.remove(path),
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_an_agent_that_was_given_no_files(
    tmp_path: Path, request_: Callable[[AgentLink, str], Awaitable[object]]
) -> None:
    inside = tmp_path / f"{SCRATCH_PREFIX}1"
    inside.mkdir()
    with pytest.raises(Refusal, match="start it with --files FOLDER"):
        asked(lambda link: request_(link, str(inside)), NOWHERE)
    assert inside.is_dir()


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("way", ["{outside}", "{given}/../private/{own}", "{given}/way/{own}"])
def test_out_of_the_folders_that_were_given_no_way_leads(
    tmp_path: Path, request_: Callable[[AgentLink, str], Awaitable[object]], way: str
) -> None:
    own = f"{SCRATCH_PREFIX}1"
    given, outside = tmp_path / "given", tmp_path / "private" / own
    given.mkdir()
    outside.mkdir(parents=True)
    (given / "way").symlink_to(outside.parent)
    path = way.format(given=given, outside=outside, own=own)
    with pytest.raises(Refusal, match="given to the agent with --files"):
        asked(lambda link: request_(link, path), FileRights([given]))
    assert list(outside.iterdir()) == []


def test_a_folder_whose_name_only_begins_like_the_given_one(tmp_path: Path) -> None:
    (other,) = written(tmp_path / "given2", ["data"])
    with pytest.raises(Refusal, match="--files"):
        asked(lambda link: link.sizes([other]), FileRights([tmp_path / "given"]))


def test_inside_of_the_folders_that_were_given(tmp_path: Path) -> None:
    """One of them is reached by a link, and one is made after the agent was started."""
    real, later = tmp_path / "real", tmp_path / "later"
    (file,) = written(real, ["data"])
    (tmp_path / "given").symlink_to(real)

    async def ask(link: AgentLink) -> None:
        assert await link.sizes([file, str(tmp_path / "given" / "data")]) == [4, 4]
        with pytest.raises(Refusal, match="--files"):
            await link.make_scratch(str(later))
        later.mkdir()
        scratch = await link.make_scratch(str(later / "run42"))
        written(Path(scratch), ["new"])
        assert await link.move([(f"{scratch}/new", str(later / "run42" / "new"))]) == [""]
        await link.remove(scratch)

    asked(ask, FileRights([tmp_path / "given", later]))
    assert [path.name for path in later.iterdir()] == ["run42"]
    assert (later / "run42" / "new").read_text() == "new"
