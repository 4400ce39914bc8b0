"""`python -m tests.benchmarks.pushed`: brings the agent to old systems, and writes the page.

Needs root, debootstrap, and the agents of `make agent`.
"""

import argparse
import gzip
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import platformdirs

from advisor.agent.pushing import agent_files
from tests.attacked_agent import ATTACKS, attacked
from tests.benchmarks.markdown import put_between, table_text
from tests.benchmarks.pushed.endings import ENDINGS, Advisor, try_ending
from tests.benchmarks.pushed.far_host import SYSTEMS, FarHost, System, far_host, made

_PAGE: Final = Path(__file__).parents[3] / "docs" / "benchmarks-agent.md"
_RESULTS: Final = Path(__file__).parents[3] / "docs" / "benchmarks" / "agent.json"
_BEGIN: Final = "<!-- made by python -m tests.benchmarks.pushed --document -->"
_END: Final = "<!-- end -->"
_STARTS: Final = 7
_ENDED_ON: Final = "bionic"


def main() -> None:
    """Try the systems and the endings that are asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--system", choices=[one.suite for one in SYSTEMS], action="append")
    parser.add_argument("--ending", type=int, action="append", help="the number of one, from 1")
    parser.add_argument("--no-endings", action="store_true")
    parser.add_argument(
        "--cache", type=Path, default=platformdirs.user_cache_path("advisor") / "far"
    )
    parser.add_argument("--document", action="store_true", help="only write the page")
    arguments = parser.parse_args()
    if not arguments.document:
        if os.geteuid() != 0:
            parser.error("root is needed: it makes namespaces and systems")
        if not shutil.which("debootstrap"):
            parser.error("debootstrap is absent: install the package of that name")
        _run(arguments)
    put_between(_PAGE, _BEGIN, _END, _tables(_results()))


def _run(arguments: argparse.Namespace) -> None:
    results = _results()
    results["files"] = {
        one.machine: {"sent": len(one.sent), "size": one.size_bytes, "digest": one.digest}
        for one in agent_files()
    }
    for system in SYSTEMS:
        if not arguments.ending and system.suite in (arguments.system or [system.suite]):
            results["systems"][system.suite] = found = _try_system(system, arguments.cache)
            print(system.title, found, flush=True)
            _write(results)
    if arguments.no_endings:
        return
    (system,) = (one for one in SYSTEMS if one.suite == _ENDED_ON)
    base = made(system, arguments.cache)
    for number, ending in enumerate(ENDINGS, 1):
        if number not in (arguments.ending or [number]):
            continue
        with tempfile.TemporaryDirectory() as folder, far_host(base, Path(folder)) as host:
            took_s, left = try_ending(ending, host, Path(folder))
        results["endings"][ending.title] = {"took_s": took_s, "left": left}
        print(number, ending.title, f"{took_s:.2f} s", left, flush=True)
        _write(results)


def _try_system(system: System, cache: Path) -> dict[str, Any]:
    """From `advise --push` to the advice; how long the agent takes to start, after it arrived."""
    base = made(system, cache)
    with tempfile.TemporaryDirectory() as folder, far_host(base, Path(folder)) as host:
        words = ["advise", "dtn", "--push", "--budget", "40"]
        advisor = Advisor(host, Path(folder), words)
        advice = advisor.event("advice")
        advisor.stop()
        time.sleep(1)
        return {
            "glibc": _glibc(base),
            "python": any((base / "usr" / "bin").glob("python3*")),
            "advised": not advice["incomplete"],
            **_started_there(host),
            "left": host.left(),
        }


def _glibc(base: Path) -> str:
    said = subprocess.run(
        ["chroot", str(base), "ldd", "--version"], capture_output=True, text=True, check=True
    )
    found = re.search(r"(\d+\.\d+)\n", said.stdout)
    return found[1] if found else "?"


def _started_there(host: FarHost) -> dict[str, Any]:
    """Seconds from the start of the program to its greeting, and how many attacks it ended at.

    Until the greeting it has loaded all of its modules, and nothing had to be sent. `cpu_s` is
    what it used until its end.
    """
    (file,) = (one for one in agent_files() if one.machine == os.uname().machine)
    # In the host's own namespaces, as its C library loads it.
    program = host.root / "root" / "agent"
    program.write_bytes(gzip.decompress(file.sent))
    program.chmod(0o755)
    took, used = [], []
    for _ in range(_STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began_s = time.monotonic()
        process = subprocess.Popen(
            [*host.inside, "/root/agent", "-m", "advisor.agent.carried"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdin is not None
        assert b"protocol" in process.stdout.readline()
        took.append(time.monotonic() - began_s)
        process.stdin.close()
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    agent = [*host.inside, "/root/agent", "-m", "advisor.agent.carried"]
    ended = [attacked(agent, attack) == (0, b"", b"") for attack in ATTACKS]
    program.unlink()
    return {
        "start_s": sorted(took),
        "cpu_s": statistics.median(used),
        "attacks": [sum(ended), len(ended)],
    }


def _results() -> dict[str, Any]:
    if _RESULTS.exists():
        found: dict[str, Any] = json.loads(_RESULTS.read_text())
        return found
    return {"files": {}, "systems": {}, "endings": {}}


def _write(results: dict[str, Any]) -> None:
    _RESULTS.parent.mkdir(exist_ok=True)
    _RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def _tables(results: dict[str, Any]) -> str:
    files = table_text(
        ["machine", "sent", "unpacked", "SHA-256 of the program"],
        [
            [name, f"{one['sent'] / 1e6:.1f} MB", f"{one['size'] / 1e6:.1f} MB", one["digest"]]
            for name, one in sorted(results["files"].items())
        ],
    )
    titles = {one.suite: one.title for one in SYSTEMS}
    systems = table_text(
        [
            "system",
            "glibc",
            "Python there",
            "advice",
            "start",
            "CPU time",
            "attacks ended it",
            "left",
        ],
        [
            [
                titles[name],
                one["glibc"],
                "yes" if one["python"] else "no",
                "given" if one["advised"] else "**none**",
                f"{statistics.median(one['start_s']):.2f} s ({one['start_s'][0]:.2f} s)",
                f"{one['cpu_s']:.2f} s",
                "{} of {}".format(*one["attacks"]),
                ", ".join(one["left"]) or "nothing",
            ]
            for name, one in results["systems"].items()
        ],
    )
    endings = table_text(
        ["", "how it ended", "clean after", "left behind"],
        [
            [
                str(number),
                ending.title,
                f"{results['endings'][ending.title]['took_s']:.1f} s",
                ", ".join(results["endings"][ending.title]["left"]) or "nothing",
            ]
            for number, ending in enumerate(ENDINGS, 1)
            if ending.title in results["endings"]
        ],
    )
    parts = ["## Files", files, "## Systems", systems, "## Ways to end it", endings]
    return "\n\n".join(parts)
