"""`advisor transfer --via`: several nodes on this host, real servers, clients and a real database.

Nodes on other hosts are started by a program named ssh that runs the line here, in the mounts of
that host.
"""

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TypeAlias

import jsonschema
import psutil
import psycopg
import pytest

from advisor.fleet.state.changing import apply
from advisor.fleet.state.connecting import connect
from advisor.fleet.state.transfers import transfers_of
from advisor.report.ndjson import schema
from advisor.store.postgres.address import Address
from tests.benchmarks.disk.files import difference
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase, shared_database, temporary_server
from tests.soak.ranges import Range
from tests.soak.runs import Journal

from .moved import damage, make_files
from .program import Run, Start, wait_until
from .tool_servers import SendingServer, Server, SftpServer

pytestmark = pytest.mark.timeout(300)

GROUPS = {"tiny": (40, 20_000), "small": (10, 1_500_000), "large": (3, 10_000_000)}
FILES = sum(count for count, _ in GROUPS.values())
PATH = ["--bandwidth", "1Gbit", "--rtt", "20ms", "--max-concurrency", "2", "--max-streams", "2"]
SLOW = ["--max-rate", "40Mbit"]
SLOWER = ["--max-rate", "16Mbit"]
"""So slow that it has not ended when a test interferes, on a busy machine either."""

SSH = """#!/bin/sh
# ssh -G HOST, or ssh OPTIONS -- HOST LINE
if [ "$1" = -G ]; then echo "hostname 127.0.0.1"; echo "port 22"; exit 0; fi
while [ "$1" != -- ]; do shift; done
if [ -f "{folder}/of.$2" ]; then
    exec unshare --mount sh -c '. "$0" && exec sh -c "$1"' "{folder}/of.$2" "$3"
fi
exec sh -c "$3"
"""


class Hosts:
    """Hosts that are this one, with mounts of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        ssh = folder / "ssh"
        ssh.write_text(SSH.format(folder=folder))
        ssh.chmod(0o755)
        self.environment = {"PATH": f"{folder}:{os.environ['PATH']}:/usr/sbin:/sbin"}
        self.options = ["--node-command", f"{sys.executable} -P -m advisor node"]
        self.options += ["--agent-command", f"{sys.executable} -P -m advisor agent --stdio"]

    def describe(self, host: str, *commands: str) -> None:
        """What is run on that host before anything else."""
        (self.folder / f"of.{host}").write_text("\n".join(["set -e", *commands]) + "\n")


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    return Hosts(tmp_path / "hosts")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What no test changes."""
    return make_files(tmp_path_factory.mktemp("source") / "run 42", GROUPS)


AnyServer: TypeAlias = Server | SftpServer | SendingServer


class Transfers:
    """Transfers over nodes to `there`, below the server's folder."""

    def __init__(self, start: Start, server: AnyServer, database: SharedDatabase) -> None:
        self.start = start
        self.server = server
        self.database = database
        self.there = server.folder / "there"

    def begin(
        self,
        source: Path,
        via: str,
        *options: str,
        destination: str = "localhost",
        environment: dict[str, str] | None = None,
    ) -> Run:
        return self.start(
            *("transfer", str(source), destination, "--to", str(self.there), "--json", *PATH),
            *("--tool", self.server.tool, "--server", self.server.url),
            *("--store", self.database.address("alice")),
            *("--via", via, *options),
            environment=environment,
        )

    def rows(self, question: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database.address("rita")) as connection:
            return connection.execute(question).fetchall()


@pytest.fixture
def transfers(start: Start, server: Server, shared_database: SharedDatabase) -> Transfers:
    return Transfers(start, server, shared_database)


def ended(run: Run, code: int = 0) -> dict[str, object]:
    """Its last event, once it has ended with this code."""
    done = run.finish(240)
    assert "Traceback" not in done.stderr, done.stderr
    end: dict[str, object] = run.events[-1]
    assert done.returncode == code, f"{end.get('message')} {notices(run)} {done.stderr}"
    return end


def notices(run: Run) -> list[str]:
    return [str(one["message"]) for one in run.events if one["event"] == "notice"]


def nodes_of(run: Run) -> list[psutil.Process]:
    """The node processes that it has started."""
    found = []
    for one in psutil.Process(run.process.pid).children(recursive=True):
        # One that is just ending has no command line.
        with contextlib.suppress(psutil.Error):
            if one.cmdline()[-2:] == ["advisor", "node"]:
                found.append(one)
    return found


def moved(run: Run) -> dict[int, int]:
    """What each node had moved at the last look."""
    newest = [one for one in run.events if one["event"] == "nodes_moving"][-1]
    return {node["number"]: node["moved_bytes"] for node in newest["nodes"]}


def until_moved(run: Run, least_bytes: int) -> None:
    """Until every node has moved more than this much."""
    while True:
        nodes = run.wait_for("nodes_moving")["nodes"]
        if all(one["moved_bytes"] > least_bytes for one in nodes):
            return


def test_two_nodes_move_one_dataset_and_there_is_one_receipt(
    transfers: Transfers, source: Path
) -> None:
    run = transfers.begin(source, "localhost,localhost", *SLOW)
    end = ended(run)
    validator = jsonschema.Draft202012Validator(schema())
    for event in run.events:
        validator.validate(event)
    assert not difference(source, transfers.there)
    assert all(moved(run).values()), moved(run)
    receipt = Path(str(end["receipt"]))
    assert len(json.loads(receipt.read_bytes())["files"]) == FILES
    done = transfers.start("verify", str(receipt), environment=None).finish()
    assert done.returncode == 0, done.stdout + done.stderr
    assert transfers.rows("SELECT count(*) FROM advisor.transfer_lots") == [(0,)]
    [(ended_s, states)] = transfers.rows(
        "SELECT min(t.ended_s), array_agg(n.state) FROM advisor.transfers t"
        " JOIN advisor.transfer_nodes n ON n.transfer_id = t.id"
    )
    assert ended_s is not None
    assert len(list(states)) == 2  # type: ignore[call-overload] # a list of texts


def test_what_differs_at_the_destination_is_moved_again(
    transfers: Transfers, source: Path, tmp_path: Path
) -> None:
    """A file is damaged, keeping its size, between its arrival and its comparison."""
    run = transfers.begin(source, "localhost,localhost", "--verify", *SLOW)
    damaged = "tiny/0.dat"
    journal = Journal(tmp_path / ".local/state/advisor/transfers")
    whole = Range(damaged, 0, GROUPS["tiny"][1])
    assert wait_until(lambda: journal.ranges().has(whole), 60)
    damage(transfers.there / damaged)
    end = ended(run)
    said = notices(run)
    assert f"1 of {FILES} files differ at the destination" in " ".join(said), said
    assert "The one file compared by checksum: identical." in said
    # The nodes of the first attempt are known to have ended.
    assert "until nodes of an earlier run have ended" not in " ".join(said)
    assert end["receipt"]
    assert not difference(source, transfers.there)


@pytest.mark.parametrize(
    "any_server",
    ["globus-url-copy", pytest.param("rclone", marks=pytest.mark.soak)],
    indirect=True,
)
def test_what_a_killed_node_had_is_moved_by_others(
    start: Start, any_server: AnyServer, shared_database: SharedDatabase, source: Path
) -> None:
    """Also with a tool that moves whole files."""
    transfers = Transfers(start, any_server, shared_database)
    run = transfers.begin(source, "localhost,localhost", *SLOWER)
    until_moved(run, 2_000_000)
    nodes_of(run)[0].send_signal(signal.SIGKILL)
    end = ended(run)
    assert end["complete"]
    assert any("ended with status -9" in one for one in notices(run)), notices(run)
    assert not difference(source, transfers.there)
    assert end["receipt"]


def test_the_coordinator_is_killed_and_its_nodes_end_and_it_resumes(
    transfers: Transfers, source: Path
) -> None:
    run = transfers.begin(source, "localhost,localhost", *SLOWER)
    until_moved(run, 4_000_000)
    nodes = nodes_of(run)
    run.process.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not any(one.is_running() for one in nodes))
    again = transfers.begin(source, "localhost,localhost")
    ended(again)
    said = " ".join(notices(again))
    assert "resumes: " in said
    assert "until nodes of an earlier run have ended" in said
    assert not difference(source, transfers.there)


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_run_after_one_that_was_stopped_waits_for_a_node_that_was_lost_alone(
    transfers: Transfers, source: Path, is_lost: bool
) -> None:
    run = transfers.begin(source, "localhost,localhost", *SLOWER)
    until_moved(run, 1_000_000)
    if is_lost:
        nodes_of(run)[0].send_signal(signal.SIGKILL)
        while "Next try in" not in run.wait_for("notice")["message"]:
            pass
    run.process.send_signal(signal.SIGINT)
    ended(run, 130)
    again = transfers.begin(source, "localhost,localhost")
    ended(again)
    said = " ".join(notices(again))
    assert "resumes: " in said
    assert ("until nodes of an earlier run have ended" in said) == is_lost
    assert not difference(source, transfers.there)


@pytest.mark.parametrize("every_server", ["rsync", "xrdcp"], indirect=True)
def test_nodes_move_with_a_tool_that_moves_whole_files(
    start: Start, every_server: AnyServer, shared_database: SharedDatabase, source: Path
) -> None:
    transfers = Transfers(start, every_server, shared_database)
    run = transfers.begin(source, "localhost,localhost")
    end = ended(run)
    assert f"{every_server.tool} moves whole files" in " ".join(notices(run))
    assert end["complete"]
    assert len(json.loads(Path(str(end["receipt"])).read_bytes())["files"]) == FILES
    assert not difference(source, transfers.there)


def test_a_database_that_is_away_holds_nobody_up_for_ever(
    start: Start, server: Server, source: Path
) -> None:
    with temporary_server(()) as postgres:
        transfers = Transfers(start, server, shared_database(postgres))
        run = transfers.begin(source, "localhost,localhost", *SLOWER)
        until_moved(run, 1_000_000)
        postgres.kill()
        while "wait for the rest" not in run.wait_for("notice")["message"]:
            pass
        time.sleep(3)
        postgres.start()
        ended(run)
        assert any("answers again" in one for one in notices(run))
    assert not difference(source, server.folder / "there")


def test_two_coordinators_do_not_write_to_one_target(
    transfers: Transfers, source: Path, tmp_path: Path
) -> None:
    run = transfers.begin(source, "localhost,localhost", *SLOWER)
    until_moved(run, 1_000_000)
    home = tmp_path / "other home"
    home.mkdir()
    own = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
    other = transfers.begin(source, "localhost", "--overwrite", environment=own)
    assert "is writing to" in str(ended(other, 1)["message"])
    run.process.send_signal(signal.SIGINT)
    assert str(ended(run, 130)["message"]).startswith("stopped: ")


FAILING = """#!/bin/sh
for list; do :; done
if grep -q "VICTIM" "$list" 2>/dev/null; then
    echo "error: globus_xio: Unable to open file VICTIM" >&2
    echo "globus_xio: System error in open: Permission denied" >&2
    exit 1
fi
PATH=${PATH#*:} exec globus-url-copy "$@"
"""


def test_a_file_that_no_node_can_move_is_named_and_the_others_arrive(
    transfers: Transfers, source: Path, hosts: Hosts
) -> None:
    client = hosts.folder / "globus-url-copy"
    client.write_text(FAILING.replace("VICTIM", "small/3.dat"))
    client.chmod(0o755)
    run = transfers.begin(source, "localhost,localhost", environment=hosts.environment)
    end = ended(run, 1)
    assert end["missing_files"] == 1
    assert "small/3.dat" in str(end["missing"])
    assert end["files"] == FILES - 1


needs_mounts = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: hosts have mounts")


@pytest.mark.as_root
@needs_mounts
def test_nodes_are_started_over_ssh_and_those_with_other_files_are_refused(
    transfers: Transfers, source: Path, hosts: Hosts, tmp_path: Path
) -> None:
    """One destination has another file system, one source has other data of the same sizes."""
    transfers.there.mkdir()
    transfers.there.chmod(0o777)
    hosts.describe("d3", f"mount -t tmpfs none '{transfers.there}'")
    other = shutil.copytree(source, tmp_path / "other")
    hosts.describe("s2", f"mount --bind '{other}' '{source}'")
    via = "s1=d1,s2=d2,s1=d3"
    server = transfers.server.url
    run = transfers.begin(
        *(source, ",".join(f"{one}" for one in via.split(","))),
        *(*hosts.options, *SLOW),
        destination="d1",
        environment=hosts.environment,
    )
    ended(run)
    said = notices(run)
    assert any("node 2" in one and "is not what the coordinator has" in one for one in said), said
    assert any("node 3" in one and "is not on the file system" in one for one in said), said
    assert set(moved(run).values()) > {0}
    assert moved(run)[2] == moved(run)[3] == 0
    assert not difference(source, transfers.there)
    assert server


@pytest.mark.as_root
@needs_mounts
def test_what_an_agent_with_another_key_has_proven_is_read_once_more(
    transfers: Transfers, source: Path, hosts: Hosts, tmp_path: Path
) -> None:
    hosts.describe("127.0.0.1", f"export XDG_DATA_HOME='{tmp_path}/another home'")
    run = transfers.begin(
        *(source, f"s2={transfers.server.url}", *hosts.options),
        destination="d1",
        environment=hosts.environment,
    )
    assert ended(run)["receipt"]
    said = notices(run)
    assert any("Reads again what other agents have proven" in one for one in said), said
    assert not difference(source, transfers.there)


STALLING = """
import os, runpy, sys, time
from advisor.agent import delivery
digest = delivery.Delivery._digest
def late(self, *arguments):
    while os.path.exists(os.environ.get("STALLS", "")):
        arguments[-1].check()
        time.sleep(0.05)
    return digest(self, *arguments)
delivery.Delivery._digest = late
sys.argv = ["advisor", "agent", "--stdio"]
runpy.run_module("advisor", run_name="__main__")
"""


class Stalling:
    """Transfers to an agent that does not get on with reading what another one has proven, while
    the file `stalls` exists."""

    def __init__(self, transfers: Transfers, source: Path, hosts: Hosts, folder: Path) -> None:
        self._transfers = transfers
        self._source = source
        self.stalls = folder / "stalls"
        self.stalls.touch()
        program = folder / "stalling.py"
        program.write_text(STALLING)
        hosts.describe("127.0.0.1", f"export XDG_DATA_HOME='{folder}/another home'")
        hosts.describe("d1", f"export STALLS='{self.stalls}'")
        agent = ["--agent-command", f"{sys.executable} -P {program}"]
        self._options = [*hosts.options[:2], *agent]
        self._environment = hosts.environment | {"PYTHONPATH": str(Path(__file__).parents[2])}

    def begin(self) -> Run:
        return self._transfers.begin(
            self._source,
            f"s2={self._transfers.server.url}",
            *self._options,
            destination="d1",
            environment=self._environment,
        )

    def begin_and_stall(self) -> Run:
        """One that reads again what another agent has proven, and does not get on."""
        run = self.begin()
        while "Reads again" not in run.wait_for("notice")["message"]:
            pass
        return run


@pytest.fixture
def stalling(transfers: Transfers, source: Path, hosts: Hosts, tmp_path: Path) -> Stalling:
    return Stalling(transfers, source, hosts, tmp_path)


@pytest.mark.as_root
@needs_mounts
def test_a_transfer_that_is_stopped_while_it_reads_again_gets_no_receipt(
    transfers: Transfers, source: Path, stalling: Stalling
) -> None:
    run = stalling.begin_and_stall()
    run.process.send_signal(signal.SIGINT)
    end = ended(run, 130)
    assert not end["complete"]
    assert end["receipt"] is None
    stalling.stalls.unlink()
    assert ended(stalling.begin())["receipt"]
    assert not difference(source, transfers.there)


@pytest.mark.as_root
@needs_mounts
def test_a_transfer_runs_for_others_until_all_is_read_again(
    transfers: Transfers, source: Path, stalling: Stalling
) -> None:
    run = stalling.begin_and_stall()
    transfers.database.execute("UPDATE advisor.transfers SET seen_s = seen_s - 300")

    def states() -> list[str]:
        with contextlib.closing(connect(Address(transfers.database.address("rita")))) as connection:
            return [one.state for one in transfers_of(connection, with_ended=True)]

    assert states() == ["interrupted"]
    assert wait_until(lambda: states() == ["runs"])
    stalling.stalls.unlink()
    ended(run)
    assert states() == ["complete"]


LIAR = """
import asyncio
from advisor.transfer.nodes import messages, node
truth = node.Node._say
def lies(self, message):
    if isinstance(message, messages.Arrived):
        wrong = [messages.ArrivedPart(p.part, "0" * len(p.digest), p.seal) for p in message.parts]
        message = messages.Arrived(parts=wrong)
    truth(self, message)
node.Node._say = lies
asyncio.run(node.serve_node())
"""


def test_a_node_that_reports_wrong_checksums_gets_no_receipt(
    transfers: Transfers, source: Path, hosts: Hosts, tmp_path: Path
) -> None:
    program = tmp_path / "liar.py"
    program.write_text(LIAR)
    lying = ["--node-command", f"{sys.executable} -P {program}"]
    environment = hosts.environment | {"PYTHONPATH": str(Path(__file__).parents[2])}
    run = transfers.begin(
        source, "s1=d1", *hosts.options[2:], *lying, destination="d1", environment=environment
    )
    end = ended(run, 1)
    assert not end["complete"]
    assert end["receipt"] is None
    assert "has not read" in str(end["message"])
    # What it said is not believed by the next run either.
    honest = transfers.begin(
        source, "s1=d1", *hosts.options, destination="d1", environment=environment
    )
    assert ended(honest)["receipt"]
    assert any("moved again" in one for one in notices(honest))


def test_nodes_may_be_a_group_of_the_fleet(transfers: Transfers, source: Path) -> None:
    described_here = described("here", "other").replace(
        "[hosts.here]", '[hosts.here]\nreach = "localhost"'
    )
    with psycopg.connect(transfers.database.address("olga"), autocommit=True) as connection:
        apply(connection, described_here + '[groups.senders]\nhosts = ["here"]\n')
    ended(transfers.begin(source, "@senders"))
    assert not difference(source, transfers.there)
    done = transfers.begin(source, "@receivers").finish()
    assert done.returncode == 2
    assert "there is no host or group 'receivers'" in done.stderr


def test_an_older_database_is_said_so(transfers: Transfers, source: Path) -> None:
    transfers.database.execute("DELETE FROM advisor.migrations WHERE version >= 3")
    done = transfers.begin(source, "localhost").finish()
    assert done.returncode == 1
    assert "advisor store init" in done.stdout + done.stderr


def test_it_needs_a_database(start: Start, source: Path, tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store")]
    done = start(
        *("transfer", str(source), "localhost", "--to", "/there", "--via", "localhost", *store)
    ).finish()
    assert done.returncode == 2
    assert "--store postgresql://" in done.stderr
