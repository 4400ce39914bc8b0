"""What a worker computes for each decision: a planner of all that the database knows.

    python -m tests.benchmarks.fleet.deciding 100

prints the CPU time of three decisions in a mesh of the given number of hosts, each pair measured
once; then of reading what a decision needs from a database: all of it, and three times again after
that.
"""

import sys
import time

import psycopg

from advisor.fleet.configuration.reading import decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.state.changing import apply
from advisor.fleet.state.connecting import connected
from advisor.fleet.state.followed import FollowedPairs
from advisor.fleet.state.knowing import planner_of
from advisor.fleet.state.reading import Applied, FleetState, fleet_state
from advisor.fleet.state.rows import Configuration, PairState
from advisor.store.postgres.address import Address
from tests.postgres_server import OWNER, SharedDatabase, shared_database, temporary_server

_NOW_S = 1.8e9


def state_of(number: int) -> FleetState:
    """A mesh of this many hosts."""
    hosts = "".join(f'[hosts.h{host}]\nbandwidth = "10Gbit"\n' for host in range(number))
    mesh = '[measure.mesh]\nwhat = "advice"\nbetween = "mesh"\nevery = "180d"\nbudget = "30s"\n'
    pairs = [
        PairState(
            task="mesh",
            source=f"h{source}",
            destination=f"h{destination}",
            last_s=_NOW_S - 1000 - source * number - destination,
            rate_bps=9e9,
            rtt_s=0.01,
        )
        for source in range(number)
        for destination in range(number)
        if source != destination
    ]
    content = hosts + mesh
    began_s = _NOW_S - 1e7
    return FleetState(
        applied=Applied(
            Configuration(version=1, content=content, applied_by="me", applied_s=began_s),
            resolved(decoded(content.encode())),
            began_s,
        ),
        now_s=_NOW_S,
        pairs=pairs,
        running=[],
        recent=[],
        hosts={},
        pauses={},
    )


def fill(database: SharedDatabase, state: FleetState) -> None:
    """Put it into a database, one pair measured each second until now."""
    with psycopg.connect(database.address("olga"), autocommit=True) as connection:
        apply(connection, state.applied.configuration.content)
    columns = "task, source, destination, last_s, rate_bps, rtt_s"
    now_s = time.time()
    with (
        psycopg.connect(database.address(OWNER)) as connection,
        connection.cursor().copy(f"COPY advisor.fleet_pairs ({columns}) FROM STDIN") as copy,
    ):
        for age_s, one in enumerate(state.pairs):
            names = one.task, one.source, one.destination
            copy.write_row((*names, now_s - age_s, one.rate_bps, one.rtt_s))


def main(number: int) -> None:
    """Print the CPU time of three decisions, and of reading."""
    state = state_of(number)
    for _ in range(3):
        began_s = time.process_time()
        planner_of(state).next(state.now_s)
        print(f"{len(state.pairs)} pairs: {time.process_time() - began_s:.3f} s")
    with temporary_server() as server:
        database = shared_database(server)
        fill(database, state)
        followed = FollowedPairs()
        with connected(Address(database.address("rita"))) as connection:
            for what in ("all", *["again"] * 3):
                began_s = time.process_time()
                fleet_state(connection, followed)
                print(f"read {what}: {time.process_time() - began_s:.3f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]))
