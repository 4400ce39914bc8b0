"""Whether an interrupted profile is continued on the path that it began on."""

from typing import Any

import msgspec
import pytest

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.records import ProbeRecord, ProfileRecord
from advisor.profiling.session import _ProfileSession
from advisor.runtime.control import Control
from advisor.runtime.request import ProfileRequest
from advisor.store.history import Store
from advisor.store.profiles import StoredProfile
from advisor.testing.samples import a_path, measured

PAIR = Pair("here", "far")
RESERVED = a_path(bandwidth_bps=1e9)


def _interrupted(**changes: Any) -> StoredProfile:
    probe = ProbeRecord(
        pair=PAIR,
        subject="tcp",
        setting={"streams": 1, "buffer_bytes": 0},
        result=measured(3e9),
        recorded_s=1.0,
        rtt_s=RESERVED.rtt_s,
        bandwidth_bps=1e9,
        connection=Connection.of(RESERVED),
    )
    record = ProfileRecord(session="s", pair=PAIR, recorded_s=1.0, name="before")
    return StoredProfile(record=record, probes=[msgspec.structs.replace(probe, **changes)])


def _session(interrupted: StoredProfile, store: Store) -> _ProfileSession:
    request = ProfileRequest(destination=Endpoint("far"))
    return _ProfileSession(request, store, lambda _: None, Control(), interrupted)


@pytest.mark.asyncio
async def test_a_path_that_is_faster_than_its_reservation_is_still_the_same(
    tmp_path: Any,
) -> None:
    _session(_interrupted(), Store(tmp_path))._require_same(RESERVED)


@pytest.mark.asyncio
async def test_another_path_is_refused(tmp_path: Any) -> None:
    session = _session(_interrupted(rtt_s=0.5), Store(tmp_path))
    with pytest.raises(ValueError, match="begin another profile"):
        session._require_same(RESERVED)
