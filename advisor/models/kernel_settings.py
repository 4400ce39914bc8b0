"""The kernel settings that advice asks for, and which of them a host does not have."""

import re
import shlex
from collections.abc import Mapping
from typing import Final

import msgspec

from advisor.domain.advice import Advice, Side
from advisor.models.host_tuning import (
    CONGESTION,
    MTU_PROBING,
    RMEM_MAX,
    TCP_RMEM,
    TCP_WMEM,
    WMEM_MAX,
    sysctl_line,
)

_BUFFERS: Final = (RMEM_MAX, WMEM_MAX, TCP_RMEM, TCP_WMEM)
# A stored advice may come from a file: nothing else than this becomes part of a file for root.
_VALUES: Final[Mapping[str, re.Pattern[str]]] = {
    RMEM_MAX: re.compile(r"[0-9]{1,10}"),
    WMEM_MAX: re.compile(r"[0-9]{1,10}"),
    TCP_RMEM: re.compile(r"[0-9]{1,10}( [0-9]{1,10}){2}"),
    TCP_WMEM: re.compile(r"[0-9]{1,10}( [0-9]{1,10}){2}"),
    CONGESTION: re.compile(r"[a-z][a-z0-9_-]{0,14}"),
    MTU_PROBING: re.compile(r"[012]"),
}


class KernelSetting(msgspec.Struct, frozen=True, kw_only=True):
    """`wanted` and `present`, as sysctl writes them; `present` is "" where it is not known."""

    name: str
    wanted: str
    present: str = ""


def advised_settings(advice: Advice, side: Side) -> dict[str, str]:
    """The settings that lift the limits of that host, and its congestion control, by name.

    What is no setting that advisor itself recommends, or has no plain value, is left out.
    """
    lines = [limit.remedy for limit in advice.limits if limit.side in (side, None)]
    congestion = advice.setting.get("congestion")
    if side == "source" and congestion:
        lines.append(sysctl_line(CONGESTION, str(congestion)))
    found: dict[str, str] = {}
    for name, value in filter(None, map(_setting_of, lines)):
        found[name] = max(found.get(name, value), value, key=_largest)
    return found


def differing(wanted: Mapping[str, str], present: Mapping[str, str]) -> list[KernelSetting]:
    """Those that the host does not have. `present`: its values; of others nothing is known.

    A buffer that is larger already is left alone.
    """
    return [
        KernelSetting(name=name, wanted=value, present=_plain(name, present.get(name, "")))
        for name, value in wanted.items()
        if not _has(name, _plain(name, present.get(name, "")), value)
    ]


def _setting_of(line: str) -> tuple[str, str] | None:
    """The name and value of what `sysctl_line` wrote, whatever words follow; None of all else."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if words[:2] != ["sysctl", "-w"] or len(words) < 3:
        return None
    name, _, value = words[2].partition("=")
    value = _plain(name, value)
    return (name, value) if value else None


def _plain(name: str, value: str) -> str:
    """The value with single spaces; "" if it is none that such a setting can have."""
    value = " ".join(value.split())
    return value if name in _VALUES and _VALUES[name].fullmatch(value) else ""


def _has(name: str, present: str, wanted: str) -> bool:
    if name in _BUFFERS and present:
        return _largest(present) >= _largest(wanted)
    return present == wanted


def _largest(value: str) -> int:
    """The maximum of a buffer setting; 0 of others."""
    last = value.split()[-1]
    return int(last) if last.isdecimal() else 0
