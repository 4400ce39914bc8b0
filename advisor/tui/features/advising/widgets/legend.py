"""Marks and colours of probes by their purpose: full for TCP, letters for disks, else hollow."""

from functools import cache
from typing import Final

import msgspec

from advisor.domain.file_io import DESTINATION_DISK, SOURCE_DISK
from advisor.traits import probe_labels, reference_transport, transport_traits
from advisor.tui.features.advising.session_model import ProbeModel

FAILED: Final = "×"


class Role(msgspec.Struct, frozen=True):
    """`full` and `hollow`: the mark for the reference transport, and for any other."""

    name: str
    full: str
    hollow: str
    meaning: str


_BY_HAND: Final = Role("by hand", "▶", "▷", "a setting you asked for")
_BY_PURPOSE: Final = {
    "baseline": Role("default", "■", "□", "what you get without tuning"),
    "search": Role("search", "●", "○", "a setting the search tries"),
    "confirm": Role("confirm", "◆", "◇", "the best ones, measured again in turn"),
}
DISK_MARKS: Final = {
    SOURCE_DISK: ("r", "read at the source, no network"),
    DESTINATION_DISK: ("w", "written at the destination, no network"),
}
"""Each disk's mark and description."""


@cache
def _by_label() -> dict[str, Role]:
    labels = probe_labels().values()
    roles = [Role(one.name, one.full, one.hollow, one.meaning) for one in labels]
    return {role.name: role for role in (*roles, _BY_HAND)}


def roles() -> list[Role]:
    """All that a probe may have been for."""
    return [*_by_label().values(), *_BY_PURPOSE.values()]


def role_of(probe: ProbeModel) -> Role:
    """The role of a probe."""
    return _by_label().get(probe.label) or _BY_PURPOSE[probe.purpose]


def mark_of(probe: ProbeModel) -> str:
    """Its mark on maps."""
    return _mark(probe, role_of(probe))


def _mark(probe: ProbeModel, role: Role) -> str:
    if probe.subject in DISK_MARKS:
        return DISK_MARKS[probe.subject][0]
    return role.full if probe.subject == reference_transport() else role.hollow


def chart_role(probe: ProbeModel) -> Role:
    """Its role on charts, which distinguish the purposes but not the steps of a method."""
    return _BY_HAND if probe.label == _BY_HAND.name else _BY_PURPOSE[probe.purpose]


def chart_mark(probe: ProbeModel) -> str:
    """Its mark on charts and in lists."""
    return _mark(probe, chart_role(probe))


def colour_of(subject: str) -> str:
    """A colour name of the theme."""
    if subject in DISK_MARKS:
        return "foreground"
    return transport_traits(subject).colour
