"""Several processes at one journal, and processes that are killed while they write."""

import subprocess
import sys
from pathlib import Path

import pytest

from advisor.domain.endpoints import Pair
from advisor.store.history import Store
from advisor.store.journal import JournalStorage, JournalTable

_APPENDER = """
import sys
from pathlib import Path
import msgspec
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
store = Store(Path(sys.argv[1]))
failure = Failure(kind=FailureKind.RESET, message="it broke", elapsed_s=1.0)
for n in range(int(sys.argv[3])):
    store.append(ProbeRecord(pair=Pair("a", "b"), subject="tcp", setting={"streams": n + 1},
        result=failure, recorded_s=float(n), session=sys.argv[2]))
"""

# A lean process forks the writers: it has nothing but the store in it. Each child tells the numbers
# of the records it was acknowledged, and is killed at a random moment.
_KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from advisor.store.journal import JournalStorage, JournalTable
path, children, at_once = Path(sys.argv[1]), int(sys.argv[2]), 4
rng = random.Random(int(sys.argv[3]))
JournalTable(JournalStorage(path)).insert({"child": -1, "n": 0})

def write_until_killed(child, pipe):
    table, n = JournalTable(JournalStorage(path)), 0
    filling = "x" * (child % 7 * 1500)
    while True:
        table.insert({"child": child, "n": n, "filling": filling})
        os.write(pipe, b"%d %d\\n" % (child, n))
        n += 1

def start(child):
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            write_until_killed(child, writing)
        finally:
            os._exit(1)
    os.close(writing)
    return pid, reading

def collect(pipe):
    received = b""
    while part := os.read(pipe, 65536):
        received += part
    os.close(pipe)
    return received

for first in range(0, children, at_once):
    running = [start(child) for child in range(first, first + at_once)]
    for pid, _ in running:
        time.sleep(rng.uniform(0.0, 0.01))
        os.kill(pid, signal.SIGKILL)
    for pid, pipe in running:
        status = os.waitpid(pid, 0)[1]
        assert os.WIFSIGNALED(status), "a writer ended by itself"
        sys.stdout.buffer.write(collect(pipe))
"""


def test_eight_processes_at_one_pair(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _APPENDER, str(tmp_path), f"s{n}", "50"])
        for n in range(8)
    ]
    assert [writer.wait() for writer in writers] == [0] * 8
    store = Store(tmp_path)
    probes = store.probes(Pair("a", "b"))
    assert {(p.session, p.recorded_s) for p in probes} == {
        (f"s{n}", float(i)) for n in range(8) for i in range(50)
    }
    assert len(probes) == 400
    assert store.skipped(Pair("a", "b")) == 0


@pytest.mark.parametrize("children", [100, pytest.param(1000, marks=pytest.mark.soak)])
def test_what_was_acknowledged_survives_kills(tmp_path: Path, children: int) -> None:
    path = tmp_path / "journal.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", _KILLER, str(path), str(children), "1"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    acknowledged = {tuple(map(int, line.split())) for line in done.stdout.splitlines()}
    table = JournalTable(JournalStorage(path))
    stored = {(d["child"], d["n"]) for d in table}
    assert acknowledged <= stored
    # Each child was killed in the middle of at most one record.
    assert len(stored - acknowledged) <= children + 1
    assert acknowledged
    table.insert({"child": -2, "n": 0})
    assert len(table) == len(stored) + 1
