"""What earlier advice says about a transfer: where to start, and the predicted rate."""

from advisor.domain.advice import Fulfilment
from advisor.domain.endpoints import Pair
from advisor.domain.space import Setting
from advisor.domain.transfers import Levels
from advisor.store.history import Store
from advisor.store.session_digests import SessionDigest
from advisor.traits import moving_tool
from advisor.transfer.engine.outcome import TransferOutcome


def advised_session(store: Store, pair: Pair) -> SessionDigest | None:
    """The newest session of this pair with advice on moving files; None if there is none.

    Raises StoreError.
    """
    tool = moving_tool()
    sessions = [
        one
        for one in store.sessions(pair)
        if one.advice and not one.outlier and one.advice.subject == tool
    ]
    return max(sessions, key=lambda one: one.began_s, default=None)


def advised_levels(session: SessionDigest | None) -> Levels | None:
    """The advised concurrency and parallelism; None without a session, or without both in its
    advice."""
    setting: Setting = session.advice.setting if session and session.advice else {}
    names = ("concurrency", "parallelism")
    if not all(name in setting for name in names):
        return None
    return Levels(**{name: int(setting[name]) for name in names})


def fulfilment_of(session: SessionDigest | None, outcome: TransferOutcome) -> Fulfilment | None:
    """How the advice held; None without advice, or if only part of the data was moved."""
    if session is None or session.advice is None or not outcome.complete or outcome.earlier_bytes:
        return None
    return Fulfilment(
        session=session.session,
        advised_s=session.advice.recorded_s,
        interval_bps=session.advice.interval_bps,
        rate_bps=outcome.moved_bytes * 8 / outcome.elapsed_s,
    )
