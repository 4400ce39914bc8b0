"""Which stored settings are settings: whoever may write to a shared history writes them."""

from collections.abc import Callable
from typing import Final

from advisor import registry
from advisor.api.tool import ToolLimits
from advisor.api.transport import SpaceOptions
from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import SettingValue

_MOST: Final = 2**40
"""More is no number of flows, and no size of a buffer."""


def parameters_of(
    path: PathFacts, tool: str | None = None, dataset: Dataset | None = None
) -> dict[str, set[str]]:
    """The numbers that every setting has: of all transports, or of the tool that moves files."""
    if tool and dataset:
        mover = registry.transfer_tool(tool)
        return {mover.name: mover.space(path, dataset, ToolLimits()).names}
    return {
        one.name: one.space(path, variant, SpaceOptions()).names - set(variant)
        for one in registry.transports()
        for variant in one.variants(path, [])[:1]
    }


def what_is_lacking(parameters: dict[str, set[str]]) -> Callable[[ProbeRecord], str]:
    """Why a probe's setting is none, "" where it is one; subjects not named are not judged."""

    def why_not(probe: ProbeRecord) -> str:
        named = parameters.get(probe.subject, set())
        lacking = sorted(name for name in named if not _is_number(probe.setting.get(name)))
        return f"of {probe.subject} without {', '.join(lacking)}" if lacking else ""

    return why_not


def _is_number(value: SettingValue | None) -> bool:
    """Whether a command line can carry it."""
    return isinstance(value, int | float) and 0 <= value <= _MOST
