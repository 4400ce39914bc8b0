"""What earlier advice says about a transfer: where to start, and the predicted rate."""

import math
from typing import Final

from advisor.domain.advice import Fulfilment, PriorAdvice
from advisor.domain.endpoints import Pair
from advisor.domain.space import Setting, stored_count
from advisor.domain.transfers import Levels
from advisor.store.history import Store
from advisor.store.ranking import STALE_S
from advisor.traits import moving_tool, reference_transport, subject_name, transports
from advisor.transfer.engine.outcome import TransferOutcome

_STREAMS: Final = "streams"
_LEVELS: Final = ("concurrency", "parallelism")


def prior_advice(store: Store, pair: Pair, now_s: float, tool: str = "") -> PriorAdvice | None:
    """The newest advice for this pair on its network or on moving files.

    None if there is none, or only one that is too old. `now_s`: Unix time. `tool`: what moves
    them, "" for the usual one, here and below. Raises StoreError.
    """
    subjects = {tool or moving_tool(), *transports()}
    found = (
        PriorAdvice(
            session=one.session,
            subject=one.advice.subject,
            setting=one.advice.setting,
            advised_s=one.advice.recorded_s,
            expected_bps=one.advice.expected_bps,
            interval_bps=one.advice.interval_bps,
        )
        for one in store.sessions(pair)
        if one.advice and not one.outlier and one.advice.subject in subjects
    )
    newest = max(found, key=lambda one: one.advised_s, default=None)
    return newest if newest and now_s - newest.advised_s <= STALE_S else None


def why_not_followed(advice: PriorAdvice | None, tool: str = "") -> str:
    """Why a transfer with this tool cannot do what was advised, as a sentence; "" if it can."""
    tool = tool or moving_tool()
    if advice is None or advice.subject in (tool, reference_transport()):
        return ""
    used = subject_name(reference_transport())
    return (
        f"{subject_name(advice.subject)} was advised, but {tool} moves files over {used} here: the "
        "advised setting is not used, and the throughput is not compared with the advice."
    )


def advised_levels(
    subject: str, setting: Setting, most_streams: int, tool: str = ""
) -> Levels | None:
    """Concurrency and parallelism of an advised setting; None if it does not say them.

    Streams from memory to memory become those of one file, or of a few files if one may have only
    `most_streams`.
    """
    if subject == (tool or moving_tool()):
        concurrency, parallelism = (stored_count(setting, name) for name in _LEVELS)
        if concurrency and parallelism:
            return Levels(concurrency=concurrency, parallelism=parallelism)
    elif subject == reference_transport() and (streams := stored_count(setting, _STREAMS)):
        files = math.ceil(streams / most_streams)
        return Levels(concurrency=files, parallelism=math.ceil(streams / files))
    return None


def fulfilment_of(advice: PriorAdvice | None, outcome: TransferOutcome) -> Fulfilment | None:
    """How the advice held; None without advice, or if only part of the data was moved."""
    if advice is None or not outcome.complete or outcome.earlier_bytes:
        return None
    return Fulfilment(
        session=advice.session,
        subject=advice.subject,
        advised_s=advice.advised_s,
        interval_bps=advice.interval_bps,
        rate_bps=outcome.moved_bytes * 8 / outcome.elapsed_s,
    )
