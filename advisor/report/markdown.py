"""Advice as Markdown, for an e-mail or a ticket."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from advisor.domain.advice import Advice, Command, Contender, Limit, role_words
from advisor.domain.path import PathFacts
from advisor.domain.printable import printable
from advisor.domain.quantities import format_duration, format_rate, format_rates
from advisor.domain.records import ProbeRecord
from advisor.report.composition import composition_lines
from advisor.report.connections import at_once_lines
from advisor.report.text import NETWORK_ALONE, estimate_words
from advisor.traits import describe, subject_name


def markdown_text(
    advice: Advice,
    recorded_s: float,
    probes: Sequence[ProbeRecord] = (),
    path: PathFacts | None = None,
) -> str:
    """The whole advice. `recorded_s`: its Unix time; `probes`: those of its session.

    Write it with errors="surrogateescape", for paths that are not UTF-8.
    """
    blocks = [
        _headline(advice),
        _section("All at once", _at_once(advice)),
        _section("Composition", _composition(advice)),
        _section("Compared", _contenders(advice.contenders)),
        _section("Why", [f"- {_text(reason)}" for reason in advice.reasons]),
        _section("What limits now", [line for x in advice.limits for line in _limit(x)]),
        _section("Run", _commands(advice.commands)),
        _section("How it was measured", _provenance(advice, recorded_s, probes, path)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _at_once(advice: Advice) -> list[str]:
    return [f"- {_text(line)}" for line in at_once_lines(advice.at_once)] if advice.at_once else []


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *lines]) if lines else ""


def _text(text: str) -> str:
    """Prose on one line, with Markdown's special characters escaped."""
    return _prose(printable(" ".join(text.split())))


def _prose(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)


def _code(text: str) -> str:
    """A code span, whatever backticks the text contains."""
    ticks = _fence(text, least=1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _note(note: str) -> str:
    """A tool's note, in which text between backticks is to be typed."""
    parts = note.split("`")
    if len(parts) % 2 == 0:
        return _text(note)
    spans = (_code(" ".join(x.split())) if i % 2 else _prose(x) for i, x in enumerate(parts))
    return " ".join("".join(spans).split())


def _fence(text: str, least: int) -> str:
    """More backticks than occur in a row anywhere in the text."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


def _headline(advice: Advice) -> str:
    expected = estimate_words(advice.overall_bps)
    lines = [
        f"# {_text(str(advice.pair))}: {_text(describe(advice.subject, advice.setting))}",
        "",
    ]
    if advice.incomplete:
        lines += ["**Incomplete: the session was cut short.**", ""]
    lines.append(f"- Expected: {expected}")
    if ceiling := advice.tool_ceiling:
        lines[-1] += f", all that {_text(ceiling.tool)} reaches on these hosts"
        lines.append(f"- The network: {estimate_words(ceiling.network)}")
    if advice.default_bps is not None and advice.gain is not None:
        lower, upper = advice.gain.interval
        lines.append(
            f"- Without tuning: {format_rate(advice.default_bps)}; gain × {advice.gain.value:.2f} "
            f"(90 %: {lower:.2f} to {upper:.2f})"
        )
    for role, gain in advice.further_gains.items():
        lower, upper = gain.interval
        lines.append(
            f"- Gain over the {_text(role)}: × {gain.value:.2f} (90 %: {lower:.2f} to {upper:.2f})"
        )
    if advice.transfer_s is not None:
        fast, slow = advice.transfer_s.interval
        lines.append(
            f"- Takes: {format_duration(advice.transfer_s.value)} (90 %: {format_duration(fast)} "
            f"to {format_duration(slow)}){'' if advice.composition else NETWORK_ALONE}"
        )
    return "\n".join(lines)


def _composition(advice: Advice) -> list[str]:
    lines = [line.removeprefix("- ") for line in composition_lines(advice.composition)]
    return [f"- {_text(line)}" for line in lines]


def _contenders(contenders: Iterable[Contender]) -> list[str]:
    rows = [
        f"| {_text(role_words(c.role))} | {_text(describe(c.subject, c.setting))} "
        f"| {format_rate(c.throughput.value)} | {format_rates(*c.throughput.interval)} "
        f"| {c.probes} |"
        for c in contenders
    ]
    head = ["| | setting | throughput | 90 % interval | probes |", "|---|---|---:|---:|---:|"]
    return [*head, *rows] if rows else []


def _limit(limit: Limit) -> list[str]:
    where = f" ({limit.side})" if limit.side else ""
    return [f"- {_text(limit.what)}{where}  ", f"  {_code(limit.remedy)}"]


def _commands(commands: Iterable[Command]) -> list[str]:
    lines = []
    for command in commands:
        fence = _fence(command.shell, least=3)
        lines += [f"{_text(command.tool)}, on the {command.side}:", ""]
        lines += [f"{fence}sh", command.shell, fence, ""]
        lines += [_note(command.note), ""] if command.note else []
    return lines[:-1]


def _provenance(
    advice: Advice, recorded_s: float, probes: Sequence[ProbeRecord], path: PathFacts | None
) -> list[str]:
    when = datetime.fromtimestamp(recorded_s, UTC)
    basis = "from history, nothing measured" if advice.basis == "history" else "measured"
    lines = [f"- Session {_text(advice.session)}, {when:%Y-%m-%d %H:%M} UTC, {basis}"]
    if path is not None:
        lines.append(
            f"- Path: RTT {format_duration(path.rtt_s)} ({_text(path.rtt_method)}), "
            f"MTU {path.mtu_bytes} ({_text(path.mtu_method)})"
        )
    lines += [f"- {line}" for line in _methods(probes)]
    if probes or advice.contenders:
        lines.append(
            "- Throughput is that of files from disk to disk including start-up and closing; the "
            "network's alone is what the receiver got from memory to memory"
            if advice.composition
            else "- Throughput is what the receiver got from memory to memory over the steady part "
            "of each probe"
        )
    return lines


def _methods(probes: Sequence[ProbeRecord]) -> list[str]:
    """The number of probes per subject, and the methods that chose them."""
    counts = Counter((subject_name(p.subject), p.purpose) for p in probes)
    lines = [
        f"{_text(subject)}: {count} probe{'' if count == 1 else 's'} ({purpose})"
        for (subject, purpose), count in counts.items()
    ]
    chosen = dict.fromkeys((p.method, p.seed) for p in probes if p.method)
    seeds = {method: "" if seed is None else f", seed {seed}" for method, seed in chosen}
    return [*lines, *(f"Settings chosen by {_text(m)}{seed}" for m, seed in seeds.items())]
