"""An unattended mesh of hosts, with everything that may happen to it.

    python -m tests.benchmarks.fleet.unattended --duration 2h
    python -m tests.benchmarks.fleet.unattended --duration 5min --no-page
    python -m tests.benchmarks.fleet.unattended --document

Workers and PostgreSQL are killed with kill -9, hosts are cut off, disks are full. At the end the
records say whether any that was acknowledged is lost, whether ever two probes were at one host at
once, and which pair was not measured and why. Exit status 1 if one of these is not as it should be.
Needs root, for disks of its own: in a mount namespace, which ends with the bench.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean

from advisor.domain.quantities import format_duration, parse_duration
from tests.benchmarks.fleet.unattended.checking import look
from tests.benchmarks.fleet.unattended.document import write_document
from tests.benchmarks.fleet.unattended.results import Results, UnattendedRun
from tests.benchmarks.fleet.unattended.site import site
from tests.benchmarks.fleet.unattended.troubles import Troubles
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, Trouble

_MODULE = "tests.benchmarks.fleet.unattended"
_APART = "ADVISOR_UNATTENDED_APART"
_RESULTS = ROOT / "docs" / "benchmarks" / "fleet-unattended.jsonl"
_PAGE = ROOT / "docs" / "benchmarks-fleet.md"
_STEP_S = 0.5
_TELL_S = 60.0
# Silent workers are noticed after 20 s; what a host was left alone for is over by then too.
_QUIET_S = 90.0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--duration", type=parse_duration, default=7200.0, help="[2h]")
    parser.add_argument("--hosts", type=int, default=8, help="[8]")
    parser.add_argument("--workers", type=int, default=2, help="[2]")
    parser.add_argument("--seed", type=int, default=1, help="of what happens when [1]")
    parser.add_argument("--no-page", action="store_true", help="print it, and keep nothing")
    parser.add_argument("--document", action="store_true", help="only write the page again")
    return parser.parse_args()


def _run(options: argparse.Namespace, folder: Path) -> UnattendedRun:
    loads: list[float] = []
    when, commit = time.strftime("%Y-%m-%d %H:%M %Z"), _commit()
    with site(options.hosts, options.workers) as one:
        print(f"looked into by --store '{one.address.uri}'", flush=True)
        troubles = Troubles(one, options.seed)
        began_s = told_s = time.monotonic()
        while (gone_s := time.monotonic() - began_s) < options.duration:
            if gone_s < options.duration - _QUIET_S:
                troubles.step()
            else:
                troubles.mend()
            if time.monotonic() > told_s + _TELL_S:
                told_s = time.monotonic()
                loads.append(os.getloadavg()[0])
                print(f"{format_duration(gone_s)}: {dict(troubles.happened)}", flush=True)
            time.sleep(_STEP_S)
        one.stop_workers()
        lasted_s = time.monotonic() - began_s
        found = look(one, folder / "cache")
    return UnattendedRun(
        when=when,
        commit=commit,
        seed=options.seed,
        hosts=options.hosts,
        workers=options.workers,
        duration_s=lasted_s,
        load_1min=mean(loads or [os.getloadavg()[0]]),
        troubles=dict(troubles.happened),
        found=found,
    )


def _commit() -> str:
    argv = ["git", "-C", str(ROOT), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Run it, print what was found, and write the page."""
    options = _options()
    results = Results(_RESULTS)
    if options.document:
        write_document(results, _PAGE)
        return 0
    if _APART not in os.environ:
        words = [sys.executable, "-m", _MODULE, *sys.argv[1:]]
        os.execvpe("unshare", ["unshare", "--mount", "--", *words], os.environ | {_APART: "1"})
    with tempfile.TemporaryDirectory(prefix="adv") as name:
        folder = Path(name)
        # A demonstration of the user runs beside it.
        os.environ["ADVISOR_RUNTIME_DIR"] = str(folder / "run")
        run = _run(options, folder)
    print(run, flush=True)
    if not options.no_page:
        results.add(this_machine(quick=False, module=_MODULE))
        results.add(run)
        write_document(results, _PAGE)
    return 0 if run.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as error:
        sys.exit(str(error))
