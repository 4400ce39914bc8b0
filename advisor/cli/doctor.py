"""`advisor doctor`: what is installed here, and what in this host will limit transfers."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from advisor.cli.commands import command
from advisor.cli.options import ResultAsJson
from advisor.domain.path import HostFacts
from advisor.domain.printable import printable_lines
from advisor.domain.quantities import format_rate
from advisor.hosts.facts import host_facts
from advisor.hosts.hardware import hardware
from advisor.hosts.interfaces import Interface, cards
from advisor.hosts.privileges import Privilege, privileges
from advisor.hosts.sysctl import sysctl, sysctl_number, sysctl_numbers
from advisor.models import host_tuning as ht
from advisor.models.card_audit import audit_cards
from advisor.models.findings import Finding, Severity
from advisor.models.host_audit import Settings, audit
from advisor.report.output import rich_console, say_json
from advisor.software import Software, can_run_tcp, software

_WORDS: Final = {
    Severity.GOOD: "ok",
    Severity.WATCH: "could be better",
    Severity.BAD: "will limit",
    Severity.UNKNOWN: "not known",
}
_STYLES: Final = {"ok": "green", "could be better": "yellow", "will limit": "red"}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. `source`: who recommends another value, "" if nobody does."""

    what: str
    value: str
    verdict: str
    reason: str
    remedy: str
    source: str

    @classmethod
    def of(cls, finding: Finding) -> "Row":
        """A finding on this host, as it is shown here."""
        return cls(
            what=finding.what,
            value=finding.source,
            verdict=_WORDS[finding.severity],
            reason=finding.cost,
            remedy=finding.remedy,
            source=finding.reference,
        )


class Checkup(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints. `judged_for_bps`: the rate that the settings were checked for."""

    host: HostFacts
    software: list[Software]
    judged_for_bps: float
    findings: list[Row]
    privileges: list[Privilege]
    can_run_tcp: bool


@command()
def doctor(*, as_json: ResultAsJson = False) -> int:
    """Check this host: what is installed and allowed, and what in it will limit transfers.

    Sends nothing and changes nothing. Exits with 0 when TCP can be profiled here, else with 1.
    """
    checkup = _look()
    if as_json:
        say_json(msgspec.json.encode(checkup))
    else:
        _print(checkup)
    return 0 if checkup.can_run_tcp else 1


def _look() -> Checkup:
    host, found = host_facts(None), software()
    found_cards = cards()
    settings = _settings(host, found_cards)
    return Checkup(
        host=host,
        software=found,
        judged_for_bps=settings.rate_bps,
        findings=[Row.of(one) for one in [*audit(settings), *audit_cards(hardware(found_cards))]],
        privileges=privileges(),
        can_run_tcp=can_run_tcp(found),
    )


def _settings(host: HostFacts, found_cards: Sequence[Interface]) -> Settings:
    names = (ht.RMEM_MAX, ht.WMEM_MAX, ht.TCP_RMEM, ht.TCP_WMEM)
    return Settings(
        buffers={name: tuple(values) for name in names if (values := sysctl_numbers(name))},
        congestion=host.congestion,
        default_qdisc=sysctl("net.core.default_qdisc"),
        mtu_probing=sysctl_number("net.ipv4.tcp_mtu_probing"),
        cores=host.cores,
        links={card.name: (card.link_bps, card.mtu_bytes) for card in found_cards},
    )


def _print(checkup: Checkup) -> None:
    console = rich_console(sys.stdout)
    for style, head, tail in _lines(checkup):
        # Not wrapped: the commands are there to be copied.
        console.print(printable_lines(head), style=style, end="", soft_wrap=True)
        console.print(printable_lines(tail), soft_wrap=True)


def _lines(checkup: Checkup) -> Iterator[tuple[str | None, str, str]]:
    """The lines: the style of the first column, the first column, the rest."""
    host = checkup.host
    yield None, "", f"{host.hostname}, Linux {host.kernel}\n\nInstalled"
    for one in checkup.software:
        style, word = ("green", "ok") if one.found else ("yellow", "missing")
        yield style, _head(word), f"{one.name:<34}{one.found or f'to {one.purpose}'}"
        yield from _details(one.remedy)
    yield None, "", "\nRights of this account, all optional"
    for right in checkup.privileges:
        style, word = ("green", "ok") if right.available else ("yellow", "not allowed")
        yield style, _head(word), f"{right.name:<34}to {right.purpose}"
        yield from _details(right.without, right.remedy and f"as root: {right.remedy}")
    yield None, "", f"\nSettings, judged for {format_rate(checkup.judged_for_bps)}"
    for finding in checkup.findings:
        yield (
            _STYLES.get(finding.verdict),
            _head(finding.verdict),
            f"{finding.what:<34}{finding.value}",
        )
        yield from _details(finding.reason, finding.remedy)
    sources = sorted({f.source for f in checkup.findings if f.source})
    if sources:
        yield None, "", f"\nRecommended by {'; '.join(sources)}. Nothing was changed."


def _head(word: str) -> str:
    return f"  {word:<17}"


def _details(*texts: str) -> Iterator[tuple[str | None, str, str]]:
    yield from ((None, f"{'':<19}", text) for text in texts if text)
