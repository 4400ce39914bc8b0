"""The record of a control epoch, from which later transfers learn."""

import time

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.runtime.probe_fields import file_fields, path_fields
from advisor.runtime.request import TransferRequest
from advisor.transfer.tuned.suggested_start import EPOCH_STAGE


def epoch_record(
    request: TransferRequest,
    tool: str,
    setting: Setting,
    outcome: Outcome,
    *,
    session: str,
    pair: Pair,
    path: PathFacts,
) -> ProbeRecord:
    """What an epoch of a transfer with this setting gave over `path`, as of now."""
    return ProbeRecord(
        pair=pair,
        subject=tool,
        setting={"concurrency": 1, "parallelism": 1} | setting,
        result=outcome,
        recorded_s=time.time(),
        session=session,
        stage=EPOCH_STAGE,
        label="epoch",
        method=request.method,
        seed=request.seed,
        **path_fields(path),
        **file_fields(request.dataset.total_bytes, request.dataset.files or 1),
    )
