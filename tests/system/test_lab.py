"""Labs come up, and do what they are asked to."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .lab_traces import Traces, host_untouched
from .labs import MODEST, Lab, NewLab
from .program import ADVISOR, wait_until


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    with host_untouched():
        yield


@pytest.mark.as_root
def test_up_looked_at_and_down(new_lab: NewLab) -> None:
    lab = new_lab()
    said = lab.do("up", *MODEST, "--loss", "0.1%")
    assert f"lab {lab.name}: up" in said
    assert f"advisor advise lab:{lab.name}" in said
    assert "10.77.1.1" in said
    traces = Traces(lab)
    assert len(traces.networks) == 3
    status = lab.status()
    (far,) = status["hosts"]
    assert (far["name"], far["address"], far["is_cut"]) == ("far", "10.77.1.1", False)
    assert far["path"]["forward"]["rate_bps"] == 200e6
    assert far["path"]["reverse"]["loss"] == 0.001
    assert far["path"]["mtu_bytes"] == 1500
    assert (status["transfers"], status["compute"], status["schedule"]) == (0, 0, [])
    if shutil.which("globus-gridftp-server", path=os.environ["PATH"] + ":/usr/sbin"):
        assert far["gridftp_url"] == "ftp://10.77.1.1:2811"
        assert lab.do("files") == f"{far['gridftp_folder']}\n"
        assert lab.run("files", "--host", "nowhere").returncode == 2
    assert lab.folder.stat().st_mode & 0o077 == 0
    assert lab.do("down") == f"{lab.name} is down\n"
    traces.assert_gone()
    again = lab.run("down")
    assert again.returncode == 2
    assert f"no lab '{lab.name}' is up" in again.stderr


def test_exec(lab: Lab, tmp_path: Path) -> None:
    assert "10.77.0.1/32" in lab.do("exec", "--", "ip", "addr")
    assert "10.77.1.1/32" in lab.do("exec", "--host", "far", "--", "ip", "addr")
    assert lab.do("exec", "--", "getent", "hosts", "far").split() == ["10.77.1.1", "far"]
    assert lab.do("exec", "pwd") == f"{Path.cwd()}\n"
    assert lab.do("exec", "id", "-u") == f"{os.getuid()}\n"
    assert lab.run("exec", "--", "sh", "-c", "exit 7").returncode == 7
    assert lab.do("exec", "--", "printf", "%s|", "a b", "$HOME", "-x") == "a b|$HOME|-x|"
    missing = lab.run("exec", "--", "no-such-program")
    assert missing.returncode == 127
    nowhere = lab.run("exec", "--host", "nowhere", "--", "true")
    assert nowhere.returncode == 2
    assert "no host 'nowhere': it has far" in nowhere.stderr


def test_exec_in_a_folder_that_is_gone(lab: Lab, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = " ".join([*ADVISOR, "lab", "exec", lab.name, "--", "ip", "addr"])
    done = subprocess.run(
        ["sh", "-c", f"rmdir {gone}; exec {words}"],
        cwd=gone,
        env=lab.environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 2)


@pytest.mark.as_root
def test_a_network_that_is_somebodys_is_left_alone(lab: Lab) -> None:
    """The supervisor does nothing where it was not given namespaces of its own."""
    order = {"name": lab.name, "mark": "m", "program": "", "user_namespace": False, "hosts": {}}
    order["outside"] = Path("/proc/self/ns/net").stat().st_ino
    done = subprocess.run(
        [sys.executable, "-P", "-m", "advisor.lab.supervisor"],
        input=json.dumps(order) + "\n",
        capture_output=True,
        text=True,
        timeout=30,
        env=lab.environment | {"ADVISOR_RUNTIME_DIR": str(lab.home / "other" / "advisor")},
        check=False,
    )
    assert "nothing is changed here" in json.loads(done.stdout)["message"]


@pytest.mark.as_root
def test_down_ends_what_hides_its_environment(lab: Lab) -> None:
    traces = Traces(lab)
    program = "import os; os.execvp('env', ['env', '-i', 'setsid', 'sleep', '77'])"
    hidden = lab.python("far", program)
    assert wait_until(lambda: b"sleep" in Path(f"/proc/{hidden.pid}/cmdline").read_bytes())
    lab.do("down")
    traces.assert_gone()
    assert hidden.wait(timeout=10) != 0


def test_set(lab: Lab) -> None:
    lab.do("set", "--rtt", "40ms", "--rate", "100Mbit", "--loss", "1%", "--burst", "3")
    lab.do("set", "--reverse", "--jitter", "1ms", "--reordering", "--queue", "1MB")
    path = lab.status()["hosts"][0]["path"]
    there = {"rate_bps": 100e6, "delay_s": 0.02, "loss": 0.01, "burst_packets": 3.0}
    assert there.items() <= path["forward"].items()
    assert there.items() <= path["reverse"].items()
    assert (path["forward"]["jitter_s"], path["reverse"]["jitter_s"]) == (0.0, 0.001)
    assert (path["forward"]["queue_bytes"], path["reverse"]["queue_bytes"]) == (None, 1_000_000)
    assert path["reverse"]["reordering"] is True
    lab.do("set", "--no-reordering", "--loss", "0")
    path = lab.status()["hosts"][0]["path"]
    assert (path["reverse"]["reordering"], path["forward"]["loss"]) == (False, 0.0)


def test_what_cannot_be_set_leaves_the_path_as_it_was(lab: Lab) -> None:
    before = lab.status()["hosts"][0]["path"]
    for words, message in (
        ("--loss 95%", "0.9"),
        ("--rtt 11s", "rtt must be from 0 to 10"),
        ("--forward --rtt 5ms", "outside a direction"),
        ("--host nowhere --loss 1%", "no host 'nowhere'"),
    ):
        done = lab.run("set", *words.split())
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert lab.status()["hosts"][0]["path"] == before


def test_load_comes_and_goes(lab: Lab) -> None:
    def running(what: str) -> bool:
        return any(f"external_load {what}" in line for line in lab.processes().values())

    lab.do("load", "--transfers", "4", "--compute", "1")
    assert wait_until(lambda: all(map(running, ("send", "receive", "compute"))))
    status = lab.status()
    assert (status["transfers"], status["compute"]) == (4, 1)
    before = status["hosts"][0]["forward"]["bytes"]
    # More than any handshake: the streams carry something.
    assert wait_until(lambda: lab.status()["hosts"][0]["forward"]["bytes"] > before + 5_000_000)
    lab.do("load", "--compute", "0")
    assert not running("compute")
    assert running("send")
    lab.do("load", "--transfers", "0")
    assert not running("send")
    assert not running("receive")
    assert (lab.status()["transfers"], lab.status()["compute"]) == (0, 0)


def test_a_schedule(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "later"
    file.write_text("at 0: loss 2%\nat 0.5s: far cut\nat 600s: restore\n")
    lab.do("schedule", str(file))
    assert wait_until(lambda: bool(lab.status()["hosts"][0]["is_cut"]))
    status = lab.status()
    assert status["hosts"][0]["path"]["forward"]["loss"] == 0.02
    (step,) = status["schedule"]
    assert 0 < step["at_s"] < 600
    assert "restore" in lab.do("status")
    lab.do("schedule", "--stop")
    assert lab.status()["schedule"] == []
    file.write_text("at 1s: nowhere cut\n")
    done = lab.run("schedule", str(file))
    assert done.returncode == 2
    assert "nowhere" in done.stderr


def test_several_hosts_that_share_the_sources_rate(new_lab: NewLab, tmp_path: Path) -> None:
    (tmp_path / "slow.toml").write_text('rate = "20Mbit"\nrtt = "60ms"\n')
    schedule = tmp_path / "later"
    schedule.write_text("at 0s: mason loss 3%\n")
    lab = new_lab().up(
        *("--hosts", f"kraken,mason={tmp_path}/slow.toml,far", "--source-rate", "80Mbit"),
        *("--source-queue", "500kB", "--schedule", str(schedule), "--mtu", "1500"),
    )
    status = lab.status()
    kraken, mason, far = status["hosts"]
    assert [host["name"] for host in status["hosts"]] == ["kraken", "mason", "far"]
    assert [host["address"] for host in (kraken, mason, far)] == [f"10.77.{n}.1" for n in (1, 2, 3)]
    assert kraken["path"]["forward"]["rate_bps"] == 250e6, "the named path of that name"
    assert mason["path"]["forward"]["rate_bps"] == 20e6
    assert far["path"]["forward"]["rate_bps"] == 1e9
    assert (status["own"]["rate_bps"], status["own"]["queue_bytes"]) == (80e6, 500_000)
    assert wait_until(lambda: lab.status()["hosts"][1]["path"]["forward"]["loss"] == 0.03)
    assert "shared by all paths: 80 Mbit/s" in lab.do("status")
    # What one path carries is counted at the interface too, and of no other.
    lab.do("load", "--transfers", "1", "--host", "far")
    assert wait_until(lambda: lab.status()["hosts"][2]["forward"]["bytes"] > 2_000_000)
    lab.do("load", "--transfers", "0")
    status = lab.status()
    assert status["own_forward"]["bytes"] >= status["hosts"][2]["forward"]["bytes"]
    assert status["hosts"][0]["forward"]["packets"] == 0
    assert status["own_forward"]["queue_most_bytes"] <= 500_000
    lab.do("cut", "--host", "mason")
    assert [host["is_cut"] for host in lab.status()["hosts"]] == [False, True, False]


def test_the_name_is_taken(lab: Lab) -> None:
    traces = Traces(lab)
    second = lab.run("up")
    assert second.returncode == 2
    assert f"lab {lab.name} is up already: 'advisor lab down {lab.name}'" in second.stderr
    assert lab.status()["hosts"][0]["path"]["forward"]["rate_bps"] == 200e6
    assert Traces(lab).networks == traces.networks


def test_a_runtime_folder_with_a_long_name(new_lab: NewLab, tmp_path: Path) -> None:
    lab = new_lab()
    deep = tmp_path / ("x" * 90)
    deep.mkdir()

    def ask(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*ADVISOR, "lab", *words],
            env=lab.environment | {"ADVISOR_RUNTIME_DIR": str(deep / "advisor")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    up = ask("up", lab.name)
    assert up.returncode == 0, up.stderr
    try:
        assert lab.name in ask("status").stdout
    finally:
        down = ask("down", lab.name)
    assert down.returncode == 0, down.stderr
    assert not (deep / "advisor" / "lab" / lab.name).exists()
