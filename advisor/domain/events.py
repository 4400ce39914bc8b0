"""What happens in a session, told once to every listener: screen, plain progress, NDJSON, store.

What a screen shows can be rebuilt from these alone. `at_s` is seconds since the session began.
"""

from typing import Literal, TypeAlias

import msgspec

from advisor.domain.advice import Advice, Fulfilment, Limit
from advisor.domain.endpoints import Pair
from advisor.domain.evidence import Evidence
from advisor.domain.file_io import Filesystem
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.plan import ClassProgress, TransferPlan
from advisor.domain.shares import ServedRow, ShareOutcome, SharePlan, SharePurpose
from advisor.domain.space import Setting, Space

Purpose = Literal["baseline", "search", "confirm"]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """What every event carries."""

    at_s: float


class SessionStarted(Event, frozen=True, kw_only=True, tag="session_started"):
    """A session begins, or goes on when `resumed`.

    `budget_s` is the time it may spend in probes.
    """

    session: str
    pair: Pair
    method: str
    seed: int
    budget_s: float
    resumed: bool = False


class PathFound(Event, frozen=True, kw_only=True, tag="path_found"):
    """The path was looked at; `limits` are those known before anything is measured."""

    path: PathFacts
    limits: list[Limit]


class PastResult(msgspec.Struct, frozen=True, kw_only=True):
    """The best stored setting of one transport for a pair.

    `throughput_bps` is the mean and `spread` the coefficient of variation (None for one probe) over
    `probes` measurements; `age_s` is that of the newest. `caution`: why it should not be trusted
    as it is (stale, thin), "" when there is no reason.
    """

    transport: str
    setting: Setting
    throughput_bps: float
    spread: float | None
    probes: int
    age_s: float
    caution: str = ""


class HistoryFound(Event, frozen=True, kw_only=True, tag="history_found"):
    """What is stored of this pair; `results` is empty when nothing is."""

    results: list[PastResult]


class StageStarted(Event, frozen=True, kw_only=True, tag="stage_started"):
    """A run of probes begins: `stage` is tcp/cubic, udt, confirm …; `space` is None for confirm."""

    stage: str
    transport: str
    budget_s: float
    space: Space | None = None


class ProbeStarted(Event, frozen=True, kw_only=True, tag="probe_started"):
    """One setting is about to be measured. `ordinal` counts the session's probes from 1."""

    ordinal: int
    stage: str
    purpose: Purpose
    transport: str
    setting: Setting
    label: str = ""


class IntervalSeen(Event, frozen=True, kw_only=True, tag="interval"):
    """What the receiver got in the last moment of a running probe; seconds since its first byte."""

    ordinal: int
    start_s: float
    end_s: float
    received_bytes: int
    throughput_bps: float


class Waiting(Event, frozen=True, kw_only=True, tag="waiting"):
    """The agent is busy with another advisor's probe; `ahead` are before this one."""

    ahead: int


class ProbeEnded(Event, frozen=True, kw_only=True, tag="probe_ended"):
    """A probe is over and stored. `retried`: this failure was tried once more."""

    ordinal: int
    stage: str
    purpose: Purpose
    transport: str
    setting: Setting
    result: Outcome
    remaining_s: float
    label: str = ""
    retried: bool = False


class StopGauge(msgspec.Struct, frozen=True, kw_only=True):
    """How near a search is to one of its conditions for stopping: at `limit` it stops.

    `meaning` is a sentence for a person.
    """

    name: str
    value: float
    limit: float
    meaning: str


class SearchStands(Event, frozen=True, kw_only=True, tag="search_stands"):
    """Where the search is after it was told an outcome."""

    stage: str
    iteration: int
    gauges: list[StopGauge]


class MethodMoved(Event, frozen=True, kw_only=True, tag="method_moved"):
    """The search took a step; `reason` is a sentence."""

    stage: str
    iteration: int
    reason: str


class EvidenceFound(Event, frozen=True, kw_only=True, tag="evidence_found"):
    """What past transfers say, as the search of `stage` has weighed them."""

    stage: str
    evidence: Evidence


class BestChanged(Event, frozen=True, kw_only=True, tag="best_changed"):
    """A better setting than any before in this session."""

    transport: str
    setting: Setting
    throughput_bps: float


class StageEnded(Event, frozen=True, kw_only=True, tag="stage_ended"):
    """A run of probes is over; `reason` is a sentence."""

    stage: str
    reason: str
    probes: int
    elapsed_s: float


class Paused(Event, frozen=True, kw_only=True, tag="paused"):
    """No probe starts until `went_on`; the budget waits."""


class WentOn(Event, frozen=True, kw_only=True, tag="went_on"):
    """The pause is over."""


class BudgetExtended(Event, frozen=True, kw_only=True, tag="budget_extended"):
    """The user gave more time: `by_s` more, `left_s` in all."""

    by_s: float
    left_s: float


class RttSeen(Event, frozen=True, kw_only=True, tag="rtt_seen"):
    """One more look at the idle path's round trip, while a path is watched."""

    rtt_s: float


class FilesPlanned(Event, frozen=True, kw_only=True, tag="files_planned"):
    """What a session that profiles a tool will do to the files of both ends, before it does it.

    `folder`: where at the destination the transferred parts go. `most_bytes`: how much may be there
    at a time. `keep`: whether whole files that arrived stay, at their place in `destination_path`.
    The disks are measured with files of at most `source_io_bytes` and `destination_io_bytes`, 0
    where they are not measured. `notes` are sentences on both file systems.
    """

    tool: str
    source_path: str
    destination_path: str
    folder: str
    most_bytes: int
    keep: bool
    source: Filesystem
    destination: Filesystem
    source_io_bytes: int
    destination_io_bytes: int
    notes: list[str]


class PlanMade(Event, frozen=True, kw_only=True, tag="plan_made"):
    """How the dataset is to be moved. `final`: no sample will change it any more."""

    plan: TransferPlan
    final: bool


class FilesMoving(Event, frozen=True, kw_only=True, tag="files_moving"):
    """About once a second while files are moved: how far each class is.

    `phase`: sample while one class is moved for its sample; verify once all is there and both sides
    read it again, `moved_bytes` then being what was read; else transfer. `left_s`: how much longer
    it takes, with the lower and upper end of what is likely; None as long as nothing can be said.
    """

    phase: Literal["sample", "transfer", "verify"]
    classes: list[ClassProgress]
    left_s: tuple[float, float, float] | None = None


class TransferStarted(Event, frozen=True, kw_only=True, tag="transfer_started"):
    """A tuned transfer begins to move files, at this setting.

    `session`: by which the history knows its epochs. `epoch_s`: the length of a control epoch.
    `files`, `total_bytes`: all there is to move; `earlier_bytes`: what of it had arrived before.
    """

    session: str
    pair: Pair
    method: str
    setting: Setting
    epoch_s: float
    files: int
    total_bytes: int
    earlier_bytes: int = 0


class EpochEnded(Event, frozen=True, kw_only=True, tag="epoch_ended"):
    """A control epoch of a tuned transfer is over; they are counted from 1.

    `setting`: what it was to have. `throughput_bps`: what it gave once that was in effect, with its
    standard error; 0 where nothing arrived, of which `failure` then says why.
    """

    epoch: int
    setting: Setting
    throughput_bps: float
    stderr_bps: float = 0.0
    failure: str = ""


class LoadChanged(Event, frozen=True, kw_only=True, tag="load_changed"):
    """The external load of the lab that a transfer runs in is another from now on.

    `transfers`: ext.tfr, parallel TCP streams. `compute`: ext.cmp, processes that compute.
    """

    transfers: int
    compute: int


class SettingChanged(Event, frozen=True, kw_only=True, tag="setting_changed"):
    """A transfer that runs goes on with another setting, after the control epoch of that number.

    `throughput_bps`: what that epoch gave at the `old` setting, 0 where nothing arrived in it.
    `reason`: why the method goes to the `new` one, in its own words.
    """

    epoch: int
    old: Setting
    new: Setting
    throughput_bps: float
    reason: str


class TransferEnded(Event, frozen=True, kw_only=True, tag="transfer_ended"):
    """The last event of a transfer. `complete`: every file that can be moved is there.

    `files`, `moved_bytes`: what arrived and was checked, of which earlier runs moved
    `earlier_bytes`. `elapsed_s`: from this run's first client's start to its last one's end.
    `missing`: files that could not be moved, each with its sentence, the first hundred of
    `missing_files`. `advised`: what an earlier advice had promised, where there was one and the
    whole was moved at one go.
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


class SharesPlanned(Event, frozen=True, kw_only=True, tag="shares_planned"):
    """Which concurrencies give the destinations of one source what was asked for them."""

    plan: SharePlan


class SharesStarted(Event, frozen=True, kw_only=True, tag="shares_started"):
    """Several destinations of one source are served from now on, at these concurrencies.

    `purpose`: train for an experiment of `epochs` steps that is to teach the models, run for what
    was planned. `total_bytes`: all there is to move, by destination; empty for an experiment.
    `epoch_s`: the length of a step or control epoch.
    """

    session: str
    purpose: SharePurpose
    source: str
    concurrency: dict[str, int]
    parallelism: int
    epoch_s: float
    epochs: int | None = None
    total_bytes: dict[str, int] = {}


class SharesSeen(Event, frozen=True, kw_only=True, tag="shares_seen"):
    """An epoch in which several destinations were served is over; they are counted from 1."""

    epoch: int
    rows: list[ServedRow]


class SharesChanged(Event, frozen=True, kw_only=True, tag="shares_changed"):
    """The concurrencies are others from now on, after the epoch of that number."""

    epoch: int
    old: dict[str, int]
    new: dict[str, int]
    reason: str


class DestinationEnded(Event, frozen=True, kw_only=True, tag="destination_ended"):
    """One of several destinations is served no more: all is there, or `message` says why not.

    `files`, `moved_bytes`: what arrived and was checked, of which earlier runs moved
    `earlier_bytes`.
    """

    destination: str
    complete: bool
    message: str
    files: int = 0
    moved_bytes: int = 0
    earlier_bytes: int = 0
    elapsed_s: float = 0.0


class SharesEnded(Event, frozen=True, kw_only=True, tag="shares_ended"):
    """The last event where several destinations were served.

    `complete`: every file is at every destination; of an experiment, that it came to its end.
    """

    complete: bool
    message: str
    exit_code: int
    elapsed_s: float
    rows: list[ShareOutcome]


class Notice(Event, frozen=True, kw_only=True, tag="notice"):
    """Something the user should know and that stops nothing."""

    message: str


class AdviceGiven(Advice, frozen=True, kw_only=True, tag_field="event", tag="advice"):
    """The last event of a session that gave advice: the advice itself."""

    at_s: float


class GaveUp(Event, frozen=True, kw_only=True, tag="gave_up"):
    """The last event of a session without advice; `exit_code` is the command's."""

    message: str
    exit_code: int


AnyEvent: TypeAlias = (
    SessionStarted
    | PathFound
    | HistoryFound
    | StageStarted
    | ProbeStarted
    | IntervalSeen
    | Waiting
    | ProbeEnded
    | SearchStands
    | MethodMoved
    | EvidenceFound
    | BestChanged
    | StageEnded
    | Paused
    | WentOn
    | BudgetExtended
    | RttSeen
    | FilesPlanned
    | PlanMade
    | FilesMoving
    | TransferStarted
    | EpochEnded
    | LoadChanged
    | SettingChanged
    | TransferEnded
    | SharesPlanned
    | SharesStarted
    | SharesSeen
    | SharesChanged
    | DestinationEnded
    | SharesEnded
    | Notice
    | AdviceGiven
    | GaveUp
)
