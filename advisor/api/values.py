"""Values that plugins of every kind use: settings, spaces, measurements, paths, datasets."""

from advisor.domain.advice import Command
from advisor.domain.availability import AVAILABLE, Availability
from advisor.domain.dataset import Dataset
from advisor.domain.events import StopGauge
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement, Outcome
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_rate
from advisor.domain.space import (
    AUTOMATIC,
    FLOW_NAMES,
    Baseline,
    Parameter,
    Scale,
    Setting,
    Space,
    flows_of,
    last_doubling,
    setting_key,
    setting_words,
)
from advisor.domain.traits import KnownCosts, Requirement
from advisor.domain.transfers import Levels
from advisor.hosts.packages import install_line, program_available
from advisor.models.transfer_parameters import (
    GLOBUS_LARGE_FILES,
    Role,
    in_order,
    role_of,
    setting_of,
)

__all__ = [
    "AUTOMATIC",
    "AVAILABLE",
    "FLOW_NAMES",
    "GLOBUS_LARGE_FILES",
    "Availability",
    "Baseline",
    "Command",
    "Dataset",
    "Evidence",
    "Failure",
    "FailureKind",
    "HostFacts",
    "Interval",
    "KnownCosts",
    "Levels",
    "Measurement",
    "Outcome",
    "Parameter",
    "PathFacts",
    "Requirement",
    "Role",
    "Scale",
    "Setting",
    "Space",
    "StopGauge",
    "flows_of",
    "format_bytes",
    "format_rate",
    "in_order",
    "install_line",
    "last_doubling",
    "program_available",
    "role_of",
    "setting_key",
    "setting_of",
    "setting_words",
]
