"""Advice from disk to disk on many datasets and paths, in virtual time.

    python -m tests.benchmarks.disk.virtual                 100 cases, or what is missing of them
    python -m tests.benchmarks.disk.virtual --cases 20      the first 20
    python -m tests.benchmarks.disk.virtual --document      the table, into docs/benchmarks-disk.md

A case is a dataset and a path, both drawn from its number. A simulated session (tests/
simulated_session.py) gives its advice; then the advised setting, the defaults and every setting of
the space move the whole dataset. Needs no lab and no quiet machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
import numpy as np

from advisor.domain.advice import Estimate
from advisor.domain.space import Setting, setting_key, setting_words
from advisor.methods.lattice import Lattice
from tests.benchmarks.command import run_bench
from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.wan.hosts import ROOT, Trouble
from tests.simulated_session import SimulatedSession
from tests.simulated_tool import SimulatedPath, simulate

BEGIN: Final = "<!-- made by python -m tests.benchmarks.disk.virtual --document -->"
END: Final = "<!-- end of virtual time -->"
KINDS: Final = ("small files", "few large files", "log-normal sizes", "heavy tail", "one file")
_RUNS: Final = 5
_RUNS_OF_DEFAULT: Final = 2
_AGAIN: Final = 3
"""The sweep's fastest settings that are run as often as the advised one."""

_CUT_AT: Final = 1.3
_WITH_TURNS: Final = 4000


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A case. Times in seconds; `default_s`: median of the whole at each default, by its role."""

    case: str
    kind: str
    rtt_s: float
    rate_bps: float
    loss: float
    files: int
    total_bytes: int
    setting: Setting
    stated: Estimate
    gains: dict[str, Estimate]
    runs_s: list[float]
    default_s: dict[str, float]
    best: Setting
    best_s: float
    probes: int
    session_s: float

    @property
    def share(self) -> float:
        """The advised setting's rate as a share of the sweep's best."""
        return self.best_s / median(self.runs_s)

    @property
    def inside(self) -> int:
        """How many runs ended within the stated interval."""
        low_s, high_s = self.stated.interval
        return sum(low_s <= seconds <= high_s for seconds in self.runs_s)

    def gained(self, role: str) -> bool:
        """Whether the lower end of the gain over a default was reached."""
        return self.default_s[role] / median(self.runs_s) >= self.gains[role].interval[0]


def drawn_case(number: int) -> tuple[str, SimulatedPath, list[int]]:
    """Kind, path and file sizes: 1 to 100 ms, 0.1 to 1 Gbit/s, losses 0 to 1e-4, 1 to 5,000 files.

    The whole takes 5 to 40 s at the path's rate, with small files less. From number 4000 on the
    destination begins with files one after another, 1 to 100 ms for each.
    """
    rng = np.random.default_rng([number, 99])
    rtt_s, rate_bps = float(10 ** rng.uniform(-3, -1)), float(10 ** rng.uniform(8, 9))
    path = SimulatedPath.drawn(rng, rtt_s, rate_bps, float(rng.choice([0, 0, 1e-6, 1e-5, 1e-4])))
    if number >= _WITH_TURNS:
        turn_s = float(10 ** np.random.default_rng([number, 98]).uniform(-3, -1))
        path = replace(path, turn_s=turn_s)
    kind = KINDS[number % len(KINDS)]
    total = rate_bps / 8 * 10 ** rng.uniform(np.log10(5), np.log10(40))
    if kind == "one file":
        return kind, path, [int(total)]
    count = int(10 ** (rng.uniform(1, 1.6) if kind == "few large files" else rng.uniform(2, 3.7)))
    if kind == "small files":
        weights = rng.uniform(0.5, 1.5, count)
        total = min(total, count * 10 ** rng.uniform(4, 6))
    elif kind == "few large files":
        weights = rng.uniform(0.3, 3, count)
    elif kind == "log-normal sizes":
        weights = rng.lognormal(0, rng.uniform(0.5, 2.2), count)
    else:
        weights = rng.pareto(1.1, count) + 0.02
    sizes = np.maximum(1, weights / weights.sum() * total).astype(int)
    return kind, path, sizes.tolist()


def drawn_names(number: int, sizes: list[int]) -> list[str]:
    """Names for the files of a case. Of every second one they tell the size, as where the small
    files are in one folder and the large ones in another."""
    order = np.random.default_rng([number, 97]).permutation(len(sizes))
    if number % 2:
        order = np.argsort(np.argsort(np.array(sizes)))
    return [f"{place:06d}" for place in order]


class _Whole:
    """Moves a whole dataset, its files in the order of their names, else in one of its own in each
    run, as those of a folder are."""

    def __init__(
        self, path: SimulatedPath, sizes: list[int], number: int, names: list[str] | None
    ) -> None:
        self._path = path
        self._sizes = np.array(sizes)
        self._order = None if names is None else np.argsort(names)
        self._number = number

    def seconds(self, setting: Setting, run: int, ceiling_s: float = np.inf) -> float | None:
        """Run number `run`; None if it is over the ceiling."""
        rng = np.random.default_rng([self._number, run])
        order = rng.permutation(len(self._sizes)) if self._order is None else self._order
        ran = simulate(self._path, self._sizes[order].tolist(), setting, rng, ceiling_s)
        return ran.elapsed_s if ran.is_whole else None

    def runs(self, setting: Setting, count: int) -> list[float]:
        """Several runs."""
        found = (self.seconds(setting, run) for run in range(1, count + 1))
        return [seconds for seconds in found if seconds is not None]


def try_case(number: int, *, whole_files: bool = False) -> Tried:
    """Session, runs and sweep. `whole_files`: the tool cuts none, and moves them by their names."""
    kind, path, sizes = drawn_case(number)
    names = drawn_names(number, sizes) if whole_files else None
    session = SimulatedSession(path, sizes, number, names=names)
    advice = session.run()
    whole = _Whole(path, sizes, number, names)
    runs_s = whole.runs(advice.setting, _RUNS)
    ratios = {
        one.role: one.ratio or Estimate(1.0, (1.0, 1.0))
        for one in advice.contenders
        if one.role.startswith("default")
    }
    gains = {
        role: Estimate(1 / ratio.value, (1 / ratio.interval[1], 1 / ratio.interval[0]))
        for role, ratio in ratios.items()
    }
    if advice.gain:
        gains["default"] = advice.gain
    best, best_s = _best(session, whole, advice.setting, median(runs_s))
    assert advice.transfer_s
    return Tried(
        case=str(number),
        kind=kind,
        rtt_s=path.rtt_s,
        rate_bps=path.rate_bps,
        loss=path.loss,
        files=len(sizes),
        total_bytes=sum(sizes),
        setting=advice.setting,
        stated=advice.transfer_s,
        gains=gains,
        runs_s=runs_s,
        default_s={
            one.role: median(whole.runs(one.setting, _RUNS_OF_DEFAULT))
            for one in session.baselines
            if one.role in gains
        },
        best=best,
        best_s=best_s,
        probes=len(session.probes),
        session_s=session.budget_s - session.left_s,
    )


def _best(
    session: SimulatedSession, whole: _Whole, advised: Setting, advised_s: float
) -> tuple[Setting, float]:
    """The best setting of the sweep: the fastest ones of a first run are run again.

    The simulated tool is never faster without pipelining, so those settings are left out.
    """
    lattice = Lattice.of_steps(session.space)
    settings = [lattice.setting(lattice.number(number)) for number in range(lattice.size)]
    once = [
        (whole.seconds(one, 1, _CUT_AT * advised_s), one)
        for one in settings
        if one.get("pipelining") != 1
    ]
    fastest = sorted(
        ((seconds, one) for seconds, one in once if seconds is not None), key=lambda pair: pair[0]
    )
    found = [(advised_s, advised)]
    found += [
        (median(whole.runs(one, _RUNS)), one)
        for _, one in fastest[:_AGAIN]
        if setting_key(one) != setting_key(advised)
    ]
    best_s, best = min(found, key=lambda pair: pair[0])
    return best, best_s


class Results(KeptLines[Tried]):
    """The results of this bench."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Tried)


def table(results: Results) -> str:
    """The targets, for each kind of dataset and all; then each case that missed one."""
    if not results.lines:
        raise Trouble(f"{results.file} has no cases")
    head = ["dataset", "cases", "share of the sweep's best: median, 10th percentile, worst"]
    head += ["runs within the stated time", "gain over the default reached"]
    head += ["over `-fast -pp`", "session, s: median, worst"]
    groups = [(kind, [t for t in results.lines if t.kind == kind]) for kind in KINDS]
    groups.append(("**all**", results.lines))
    rows = [_row(name, tried) for name, tried in groups if tried]
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    lines.insert(1, "|---" * len(head) + "|")
    return "\n".join(lines) + "\n\n" + "\n".join(_missed(results.lines))


def _row(name: str, tried: list[Tried]) -> list[str]:
    shares = [one.share for one in tried]
    inside = sum(one.inside for one in tried)
    runs = sum(len(one.runs_s) for one in tried)
    seconds = [one.session_s for one in tried]
    return [
        name,
        str(len(tried)),
        f"{median(shares):.3f}, {np.percentile(shares, 10):.3f}, {min(shares):.3f}",
        f"{inside} of {runs} ({inside / runs:.0%})",
        _gained(tried, lambda role: role == "default"),
        _gained(tried, lambda role: role != "default"),
        f"{median(seconds):.0f}, {max(seconds):.0f}",
    ]


def _gained(tried: list[Tried], wanted: Callable[[str], bool]) -> str:
    """Where a default itself is advised there is no gain to reach."""
    found = [
        one.gained(role)
        for one in tried
        for role, gain in one.gains.items()
        if wanted(role) and gain.interval != (1.0, 1.0)
    ]
    return f"{sum(found)} of {len(found)}" if found else "–"


def _missed(tried: list[Tried]) -> list[str]:
    lines = []
    for one in tried:
        what = (
            f"case {one.case}: {one.kind}, {one.files} files of {one.total_bytes / 1e6:.0f} MB, "
            f"{one.rtt_s * 1e3:.0f} ms, {one.rate_bps / 1e6:.0f} Mbit/s, loss {one.loss:g}"
        )
        if one.share < 0.9:
            lines.append(
                f"- {what}: {setting_words(one.setting)} reaches {one.share:.2f} of "
                f"{setting_words(one.best)}."
            )
        if one.inside == 0:
            low_s, high_s = one.stated.interval
            lines.append(
                f"- {what}: stated {low_s:.1f} to {high_s:.1f} s, took {median(one.runs_s):.1f} s."
            )
    return lines or ["No case below 0.90, and none with all runs outside the stated time."]


def write_document(results: Results, page: Path) -> None:
    """Put the table between the page's marks. Raises Trouble where there are none."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Trouble(f"{page} has no lines {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{table(results)}\n\n{END}{after}")


def _measure(options: argparse.Namespace, results: Results) -> None:
    done = {one.case for one in results.lines}
    for number in range(options.first, options.first + options.cases):
        if str(number) not in done:
            tried = try_case(number, whole_files=options.whole_files)
            results.add(tried)
            print(
                f"{number} {tried.kind}: share {tried.share:.3f}, inside {tried.inside}", flush=True
            )
    print(table(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100, help="how many [100]")
    parser.add_argument("--first", type=int, default=3100, help="number of the first one [3100]")
    parser.add_argument(
        "--whole-files", action="store_true", help="with a tool that cuts no file, as rsync"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs/benchmarks",
        help="folder of the results, disk-virtual.jsonl [docs/benchmarks]",
    )
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the table; do not measure")
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs/benchmarks-disk.md", help="where the table goes"
    )
    return parser.parse_args()


if __name__ == "__main__":
    run_bench("disk-virtual", _options(), Results, _measure, write_document)
