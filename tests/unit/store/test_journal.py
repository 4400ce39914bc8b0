import errno
import fcntl
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import UnixFileLock
from tinydb import where

from advisor.store import journal as journal_module
from advisor.store import reading
from advisor.store.files import make_directory
from advisor.store.journal import JournalStorage, JournalTable, StoreError, StoreFull
from advisor.store.postgres.address import Address
from advisor.store.postgres.spool import Spool, Waiting
from tests.unit.store.conftest import make_a_probe


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pair" / "journal.jsonl"


@pytest.fixture
def table(path: Path) -> JournalTable:
    return JournalTable(JournalStorage(path))


def test_an_id_is_the_byte_offset_of_the_line(table: JournalTable, path: Path) -> None:
    ids = table.insert_multiple([{"n": 1}, {"n": 22}, {"n": 3}])
    content = path.read_bytes()
    assert ids == [0, 8, 17]
    assert [content[i:].split(b"\n")[0] for i in ids] == [b'{"n":1}', b'{"n":22}', b'{"n":3}']


def test_an_insert_leaves_what_is_there_untouched(table: JournalTable, path: Path) -> None:
    table.insert({"n": 1})
    before, inode = path.read_bytes(), path.stat().st_ino
    table.insert({"n": 2})
    assert path.read_bytes().startswith(before)
    assert path.stat().st_ino == inode


def test_tinydb_queries_work(table: JournalTable) -> None:
    ids = [table.insert({"n": n, "kind": "odd" if n % 2 else "even"}) for n in range(10)]
    assert table.count(where("kind") == "odd") == 5
    assert [d["n"] for d in table.search(where("n") > 7)] == [8, 9]
    assert table.get(doc_id=ids[3]) == {"n": 3, "kind": "odd"}
    assert [d.doc_id for d in table.search(where("n") == 4)] == [ids[4]]
    assert table.get(where("n") == 4) == {"n": 4, "kind": "even"}
    assert len(table.all()) == len(table) == 10
    assert not table.contains(where("n") == 10)


def test_update_remove_and_truncate_rewrite(table: JournalTable, path: Path) -> None:
    table.insert_multiple([{"n": n} for n in range(4)])
    table.update({"n": 10}, where("n") == 1)
    table.remove(where("n") == 2)
    assert [d["n"] for d in JournalTable(JournalStorage(path))] == [0, 10, 3]
    assert [d["n"] for d in table] == [0, 10, 3]
    table.truncate()
    assert table.all() == []
    assert path.read_bytes() == b""


def test_nothing_is_created_by_reading(table: JournalTable, path: Path) -> None:
    assert table.all() == []
    assert not path.parent.exists()


def test_a_torn_tail_becomes_one_bad_line(table: JournalTable, path: Path) -> None:
    table.insert({"n": 1})
    with path.open("ab") as file:
        file.write(b'{"n": 2, "to')
    assert [d["n"] for d in table] == [1]
    assert table.journal.bad_lines == 0, "it is not there yet: its writer may be at work"
    new = table.insert({"n": 3})
    assert [d["n"] for d in table] == [1, 3]
    assert table.get(doc_id=new) == {"n": 3}
    assert table.journal.bad_lines == 1


def test_bad_lines_are_skipped_and_counted(table: JournalTable, path: Path) -> None:
    table.insert({"n": 1})
    with path.open("ab") as file:
        file.write(b'nonsense\n[1]\n\xff\xfe\n\n{"n":2}\n')
    assert [d["n"] for d in table] == [1, 2]
    assert table.journal.bad_lines == 4


def test_only_what_was_appended_since_is_read(
    table: JournalTable, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.insert_multiple([{"n": n} for n in range(1000)])
    assert len(table) == 1000
    JournalTable(JournalStorage(path)).insert({"n": 1000})
    ranges = []
    real = reading.read_range

    def spy(handle: int, start: int, end: int) -> bytes:
        ranges.append(end - start)
        return real(handle, start, end)

    monkeypatch.setattr(reading, "read_range", spy)
    assert len(table) == 1001
    assert ranges == [len('{"n":1000}\n')]


def test_a_reader_notices_an_exchange_with_the_same_inode(table: JournalTable, path: Path) -> None:
    table.insert_multiple([{"n": 1}, {"n": 2}])
    assert len(table) == 2
    # As when a line was read, taken back for want of space, and another came in its place.
    os.truncate(path, 8)
    with path.open("ab") as file:
        file.write(b'{"n":3}\n{"n":4}\n')
    assert [d["n"] for d in table] == [1, 3, 4]


def test_an_appender_that_waited_writes_to_the_new_journal(path: Path) -> None:
    first, second = JournalTable(JournalStorage(path)), JournalTable(JournalStorage(path))
    first.insert_multiple([{"n": 1}, {"n": 2}])
    appended = threading.Event()

    def append() -> None:
        second.insert({"n": 3})
        appended.set()

    thread = threading.Thread(target=append)
    with first.journal.locked():
        thread.start()
        assert not appended.wait(0.1)
        first.remove(where("n") == 1)
        assert not appended.is_set()
    thread.join()
    assert [d["n"] for d in first] == [2, 3]


def test_a_failed_write_takes_nothing_and_spares_the_rest(
    table: JournalTable, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.insert({"n": 1})
    before = path.read_bytes()

    def half(handle: int, data: bytes, offset: int) -> int:
        os.lseek(handle, offset, os.SEEK_SET)
        if len(data) < 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(handle, bytes(data[: len(data) // 2]))

    monkeypatch.setattr(os, "pwrite", half)
    with pytest.raises(StoreFull, match=r"journal\.jsonl: no space left on device: free some"):
        table.insert({"n": 2})
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert table.insert({"n": 3}) == len(before)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is synced from now on, by its name: files and folders."""
    names: list[str] = []
    for name in ("fsync", "fdatasync"):
        real = getattr(os, name)

        def noted(handle: int, real: Callable[[int], None] = real) -> None:
            names.append(Path(f"/proc/self/fd/{handle}").readlink().name)
            real(handle)

        monkeypatch.setattr(os, name, noted)
    return names


def test_a_record_is_on_disk_before_it_is_acknowledged(
    table: JournalTable, path: Path, synced: list[str]
) -> None:
    table.insert({"n": 1})
    assert synced[-1] == "journal.jsonl"
    # Each new name too: of the folder of the journal, and of the journal in it.
    assert path.parent.parent.name in synced
    assert path.parent.name in synced
    synced.clear()
    table.insert({"n": 2})
    assert synced == ["journal.jsonl"]
    synced.clear()
    table.remove(where("n") == 1)
    assert [name.partition(".journal")[0] for name in synced] == ["", path.parent.name]


def test_names_are_on_disk_whoever_made_the_folders(path: Path, synced: list[str]) -> None:
    make_directory(path.parent / "below")
    assert synced == [path.parent.parent.name, path.parent.name]
    synced.clear()
    # Another process may have made the folder, and not synced its name yet.
    JournalTable(JournalStorage(path)).insert({"n": 1})
    assert synced == [path.parent.name, path.parent.parent.name, "journal.jsonl"]


def fails(_: int) -> None:
    raise OSError(errno.EIO, "Input/output error")


def test_a_record_that_does_not_come_to_disk_is_not_stored(
    table: JournalTable, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.insert({"n": 1})
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fails)
        with pytest.raises(StoreError, match="input/output error"):
            table.insert({"n": 2})
    for name in ("fsync", "fdatasync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fails)
            other = JournalTable(JournalStorage(path.parent / name / "journal.jsonl"))
            with pytest.raises(StoreError, match="input/output error"):
                other.insert({"n": 2})
        assert other.all() == []
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(StoreError, match="input/output error"):
            table.truncate()
    assert [d["n"] for d in JournalTable(JournalStorage(path))] == [1]
    assert table.insert({"n": 3}) == len(b'{"n":1}\n')


_LIMITED = """
import resource, sys
from pathlib import Path
from advisor.store.journal import JournalStorage, JournalTable, StoreFull
table = JournalTable(JournalStorage(Path(sys.argv[1])))
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
stored = 0
try:
    while True:
        table.insert({"n": stored, "filling": "x" * 500})
        stored += 1
except StoreFull as error:
    print(stored, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
table.insert({"n": stored})
"""


def test_a_kernel_that_takes_no_more_bytes(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(path)], capture_output=True, text=True, check=True
    )
    stored, message = done.stdout.split(maxsplit=1)
    assert str(path) in message
    assert "name another place with --store" in message
    table = JournalTable(JournalStorage(path))
    assert [d["n"] for d in table] == list(range(int(stored) + 1))
    assert table.journal.bad_lines == 0


@pytest.mark.namespaces
def test_a_full_file_system(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    script = f"""
mount -t tmpfs -o size=64k none {small} || exit 77
{sys.executable} - {small}/pair/journal.jsonl <<'END'
import sys
from pathlib import Path
from advisor.store.journal import JournalStorage, JournalTable, StoreFull
path = Path(sys.argv[1])
table, stored = JournalTable(JournalStorage(path)), 0
try:
    while True:
        table.insert({{"n": stored, "filling": "x" * 3000}})
        stored += 1
except StoreFull:
    pass
assert stored > 5
assert [d["n"] for d in JournalTable(JournalStorage(path))] == list(range(stored))
try:
    table.remove(lambda d: d["n"] == 0)
    sys.exit("a rewrite had room")
except StoreFull:
    pass
assert [d["n"] for d in table] == list(range(stored))
assert sorted(p.name for p in path.parent.iterdir()) == ["journal.jsonl", "journal.lock"]
END
"""
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr


def test_a_place_that_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "pair").write_text("")
    table = JournalTable(JournalStorage(tmp_path / "pair" / "journal.jsonl"))
    with pytest.raises(StoreError, match=r"cannot write .*pair: "):
        table.insert({"n": 1})
    with pytest.raises(StoreError, match=r"cannot read .*journal\.jsonl: not a directory"):
        table.all()


def test_a_directory_that_may_not_be_written(
    table: JournalTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StoreError, match=r"permission denied: give access to it or name another"):
        table.insert({"n": 1})


def test_a_lock_that_is_never_given_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "LOCK_TIMEOUT_S", 0.05)
    path.parent.mkdir()
    table = JournalTable(JournalStorage(path))
    held = pytest.raises(StoreError, match="another process has held its lock")
    with UnixFileLock(path.with_suffix(".lock")), held:
        table.insert({"n": 1})


def without_locks(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every file system, as those of Lustre that are mounted without -o flock."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    def waits(*_: object, **__: object) -> None:
        pytest.fail("nobody has the lock: there is nothing to wait for")

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(UnixFileLock, "acquire", waits)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(
    table: JournalTable, path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    without_locks(number, monkeypatch)
    sentence = f"cannot write {path.parent}: its file system has no locks: name another place with"
    for _ in range(2):  # The file of the lock is there the second time.
        with pytest.raises(StoreError, match=re.escape(sentence)):
            table.insert({"n": 1})
    assert table.all() == []


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_spool_on_a_file_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    spool = Spool(Address.parse("postgresql://alice@dtn/history"))
    without_locks(number, monkeypatch)
    waiting = [Waiting(make_a_probe())]
    for write in (lambda: spool.add(waiting), spool.sending):
        with pytest.raises(StoreError, match="has no locks: set XDG_STATE_HOME to a folder on"):
            write()
