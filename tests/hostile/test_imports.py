"""Files to import that unpack to a thousand times their size."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.store.event_log import kept_events
from advisor.store.importers import BadEntry, read_file

_MIB = 2**20
_MEMORY = """
import sys
from pathlib import Path
from advisor.store.importers import read_file
for entry in read_file(Path(sys.argv[1])):
    print(entry.why)
for line in Path("/proc/self/status").read_text().splitlines():
    if line.startswith("VmHWM:"):
        print(int(line.split()[1]) // 1024)
"""
HEADER = b"FileSize,FileCount,Throughput,Concurrency,Source,Destination\n"


def bomb(path: Path, begin: bytes, again: bytes, size_bytes: int = 700 * _MIB) -> Path:
    """A small file of that content: members of gzip follow one another."""
    block = gzip.compress((again * (8 * _MIB // len(again)))[: 8 * _MIB])
    path.write_bytes(gzip.compress(begin) + block * (size_bytes // (8 * _MIB)))
    return path


@pytest.mark.parametrize(
    ("begin", "again"),
    [
        (b'{"start":"', b"a"),
        (b"{", b" "),
        (b'{"a":[', b"[],"),
        (HEADER, b"1,1,1,1,a,b\n"),
        (HEADER, b"x"),
        (b"TCP_BUFFER 1\nPROF", b"\n"),
    ],
)
def test_it_is_refused_in_bounded_memory(tmp_path: Path, begin: bytes, again: bytes) -> None:
    file = bomb(tmp_path / "it.gz", begin, again)
    assert file.stat().st_size < 2 * _MIB
    done = subprocess.run(
        [sys.executable, "-P", "-c", _MEMORY, str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *whys, used_mib = done.stdout.splitlines()
    assert whys
    assert int(used_mib) < 400


def test_a_log_that_was_made_to_do_harm_is_read_no_further(tmp_path: Path) -> None:
    line = b"DATE=20260101120000.000000 HOST=h PROG=globus-gridftp-server NL.EVNT=FTP_INFO \n"
    file = bomb(tmp_path / "it.gz", line, line)
    [*_, last] = read_file(file)
    assert isinstance(last, BadEntry)
    assert "more than 100 times its size" in last.why


def test_stored_events_are_read_no_further_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.store.event_log._MOST_BYTES", 10 * _MIB)
    line = b'{"event":"notice","at_s":0,"message":"m"}\n'
    bomb(tmp_path / "events.jsonl.gz", line, line, 64 * _MIB)
    assert 0 < len(list(kept_events(tmp_path))) <= 10 * _MIB // len(line) + 1


def test_a_stored_log_that_is_damaged_in_the_middle_is_read_as_far_as_it_goes(
    tmp_path: Path,
) -> None:
    line = b'{"event":"notice","at_s":0,"message":"m"}\n'
    whole = gzip.compress(line * 1000)
    (tmp_path / "events.jsonl.gz").write_bytes(
        gzip.compress(line) + whole[:20] + bytes(40) + whole[60:]
    )
    assert len(list(kept_events(tmp_path))) >= 1
