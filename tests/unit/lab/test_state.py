import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from advisor.lab import messages as m
from advisor.lab.control import tell
from advisor.lab.paths import Changes, Direction, EmulatedPath
from advisor.lab.state import (
    MARK,
    Host,
    LabError,
    LabFolder,
    LabState,
    end_all,
    labs,
    only_one,
    state_of,
)

FDS = f"/proc/{os.getpid()}/fd"
SOURCE = Host(name="source", address="10.77.0.1", network=f"{FDS}/3")
KRAKEN = Host(
    name="kraken", address="10.77.1.1", network=f"{FDS}/4", gridftp_url="ftp://10.77.1.1:2811"
)
MASON = Host(name="mason", address="10.77.2.1", network=f"{FDS}/5")


def state(
    *far: Host, name: str = "wan", mark: str = "none", supervisor: int = os.getpid()
) -> LabState:
    return LabState(
        name=name,
        mark=mark,
        supervisor=supervisor,
        user_namespace=True,
        backend="own emulator",
        hosts=[SOURCE, *far],
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's labs are."""
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "advisor"))
    return tmp_path / "advisor" / "lab"


@pytest.fixture
def kept() -> Iterator[LabFolder]:
    """A lab with a supervisor, as far as others can tell."""
    place = LabFolder("wan")
    place.make()
    place.write(state(KRAKEN, MASON))
    with LabFolder("wan").lock, socket.socket(socket.AF_UNIX) as control:
        # Below the limit for the names of sockets, whatever pytest's folder is called.
        with contextlib.chdir(place.folder):
            control.bind(place.control.name)
        control.listen()
        yield place


def test_a_runtime_folder_with_a_long_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("long" * 30)
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(long))
    place = LabFolder("wan")
    place.make()
    place.write(state(KRAKEN))
    assert len(str(place.control)) > 108
    with place.lock, socket.socket(socket.AF_UNIX) as control, place.short_control() as short:
        control.bind(short)
        control.listen()
        assert state_of("wan").supervisor == os.getpid()


def test_hosts_by_name() -> None:
    both = state(KRAKEN, MASON)
    assert both.far("mason") is MASON
    assert both.host("source") is SOURCE
    assert both.host("kraken") is KRAKEN
    assert state(MASON).far() is MASON


def test_a_host_has_to_be_named_where_there_are_several() -> None:
    with pytest.raises(LabError, match="say which of kraken, mason"):
        state(KRAKEN, MASON).far()


def test_a_host_that_is_not_there() -> None:
    with pytest.raises(LabError, match="no host 'gordon': it has kraken, mason"):
        state(KRAKEN, MASON).host("gordon")
    with pytest.raises(LabError, match="source"):
        state(KRAKEN).far("source")


def test_a_state_is_kept_whole(folder: Path) -> None:
    place = LabFolder("wan")
    assert place.read() is None
    place.make()
    assert place.read() is None
    place.write(state(KRAKEN))
    place.write(state(KRAKEN, MASON))
    assert place.read() == state(KRAKEN, MASON, supervisor=0)
    assert [file.name for file in place.folder.iterdir()] == ["lab.json"]
    assert folder / "wan" == place.folder
    (place.folder / "lab.json").write_bytes(b'{"name": "wan"')
    assert place.read() is None


def test_the_folder_is_for_its_owner_alone() -> None:
    place = LabFolder("wan")
    place.make()
    assert place.folder.stat().st_mode & 0o077 == 0
    assert place.folder.parent.parent.stat().st_mode & 0o022 == 0


def test_no_lab() -> None:
    assert labs() == []
    assert not LabFolder("wan").is_up
    with pytest.raises(LabError, match=r"no lab 'wan' is up: 'advisor lab up wan' starts it$"):
        state_of("wan")


def test_a_lab_whose_supervisor_is_gone_is_not_up(kept: LabFolder) -> None:
    assert kept.is_up
    assert state_of("wan").supervisor == os.getpid()
    other = LabFolder("other")
    other.make()
    other.write(state(KRAKEN, name="other"))
    assert not other.is_up
    assert [place.name for place in labs()] == ["other", "wan"]
    with pytest.raises(LabError, match="'advisor lab up other' starts it; up now: wan"):
        state_of("other")


def test_looking_is_not_seen_by_others_who_look(folder: Path) -> None:
    """Two that ask at once whether a lab is up both hear that it is not."""
    place = LabFolder("wan")
    place.make()
    (place.folder / "keeper.lock").touch()
    looking = (
        "from advisor.lab.state import LabFolder\n"
        "place = LabFolder('wan')\n"
        "print(sum(place.is_up for _ in range(3000)))"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", looking], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [one.communicate(timeout=60)[0] for one in both] == ["0\n", "0\n"]


def test_last_words() -> None:
    place = LabFolder("wan")
    assert place.last_words() == ""
    place.make()
    place.log.write_text("one\ntwo\n\n")
    assert place.last_words() == "two"


def test_a_lab_that_does_not_answer(kept: LabFolder) -> None:
    kept.control.unlink()
    with pytest.raises(LabError, match="does not answer: 'advisor lab down wan'"):
        tell("wan", m.GetStatus())


def test_processes_are_ended_by_their_mark() -> None:
    """Also one that does not listen to SIGTERM; those with another mark stay."""
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1); time.sleep(60)"
    processes = []
    for mark in ("mine", "mine", "mine-not", "other"):
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", stubborn],
            env=os.environ | {MARK: mark},
            stdout=subprocess.PIPE,
        )
        processes.append(process)
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
        # Their parent is this process: one that nobody has waited for has no environment any more.
        end_all("mine", set())
        assert [process.poll() for process in processes] == [-9, -9, None, None]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_numbers_of_held_networks_are_not_used_again() -> None:
    """The kernel gives the number of a namespace that has gone to the next one."""

    def network() -> subprocess.Popen[bytes]:
        command = ["unshare", "--user", "--net", "sh", "-c", "echo; exec sleep 60"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        with process.stdout as printed:
            if not printed.readline():
                process.wait()
                pytest.skip("this machine lets nobody make a namespace")
        return process

    def end(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def number(process: subprocess.Popen[bytes]) -> int:
        return Path(f"/proc/{process.pid}/ns/net").stat().st_ino

    lab = network()
    host = Host(name="kraken", address="10.0.0.2", network=f"/proc/{lab.pid}/ns/net")
    later = []
    try:
        with state(host).held_networks() as held:
            assert held == {number(lab)}
            end(lab)
            time.sleep(0.3)  # The kernel takes them apart later.
            for _ in range(40):
                later.append(network())
            assert held.isdisjoint(map(number, later))
    finally:
        for process in (lab, *later):
            end(process)


def test_removing_a_lab_ends_what_runs_in_it(folder: Path) -> None:
    place = LabFolder("wan")
    place.make()
    place.write(state(KRAKEN, mark="to-be-ended"))
    place.files("kraken").mkdir(parents=True)
    process = subprocess.Popen(
        ["sh", "-c", "echo; read _"],
        env=os.environ | {MARK: "to-be-ended"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        # While a program begins, its environment is not there yet.
        assert process.stdout is not None
        process.stdout.readline()
        place.remove()
        assert process.wait(timeout=60) == -15
    assert list(folder.iterdir()) == []


def test_a_runtime_folder_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "file" / "advisor"))
    with pytest.raises(LabError, match="file"):
        only_one()
    assert labs() == []


ORDERS: list[m.LabCommand] = [
    m.GetStatus(),
    m.SetPath(changes=Changes(loss=0.0), which="forward"),
    m.Cut(is_cut=True, host="kraken"),
    m.SetLoad(transfers=0),
    m.Play(steps=[m.ScheduledStep(at_s=1.5, actions=[m.SetLoad(compute=2), m.Cut(is_cut=False)])]),
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
def test_orders_survive_the_wire(order: m.LabCommand) -> None:
    line = msgspec.json.encode(order)
    assert b"\n" not in line
    assert msgspec.json.decode(line, type=m.LabCommand) == order


def test_replies_survive_the_wire() -> None:
    path = EmulatedPath(reverse=Direction(loss=0.25, queue_bytes=9))
    host = m.HostStatus(
        name="far",
        address="10.77.1.1",
        gridftp_url=None,
        path=path,
        is_cut=True,
        forward=m.Crossing(packets=3, bytes=4, lost=None),
        reverse=m.Crossing(),
    )
    status = m.LabStatus(
        name="wan",
        backend="own emulator",
        user_namespace=False,
        up_s=1.0,
        source="10.77.0.1",
        hosts=[host],
        transfers=1,
        compute=0,
        schedule=[m.ScheduledStep(at_s=-0.5, actions=[m.Cut(is_cut=True)])],
        lateness=m.Lateness(p99_s=1e-6, most_s=2e-3),
    )
    for reply in (m.CommandDone(status), m.CommandFailed("no")):
        assert msgspec.json.decode(msgspec.json.encode(reply), type=m.LabReply) == reply


@pytest.mark.parametrize("line", [b"", b"{}", b'{"type":"explode"}', b'{"type":"cut"}', b"\xff"])
def test_what_is_no_order(line: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        msgspec.json.decode(line, type=m.LabCommand)
