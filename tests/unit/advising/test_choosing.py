"""What limits the estimates of a ranking."""

import pytest

from advisor.advising.choosing import ranking_of
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.file_io import NETWORK
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_host, a_path, measured

TOOL = "globus-url-copy"
REQUEST = AdviceRequest(
    destination=Endpoint("far"), tool=TOOL, dataset=Dataset(total_bytes=10**10, path="/x")
)
PATH = a_path(bandwidth_bps=None, source=a_host(link_bps=None), destination=a_host(link_bps=None))


def _probe(subject: str, setting: Setting, bps: float, stage: str = "") -> ProbeRecord:
    return ProbeRecord(
        pair=Pair("a", "b"),
        subject=subject,
        setting=setting,
        result=measured(bps),
        recorded_s=1,
        stage=stage,
    )


SLICES = [_probe(TOOL, {"concurrency": 4}, bps) for bps in (4.6e8, 4.7e8)]


def test_no_prediction_of_a_dataset_is_beyond_what_the_network_and_slices_have_shown() -> None:
    alone = [_probe("tcp", {"streams": n}, bps, NETWORK) for n, bps in ((1, 4e8), (8, 5e8))]
    ranking = ranking_of(REQUEST, PATH, [*alone, *SLICES], [], {})
    assert ranking
    assert ranking.ceiling
    assert ranking.ceiling.bps == pytest.approx(5e8 * 1.05, rel=0.01)
    faster = _probe(TOOL, {"concurrency": 8}, 6e8)
    ranking = ranking_of(REQUEST, PATH, [*alone, *SLICES, faster], [], {})
    assert ranking
    assert ranking.ceiling
    assert ranking.ceiling.bps == pytest.approx(6e8 * 1.05, rel=0.01)


def test_slices_alone_are_no_ceiling() -> None:
    ranking = ranking_of(REQUEST, PATH, SLICES, [], {})
    assert ranking
    assert ranking.ceiling is None
