"""Makes the advice of a session that measured several connections."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import msgspec

from advisor import registry
from advisor.advising.advice import (
    AdviceInputs,
    advice_from_ranking,
    best_settings,
    command_request,
    transfer_time,
)
from advisor.advising.contenders import Candidate, Ranking
from advisor.advising.context import Context
from advisor.advising.tool_lines import tool_lines
from advisor.api.command_line import bracketed
from advisor.api.tool import CommandRequest, SeveralConnectionsTool, Tool
from advisor.domain.advice import Advice, AtOnce, Command, ConnectionShare
from advisor.domain.connection import Connection
from advisor.domain.quantities import format_rate
from advisor.domain.space import Setting
from advisor.models.at_once import Together

_ELSEWHERE: Final = frozenset({"s3", "http", "https"})
"""Schemes of stores, which may be anywhere, and of web servers, as those of the source."""


class Searched(NamedTuple):
    """A connection that was searched alone."""

    context: Context
    ranking: Ranking

    @property
    def chosen(self) -> Candidate:
        """Its best setting."""
        return self.ranking.candidates[self.ranking.chosen]

    @property
    def settings(self) -> dict[str, Setting]:
        """That, and the best one of every other transport."""
        return best_settings(self.ranking)

    @property
    def alone_bps(self) -> float:
        """Its throughput at that setting."""
        return self.ranking.comparison.mean(self.ranking.chosen).value


def advice_for_several(
    inputs: AdviceInputs,
    searched: Sequence[Searched],
    together: Together | None,
    rounds: int,
    *,
    incomplete: bool,
) -> Advice:
    """The advice for the connection that is best alone, and what all reach at once.

    `together`: of the connections of `searched`, None where that was not measured. The lines are
    for all of them where that adds anything, else for the best one.
    """
    at_once = _at_once(searched, together, rounds) if together else None
    best = max(
        range(len(searched)),
        key=lambda n: together.alone[n].value if together else searched[n].alone_bps,
    )
    context, ranking = searched[best]
    own = msgspec.structs.replace(inputs, path=context.path, probes=context.probes)
    advice = advice_from_ranking(own, ranking, incomplete or at_once is None)
    name = Connection.of(context.path).words
    if at_once is None:
        reasons = [f"all at once was not measured: this is the best connection alone, {name}"]
        return msgspec.structs.replace(advice, reasons=reasons + advice.reasons)
    changed = msgspec.structs.replace(
        advice, at_once=at_once, reasons=[*_reasons(at_once), *advice.reasons]
    )
    if not at_once.adds:
        return changed
    return msgspec.structs.replace(
        changed,
        commands=_commands(inputs, searched, at_once),
        transfer_s=transfer_time(inputs.request.dataset, at_once.total_bps),
    )


def _at_once(searched: Sequence[Searched], together: Together, rounds: int) -> AtOnce:
    parts = [
        ConnectionShare(
            connection=Connection.of(one.context.path),
            subject=one.chosen.subject,
            setting=one.chosen.setting,
            alone=alone,
            at_once=at_once,
        )
        for one, alone, at_once in zip(searched, together.alone, together.at_once, strict=True)
    ]
    return AtOnce(
        parts=parts,
        total_bps=together.total,
        rounds=rounds,
        gain=together.gain,
        adds=together.adds,
        settled=together.settled,
    )


def _reasons(at_once: AtOnce) -> list[str]:
    """What all at once add to the best one alone, and where they take from each other."""
    best, total_bps = at_once.best, at_once.total_bps.value
    lower, upper = at_once.gain.interval
    figures = f"× {at_once.gain.value:.2f} (90 %: {lower:.2f} to {upper:.2f})"
    if not at_once.adds:
        why = (
            "they share what limits them, so use one"
            if at_once.settled
            else "more measurements may show one: give a larger --budget"
        )
        return [
            f"all at once reach {format_rate(total_bps)}, no clear gain over {best.name} alone "
            f"({figures}): {why}"
        ]
    reasons = [
        f"all at once reach {format_rate(total_bps)}, {total_bps / at_once.sum_bps:.0%} of the sum "
        f"of each alone and {figures} of {best.name} alone"
    ]
    reasons += [
        f"{part.name} carries {format_rate(part.at_once.value)} beside the others, "
        f"{format_rate(part.alone.value)} alone: they share a limit"
        for part in at_once.parts
        if part.at_once.interval[1] < part.alone.interval[0]
    ]
    return reasons


def _commands(inputs: AdviceInputs, searched: Sequence[Searched], at_once: AtOnce) -> list[Command]:
    """Of each tool a line that uses all connections, else one for each, to run side by side."""
    requests = [_request(inputs, one) for one in searched]
    known = {tool.name: tool for tool in registry.tools()}
    return [
        command
        for name in tool_lines(inputs.request.tools, inputs.path).names
        if name in known
        for command in _lines(known[name], requests, at_once)
    ]


def _request(inputs: AdviceInputs, one: Searched) -> CommandRequest:
    """For the tools' lines over this connection: the address names the destination's network."""
    path = one.context.path
    own = msgspec.structs.replace(inputs, path=path)
    request = command_request(own, one.chosen.subject, one.settings)
    address = path.destination_address
    return msgspec.structs.replace(
        request,
        destination_host=address,
        server_url=_at(request.server_url, address) if request.server_url else None,
    )


def _at(server_url: str, address: str) -> str:
    """The server's URL on the network of this connection; as it is where it need not be there."""
    parts = urlsplit(server_url)
    if not parts.hostname or parts.scheme in _ELSEWHERE:
        return server_url
    user, at, _ = parts.netloc.rpartition("@")
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{user}{at}{bracketed(address)}{port}"))


def _lines(tool: Tool, requests: Sequence[CommandRequest], at_once: AtOnce) -> list[Command]:
    if isinstance(tool, SeveralConnectionsTool) and (lines := tool.joint_commands(requests)):
        return lines
    total_bps = sum(part.at_once.value for part in at_once.parts)
    return [
        _beside(command, part, part.at_once.value / total_bps)
        for part, request in zip(at_once.parts, requests, strict=True)
        for command in tool.commands(request)
    ]


def _beside(command: Command, part: ConnectionShare, share: float) -> Command:
    note = (
        f"Over {part.name}, while the lines for the other connections run: give it {share:.0%} of "
        "the bytes, as a list or a directory of files of its own."
    )
    return msgspec.structs.replace(command, note=f"{note} {command.note}".strip())
