"""Labs leave nothing, however they end."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .lab_traces import Traces, host_untouched
from .labs import MODEST, NewLab, marked
from .program import ADVISOR, Start, children_left, wait_until


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    with host_untouched():
        yield


@pytest.mark.as_root
def test_two_ups_at_once(new_lab: NewLab, start: Start, lab_cache: Path) -> None:
    """One of the same name comes up, the other is refused; those of other names both do."""
    lab, other = new_lab(), new_lab()
    cache = {"XDG_CACHE_HOME": str(lab_cache)}
    words = [(name, *MODEST) for name in (lab.name, lab.name, other.name)]
    runs = [start("lab", "up", *one, environment=cache) for one in words]
    done = [run.process.communicate(timeout=60) for run in runs]
    codes = [run.process.returncode for run in runs]
    assert sorted(codes[:2]) == [0, 2], done
    assert codes[2] == 0, done
    assert "is up already" in done[codes.index(2)][1]
    assert lab.status()["name"] == lab.name
    assert other.status()["name"] == other.name


def test_looking_while_one_comes_up(new_lab: NewLab, start: Start, lab_cache: Path) -> None:
    lab = new_lab()
    up = start("lab", "up", lab.name, *MODEST, environment={"XDG_CACHE_HOME": str(lab_cache)})
    while up.process.poll() is None:
        looked = subprocess.run(
            [*ADVISOR, "lab", "status"],
            env=lab.environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert "Traceback" not in looked.stderr
    assert up.finish().returncode == 0


@pytest.mark.as_root
def test_down_all(new_lab: NewLab) -> None:
    labs = [new_lab().up(*MODEST) for _ in range(2)]
    traces = [Traces(lab) for lab in labs]
    done = subprocess.run(
        [*ADVISOR, "lab", "down", "--all"],
        env=labs[0].environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert sorted(done.stdout.split("\n")[:2]) == sorted(f"{lab.name} is down" for lab in labs)
    for one in traces:
        one.assert_gone()


KILLED = {
    "the supervisor": ["advisor.lab.supervisor"],
    "the emulator": ["wanpath-"],
    "the agent": ["advisor agent --listen"],
    "the GridFTP server": ["globus-gridftp-server"],
    "advise": ["advise", "--budget"],
    "a shell": ["sleep", "1234"],
}


@pytest.mark.as_root
@pytest.mark.parametrize("what", KILLED)
def test_whatever_was_killed_down_leaves_nothing(new_lab: NewLab, start: Start, what: str) -> None:
    lab = new_lab().up(*MODEST)
    if what == "advise":
        run = start("advise", f"lab:{lab.name}", "--json", "--budget", "60")
        run.wait_for("interval")
    # A shell that does not care for SIGTERM, with a child in the background.
    stubborn = "trap '' TERM; sleep 1234 & sleep 1234"
    shell = start("lab", "exec", lab.name, "--", "sh", "-c", stubborn)
    assert wait_until(lambda: sum("sleep 1234" in x for x in lab.processes().values()) >= 3)
    traces = Traces(lab)
    found = [
        pid
        for pid, line in lab.processes().items()
        if all(word in line for word in KILLED[what]) and "/bin/sh -c" not in line
    ]
    if what == "the GridFTP server" and not found:
        pytest.skip("no GridFTP server is installed")
    assert found, lab.processes()
    for pid in found:
        # One may end with another.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    time.sleep(0.3)
    looked = lab.run("status")
    assert "Traceback" not in looked.stderr
    assert lab.do("down") == f"{lab.name} is down\n"
    traces.assert_gone()
    shell.process.wait(timeout=60)


@pytest.mark.as_root
@pytest.mark.parametrize("what", ["the supervisor", "the emulator"])
def test_a_lab_that_is_no_more_can_be_made_again(new_lab: NewLab, what: str) -> None:
    lab = new_lab().up(*MODEST)
    traces = Traces(lab)
    os.kill(lab.process(*KILLED[what]), signal.SIGKILL)
    # Without any 'down' all that the lab itself started goes too.
    assert wait_until(lambda: not marked(traces.mark)), marked(traces.mark)
    looked = lab.run("status")
    assert looked.returncode == 2
    assert f"no lab '{lab.name}' is up: 'advisor lab up {lab.name}' starts it" in looked.stderr
    every = subprocess.run(
        [*ADVISOR, "lab", "status"],
        env=lab.environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert f"'advisor lab down {lab.name}' removes the rest" in every.stdout
    lab.up(*MODEST)
    assert lab.status()["name"] == lab.name


@pytest.mark.as_root
@pytest.mark.parametrize(
    ("number", "after_s"),
    [
        (signal.SIGINT, 0.25),
        (signal.SIGINT, 0.5),
        (signal.SIGINT, 0.8),
        (signal.SIGTERM, 0.6),
    ],
)
def test_up_interrupted(
    new_lab: NewLab,
    start: Start,
    lab_cache: Path,
    tmp_path: Path,
    number: signal.Signals,
    after_s: float,
) -> None:
    lab = new_lab()
    up = start("lab", "up", lab.name, *MODEST, environment={"XDG_CACHE_HOME": str(lab_cache)})
    time.sleep(after_s)
    up.process.send_signal(number)
    _, err = up.process.communicate(timeout=60)
    # On a busy machine Python itself may be all that has begun.
    assert "Traceback" not in err or "_get_module_details" in err
    if up.process.returncode == 0 or (lab.folder / "lab.json").exists():  # It was quicker.
        lab.do("down")
    elif number == signal.SIGINT:
        # A signal that comes before Python handles any ends the process itself.
        assert up.process.returncode in (130, -signal.SIGINT)
        assert not lab.folder.exists()
    assert wait_until(lambda: not children_left(tmp_path)), children_left(tmp_path)


@pytest.mark.as_root
@pytest.mark.namespaces
def test_a_full_disk(start: Start, small_disk: Path, lab_cache: Path) -> None:
    """Whatever there is room for still: a sentence, and nothing of the lab stays."""
    name = f"t{os.getpid()}-full"
    environment = {
        "ADVISOR_RUNTIME_DIR": str(small_disk / "advisor"),
        "XDG_CACHE_HOME": str(lab_cache),
    }
    for room in (0, 4096, 8192):
        filler = small_disk / "filler"
        with filler.open("wb") as file:
            free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
            file.write(b"x" * (free - room))
        up = start("lab", "up", name, *MODEST, environment=environment)
        _, err = up.process.communicate(timeout=30)
        filler.unlink()
        if up.process.returncode == 0:
            start("lab", "down", name, environment=environment).process.wait(timeout=60)
        else:
            assert up.process.returncode == 2
            assert "No space left on device" in err
            assert len(err.splitlines()) == 1
        assert not (small_disk / "advisor" / "lab" / name).exists()
        assert room or up.process.returncode == 2
