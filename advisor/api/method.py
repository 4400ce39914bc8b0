"""What a method plugin implements, and the building blocks of searches."""

from advisor.domain.traits import GaugeLabel, MethodTraits, ProbeLabel
from advisor.methods.answering import Answer, Answers
from advisor.methods.api import Constant, Expected, Knowledge, Method, MethodPlugin, PastSurface
from advisor.methods.climbing import Climb
from advisor.methods.lattice import Lattice, Point, step_values
from advisor.methods.online_tuning import OnlineTuning
from advisor.methods.perturbing import (
    PERTURBATION_CONSTANTS,
    PERTURBATION_TRAITS,
    Array,
    Perturbation,
)
from advisor.methods.sampling import SampleThenAnswer
from advisor.methods.searching import (
    Memory,
    Search,
    SearchPlugin,
    change_percent,
    generator_state,
    relative_error,
    set_generator,
    settled_constants,
    usable_bps,
)
from advisor.methods.tuning import Tuner, TunerBounds, TunerPlugin
from advisor.methods.watching import EPSILON, WatchingSearch, WatchMemory
from advisor.models.scatter import scatter
from advisor.models.unimodality import unimodal_share

__all__ = [
    "EPSILON",
    "PERTURBATION_CONSTANTS",
    "PERTURBATION_TRAITS",
    "Answer",
    "Answers",
    "Array",
    "Climb",
    "Constant",
    "Expected",
    "GaugeLabel",
    "Knowledge",
    "Lattice",
    "Memory",
    "Method",
    "MethodPlugin",
    "MethodTraits",
    "OnlineTuning",
    "PastSurface",
    "Perturbation",
    "Point",
    "ProbeLabel",
    "SampleThenAnswer",
    "Search",
    "SearchPlugin",
    "Tuner",
    "TunerBounds",
    "TunerPlugin",
    "WatchMemory",
    "WatchingSearch",
    "change_percent",
    "generator_state",
    "relative_error",
    "scatter",
    "set_generator",
    "settled_constants",
    "step_values",
    "unimodal_share",
    "usable_bps",
]
