"""`advisor transfer` that is killed at random moments; `make soak` has the long version."""

from pathlib import Path
from random import Random

import pytest

from tests.soak.datasets import make
from tests.soak.gridftp import KillableServer
from tests.soak.repeatedly_killed import KilledTransfer

KILLS = 5
FIXED = ["transfer", "--method", "fixed", "--start", "3x2", "--epoch", "1s"]


class Seen(Exception):
    """What a test waits for."""


def test_killed_at_random_moments_it_goes_on_and_sends_nothing_twice(
    killable: KillableServer, tmp_path: Path
) -> None:
    rng = Random(11)
    source = make(tmp_path / "from here", "odd names", rng)
    outcome = KilledTransfer(tmp_path / "home", source, killable, FIXED).go(rng, KILLS)
    assert not outcome.troubles
    assert outcome.kills.total() == KILLS
    assert outcome.received_bytes > 0


def test_it_is_seen_where_an_earlier_run_does_not_count(
    killable: KillableServer, tmp_path: Path
) -> None:
    """Or the test above could not fail."""
    rng = Random(11)
    source = make(tmp_path / "from here", "odd names", rng)
    restarted = KilledTransfer(tmp_path / "home", source, killable, [*FIXED, "--restart"])

    def look() -> None:
        if any("was noted before" in one for one in restarted.outcome.troubles):
            raise Seen

    with pytest.raises(Seen):
        restarted.go(rng, 2 * KILLS, look)
