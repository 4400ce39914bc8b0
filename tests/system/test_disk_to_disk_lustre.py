"""Stripes of a destination that claims to be Lustre, with a program in place of lfs.

There is no real Lustre here: the mount table that advisor reads and `lfs` are stand-ins, and all
else is real.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from .program import Start
from .tool_servers import Server

LAYOUT = "stripe_count:  1 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1"
AMPLE = ["--budget", "60"]


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """The folder with what stands in for Lustre; `lfs` notes its arguments in `calls`."""
    folder = tmp_path / "stand-ins"
    folder.mkdir()
    (folder / "lfs").write_text(
        f"#!/bin/sh\necho \"$*\" >> '{folder / 'calls'}'\n"
        f"[ \"$1\" = setstripe ] || echo '{LAYOUT}'\n"
    )
    (folder / "lfs").chmod(0o755)
    (folder / "sitecustomize.py").write_text(
        "from pathlib import Path\n"
        "from advisor.hosts import filesystems\n"
        f"filesystems._MOUNTINFO = Path({str(folder / 'mountinfo')!r})\n"
    )
    return folder


def environment(stand_ins: Path, claimed: Path) -> dict[str, str]:
    """With it, this folder is on Lustre."""
    number = claimed.stat().st_dev
    line = f"9 1 {os.major(number)}:{os.minor(number)} / {claimed} rw - lustre mgs:/scratch rw\n"
    (stand_ins / "mountinfo").write_text(Path("/proc/self/mountinfo").read_text() + line)
    return {
        "PYTHONPATH": str(stand_ins),
        "PATH": f"{stand_ins}:{os.environ['PATH']}:/usr/sbin:/sbin",
    }


def test_stripes_are_searched_and_set_on_our_own_folders_alone(
    start: Start, own_server: Server, tmp_path: Path, noted: Path
) -> None:
    source, target = tmp_path / "run42", own_server.folder / "there"
    source.mkdir()
    for number in range(8):
        (source / str(number)).write_bytes(os.urandom(5_000_000))
    run = start(
        *("advise", "localhost", "--tool", "globus-url-copy", "--json", "--seed", "1", *AMPLE),
        *("--server", own_server.url, "--data", str(source), "--to", str(target)),
        environment=environment(noted, own_server.folder),
    )
    done = run.finish()
    assert done.returncode == 0, done.stderr
    [planned] = [e for e in run.events if e["event"] == "files_planned"]
    assert planned["destination"]["kind"] == "lustre"
    assert planned["source"]["kind"] != "lustre"
    searched = [
        e for e in run.events if e["event"] == "probe_ended" and e["stage"] == planned["tool"]
    ]
    assert searched
    assert {e["setting"]["stripes"] for e in searched} == {2, 8}
    assert not [e for e in searched if e["result"]["outcome"] == "failed"]
    calls = [line.split() for line in (noted / "calls").read_text().splitlines()]
    striped = [call[3] for call in calls if call[0] == "setstripe"]
    assert {call[2] for call in calls if call[0] == "setstripe"} == {"2", "8"}
    assert all(Path(one).name.startswith(".advisor-") for one in striped)
    assert not list(own_server.folder.iterdir())
    _check(run.events[-1], target)


def _check(advice: dict[str, Any], target: Path) -> None:
    """The line that sets the stripes is there if, and only if, some are advised."""
    line = f"lfs setstripe -c {advice['setting'].get('stripes')} {target}"
    reasons = [reason for reason in advice["reasons"] if line in reason]
    assert len(reasons) == ("stripes" in advice["setting"])
