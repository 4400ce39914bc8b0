"""`advisor fleet transfers`, with a real database."""

import asyncio
import json

from advisor.cli.fleet.command import fleet
from advisor.domain.endpoints import Pair
from advisor.domain.plan import NodeProgress
from advisor.fleet.nodes.queue import LotQueue
from advisor.store.postgres.address import Address
from tests.commands import invoke
from tests.postgres_server import SharedDatabase

MIB = 2**20


def begun(database: SharedDatabase, *, ends: bool = False) -> None:
    async def run() -> None:
        queue = LotQueue(Address(database.address("alice")))
        try:
            await queue.begin("a" * 64, Pair("here", "there"), [MIB, 3 * MIB])
            drawn = await queue.draw(1, 1, [])
            await queue.done(drawn)
            moving = NodeProgress(
                number=1,
                pair=Pair("s1", "d1"),
                state="moving",
                moved_bytes=MIB,
                rate_bps=8e6,
                clients=2,
                parallelism=4,
            )
            lost = NodeProgress(number=2, pair=Pair("s2", "d2"), state="lost", message="lost")
            await queue.show([moving, lost])
            if ends:
                await queue.end("complete")
        finally:
            await queue.close()

    asyncio.run(run())


def output_of(database: SharedDatabase, *words: str) -> str:
    done = invoke(fleet, ["transfers", "--store", database.address("rita"), *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_what_runs_and_how_its_nodes_do(shared_database: SharedDatabase) -> None:
    begun(shared_database)
    first, *table = output_of(shared_database).splitlines()
    assert first.startswith("here->there, of alice, runs: 1 MiB of 4 MiB in ")
    assert table[1].split() == ["1", "s1", "d1", "moving", "8", "Mbit/s", "1", "MiB", "2", "×", "4"]
    assert table[2].split() == ["2", "s2", "d2", "lost", "0", "B", "lost"]
    [one] = json.loads(output_of(shared_database, "--json"))
    assert [node["state"] for node in one["nodes"]] == ["moving", "lost"]
    assert (one["total_bytes"], one["left_bytes"]) == (4 * MIB, 3 * MIB)


def test_one_that_was_not_heard_of_for_long_is_interrupted(
    shared_database: SharedDatabase,
) -> None:
    begun(shared_database)
    shared_database.execute("UPDATE advisor.transfers SET seen_s = seen_s - 100")
    assert ", interrupted: " in output_of(shared_database)


def test_what_has_ended_is_shown_on_request(shared_database: SharedDatabase) -> None:
    begun(shared_database, ends=True)
    assert output_of(shared_database) == "No transfer over several nodes runs.\n"
    assert "of alice, complete: " in output_of(shared_database, "--ended")


def test_a_hostile_row_is_left_out_or_shown_harmlessly(shared_database: SharedDatabase) -> None:
    begun(shared_database)
    shared_database.execute(
        "UPDATE advisor.transfer_nodes SET source = E'\\x1b[31mred' WHERE number = 1",
        "UPDATE advisor.transfer_nodes SET rate_bps = 'NaN' WHERE number = 2",
    )
    text = output_of(shared_database)
    assert "\x1b" not in text
    shared_database.execute("UPDATE advisor.transfer_nodes SET rate_bps = 0")
    assert "\\x1b[31mred" in output_of(shared_database)
