"""What a search learns from other pairs."""

from advisor.advising.prior_knowledge import surfaces_of
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.testing.samples import failed, measured


def probe(pair: Pair, session: str, streams: int, gbps: float) -> ProbeRecord:
    setting: Setting = {"streams": streams, "buffer_bytes": 2**20}
    result = measured(gbps * 1e9) if gbps else failed()
    return ProbeRecord(
        pair=pair, subject="tcp", setting=setting, result=result, recorded_s=0, session=session
    )


def test_each_session_of_each_pair_is_a_surface_of_means() -> None:
    here, there = Pair("a", "b"), Pair("a", "c")
    surfaces = surfaces_of(
        [
            probe(here, "1", 1, 1.0),
            probe(here, "1", 1, 3.0),
            probe(here, "1", 2, 4.0),
            probe(there, "1", 1, 5.0),
            probe(there, "1", 8, 6.0),
        ]
    )
    assert [s.rates_bps for s in surfaces] == [[2e9, 4e9], [5e9, 6e9]]
    assert [s.repeats for s in surfaces] == [[2, 1], [1, 1]]
    assert [s["streams"] for s in surfaces[1].settings] == [1, 8]
    assert not any(s.same_pair for s in surfaces)


def test_failures_and_single_settings_show_no_shape() -> None:
    pair = Pair("a", "b")
    assert surfaces_of([probe(pair, "1", 1, 1.0), probe(pair, "1", 2, 0.0)]) == ()
