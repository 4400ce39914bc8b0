"""What a worker takes, with a real database."""

import contextlib
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import errors as pg

from advisor.fleet.plan.turns import Reason, Wait
from advisor.fleet.state import reading
from advisor.fleet.state.changing import apply, pause
from advisor.fleet.state.rows import Attempt
from advisor.fleet.state.standing import pairs_of
from advisor.fleet.work.claiming import Claim, Ending, claim, end
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address
from tests.fleet_at_work import described, transfer_over
from tests.postgres_server import SharedDatabase

Take = Callable[[], Claim | Wait]


class Desk:
    """A worker's view of a database."""

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self.address = Address(database.address("alice"))
        with self.as_user("alice") as connection:
            row = connection.execute("SELECT advisor.fleet_worker_starts('w')").fetchone()
            assert row
        self.worker = int(row[0])
        self._taken: list[Claim] = []

    @contextlib.contextmanager
    def as_user(self, user: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        with psycopg.connect(self.database.address(user), autocommit=True) as connection:
            yield connection  # type: ignore[misc] # rows are tuples of anything

    def describe(self, content: str) -> None:
        with self.as_user("olga") as connection:
            apply(connection, content)

    def take(self, *trusted: str) -> Claim | Wait:
        found = claim(self.address, self.worker, frozenset(trusted))
        if isinstance(found, Claim):
            self._taken.append(found)
        return found

    def taken(self) -> Claim:
        found = self.take()
        assert isinstance(found, Claim)
        return found

    def end(self, one: Claim, ending: Ending) -> bool:
        try:
            return end(self.address, one, ending)
        finally:
            one.close()

    def close(self) -> None:
        for one in self._taken:
            one.close()


@pytest.fixture
def desk(shared_database: SharedDatabase) -> Iterator[Desk]:
    one = Desk(shared_database)
    yield one
    one.close()


def done(moved_bytes: float = 1e6, rate_bps: float | None = 5e8) -> Ending:
    return Ending(outcome="done", moved_bytes=moved_bytes, rate_bps=rate_bps, rtt_s=0.01)


def test_hosts_that_are_measured_are_not_taken_again(desk: Desk) -> None:
    desk.describe(described("a", "b", "c", "d"))
    first, second = desk.taken(), desk.taken()
    assert not {*first.names[1:]} & {*second.names[1:]}
    assert isinstance(desk.take(), Wait)
    desk.end(first, done())
    assert isinstance(desk.take(), Claim)


def test_whoever_holds_a_host_by_its_lock_alone_is_respected(desk: Desk) -> None:
    desk.describe(described("a", "b"))
    first = desk.taken()
    # As if the attempt had never been written down.
    desk.database.execute("DELETE FROM advisor.fleet_attempts")
    assert isinstance(desk.take(), Wait)
    first.close()
    assert isinstance(desk.take(), Claim)


def test_what_has_ended_is_free_at_once(desk: Desk) -> None:
    desk.describe(described("a", "b"))
    for _ in range(2):
        desk.end(desk.taken(), done())
        desk.database.execute("UPDATE advisor.fleet_pairs SET last_s = last_s - 200000")


def test_what_ends_while_another_worker_looks_is_not_measured_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_way = 'between = "pairs"\nsources = ["a"]\ndestinations = ["b"]'
    desk.describe(described("a", "b").replace('between = "mesh"', one_way))
    first, running = desk.taken(), reading.running

    def ends_before(connection: psycopg.Connection[object]) -> list[Attempt]:
        desk.end(first, done())
        return running(connection)

    monkeypatch.setattr(reading, "running", ends_before)
    assert isinstance(desk.take(), Wait)


@pytest.mark.parametrize("ends", ["before", "after"])
def test_what_ends_while_it_is_looked_at_is_booked_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    desk.describe(described("a", "b"))
    first, running = desk.taken(), reading.running

    def ending(connection: psycopg.Connection[object]) -> list[Attempt]:
        found = running(connection) if ends == "after" else []
        desk.end(first, done())
        return found or running(connection)

    monkeypatch.setattr(reading, "running", ending)
    with desk.as_user("rita") as connection:
        state = reading.fleet_state(connection)
    assert len(state.running) + len(state.recent) == 1


def test_hosts_at_which_a_transfer_moves_files_are_left_alone(desk: Desk) -> None:
    # A node is named as the history has it: the host of the address, without the user.
    desk.describe(described("a", "b", "c", "d").replace("[hosts.b]", '[hosts.b]\nreach = "me@bb"'))
    with transfer_over(desk.database, ("a", "bb"), ("elsewhere", "nowhere")):
        one = desk.taken()
        assert {*one.names[1:]} == {"c", "d"}
        assert one.moves_at() is None
        assert isinstance(waiting := desk.take(), Wait)
        assert waiting.until_s < float("inf")
        with desk.as_user("rita") as connection:
            state = reading.fleet_state(connection)
        reasons = {(pair.source, pair.destination): pair.reason for pair in pairs_of(state)}
        assert reasons["c", "b"] == "a transfer moves files at b"
        assert reasons["a", "d"] == "a transfer moves files at a"
        assert reasons[one.names[1:]] == "it is being measured"
    assert {*desk.taken().names[1:]} == {"a", "b"}


def test_a_transfer_to_a_listening_agent_is_at_its_host(desk: Desk) -> None:
    desk.describe(described("a", "b").replace("[hosts.b]", '[hosts.b]\nagent = "10.0.0.7:5199"'))
    with transfer_over(desk.database, ("elsewhere", "10.0.0.7")):
        assert isinstance(desk.take(), Wait)
    assert isinstance(desk.take(), Claim)


def test_a_transfer_that_is_not_heard_of_keeps_nothing(desk: Desk) -> None:
    desk.describe(described("a", "b"))
    with transfer_over(desk.database, ("a", "b")):
        assert isinstance(desk.take(), Wait)
        desk.database.execute("UPDATE advisor.transfers SET seen_s = seen_s - 61")
        assert isinstance(desk.take(), Claim)


def test_a_transfer_has_a_place_of_what_its_hosts_share(desk: Desk) -> None:
    uplink = '[resources.up]\nhosts = ["a", "b"]\nat-once = 1\n'
    desk.describe(described("a", "b", "x", "y", task=uplink))
    with transfer_over(desk.database, ("a", "x")):
        # So that from b to y, whose hosts are free, nothing is sent.
        assert isinstance(desk.take(), Wait)
    assert isinstance(desk.take(), Claim)


def test_a_measurement_is_told_of_a_transfer_that_begins(desk: Desk) -> None:
    desk.describe(described("a", "b"))
    one = desk.taken()
    assert one.moves_at() is None
    with transfer_over(desk.database, ("b", "a")):
        assert one.moves_at() in one.names[1:]
    assert one.moves_at() is None


def test_a_shared_resource_has_so_many_places(desk: Desk) -> None:
    uplink = '[resources.up]\nhosts = ["a", "b", "c"]\nat-once = 2\n'
    desk.describe(described("a", "b", "c", "x", "y", "z", task=uplink))
    crossing = []
    while isinstance(found := desk.take(), Claim):
        crossing.append(len({*found.names[1:]} & {*"abc"}) == 1)
    assert sum(crossing) <= 2


def test_what_runs_is_booked_with_the_most_that_it_may_move(desk: Desk) -> None:
    # One measurement of 30 s fits into a day of each link, two do not.
    desk.describe(described("a", "b").replace("100%", "0.06%"))
    one = desk.taken()
    most = one.turn.most_bytes
    desk.end(one, done(moved_bytes=most))
    assert isinstance(desk.take(), Wait)


def test_what_was_not_moved_may_be_moved_by_the_next(desk: Desk) -> None:
    desk.describe(described("a", "b").replace("100%", "0.06%"))
    desk.end(desk.taken(), done(moved_bytes=1e6))
    assert isinstance(desk.take(), Claim)


@pytest.mark.parametrize("moved_bytes", [1e30, float("inf"), float("nan"), -1.0])
def test_nothing_counts_as_more_than_was_booked(desk: Desk, moved_bytes: float) -> None:
    desk.describe(described("a", "b"))
    one = desk.taken()
    assert desk.end(one, done(moved_bytes=moved_bytes))
    with desk.as_user("rita") as connection:
        row = connection.execute(
            "SELECT moved_bytes = most_bytes FROM advisor.fleet_attempts"
        ).fetchone()
    assert row == (True,)


def test_a_pause_of_a_host_leaves_its_pairs_alone(desk: Desk) -> None:
    desk.describe(described("a", "b", "c"))
    with desk.as_user("olga") as connection:
        pause(connection, "a", None)
    one = desk.taken()
    assert {*one.names[1:]} == {"b", "c"}
    with desk.as_user("olga") as connection:
        pause(connection, "", None)
    desk.end(one, done())
    assert isinstance(desk.take(), Wait)


def test_a_failure_is_tried_again_later(desk: Desk) -> None:
    desk.describe(described("a", "b"))
    for _ in range(2):
        desk.end(desk.taken(), Ending(outcome="failed", moved_bytes=0.0, message="broken"))
    found = desk.take()
    assert isinstance(found, Wait)
    with desk.as_user("rita") as connection:
        now = connection.execute("SELECT advisor.fleet_now()").fetchone()
    assert now
    assert 800 < found.until_s - float(str(now[0])) <= 900


def test_a_result_far_from_those_before_is_looked_at_again(desk: Desk) -> None:
    one_way = 'between = "pairs"\nsources = ["a"]\ndestinations = ["b"]'
    desk.describe(described("a", "b").replace('between = "mesh"', one_way))
    for rate_bps in (5e8, 5.1e8, 5e8, 4.9e8, 5e8, 1e8):
        desk.end(desk.taken(), done(rate_bps=rate_bps))
        # It is due again at once.
        desk.database.execute("UPDATE advisor.fleet_pairs SET last_s = last_s - 200000")
    with desk.as_user("rita") as connection:
        rows = connection.execute("SELECT news, checks FROM advisor.fleet_pairs").fetchall()
    assert rows == [("suspected", 0)]
    assert desk.taken().turn.reason is Reason.SUSPECTED


def test_only_its_own_account_ends_an_attempt_and_only_once(desk: Desk) -> None:
    desk.describe(described("a", "b"))
    one = desk.taken()
    assert not end(Address(desk.database.address("bob")), one, done())
    assert end(desk.address, one, done())
    assert not end(desk.address, one, done())


def test_the_database_refuses_a_second_measurement_at_a_host(desk: Desk) -> None:
    desk.describe(described("a", "b", "c"))
    source, destination = desk.taken().names[1:]
    with desk.as_user("alice") as connection:
        for pair in ((source, "x"), ("x", source), (destination, "x"), ("x", "x")):
            with pytest.raises(pg.ObjectInUse):
                connection.execute(
                    "SELECT advisor.fleet_begin(%s, 'mesh', %s, %s, 'age', 1)",
                    (desk.worker, *pair),
                )


def test_nobody_begins_as_the_worker_of_another_account(desk: Desk) -> None:
    with desk.as_user("bob") as connection, pytest.raises(pg.InsufficientPrivilege):
        connection.execute(
            "SELECT advisor.fleet_begin(%s, 'mesh', 'a', 'b', 'age', 1)", (desk.worker,)
        )


def test_nobody_takes_back_what_runs(desk: Desk) -> None:
    desk.describe(described("a", "b"))
    one = desk.taken()
    desk.database.execute("UPDATE advisor.fleet_attempts SET seen_s = seen_s - 60")
    with desk.as_user("bob") as connection:
        # Its connection lives, whatever it has to do just now.
        row = connection.execute("SELECT advisor.fleet_take_back(0)").fetchone()
    assert row == (0,)
    assert one.runs()


@pytest.mark.parametrize(
    "programs",
    [
        ("[hosts.a]", '[hosts.a]\nagent-command = "sh -c id"'),
        ('what = "advice"', 'what = "disk-to-disk"\ntool = "xdd"\ndata = "/etc"\nto = "/tmp"'),
    ],
)
def test_programs_of_another_account_need_trust(desk: Desk, programs: tuple[str, str]) -> None:
    desk.describe(described("a", "b").replace(*programs))
    with pytest.raises(StoreError, match="--trust olga"):
        desk.take()
    with pytest.raises(StoreError, match="--trust olga"):
        desk.take("bob")
    assert isinstance(desk.take("olga"), Claim)
