"""No interval of a session reaches beyond what its path carries, known or not."""

import pytest

from advisor.domain.advice import NINE_OF_TEN
from advisor.models.comparison import MEMORY_TO_MEMORY
from tests.unit.advising.played import PlayedPath, PlayedRunner
from tests.unit.advising.simulated import MIB, simulate

# The speed of the link is not known on any of them: interfaces tell nothing, or far more.
PATHS = (
    PlayedPath(name="bbr", rtt_s=0.0936, loss=3e-4, control="bbr", auto_bytes=4 * MIB),
    PlayedPath(name="small windows", rtt_s=0.0456, auto_bytes=4 * MIB, mtu_bytes=9000),
    PlayedPath(name="lossy", rtt_s=0.02, loss=3e-4, mtu_bytes=9000),
    PlayedPath(name="lossy reno", rate_bps=5e8, rtt_s=0.0936, loss=1e-4, control="reno"),
    PlayedPath(name="shallow", rate_bps=2e8, rtt_s=0.06, queue=0.1),
    PlayedPath(name="varying", rate_bps=5e8, rtt_s=0.02, spread=0.03, auto_bytes=MIB),
)
_LIMITED = {"bbr", "small windows", "shallow"}


@pytest.mark.asyncio
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
async def test_no_interval_reaches_beyond_the_link(path: PlayedPath) -> None:
    """By no more than probes usually differ; where the path was seen to limit, as repeats did."""
    for seed in range(2):
        ranking = (await simulate(path, seed, runner_of=PlayedRunner)).ranking
        ends = [ranking.expected, *(ranking.mean(n) for n in range(len(ranking.candidates)))]
        furthest = max(estimate.interval[1] for estimate in ends) / path.data_bps
        assert furthest <= 1 + NINE_OF_TEN * MEMORY_TO_MEMORY.value + 1e-9
        if path.name in _LIMITED:
            assert furthest <= 1.03
