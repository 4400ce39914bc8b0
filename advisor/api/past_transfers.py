"""What methods use that choose by past transfers or by rules of the papers."""

from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.file_classes import FileClass, Size
from advisor.models.harp.account import evidence_of
from advisor.models.harp.ann import neural_answer
from advisor.models.harp.asking import box_of, conditions_of, levels_in, sample_levels
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import HarpAnswer, Sample, optimise
from advisor.models.harp.optimum import RELAXATION, Box
from advisor.models.harp.peak import Peak, peak_of
from advisor.models.transfer_heuristics import buffer_of, class_levels, classes_of, share_channels
from advisor.models.transfer_parameters import (
    GLOBUS_LARGE_FILES,
    Role,
    in_order,
    role_of,
    setting_of,
)

__all__ = [
    "GLOBUS_LARGE_FILES",
    "RELAXATION",
    "Box",
    "Conditions",
    "FileClass",
    "HarpAnswer",
    "History",
    "Levels",
    "PastTransfer",
    "Peak",
    "Role",
    "Sample",
    "Size",
    "box_of",
    "buffer_of",
    "class_levels",
    "classes_of",
    "conditions_of",
    "evidence_of",
    "in_order",
    "levels_in",
    "neural_answer",
    "optimise",
    "peak_of",
    "role_of",
    "sample_levels",
    "setting_of",
    "share_channels",
]
