"""Which stored probes count for a session: whoever may write to a shared history writes them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from advisor import registry
from advisor.api.tool import ToolLimits
from advisor.api.transport import SpaceOptions
from advisor.domain.dataset import Dataset
from advisor.domain.events import PastResult
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, SettingValue, Space
from advisor.traits import flow_names

_MOST: Final = 2**40
"""More is no size of a buffer, and no other number of a setting."""

_MOST_FLOWS: Final = 2**16
"""Two addresses have no more connections to one port."""

_ALIKE: Final = 4.0
"""Mean sizes of files within this factor are alike: that far, datasets of one kind may differ."""


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


def what_is_lacking(
    parameters: dict[str, set[str]], dataset: Dataset | None = None
) -> Callable[[ProbeRecord], str]:
    """Why a probe shows nothing for a session, "" where it does; subjects not named are not judged.

    Its setting is none, or a tool moved files of quite another size than those of `dataset`: what
    many small files need says little about large ones, and the reverse.
    """
    mean_bytes = dataset.total_bytes / dataset.files if dataset and dataset.files else None

    def why_not(probe: ProbeRecord) -> str:
        if lacking := sorted(lacking_of(probe.setting, parameters.get(probe.subject, set()))):
            return f"of {probe.subject} without {', '.join(lacking)}"
        if mean_bytes and probe.file_bytes and not _is_alike(probe.file_bytes, mean_bytes):
            return f"of {probe.subject} with files of quite another mean size"
        return ""

    return why_not


def permitted(past: Iterable[PastResult], spaces: Mapping[str, Space]) -> list[PastResult]:
    """Those whose setting a session over these spaces may measure: none beyond its limits."""
    return [one for one in past if one.subject in spaces and spaces[one.subject].holds(one.setting)]


def lacking_of(setting: Setting, parameters: set[str]) -> set[str]:
    """The parameters that have no value in a setting that a command line can carry."""
    return {name for name in parameters if not _is_number(name, setting.get(name))}


def _is_number(name: str, value: SettingValue | None) -> bool:
    most = _MOST_FLOWS if name in flow_names() else _MOST
    return isinstance(value, int | float) and 0 <= value <= most


def _is_alike(one_bytes: float, other_bytes: float) -> bool:
    return max(one_bytes, other_bytes) <= _ALIKE * min(one_bytes, other_bytes)
