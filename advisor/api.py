"""All that a plugin may import: the words of the domain and the interfaces of the three kinds."""

from advisor.availability import AVAILABLE, Availability
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.domain.events import StopGauge
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement, Outcome
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_rate
from advisor.domain.space import Parameter, Scale, Setting, Space, setting_key
from advisor.hosts.compiled import shared_library
from advisor.hosts.own_sockets import borrowed, listening_fd
from advisor.hosts.peer_filter import comes_from, only_from
from advisor.hosts.tcp_info import TcpSockets, TcpTotals
from advisor.methods.api import Constant, Knowledge, Method, MethodPlugin
from advisor.models.buffer_range import BufferRange, buffer_range
from advisor.probing.pacing import repeat_every
from advisor.tools import CommandRequest, Tool, congestion_note
from advisor.transports import (
    Baseline,
    Channel,
    ReceiveOrder,
    SendOrder,
    SpaceOptions,
    Transport,
)

__all__ = [
    "AVAILABLE",
    "Availability",
    "Baseline",
    "BufferRange",
    "Channel",
    "Command",
    "CommandRequest",
    "Constant",
    "Dataset",
    "Failure",
    "FailureKind",
    "HostFacts",
    "Interval",
    "Knowledge",
    "Measurement",
    "Method",
    "MethodPlugin",
    "Outcome",
    "Parameter",
    "PathFacts",
    "ReceiveOrder",
    "Scale",
    "SendOrder",
    "Setting",
    "Space",
    "SpaceOptions",
    "StopGauge",
    "TcpSockets",
    "TcpTotals",
    "Tool",
    "Transport",
    "borrowed",
    "buffer_range",
    "comes_from",
    "congestion_note",
    "format_bytes",
    "format_rate",
    "listening_fd",
    "only_from",
    "repeat_every",
    "setting_key",
    "shared_library",
]
