"""The events of a session, reported once to every listener: screen, plain progress, NDJSON, store.

What a screen shows can be rebuilt from these alone. `at_s` is seconds since the session began.
"""

from typing import Literal, TypeAlias

import msgspec

from advisor.domain.advice import Advice, Fulfilment, Limit, PriorAdvice, Side
from advisor.domain.connection import UsableConnection
from advisor.domain.endpoints import Pair
from advisor.domain.evidence import Evidence
from advisor.domain.file_io import Filesystem
from advisor.domain.grid import Grid
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.plan import ClassProgress, NodeProgress, TransferPlan
from advisor.domain.printable import escape_fields
from advisor.domain.problem import Problem
from advisor.domain.shares import ServedRow, ShareOutcome, SharePlan, SharePurpose
from advisor.domain.space import Setting, Space
from advisor.domain.transfers import Levels

Purpose = Literal["baseline", "search", "confirm"]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """The fields common to all events."""

    at_s: float


class SessionStarted(Event, frozen=True, kw_only=True, tag="session_started"):
    """A session starts, or continues when `resumed`.

    `budget_s` is the time it may spend on probes.
    """

    session: str
    pair: Pair
    method: str
    seed: int
    budget_s: float
    resumed: bool = False


class PathFound(Event, frozen=True, kw_only=True, tag="path_found"):
    """The path was examined; `limits` are those known before anything is measured."""

    path: PathFacts
    limits: list[Limit]


class PastResult(msgspec.Struct, frozen=True, kw_only=True):
    """The best stored setting of one subject for a pair.

    `throughput_bps` is the mean and `spread` the coefficient of variation (None for one probe) over
    `probes` measurements; `age_s` is the age of the newest. `caution`: why not to rely on it
    (stale, too few probes), "" when there is no reason.
    """

    subject: str = msgspec.field(name="transport")
    setting: Setting
    throughput_bps: float
    spread: float | None
    probes: int
    age_s: float
    caution: str = ""


class HistoryFound(Event, frozen=True, kw_only=True, tag="history_found"):
    """The stored results for this pair; `results` is empty when there are none.

    `notes`: sentences on what does not apply to the present connection, and why.
    """

    results: list[PastResult]
    notes: list[str] = []


class ConnectionsFound(Event, frozen=True, kw_only=True, tag="connections_found"):
    """The connections of the two hosts that can be used. `notes`: sentences on what is left out."""

    connections: list[UsableConnection]
    notes: list[str] = []


class StageStarted(Event, frozen=True, kw_only=True, tag="stage_started"):
    """A run of probes starts: `stage` is tcp/cubic, udt, confirm …; `space` is None for confirm."""

    stage: str
    subject: str = msgspec.field(name="transport")
    budget_s: float
    space: Space | None = None


class ProbeStarted(Event, frozen=True, kw_only=True, tag="probe_started"):
    """One setting is about to be measured. `ordinal` counts the session's probes from 1."""

    ordinal: int
    stage: str
    purpose: Purpose
    subject: str = msgspec.field(name="transport")
    setting: Setting
    label: str = ""


class IntervalSeen(Event, frozen=True, kw_only=True, tag="interval"):
    """What the receiver got in one interval of a running probe; seconds since its first byte."""

    ordinal: int
    start_s: float
    end_s: float
    received_bytes: int
    throughput_bps: float


class Waiting(Event, frozen=True, kw_only=True, tag="waiting"):
    """A host is busy with another advisor's probe; `ahead` probes are queued before this one.

    `side`: which of the two hosts.
    """

    ahead: int
    side: Side = "destination"


class ProbeEnded(Event, frozen=True, kw_only=True, tag="probe_ended"):
    """A probe has ended and is stored. `retried`: the setting was retried after this failure."""

    ordinal: int
    stage: str
    purpose: Purpose
    subject: str = msgspec.field(name="transport")
    setting: Setting
    result: Outcome
    remaining_s: float
    label: str = ""
    retried: bool = False


class StopGauge(msgspec.Struct, frozen=True, kw_only=True):
    """How near a search is to one of its stop conditions: it stops at `limit`.

    `meaning` is a sentence for a person.
    """

    name: str
    value: float
    limit: float
    meaning: str


class SearchStands(Event, frozen=True, kw_only=True, tag="search_stands"):
    """The state of the search after it processed an outcome."""

    stage: str
    iteration: int
    gauges: list[StopGauge]


class MethodMoved(Event, frozen=True, kw_only=True, tag="method_moved"):
    """The search took a step; `reason` is a sentence."""

    stage: str
    iteration: int
    reason: str


class SpaceMoved(Event, frozen=True, kw_only=True, tag="space_moved"):
    """The search continues in other bounds, since the smoothed round-trip time is now `rtt_s`."""

    stage: str
    space: Space
    rtt_s: float


class EvidenceFound(Event, frozen=True, kw_only=True, tag="evidence_found"):
    """What past transfers indicate, as weighed by the search of `stage`."""

    stage: str
    evidence: Evidence


class BestChanged(Event, frozen=True, kw_only=True, tag="best_changed"):
    """A setting better than any before in this session."""

    subject: str = msgspec.field(name="transport")
    setting: Setting
    throughput_bps: float


class MeasuredAtOnce(Event, frozen=True, kw_only=True, tag="measured_at_once"):
    """Several connections have sent at the same time; `throughputs_bps` as in `connections_found`.

    `remaining_s` is what is left of the time for the session.
    """

    round: int
    throughputs_bps: list[float]
    remaining_s: float


class StageEnded(Event, frozen=True, kw_only=True, tag="stage_ended"):
    """A run of probes has ended; `reason` is a sentence."""

    stage: str
    reason: str
    probes: int
    elapsed_s: float


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    """No probe starts until `resumed`; the budget does not run meanwhile."""


class Resumed(Event, frozen=True, kw_only=True, tag="resumed"):
    """The pause has ended."""


class BudgetExtended(Event, frozen=True, kw_only=True, tag="budget_extended"):
    """The user extended the budget by `by_s`; `left_s` now remain."""

    by_s: float
    left_s: float


class RttSeen(Event, frozen=True, kw_only=True, tag="rtt_seen"):
    """One more RTT measurement of the idle path, while a path is watched."""

    rtt_s: float


class FilesPlanned(Event, frozen=True, kw_only=True, tag="files_planned"):
    """What a session that profiles a tool is about to do to the files at both ends.

    `folder`: where at the destination the transferred parts go. `most_bytes`: the most that is
    there at any time. `keep`: whether complete files that arrived stay, in `destination_path`.
    The disks are measured with files of at most `source_io_bytes` and `destination_io_bytes`, 0
    where they are not measured. `notes` are sentences about both file systems.
    `destination` is None where no agent runs.
    """

    tool: str
    source_path: str
    destination_path: str
    folder: str
    most_bytes: int
    keep: bool
    source: Filesystem
    destination: Filesystem | None
    source_io_bytes: int
    destination_io_bytes: int
    notes: list[str]


class PlanMade(Event, frozen=True, kw_only=True, tag="plan_made"):
    """How the dataset will be moved. `final`: no further sample will change the plan."""

    plan: TransferPlan
    final: bool


class PlanChanged(Event, frozen=True, kw_only=True, tag="plan_changed"):
    """The levels of one class change while the plan runs, after the control epoch of that number.

    `old`, `new`: the levels that the class would have alone. `throughput_bps`: what it reached in
    that epoch. `reason`: why, in sentences.
    """

    epoch: int
    size: str
    old: Levels
    new: Levels
    throughput_bps: float
    reason: str


class FilesMoving(Event, frozen=True, kw_only=True, tag="files_moving"):
    """The progress of each class, about once a second while files are moved.

    `phase`: sample while the sample of a class is moved; verify once all files have arrived and
    both sides read them again, `moved_bytes` then counting what was read; otherwise transfer.
    `left_s`: the remaining time, with its likely lower and upper bounds; None until it can be
    estimated.
    """

    phase: Literal["sample", "transfer", "verify"]
    classes: list[ClassProgress]
    left_s: tuple[float, float, float] | None = None


class NodesMoving(Event, frozen=True, kw_only=True, tag="nodes_moving"):
    """The nodes of a transfer over several, about once a second while files are moved."""

    nodes: list[NodeProgress]


class TransferStarted(Event, frozen=True, kw_only=True, tag="transfer_started"):
    """A tuned transfer starts to move files, at this setting.

    `session`: the id under which the history stores its epochs. `epoch_s`: length of a control
    epoch. `decides`: epochs of a search end earlier, when their difference is decided.
    `files`, `total_bytes`: the whole dataset; `earlier_bytes`: what had arrived before.
    `advised`: the advice that its throughput is compared with, None without one. `nodes`: how many
    move it, each at a setting of its own, 0 for this host alone.
    """

    session: str
    pair: Pair
    method: str
    setting: Setting
    epoch_s: float
    decides: bool = False
    files: int
    total_bytes: int
    earlier_bytes: int = 0
    advised: PriorAdvice | None = None
    nodes: int = 0


class EpochEnded(Event, frozen=True, kw_only=True, tag="epoch_ended"):
    """A control epoch of a tuned transfer has ended; epochs are counted from 1.

    `setting`: the setting requested for it. `throughput_bps`: the throughput once that was in
    effect, with its standard error; 0 where nothing arrived, and `failure` then says why.
    """

    epoch: int
    setting: Setting
    throughput_bps: float
    stderr_bps: float = 0.0
    failure: str = ""


class LoadChanged(Event, frozen=True, kw_only=True, tag="load_changed"):
    """The external load of the lab that a transfer runs in has changed.

    `transfers`: ext.tfr, parallel TCP streams. `compute`: ext.cmp, processes that compute.
    """

    transfers: int
    compute: int


class SettingChanged(Event, frozen=True, kw_only=True, tag="setting_changed"):
    """A running transfer changes its setting, after the control epoch of that number.

    `throughput_bps`: the throughput of that epoch at the `old` setting, 0 where nothing arrived.
    `reason`: why the method chooses the `new` one, in its own words.
    """

    epoch: int
    old: Setting
    new: Setting
    throughput_bps: float
    reason: str


class TransferEnded(Event, frozen=True, kw_only=True, tag="transfer_ended"):
    """The last event of a transfer. `complete`: every file that can be moved has arrived.

    `files`, `moved_bytes`: what arrived and was checked; earlier runs moved `earlier_bytes` of it.
    `elapsed_s`: from the start of this run's first client to the end of its last one. `missing`:
    files that could not be moved, each with a reason; the first hundred of `missing_files`.
    `advised`: the comparison with an earlier advice, where there was one and the whole dataset was
    moved in one run. `receipt`: the file with the signed proof; None where nothing was proven.
    """

    complete: bool
    files: int
    moved_bytes: int
    elapsed_s: float
    message: str
    missing: list[str]
    missing_files: int
    exit_code: int
    earlier_bytes: int = 0
    advised: Fulfilment | None = None
    receipt: str | None = None


class SharesPlanned(Event, frozen=True, kw_only=True, tag="shares_planned"):
    """The concurrencies that give the destinations of one source what was requested for them."""

    plan: SharePlan


class SharesStarted(Event, frozen=True, kw_only=True, tag="shares_started"):
    """Transfers to several destinations of one source start at these concurrencies.

    `purpose`: train for an experiment of `lasts_s` seconds that trains the models, run for a
    planned transfer. `total_bytes`: bytes to move by destination; empty for an experiment.
    `epoch_s`: length of a control epoch; of a step at most, which ends when the rates are known
    well enough.
    """

    session: str
    purpose: SharePurpose
    source: str
    concurrency: dict[str, int]
    parallelism: int
    epoch_s: float
    lasts_s: float | None = None
    total_bytes: dict[str, int] = {}


class SharesSeen(Event, frozen=True, kw_only=True, tag="shares_seen"):
    """An epoch with several destinations has ended; epochs are counted from 1."""

    epoch: int
    rows: list[ServedRow]


class SharesChanged(Event, frozen=True, kw_only=True, tag="shares_changed"):
    """The concurrencies change after the epoch of that number."""

    epoch: int
    old: dict[str, int]
    new: dict[str, int]
    reason: str


class DestinationEnded(Event, frozen=True, kw_only=True, tag="destination_ended"):
    """The transfer to one of several destinations has ended: complete, or `message` says why not.

    `files`, `moved_bytes`: what arrived and was checked; earlier runs moved `earlier_bytes` of it.
    """

    destination: str
    complete: bool
    message: str
    files: int = 0
    moved_bytes: int = 0
    earlier_bytes: int = 0
    elapsed_s: float = 0.0


class SharesEnded(Event, frozen=True, kw_only=True, tag="shares_ended"):
    """The last event of a session with several destinations.

    `complete`: every file is at every destination; for an experiment, it ran to its end.
    """

    complete: bool
    message: str
    exit_code: int
    elapsed_s: float
    rows: list[ShareOutcome]


class ProfileStarted(Event, frozen=True, kw_only=True, tag="profile_started"):
    """A profile begins, or continues where it was interrupted.

    `probes`: measurements in all, `earlier` of them done before. The rest takes at most
    `longest_s`.
    """

    session: str
    pair: Pair
    name: str
    grids: list[Grid]
    repeats: int
    seed: int
    probes: int
    earlier: int
    longest_s: float


class ProfileEnded(Event, frozen=True, kw_only=True, tag="profile_ended"):
    """The last event of a profile. `complete`: every declared measurement was tried.

    `measured`, `failed`: probes in all, also those of earlier runs. `message`: why it ended.
    """

    session: str
    name: str
    complete: bool
    measured: int
    failed: int
    message: str
    exit_code: int


class Notice(Event, frozen=True, kw_only=True, tag="notice"):
    """Something the user should know that does not stop the session; made printable."""

    message: str

    def __post_init__(self) -> None:
        escape_fields(self, ("message",))


class AdviceGiven(Advice, frozen=True, kw_only=True, tag_field="event", tag="advice"):
    """The last event of a session that gave advice: the advice."""

    at_s: float


class GaveUp(Event, frozen=True, kw_only=True, tag="gave_up"):
    """The last event of a session without advice; `exit_code` is that of the command.

    `message`: the problem in one line. `problem`: the same as data, None if there is only the line
    (as in the events of older versions).
    """

    message: str
    exit_code: int
    problem: Problem | None = None

    def __post_init__(self) -> None:
        escape_fields(self, ("message",))


AnyEvent: TypeAlias = (
    SessionStarted
    | PathFound
    | HistoryFound
    | ConnectionsFound
    | StageStarted
    | ProbeStarted
    | IntervalSeen
    | Waiting
    | ProbeEnded
    | SearchStands
    | MethodMoved
    | SpaceMoved
    | EvidenceFound
    | BestChanged
    | MeasuredAtOnce
    | StageEnded
    | Paused
    | Resumed
    | BudgetExtended
    | RttSeen
    | FilesPlanned
    | PlanMade
    | FilesMoving
    | NodesMoving
    | TransferStarted
    | EpochEnded
    | LoadChanged
    | SettingChanged
    | PlanChanged
    | TransferEnded
    | SharesPlanned
    | SharesStarted
    | SharesSeen
    | SharesChanged
    | DestinationEnded
    | SharesEnded
    | ProfileStarted
    | ProfileEnded
    | Notice
    | AdviceGiven
    | GaveUp
)
