"""docs/benchmarks-truth.md, from the results alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from tests.benchmarks.markdown import filled, table_text
from tests.benchmarks.truth.abreast import ABREAST
from tests.benchmarks.truth.paths import COMING_DOWN_S, LONG_RUN_S, RTTS, TruthPath, path_of
from tests.benchmarks.truth.results import Advised, Done, Results
from tests.benchmarks.truth.summary import DIFFERENT, FULL, Outcome, outcomes, share
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Late, Machine
from tests.benchmarks.wan.where import where_text


def write_document(results: Results, page: Path) -> None:
    """Raises Trouble if no path is complete."""
    if not results.all(Done):
        raise Trouble(f"{results.file} has no path that is complete")
    page.write_text(document_text(results))


def document_text(results: Results) -> str:
    versions = sorted({a.version for a in results.all(Advised)}, reverse=True)
    found = {version: outcomes(results, version) for version in versions}
    parts = [
        "# Does advice come true?",
        _introduction(found),
        "## In numbers\n\n" + _figures(found),
        _kinds(found[versions[0]]),
        "## Path by path\n\n" + _paths(found),
        where_text(results.all(Machine), results.all(Late), "Both hosts"),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _introduction(found: dict[str, list[Outcome]]) -> str:
    count = max(len(each) for each in found.values())
    return "\n\n".join(
        [
            filled(
                f"Number of paths: {count}. On each, advice with default options and an empty "
                "history. A run of 200 paths takes hours, and paths are added as they are "
                "measured, so the first may be of an earlier version than the last: the dates are "
                "below. Slow ones share the machine and are measured sooner, so that fast ones are "
                "fewer than were drawn: the second table has their numbers. Everything is made "
                "again by"
            ),
            "    make bench-truth",
            filled(
                "which resumes after an interruption. The paths are those of `advisor lab`, drawn "
                "at random by their numbers: RTT 0.4 to 366 ms, 50 Mbit/s to the rate given, loss "
                "0 to 1e-3, queues of 0.1 to 2 BDP, cross traffic, limits of autotuning, MTU "
                "1500 or 9000, cubic, reno or bbr; and some with a name. After the sessions, the "
                "advised settings, the default and a sweep of nine settings of TCP are run for "
                "long: TCP by `iperf3` from a shell, because the lines of file transfer tools can "
                "express neither the congestion control nor an end of the network without disks; "
                "UDT by advisor's own sender and receiver, since iperf3 has none. Of a long run "
                f"the first {LONG_RUN_S[0]:g} s are left out and {LONG_RUN_S[1]:g} s count; with "
                f"reno, and with cubic where packets are lost, {COMING_DOWN_S[0]:g} s and "
                f"{COMING_DOWN_S[1]:g} s, since windows take longer to come down to what the "
                f"losses allow; each at least {RTTS} round trips. Lines of "
                "`globus-url-copy` are not run here; [benchmarks-disk.md](benchmarks-disk.md) "
                'does that. "before" is an earlier version, on the same labs.'
            ),
            filled(
                "Beside cross traffic the nine settings are run in random order. Without it "
                f"the sweep ends at a setting that reaches {FULL:.0%} of what the "
                "path can carry, since no other could be better by more than the rest. The advised "
                "setting is run twice, and so is the best of the sweep where it was ahead of it, "
                "since the best of single runs is one that was lucky. A setting with which iperf3 "
                "does not end is left out of the sweep. UDT is run for long where "
                f"TCP leaves it more than {DIFFERENT:.0%} to gain, and where it was advised: only "
                "there can the choice of TCP be wrong. A session has the machine alone; for long "
                f"runs up to {ABREAST} slow paths share it."
            ),
        ]
    )


def _figures(found: dict[str, list[Outcome]]) -> str:
    rows = [
        ["long runs inside the 90 % interval", *_shares(found, lambda o: list(o.inside))],
        ["true gain at least the lower end", *_shares(found, lambda o: [o.gain_reached])],
        [
            "the faster transport advised, where they differ by over 10 %",
            *_shares(found, lambda o: [o.right_transport]),
        ],
        [
            "of the sweep's best: median (worst)",
            *(_middle([o.fraction for o in each], worst=min) for each in found.values()),
        ],
        [
            "no more flows than the cheapest within 2 %",
            *_shares(found, lambda o: [o.flows <= o.cheapest_flows]),
        ],
        [
            "seconds: median (most)",
            *(_middle([o.session.seconds for o in each], 0, max) for each in found.values()),
        ],
        [
            "GB sent: median (most)",
            *(
                _middle([o.session.sent_bytes / 1e9 for o in each], 2, max)
                for each in found.values()
            ),
        ],
        [
            "probes: median (most)",
            *(_middle([o.session.probes for o in each], 0, max) for each in found.values()),
        ],
    ]
    return table_text(["", *found], rows)


_KINDS: Final[dict[str, Callable[[TruthPath], bool]]] = {
    "RTT up to 10 ms": lambda path: path.case.rtt_s <= 0.01,
    "RTT of 10 to 100 ms": lambda path: 0.01 < path.case.rtt_s <= 0.1,
    "RTT over 100 ms": lambda path: path.case.rtt_s > 0.1,
    "up to 200 Mbit/s": lambda path: path.rate_bps <= 200e6,
    "200 Mbit/s to 1 Gbit/s": lambda path: 200e6 < path.rate_bps <= 1e9,
    "over 1 Gbit/s": lambda path: path.rate_bps > 1e9,
    "no loss, no cross traffic": lambda path: not path.loss and not path.case.load_streams,
    "loss, no cross traffic": lambda path: path.loss > 0 and not path.case.load_streams,
    "cross traffic": lambda path: path.case.load_streams > 0,
    "cubic": lambda path: path.case.control == "cubic",
    "reno": lambda path: path.case.control == "reno",
    "bbr": lambda path: path.case.control == "bbr",
}


def _kinds(found: list[Outcome]) -> str:
    """The same figures for kinds of paths; "" where the paths are not of this version."""
    known = [(path, o) for o in found if (path := path_of(o.session.case, o.session.title))]
    if not known:
        return ""
    head = ("paths", "number", "inside", "gain", "÷ best: median (worst)", "seconds: median (most)")
    rows = []
    for name, belongs in _KINDS.items():
        if some := [o for path, o in known if belongs(path)]:
            rows.append(
                [
                    name,
                    str(len(some)),
                    _share_words([v for o in some for v in o.inside]),
                    _share_words([o.gain_reached for o in some]),
                    _middle([o.fraction for o in some]),
                    _middle([o.session.seconds for o in some], 0, max),
                ]
            )
    return "## By kind of path\n\n" + table_text(head, rows)


def _shares(
    found: dict[str, list[Outcome]], values: Callable[[Outcome], list[bool | None]]
) -> list[str]:
    return [_share_words([v for o in each for v in values(o)]) for each in found.values()]


def _share_words(values: Sequence[bool | None]) -> str:
    true, known = share(values)
    return f"{true} of {known}" if known else "–"


def _middle(
    values: Sequence[float], digits: int = 2, worst: Callable[[Sequence[float]], float] = min
) -> str:
    return f"{median(values):.{digits}f} ({worst(values):.{digits}f})" if values else "–"


def _paths(found: dict[str, list[Outcome]]) -> str:
    head = (
        *("path", "version", "advised", "expected, Mbit/s", "true", "gain", "true gain"),
        *("÷ best", "flows (cheapest)", "seconds", "GB", "probes"),
    )
    rows = [
        _row(outcome)
        for outcome in sorted(
            (o for each in found.values() for o in each),
            key=lambda o: (o.session.case, o.session.version),
        )
    ]
    return table_text(head, rows)


def _row(outcome: Outcome) -> list[str]:
    session = outcome.session
    low, high = (end / 1e6 for end in session.interval_bps)
    gain = session.gain
    return [
        session.title,
        session.version,
        f"{session.transport} {_words(session)}",
        f"{session.expected_bps / 1e6:.0f} ({low:.0f} to {high:.0f})",
        " and ".join(f"{bps / 1e6:.0f}" for bps in outcome.advised_bps),
        f"{gain[0]:.2f} ({gain[1]:.2f} to {gain[2]:.2f})" if gain else "–",
        f"{outcome.true_gain:.2f}" if outcome.true_gain else "–",
        f"{outcome.fraction:.2f}",
        f"{outcome.flows} ({outcome.cheapest_flows})",
        f"{session.seconds:.0f}",
        f"{session.sent_bytes / 1e9:.2f}",
        str(session.probes),
    ]


def _words(session: Advised) -> str:
    setting = session.setting or {}
    streams = setting.get("streams")
    buffers = setting.get("buffer_bytes", 0)
    sized = f"{buffers / 2**20:.3g} MiB" if buffers else "kernel's"
    return f"{streams} × {sized}" if streams else sized
