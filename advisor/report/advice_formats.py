"""The formats in which advice leaves the program: of the command line and of the screens."""

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, get_args

import msgspec

from advisor.domain.advice import Advice, Side
from advisor.domain.path import PathFacts
from advisor.domain.records import AdviceRecord, ProbeRecord, Record
from advisor.hosts.sysctl import sysctl
from advisor.models.kernel_settings import KernelSetting, advised_settings, differing
from advisor.report.advice_page import page_text
from advisor.report.ansible import ansible_text
from advisor.report.markdown import markdown_text
from advisor.report.script import script_text
from advisor.report.slurm import slurm_text
from advisor.report.sysctl_d import sysctl_d_text
from advisor.store.remarks import session_of


@dataclass(frozen=True, kw_only=True)
class Exported:
    """Advice and what is known beside it.

    `recorded_s`: its Unix time. `probes`: those of its session. `side`: the host that a file for
    one host is meant for. `present`: kernel settings by side, of the hosts that can be asked here.
    """

    advice: Advice
    recorded_s: float
    probes: Sequence[ProbeRecord] = ()
    path: PathFacts | None = None
    side: Side = "source"
    present: Mapping[Side, Mapping[str, str]] = field(default_factory=dict)

    def missing(self, side: Side) -> list[KernelSetting]:
        """The kernel settings that the host of that side does not have, as far as is known."""
        return differing(advised_settings(self.advice, side), self.present.get(side, {}))


class AdviceFormat(NamedTuple):
    """`name` for a reader, the `suffix` of its files; `text` raises ValueError with a sentence."""

    name: str
    suffix: str
    text: Callable[[Exported], str]


FORMATS: Final[Mapping[str, AdviceFormat]] = {
    "shell": AdviceFormat("Shell script", ".sh", lambda one: script_text(one.advice)),
    "json": AdviceFormat("JSON", ".json", lambda one: _json(one.advice)),
    "markdown": AdviceFormat(
        "Markdown",
        ".md",
        lambda one: markdown_text(one.advice, one.recorded_s, one.probes, one.path),
    ),
    "html": AdviceFormat(
        "HTML page",
        ".html",
        lambda one: page_text(one.advice, one.recorded_s, one.probes, one.path),
    ),
    "slurm": AdviceFormat("Slurm job", ".slurm", lambda one: slurm_text(one.advice)),
    "sysctl.d": AdviceFormat(
        "Kernel settings",
        ".conf",
        lambda one: sysctl_d_text(one.advice, one.side, one.missing(one.side)),
    ),
    "ansible": AdviceFormat(
        "Ansible playbook",
        ".yml",
        lambda one: ansible_text(
            one.advice, {"source": one.missing("source"), "destination": one.missing("destination")}
        ),
    ),
}


def exported(
    records: Sequence[Record],
    advice: Advice,
    recorded_s: float,
    *,
    path: PathFacts | None = None,
    side: Side = "source",
) -> Exported:
    """What is exported of advice; this host's settings are read.

    `records`: those of its pair. `recorded_s`: the time of advice that is not among them.
    """
    own = [record for record in records if session_of(record) == advice.session]
    given = [r.recorded_s for r in own if isinstance(r, AdviceRecord)]
    return Exported(
        advice=advice,
        recorded_s=max(given, default=recorded_s),
        probes=[r for r in own if isinstance(r, ProbeRecord)],
        path=path,
        side=side,
        present={one: _present(advice, one) for one in get_args(Side) if _is_here(advice, one)},
    )


def encoded(text: str) -> bytes:
    """The bytes of a file with this text; paths that are not UTF-8 are kept as they are."""
    return text.encode(errors="surrogateescape")


def _json(advice: Advice) -> str:
    return msgspec.json.format(msgspec.json.encode(advice), indent=2).decode() + "\n"


def _is_here(advice: Advice, side: Side) -> bool:
    label = advice.pair.source if side == "source" else advice.pair.destination
    return label in ("localhost", socket.gethostname())


def _present(advice: Advice, side: Side) -> dict[str, str]:
    values = {name: sysctl(name) for name in advised_settings(advice, side)}
    return {name: value for name, value in values.items() if value is not None}
