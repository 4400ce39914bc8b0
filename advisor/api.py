"""All that a plugin may import: the words of the domain and the interfaces of the three kinds."""

from advisor.availability import AVAILABLE, Availability
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.domain.events import StopGauge
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement, Outcome
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_rate
from advisor.domain.space import (
    FLOW_NAMES,
    Baseline,
    Parameter,
    Scale,
    Setting,
    Space,
    flows_of,
    setting_key,
    setting_words,
)
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.hosts.compiled import shared_library
from advisor.hosts.own_sockets import borrowed, listening_fd
from advisor.hosts.peer_filter import comes_from, only_from
from advisor.hosts.tcp_info import TcpSockets, TcpTotals
from advisor.methods.answering import Answer, Answers
from advisor.methods.api import Constant, Knowledge, Method, MethodPlugin, PastSurface
from advisor.methods.climbing import Climb
from advisor.methods.lattice import Lattice, Point, step_values
from advisor.methods.sampling import SampleThenAnswer
from advisor.methods.searching import (
    Memory,
    Search,
    SearchPlugin,
    change_percent,
    generator_state,
    set_generator,
    settled_constants,
    usable_bps,
)
from advisor.methods.watching import EPSILON, WatchingSearch, WatchMemory
from advisor.models.buffer_range import BufferRange, buffer_range
from advisor.models.file_classes import FileClass, Size
from advisor.models.harp.account import evidence_of
from advisor.models.harp.ann import neural_answer
from advisor.models.harp.asking import box_of, conditions_of, levels_in, sample_levels
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import HarpAnswer, Sample, optimise
from advisor.models.harp.optimum import RELAXATION, Box
from advisor.models.harp.peak import Peak, peak_of
from advisor.models.transfer_heuristics import (
    buffer_of,
    class_levels,
    classes_of,
    share_channels,
)
from advisor.models.transfer_parameters import (
    GLOBUS_LARGE_FILES,
    Role,
    in_order,
    role_of,
    setting_of,
)
from advisor.models.unimodality import unimodal_share
from advisor.probing.pacing import repeat_every
from advisor.tools import (
    CommandRequest,
    Kept,
    OutputReader,
    Piece,
    Progress,
    Step,
    Tool,
    ToolLimits,
    ToolTrouble,
    TransferOrder,
    TransferTool,
    bracketed,
    buffer_note,
    congestion_note,
    files_at_once,
    path_notes,
    udt_note,
)
from advisor.transports import (
    Channel,
    ReceiveOrder,
    SendOrder,
    SpaceOptions,
    Transport,
)

__all__ = [
    "AVAILABLE",
    "EPSILON",
    "FLOW_NAMES",
    "GLOBUS_LARGE_FILES",
    "RELAXATION",
    "Answer",
    "Answers",
    "Availability",
    "Baseline",
    "Box",
    "BufferRange",
    "Channel",
    "Climb",
    "Command",
    "CommandRequest",
    "Conditions",
    "Constant",
    "Dataset",
    "Evidence",
    "Failure",
    "FailureKind",
    "FileClass",
    "HarpAnswer",
    "History",
    "HostFacts",
    "Interval",
    "Kept",
    "Knowledge",
    "Lattice",
    "Levels",
    "Measurement",
    "Memory",
    "Method",
    "MethodPlugin",
    "Outcome",
    "OutputReader",
    "Parameter",
    "PastSurface",
    "PastTransfer",
    "PathFacts",
    "Peak",
    "Piece",
    "Point",
    "Progress",
    "ReceiveOrder",
    "Role",
    "Sample",
    "SampleThenAnswer",
    "Scale",
    "Search",
    "SearchPlugin",
    "SendOrder",
    "Setting",
    "Size",
    "Space",
    "SpaceOptions",
    "Step",
    "StopGauge",
    "TcpSockets",
    "TcpTotals",
    "Tool",
    "ToolLimits",
    "ToolTrouble",
    "TransferOrder",
    "TransferTool",
    "Transport",
    "WatchMemory",
    "WatchingSearch",
    "borrowed",
    "box_of",
    "bracketed",
    "buffer_note",
    "buffer_of",
    "buffer_range",
    "change_percent",
    "class_levels",
    "classes_of",
    "comes_from",
    "conditions_of",
    "congestion_note",
    "evidence_of",
    "files_at_once",
    "flows_of",
    "format_bytes",
    "format_rate",
    "generator_state",
    "in_order",
    "levels_in",
    "listening_fd",
    "neural_answer",
    "only_from",
    "optimise",
    "path_notes",
    "peak_of",
    "repeat_every",
    "role_of",
    "sample_levels",
    "set_generator",
    "setting_key",
    "setting_of",
    "setting_words",
    "settled_constants",
    "share_channels",
    "shared_library",
    "step_values",
    "udt_note",
    "unimodal_share",
    "usable_bps",
]
