"""The key that signs receipts: this account's alone, and the same for all of them."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from advisor.agent.signing import agent_key, is_signed, passing_key


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the key is kept, in a home of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    agent_key.cache_clear()
    yield tmp_path / "advisor" / "receipt-key"
    agent_key.cache_clear()


def test_a_new_key_is_private_and_stays(file: Path) -> None:
    made = agent_key()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [one.name for one in file.parent.iterdir()] == [file.name]
    agent_key.cache_clear()
    kept = agent_key()
    assert kept is not made
    assert kept.public == made.public
    assert kept.seal(b"content") == made.seal(b"content")
    assert is_signed(b"content", kept.sign(b"content"), made.public)
    assert made.public != passing_key().public


def linked(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


SPOILT: Final[dict[str, Callable[[Path], object]]] = {
    "its group may read it": lambda file: file.chmod(0o640),
    "others may write it": lambda file: file.chmod(0o602),
    "too short": lambda file: file.write_bytes(b"x" * 31),
    "too long": lambda file: file.write_bytes(b"x" * 33),
    "empty": lambda file: file.write_bytes(b""),
    "a link": linked,
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_key_that_is_not_this_accounts_alone_is_refused(file: Path, spoil: str) -> None:
    agent_key()
    agent_key.cache_clear()
    SPOILT[spoil](file)
    with pytest.raises(OSError, match=r"no private key of this account|symbolic links"):
        agent_key()


def test_a_key_of_another_account_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent_key()
    agent_key.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="no private key of this account"):
        agent_key()
