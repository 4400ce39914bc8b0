"""Records the probes of one session: in the store, and in order for the stages."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from advisor.advising.prober import Probed
from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, setting_key
from advisor.methods.api import Method
from advisor.runtime.probe_fields import file_fields, path_fields
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store


class ProbePurpose(msgspec.Struct, frozen=True, kw_only=True):
    """Why a setting is measured, and in which stage. `label`: as the method or user names it."""

    stage: str
    kind: ev.Purpose
    label: str = ""


class PendingProbe(msgspec.Struct, frozen=True):
    """A finished probe that is not recorded yet. `ordinal` counts from 1."""

    ordinal: int
    subject: str
    setting: Setting
    purpose: ProbePurpose
    probed: Probed


class ProbeRecorder:
    """The probes of one session. `probes`: all that were recorded, also before it was resumed."""

    def __init__(
        self,
        store: Store,
        session: str,
        pair: Pair,
        request: AdviceRequest,
        path: PathFacts,
        earlier: Sequence[ProbeRecord] = (),
        ordinals: Iterator[int] | None = None,
    ) -> None:
        """`earlier`: the probes of the session before it was interrupted. `ordinals`: where
        recorders of several connections share one count of the session's probes."""
        self._store = store
        self._session = session
        self._pair = pair
        self._request = request
        self._path = path
        self._ordinals = ordinals or itertools.count(len(earlier) + 1)
        self._tries: Counter[int] = Counter()
        self.probes = list(earlier)

    def next_ordinal(self) -> int:
        """The number of the probe that begins now."""
        return next(self._ordinals)

    async def record(
        self,
        pending: PendingProbe,
        rtt_s: float,
        *,
        method: Method | None = None,
        retried: bool = False,
    ) -> None:
        """Store a probe and what foreign code printed in it. Raises StoreError.

        `rtt_s`: the smoothed round-trip time. `method`: the search that has had the outcome.
        `retried`: whether the probe failed and is repeated; it may be so twice.
        """
        record = self._record_of(pending, rtt_s, method)
        self.probes.append(record)
        name = f"{pending.ordinal:04d}"
        if retried:
            self._tries[pending.ordinal] += 1
            name += f"-try-{self._tries[pending.ordinal]}"
        await asyncio.to_thread(self._save, record, name, pending.probed.raw_output)

    def _record_of(self, pending: PendingProbe, rtt_s: float, method: Method | None) -> ProbeRecord:
        return ProbeRecord(
            pair=self._pair,
            subject=pending.subject,
            setting=pending.setting,
            result=pending.probed.outcome,
            recorded_s=time.time(),
            session=self._session,
            stage=pending.purpose.stage,
            purpose=pending.purpose.kind,
            label=pending.purpose.label,
            method=self._request.method,
            seed=self._request.seed,
            method_state=method.state() if method else None,
            recommended=_recommended(method) if method else None,
            **path_fields(self._path, rtt_s),
            **self._file_fields(pending.subject),
        )

    def _file_fields(self, subject: str) -> dict[str, Any]:
        dataset = self._request.dataset
        if subject != self._request.tool or dataset is None or not dataset.files:
            return {}
        return file_fields(dataset.total_bytes, dataset.files)

    def _save(self, record: ProbeRecord, name: str, raw: bytes) -> None:
        self._store.append(record)
        if raw:
            self._store.keep_raw(self._pair, self._session, name, raw)

    def has_measured(self, subject: str, setting: Setting) -> bool:
        """Whether this session has a throughput of this setting."""
        key = setting_key(setting)
        return any(
            probe.subject == subject
            and setting_key(probe.setting) == key
            and isinstance(probe.result, Measurement)
            for probe in self.probes
        )


def _recommended(method: Method) -> tuple[Setting, float] | None:
    """What the search recommends, unless that is just its best measurement."""
    recommended = method.recommended()
    return recommended if recommended != method.best() else None
