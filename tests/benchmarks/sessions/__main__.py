"""Advice on many simulated paths: what it finds, what it costs, whether it comes true.

    python -m tests.benchmarks.sessions --paths 40 --page docs/benchmarks-sessions.md

No network: the paths are the models of tests/unit/advising/simulated.py, drawn at random, and time
is virtual. So the true rate of every setting is known, and sessions that divide a fixed time, as
they did before, run on the same paths.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from tests.benchmarks.markdown import filled, table_text
from tests.unit.advising.simulated import MIB, SimulatedPath, simulate

_MODES: Final = {True: "decides", False: "fixed time"}
_TRANSFERS: Final = 20
"""Further transfers drawn per session, to see how many are inside its interval."""


class Row(msgspec.Struct, frozen=True):
    """One session. `spare_flows`: over those of the cheapest setting within 2 % of the best."""

    method: str
    decides: bool
    fraction: float
    spare_flows: int
    seconds: float
    gigabytes: float
    probes: int
    inside: float
    gain_reached: bool | None
    no_gain: bool


def random_path(number: int) -> SimulatedPath:
    rng = random.Random(f"sessions {number}")

    def between(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    return SimulatedPath(
        name=f"path {number}",
        rate_bps=between(5e7, 3e9),
        rtt_s=between(0.0004, 0.366),
        loss=0.0 if rng.random() < 0.4 else between(1e-6, 1e-3),
        control=rng.choice(("cubic", "reno", "bbr")),
        queue=between(0.1, 2.0),
        load=rng.choice((1, 4, 16)) if rng.random() < 0.25 else 0,
        spread=rng.choice((0.01, 0.03, 0.1)),
        mtu_bytes=rng.choice((1500, 9000)),
        auto_bytes=rng.choice((MIB // 4, MIB, 4 * MIB, 16 * MIB, 64 * MIB)),
        udt_share=rng.uniform(0.3, 0.95),
        known=rng.random() < 0.3,
    )


def run(number: int, method: str, decides: bool) -> Row:
    path = random_path(number)
    told = asyncio.run(simulate(path, number, method=method, decides=decides))
    ranking = told.ranking
    true_bps = path.true_bps(told.subject, told.setting)
    default_bps = path.true_bps("tcp", {"streams": 1, "buffer_bytes": 0})
    low, high = ranking.expected.interval
    draws = random.Random(number)
    later = [
        # No transfer exceeds the path, as no probe does.
        min(true_bps * math.exp(draws.gauss(0, path.spread)), path.data_bps)
        for _ in range(_TRANSFERS)
    ]
    gain = ranking.gain
    is_default = ranking.chosen == ranking.default
    return Row(
        method=method,
        decides=decides,
        fraction=true_bps / max(path.best_bps(), true_bps),
        spare_flows=int(told.setting.get("streams", 1)) - path.cheapest_flows(),
        seconds=told.seconds,
        gigabytes=told.sent_bytes / 1e9,
        probes=len(told.probes),
        inside=sum(low <= bps <= high for bps in later) / _TRANSFERS,
        gain_reached=None
        if is_default or gain is None
        else true_bps / default_bps >= gain.interval[0],
        no_gain=default_bps >= 0.98 * path.best_bps(),
    )


def page_text(rows: list[Row], paths: int, command: str) -> str:
    methods = list(dict.fromkeys(row.method for row in rows))
    columns = [(method, decides) for method in methods for decides in _MODES]
    chosen = {c: [r for r in rows if (r.method, r.decides) == c] for c in columns}
    head = ["", *(f"{method}, {_MODES[decides]}" for method, decides in columns)]
    body = [
        [
            "of the best: median",
            *(_f(median(r.fraction for r in each)) for each in chosen.values()),
        ],
        ["of the best: tenth percentile", *(_f(_low(each)) for each in chosen.values())],
        ["of the best: worst", *(_f(min(r.fraction for r in each)) for each in chosen.values())],
        [
            "no more flows than the cheapest within 2 %",
            *(_share(r.spare_flows <= 0 for r in each) for each in chosen.values()),
        ],
        ["seconds: median", *(_f(median(r.seconds for r in e), 0) for e in chosen.values())],
        ["GB: median", *(_f(median(r.gigabytes for r in e)) for e in chosen.values())],
        ["probes: median", *(_f(median(r.probes for r in e), 0) for e in chosen.values())],
        ["seconds where nothing is to be gained", *(_no_gain(e) for e in chosen.values())],
        [
            "further transfers inside the 90 % interval",
            *(f"{sum(r.inside for r in e) / len(e):.0%}" for e in chosen.values()),
        ],
        [
            "gain's lower end reached",
            *(
                _share(r.gain_reached for r in e if r.gain_reached is not None)
                for e in chosen.values()
            ),
        ],
    ]
    text = (
        f"{paths} simulated paths, drawn at random, one session each for every column: "
        f"{len(rows)} sessions in all. No network is involved: time is virtual, and the rates are "
        "those of models of TCP and UDT (tests/unit/advising/simulated.py), which are other "
        'formulas than those that the advice rests on. "fixed time" is a session that divides its '
        "whole budget among its stages, and ends with rounds of a comparison, as all sessions did "
        "before they decided after each probe. The best is that of a sweep of TCP over 10 counts "
        "of streams and 4 buffers, or the advised setting."
    )
    return (
        "\n\n".join(
            [
                "# Sessions on simulated paths",
                filled(text),
                f"    {command}",
                table_text(head, body),
            ]
        )
        + "\n"
    )


def _f(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}"


def _low(rows: list[Row]) -> float:
    return sorted(r.fraction for r in rows)[len(rows) // 10]


def _share(values: Iterable[bool]) -> str:
    known = list(values)
    return f"{sum(known)} of {len(known)}" if known else "–"


def _no_gain(rows: list[Row]) -> str:
    seconds = [r.seconds for r in rows if r.no_gain]
    return f"{median(seconds):.0f} ({max(seconds):.0f} at most)" if seconds else "–"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=40, help="[40]")
    parser.add_argument("--methods", default="bayes,spsa", help="[bayes,spsa]")
    parser.add_argument("--page", type=Path, help="where the table goes; by default it is printed")
    options = parser.parse_args()
    rows = [
        run(number, method, decides)
        for number in range(1, options.paths + 1)
        for method in options.methods.split(",")
        for decides in _MODES
    ]
    command = shlex.join(["python", "-m", "tests.benchmarks.sessions", *sys.argv[1:]])
    text = page_text(rows, options.paths, command)
    if options.page:
        options.page.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
