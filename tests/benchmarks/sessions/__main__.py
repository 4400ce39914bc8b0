"""Advice on many simulated paths: what it finds, what it costs, whether it comes true.

    python -m tests.benchmarks.sessions --paths 40 --page docs/benchmarks-sessions.md

No network: the paths are drawn at random, TCP is played round by round
(tests/unit/advising/played.py), and time is virtual. So the true rate of every setting is known,
and sessions that divide a fixed time, as they did before, run on the same paths. `--kind wide-area`
draws paths of 0.5 to 1.5 Gbit/s and 20 to 120 ms, like those that the targets are about.
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
from tests.unit.advising.played import PlayedPath, PlayedRunner
from tests.unit.advising.simulated import MIB, simulate

_MODES: Final = {True: "decides", False: "fixed time"}
_BEYOND: Final = 1.02
_EXACT: Final = 1.001
"""Many transfers here reach exactly what the path carries, which no receiver counts exactly."""

_TRANSFERS: Final = 20
"""Further transfers drawn per session, to see how many are inside its interval."""


class Row(msgspec.Struct, frozen=True):
    """One session. `spare_flows`: over those of the cheapest setting within 2 % of the best.

    `beyond_link`: the upper end of the interval over what the link carries.
    """

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
    beyond_link: float


def _between(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def wide_area_path(number: int) -> PlayedPath:
    """Of 0.5 to 1.5 Gbit/s and 20 to 120 ms."""
    rng = random.Random(f"wide area {number}")
    return PlayedPath(
        name=f"path {number}",
        rate_bps=_between(rng, 5e8, 1.5e9),
        rtt_s=_between(rng, 0.02, 0.12),
        loss=0.0 if rng.random() < 0.4 else _between(rng, 1e-5, 1e-3),
        control=rng.choice(("cubic", "reno", "bbr")),
        queue=_between(rng, 0.2, 1.5),
        spread=rng.choice((0.01, 0.03)),
        mtu_bytes=rng.choice((1500, 9000)),
        auto_bytes=rng.choice((4 * MIB, 16 * MIB, 64 * MIB)),
        udt_share=rng.uniform(0.3, 0.95),
    )


def random_path(number: int) -> PlayedPath:
    """Of any kind."""
    rng = random.Random(f"sessions {number}")

    def between(low: float, high: float) -> float:
        return _between(rng, low, high)

    return PlayedPath(
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


_KINDS: Final = {"any": random_path, "wide-area": wide_area_path}


def run(path: PlayedPath, number: int, method: str, decides: bool) -> Row:
    session = asyncio.run(
        simulate(path, number, method=method, decides=decides, runner_of=PlayedRunner)
    )
    ranking = session.ranking
    true_bps = path.true_bps(session.subject, session.setting)
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
        spare_flows=int(session.setting.get("streams", 1)) - path.cheapest_flows(),
        seconds=session.seconds,
        gigabytes=session.sent_bytes / 1e9,
        probes=len(session.probes),
        inside=sum(low <= bps <= _EXACT * high for bps in later) / _TRANSFERS,
        gain_reached=None
        if is_default or gain is None
        else true_bps / default_bps >= gain.interval[0],
        no_gain=default_bps >= 0.98 * path.best_bps(),
        beyond_link=high / path.data_bps,
    )


def page_text(rows: list[Row], numbers: range, kind: str, command: str) -> str:
    methods = list(dict.fromkeys(row.method for row in rows))
    modes = [decides for decides in _MODES if any(row.decides == decides for row in rows)]
    columns = [(method, decides) for method in methods for decides in modes]
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
        *(
            [
                f"{unit} where {'nothing' if no_gain else 'something'} is to be gained",
                *(_parted(e, no_gain, unit == "GB") for e in chosen.values()),
            ]
            for no_gain in (True, False)
            for unit in ("seconds", "GB")
        ),
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
        [
            "interval beyond what the link carries by over 2 %",
            *(_share(r.beyond_link > _BEYOND for r in e) for e in chosen.values()),
        ],
    ]
    text = (
        f"{len(rows) // len(columns)} simulated paths ({kind}, numbers {numbers[0]} to "
        f"{numbers[-1]}), drawn at random, one session each for every column: {len(rows)} sessions "
        "in all. No network is "
        "involved: time is virtual. TCP is played round by round (windows, a queue, losses at "
        "random: tests/unit/advising/played.py), so a probe has a course: slow start, its "
        "overshoot, windows that losses shrink. True is what the same rounds give in the long run. "
        '"fixed time" is a session that divides its whole budget among its stages, and ends with '
        "rounds of a comparison, as all sessions did before they decided after each probe. The "
        "best is that of a sweep of TCP over 10 counts of streams, or the advised setting. Two "
        "figures of seconds and GB: the median, and the most."
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


def _parted(rows: list[Row], no_gain: bool, gigabytes: bool) -> str:
    """Of the sessions where nothing, or something, was to be gained."""
    values = [r.gigabytes if gigabytes else r.seconds for r in rows if r.no_gain == no_gain]
    digits = 2 if gigabytes else 0
    return f"{_f(median(values), digits)}, {_f(max(values), digits)}" if values else "–"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=40, help="[40]")
    parser.add_argument("--first", type=int, default=1, help="number of the first path [1]")
    parser.add_argument("--kind", choices=_KINDS, default="any", help="[any]")
    parser.add_argument("--control", help="only paths with this congestion control [all]")
    parser.add_argument("--most-loss", type=float, default=1.0, help="only paths up to it [all]")
    parser.add_argument("--decides", action="store_true", help="no sessions of a fixed time")
    parser.add_argument("--methods", default="bayes,spsa", help="[bayes,spsa]")
    parser.add_argument("--page", type=Path, help="where the table goes; by default it is printed")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.paths)
    paths = {number: _KINDS[options.kind](number) for number in numbers}
    rows = [
        run(path, number, method, decides)
        for number, path in paths.items()
        if options.control in (None, path.control) and path.loss <= options.most_loss
        for method in options.methods.split(",")
        for decides in (_MODES if not options.decides else (True,))
    ]
    if not rows:
        parser.error("no path has this --control and --most-loss; give more --paths")
    command = shlex.join(["python", "-m", "tests.benchmarks.sessions", *sys.argv[1:]])
    text = page_text(rows, numbers, options.kind, command)
    if options.page:
        options.page.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
