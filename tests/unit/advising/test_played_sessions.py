"""Sessions over paths that short probes misrepresent, played round by round."""

import pytest

from tests.unit.advising.played import PlayedPath, PlayedRunner
from tests.unit.advising.simulated import MIB, simulate

# One in 37,000 segments: two streams show 560 Mbit/s for seconds, and reach 205 in an hour.
RARE = PlayedPath(
    name="rare losses", rate_bps=5.79e8, rtt_s=0.037, loss=2.7e-5, queue=0.27, auto_bytes=16 * MIB
)
CLEAN = PlayedPath(name="clean", rate_bps=7.9e8, rtt_s=0.05, queue=0.5, auto_bytes=16 * MIB)
SEEDS = 8


@pytest.mark.asyncio
async def test_few_streams_are_not_advised_where_rare_losses_hold_them_down() -> None:
    """Of one session in a hundred no probe meets a loss; each probe alone misled half of them."""
    right = 0
    for seed in range(SEEDS):
        session = await simulate(RARE, seed, runner_of=PlayedRunner)
        true_bps = RARE.true_bps(session.subject, session.setting)
        low, high = session.ranking.expected.interval
        right += true_bps > 0.95 * RARE.best_bps() and low <= true_bps <= high
    assert right >= SEEDS - 1


@pytest.mark.asyncio
async def test_a_clean_path_does_not_get_streams_against_losses_that_it_lacks() -> None:
    streams = []
    for seed in range(SEEDS):
        session = await simulate(CLEAN, seed, runner_of=PlayedRunner)
        assert CLEAN.true_bps(session.subject, session.setting) > 0.95 * CLEAN.best_bps()
        streams.append(int(session.setting["streams"]))
    assert max(streams) <= 2
    assert streams.count(1) > SEEDS / 2


LIMITED = PlayedPath(
    name="limited by its windows",
    rate_bps=5.8e8,
    rtt_s=0.0993,
    loss=2.7e-4,
    queue=0.58,
    auto_bytes=4 * MIB,
    udt_share=0.41,
)


@pytest.mark.asyncio
async def test_udt_does_not_win_while_more_streams_of_tcp_are_still_faster() -> None:
    """UDT is as fast as 16 streams, and 25 are half as fast again."""
    for seed in range(SEEDS):
        session = await simulate(LIMITED, seed, runner_of=PlayedRunner)
        assert session.subject == "tcp", seed
        assert session.setting["streams"] == 25
