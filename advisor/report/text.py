"""Advice as text: what to run, what to expect, and why."""

import textwrap
from typing import Final

from advisor.domain.advice import Advice, Command, Contender, Estimate, Limit
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.space import describe

_NOTE_COLUMNS: Final = 92


def _rates(estimate: Estimate) -> str:
    lower, upper = estimate.interval
    return f"{format_rate(estimate.value)}  (90 %: {format_rate(lower)} to {format_rate(upper)})"


def advice_text(advice: Advice) -> str:
    """The whole advice, as `advisor advise` prints it."""
    blocks = [
        _headline(advice),
        _section("Compared", [_contender(c) for c in advice.contenders]),
        _section("Why", [f"- {reason}" for reason in advice.reasons]),
        _section("What limits now", [line for x in advice.limits for line in _limit(x)]),
        _section("Run", [line for command in advice.commands for line in _command(command)]),
    ]
    return "\n\n".join(block for block in blocks if block)


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"  {line}" if line else "" for line in lines)]) if lines else ""


def _headline(advice: Advice) -> str:
    state = ", incomplete: the session was cut short" if advice.incomplete else ""
    source = " (from history, nothing measured)" if advice.basis == "history" else ""
    lines = [
        f"Advice for {advice.pair}{source}{state}",
        f"  use      {describe(advice.transport, advice.setting)}",
        f"  expect   {_rates(Estimate(advice.expected_bps, advice.interval_bps))}",
    ]
    if advice.default_bps is not None and advice.gain is not None:
        lower, upper = advice.gain.interval
        lines.append(
            f"  default  {format_rate(advice.default_bps)}; gain × {advice.gain.value:.2f}"
            f"  (90 %: {lower:.2f} to {upper:.2f})"
        )
    if advice.transfer_s is not None:
        fast, slow = advice.transfer_s.interval
        lines.append(
            f"  takes    {format_duration(advice.transfer_s.value)}"
            f"  (90 %: {format_duration(fast)} to {format_duration(slow)}), if no disk limits it"
        )
    lines.append(f"  session  {advice.session}")
    return "\n".join(lines)


def _contender(contender: Contender) -> str:
    return (
        f"{contender.role:<15}{_rates(contender.throughput)}  {contender.probes} probe(s)  "
        f"{describe(contender.transport, contender.setting)}"
    )


def _limit(limit: Limit) -> list[str]:
    where = f" ({limit.side})" if limit.side else ""
    return [f"- {limit.what}{where}", f"    {limit.remedy}"]


def _command(command: Command) -> list[str]:
    note = textwrap.wrap(command.note, _NOTE_COLUMNS, break_on_hyphens=False)
    head = f"# {command.tool}, on the {command.side}"
    # The line itself is never broken: it is there to be copied.
    return [head, *(f"# {line}" for line in note), command.shell, ""]
