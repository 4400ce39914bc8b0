"""What methods use that choose by past transfers or by rules of the papers."""

from advisor.domain.transfers import Conditions, PastTransfer
from advisor.models.file_classes import FileClass, Size
from advisor.models.harp.account import evidence_of
from advisor.models.harp.ann import neural_answer, neural_available
from advisor.models.harp.asking import box_of, conditions_of, levels_in, sample_levels
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import HarpAnswer, Optimiser, SampleTransfer, optimise
from advisor.models.harp.optimum import RELAXATION, LevelBounds, keep_of
from advisor.models.harp.peak import Peak, peak_of
from advisor.models.transfer_heuristics import buffer_of, class_levels, classes_of, share_channels

__all__ = [
    "RELAXATION",
    "Conditions",
    "FileClass",
    "HarpAnswer",
    "History",
    "LevelBounds",
    "Optimiser",
    "PastTransfer",
    "Peak",
    "SampleTransfer",
    "Size",
    "box_of",
    "buffer_of",
    "class_levels",
    "classes_of",
    "conditions_of",
    "evidence_of",
    "keep_of",
    "levels_in",
    "neural_answer",
    "neural_available",
    "optimise",
    "peak_of",
    "sample_levels",
    "share_channels",
]
