"""Settings in as few characters as distinguish them. Pure."""

from collections.abc import Sequence

from advisor.domain.quantities import format_bytes
from advisor.domain.space import Setting, SettingValue
from advisor.traits import subject_name
from advisor.tui.features.advising.session_model import ProbeModel


def varied_names(probes: Sequence[ProbeModel], subject: str) -> list[str]:
    """The parameters in which the settings of a subject differ: counts before sizes and words."""
    settings = [probe.setting for probe in probes if probe.subject == subject]
    names = dict.fromkeys(name for setting in settings for name in setting)
    varied = [name for name in names if len({setting.get(name) for setting in settings}) > 1]
    return sorted(varied or names, key=lambda name: _is_size(name))


def short_setting(subject: str, setting: Setting, names: Sequence[str]) -> str:
    """The transport or tool and these parameters: `TCP 8×4 MiB`."""
    values = [_value(name, setting[name]) for name in names if name in setting]
    return " ".join([subject_name(subject), "×".join(values)]).rstrip()


def _is_size(name: str) -> bool:
    return name.endswith("_bytes")


def _value(name: str, value: SettingValue) -> str:
    if _is_size(name) and isinstance(value, int | float):
        return format_bytes(value) if value else "auto"
    return f"{value}"
