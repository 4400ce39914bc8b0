"""Advice as text: what to run, what to expect, and why."""

import textwrap
from collections.abc import Iterable
from typing import Final

from advisor.domain.advice import Advice, Command, Contender, Estimate, Limit, role_words
from advisor.domain.quantities import format_duration, format_rate, format_rates
from advisor.report.composition import composition_lines
from advisor.report.connections import at_once_lines
from advisor.traits import describe

NETWORK_ALONE: Final = " plus start-up, if no disk limits it"
"""What the duration of a transfer leaves out where only the network was measured."""

PLAIN_COLUMNS: Final = 96
"""The width of text that does not go to a terminal."""


def advice_text(advice: Advice, columns: int = PLAIN_COLUMNS) -> str:
    """The whole advice, as `advisor advise` prints it; only command lines may be wider."""
    wide = max(40, columns)
    blocks = [
        _headline(advice),
        _section("All at once", at_once_lines(advice.at_once) if advice.at_once else (), wide),
        _section("Composition", composition_lines(advice.composition), wide),
        _section("Compared", (_contender(c) for c in advice.contenders), wide),
        _section("Why", (f"- {reason}" for reason in advice.reasons), wide),
        _section("What limits now", (line for x in advice.limits for line in _limit(x)), wide),
        _commands(advice.commands, wide),
    ]
    return "\n\n".join(block for block in blocks if block)


def _wrapped(line: str, columns: int) -> list[str]:
    """The line, wrapped with a hanging indent."""
    indent = " " * (len(line) - len(line.lstrip(" -")) + 2)
    return textwrap.wrap(
        f"  {line}",
        columns,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _section(title: str, lines: Iterable[str], columns: int) -> str:
    body = [part for line in lines for part in _wrapped(line, columns)]
    return "\n".join([title, *body]) if body else ""


def _headline(advice: Advice) -> str:
    state = ", incomplete: the session was cut short" if advice.incomplete else ""
    source = " (from history, nothing measured)" if advice.basis == "history" else ""
    lines = [f"Advice for {advice.pair}{source}{state}", *_use_and_expect(advice)]
    if advice.default_bps is not None and advice.gain is not None:
        lower, upper = advice.gain.interval
        lines.append(
            f"  default  {format_rate(advice.default_bps)}; gain × {advice.gain.value:.2f}"
            f" (90 %: {lower:.2f} to {upper:.2f})"
        )
    for role, gain in advice.further_gains.items():
        lower, upper = gain.interval
        lines.append(
            f"           gain over the {role}: × {gain.value:.2f}"
            f" (90 %: {lower:.2f} to {upper:.2f})"
        )
    if advice.transfer_s is not None:
        fast, slow = advice.transfer_s.interval
        lines.append(
            f"  takes    {format_duration(advice.transfer_s.value)}"
            f" (90 %: {format_duration(fast)} to {format_duration(slow)})"
            f"{'' if advice.composition else NETWORK_ALONE}"
        )
    lines.append(f"  session  {advice.session}")
    return "\n".join(lines)


def _use_and_expect(advice: Advice) -> list[str]:
    """The setting and what it reaches; where several connections were measured, of which."""
    expected = estimate_words(Estimate(advice.expected_bps, advice.interval_bps))
    setting = describe(advice.subject, advice.setting)
    at_once = advice.at_once
    if at_once and at_once.adds:
        return [
            f"  use      {len(at_once.parts)} connections at once, each at its setting below",
            f"  expect   {estimate_words(at_once.total_bps)}",
            f"  alone    {at_once.best.name}, {setting}: {expected}",
        ]
    over = f"{at_once.best.name} alone, " if at_once else ""
    lines = [f"  use      {over}{setting}", f"  expect   {expected}"]
    if ceiling := advice.tool_ceiling:
        lines[-1] += f", all that {ceiling.tool} reaches on these hosts"
        lines.append(f"  network  {estimate_words(ceiling.network)}")
    return lines


def estimate_words(estimate: Estimate) -> str:
    """A rate with its interval: `940 Mbit/s (90 %: 920 to 960 Mbit/s)`."""
    return f"{format_rate(estimate.value)} (90 %: {format_rates(*estimate.interval)})"


def _contender(contender: Contender) -> str:
    times = "once" if contender.probes == 1 else f"{contender.probes} times"
    return (
        f"{role_words(contender.role)}: {estimate_words(contender.throughput)}, probed {times}; "
        f"{describe(contender.subject, contender.setting)}"
    )


def _limit(limit: Limit) -> list[str]:
    where = f" ({limit.side})" if limit.side else ""
    return [f"- {limit.what}{where}", f"    {limit.remedy}"]


def _commands(commands: list[Command], columns: int) -> str:
    lines = ["Run"]
    for command in commands:
        note = textwrap.wrap(
            command.note, columns - 4, break_long_words=False, break_on_hyphens=False
        )
        lines += [f"  # {command.tool}, on the {command.side}", *(f"  # {x}" for x in note)]
        # Never wrapped, so that it can be copied.
        lines += [f"  {command.shell}", ""]
    return "\n".join(lines) if commands else ""
