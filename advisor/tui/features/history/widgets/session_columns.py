"""The columns of the table of past sessions: texts, sort keys, widths. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from advisor.report.times import local_time
from advisor.store.session_digests import SessionDigest
from advisor.tui.kit.charts.axis import rate_unit

Role = Literal["advised", "act", "failed", "plain"]
"""The colour of a cell; its text says the same."""

_STATES: Final[Mapping[str, tuple[str, Role]]] = {
    "advised": ("✓", "advised"),
    "incomplete": ("…", "act"),
    "interrupted": ("…", "act"),
    "nothing usable": ("✗", "failed"),
    "imported": ("·", "plain"),
    "planned": ("·", "plain"),
    "profile": ("·", "plain"),
}
_CAME_TRUE: Final[Mapping[str, tuple[str, Role]]] = {
    "within": ("✓ within", "advised"),
    "above": ("↑ above", "advised"),
    "below": ("↓ below", "act"),
}
_NO_ADVICE: Final[tuple[str, Role]] = ("no advice", "plain")
_LEAST_OF_TWO_DECIMALS: Final = 0.1
_LEAST_PAIR: Final = 17


class Look(msgspec.Struct, frozen=True):
    """How cells are written: the unit of all rates, its size in bit/s, and names of hosts.

    `names`: of the hosts that are not written in full.
    """

    scale: float = 1.0
    unit: str = "bit/s"
    names: Mapping[str, str] = {}


FULL: Final = Look()


class SessionColumn(msgspec.Struct, frozen=True):
    """One column: its heading in one or two lines, the text of a cell, and the sort key.

    `downwards`: the order when first sorted by.
    """

    name: str
    cell: Callable[[SessionDigest, Look], str]
    key: Callable[[SessionDigest], str | float]
    downwards: bool = True
    numeric: bool = False
    is_rate: bool = False
    role: Callable[[SessionDigest], Role] = lambda _: "plain"

    def heading(self, unit: str, arrow: str = "") -> str:
        """The name, with the unit of rates on a second line."""
        return f"{self.name}{arrow}\n{unit}" if self.is_rate else f"{self.name}{arrow}"


def _rate(subject: str, rate_bps: float, scale: float) -> str:
    value = rate_bps / scale
    digits = f"{value:.2f}" if value >= _LEAST_OF_TWO_DECIMALS else f"{value:.2g}"
    return f"{subject} {digits:>5}"


def _advised(session: SessionDigest, look: Look) -> str:
    advice = session.advice
    return _rate(advice.subject, advice.expected_bps, look.scale) if advice else ""


def _best(session: SessionDigest, look: Look) -> str:
    best = session.best
    return _rate(best.subject, best.throughput_bps, look.scale) if best else ""


def _gain(session: SessionDigest, _: Look) -> str:
    gain = session.advice.gain if session.advice else None
    return f"{gain.value:.2f}×" if gain else ""


def _gain_value(session: SessionDigest) -> float:
    gain = session.advice.gain if session.advice else None
    return gain.value if gain else -math.inf


def _state(session: SessionDigest, _: Look = FULL) -> str:
    return "– outlier" if session.outlier else f"{_STATES[session.state][0]} {session.state}"


def pair_words(session: SessionDigest, look: Look) -> str:
    """Source and destination."""
    ends = (session.pair.source, session.pair.destination)
    return "->".join(look.names.get(host, host) for host in ends)


def _outcome(session: SessionDigest) -> tuple[str, Role]:
    """Where the newest real transfer lies relative to the advised interval."""
    if not session.transfers:
        return "", "plain"
    return _CAME_TRUE.get(session.transfers[-1].came_true or "", _NO_ADVICE)


COLUMNS: Final = (
    SessionColumn("began", lambda s, _: local_time(s.began_s), lambda s: s.began_s),
    SessionColumn("pair", pair_words, lambda s: str(s.pair), downwards=False),
    SessionColumn(
        "state",
        _state,
        lambda s: _state(s)[2:],
        downwards=False,
        role=lambda s: _STATES[s.state][1],
    ),
    SessionColumn(
        "best",
        _best,
        lambda s: s.best.throughput_bps if s.best else -math.inf,
        numeric=True,
        is_rate=True,
    ),
    SessionColumn(
        "advised",
        _advised,
        lambda s: s.advice.expected_bps if s.advice else -math.inf,
        numeric=True,
        is_rate=True,
        role=lambda _: "advised",
    ),
    SessionColumn("gain", _gain, _gain_value, numeric=True),
    SessionColumn("probes", lambda s, _: f"{s.probes:,}", lambda s: float(s.probes), numeric=True),
    SessionColumn(
        "failed",
        lambda s, _: f"{s.failures:,}" if s.failures else "",
        lambda s: float(s.failures),
        numeric=True,
        role=lambda _: "failed",
    ),
    SessionColumn(
        "came true",
        lambda s, _: _outcome(s)[0],
        lambda s: _outcome(s)[0],
        role=lambda s: _outcome(s)[1],
    ),
)
_SAME_WIDTH: Final = frozenset({"began"})
"""One cell is as wide as the next."""


def look_of(sessions: Sequence[SessionDigest]) -> Look:
    """The unit that fits the highest rate; all names in full."""
    best_bps = max((s.best.throughput_bps for s in sessions if s.best), default=1.0)
    advised_bps = max((s.advice.expected_bps for s in sessions if s.advice), default=1.0)
    return Look(*rate_unit(max(best_bps, advised_bps)))


def shortened_look(look: Look, sessions: Sequence[SessionDigest]) -> Look:
    """The same with hosts' names as short as they stay distinct."""
    pairs = {session.pair for session in sessions}
    hosts = sorted({host for pair in pairs for host in (pair.source, pair.destination)})
    return msgspec.structs.replace(look, names=_short_names(hosts))


def _short_names(hosts: Sequence[str]) -> dict[str, str]:
    """The first label of each host's name, unless another host has the same; not of addresses."""
    first = {host: host.partition(".")[0] for host in hosts if not host[-1:].isdigit()}
    times = Counter(first.get(host, host) for host in hosts)
    return {host: label for host, label in first.items() if label and times[label] == 1}


def natural_widths(sessions: Sequence[SessionDigest], look: Look) -> dict[str, int]:
    """The width of each column in which nothing is cut, in terminal columns.

    Columns that are empty for all sessions are left out.
    """
    widest = {column.name: _widest(column, sessions, look) for column in COLUMNS}
    return {
        column.name: max(_heading_width(column, look), widest[column.name])
        for column in COLUMNS
        if widest[column.name] or not sessions
    }


def _heading_width(column: SessionColumn, look: Look) -> int:
    return max(len(line) for line in column.heading(look.unit, "▼").split("\n"))


def _widest(column: SessionColumn, sessions: Sequence[SessionDigest], look: Look) -> int:
    measured: Iterable[SessionDigest] = sessions
    if column.name in _SAME_WIDTH:
        measured = sessions[:1]
    elif column.name == "pair":
        # Of thousands of sessions there are few pairs.
        measured = {session.pair: session for session in sessions}.values()
    return max((len(column.cell(session, look)) for session in measured), default=0)


def fitted_widths(natural: Mapping[str, int], room: int) -> dict[str, int]:
    """The widths in this much room. Only pairs are cut, and no more than needed."""
    others = sum(natural.values()) - natural["pair"]
    least = min(natural["pair"], _LEAST_PAIR)
    return {**natural, "pair": min(natural["pair"], max(least, room - others))}
