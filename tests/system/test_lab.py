"""Labs come up, do what they are asked to, and leave nothing, however they end."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import (
    ADVISOR,
    MODEST,
    Lab,
    NewLab,
    Start,
    children_left,
    marked,
    need_labs,
    own_environment,
    wait_until,
)

SYSCTLS = ("net/ipv4/tcp_rmem", "net/ipv4/tcp_wmem", "net/ipv4/ping_group_range")


def host_facts() -> dict[str, Any]:
    """What of this machine no lab may touch."""
    facts: dict[str, Any] = {n: Path("/proc/sys", n).read_text() for n in SYSCTLS}
    facts["/etc/hosts"] = Path("/etc/hosts").read_bytes()
    facts["devices"] = re.findall(r"^ *(\S+):", Path("/proc/net/dev").read_text(), re.MULTILINE)
    facts["routes"] = Path("/proc/net/route").read_text()
    return facts


def networks() -> dict[int, list[int]]:
    """Network namespaces by number, with the processes in them."""
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                number = (folder / "ns" / "net").stat().st_ino
            except OSError:
                continue
            found.setdefault(number, []).append(int(folder.name))
    return found


class Traces:
    """What of a lab there could be left."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.mark = lab.state["mark"]
        opened = [Path(host["network"]) for host in lab.state["hosts"]]
        supervisors = Path(*opened[0].parts[:3], "ns", "net")
        # Held open: the kernel gives the number of a network that is gone to the next one.
        held = [os.open(path, os.O_RDONLY) for path in [*opened, supervisors]]
        for one in held:
            weakref.finalize(self, os.close, one)
        self.networks = {os.fstat(one).st_ino for one in held}

    def left(self) -> list[str]:
        left = [f"process {pid}: {line}" for pid, line in marked(self.mark).items()]
        left += [f"in its network: {p}" for n, p in networks().items() if n in self.networks]
        left += [
            f"mount: {line}"
            for line in Path("/proc/self/mounts").read_text().splitlines()
            if str(self.lab.home) in line or " /etc/hosts " in line
        ]
        if self.lab.folder.exists():
            left.append(str(self.lab.folder))
        return left

    def assert_gone(self) -> None:
        assert wait_until(lambda: not self.left()), self.left()


@pytest.fixture(autouse=True)
def host_untouched() -> Iterator[None]:
    need_labs()
    before = host_facts()
    yield
    assert host_facts() == before


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


@pytest.mark.as_root
def test_without_a_compiler(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("ip", "nsenter", "unshare", "mount"):
        (tools / tool).symlink_to(str(shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin")))
    done = subprocess.run(
        [*ADVISOR, "lab", "up", "wan"],
        env=own_environment(tmp_path) | {"PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "apt-get install gcc libc6-dev" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "advisor" / "lab" / "wan").exists()


def as_nobody(home: Path, device: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`advisor` as a user without any rights, in a mount namespace with this /dev/net/tun."""
    prepare = f'mount -t tmpfs none {home}/dev && {device} exec "$@"'
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    # setpriv itself still may do more than what it starts: a shell has lost that.
    drop += ["sh", "-c", 'exec "$@"', "sh"]
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", prepare, "sh", *drop, *ADVISOR, *arguments],
        cwd="/",
        env=own_environment(home)
        | {"XDG_CACHE_HOME": str(home / "cache"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


NO_DEVICE = ""
OWN_DEVICE = "mknod -m 666 {home}/dev/tun c 10 200 && mount --bind {home}/dev/tun /dev/net/tun &&"


@pytest.fixture
def nobodys_home(tmp_path: Path) -> Iterator[Path]:
    """A folder of nobody's own. Skips where nobody cannot run this checkout."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be somebody else")
    home = Path(f"/tmp/adv-nobody-{os.getpid()}")
    (home / "dev").mkdir(parents=True)
    try:
        os.chown(home, 65534, 65534)
        looked = as_nobody(home, NO_DEVICE, "--version")
        if looked.returncode:
            pytest.skip(f"nobody cannot run this checkout: {looked.stderr.strip()[-200:]}")
        yield home
    finally:
        shutil.rmtree(home)


@pytest.mark.as_root
def test_without_any_rights(nobodys_home: Path) -> None:
    device = OWN_DEVICE.format(home=nobodys_home)
    try:
        up = as_nobody(nobodys_home, device, "lab", "up", "wan", *MODEST, "--json")
        assert up.returncode == 0, up.stderr
        assert json.loads(up.stdout)["user_namespace"] is True
        mine = as_nobody(nobodys_home, device, "lab", "exec", "wan", "--", "id", "-u")
        assert mine.stdout == "65534\n"
        addresses = as_nobody(nobodys_home, device, "lab", "exec", "wan", "--", "ip", "addr")
        assert "10.77.0.1/32" in addresses.stdout
        run = as_nobody(nobodys_home, device, *("advise", "lab:wan", "--json", "--budget", "7"))
        assert run.returncode == 0, run.stderr
    finally:
        down = as_nobody(nobodys_home, device, "lab", "down", "wan")
    assert down.returncode == 0, down.stderr
    assert wait_until(lambda: not children_left(nobodys_home))


@pytest.mark.as_root
def test_without_rights_and_without_a_device(nobodys_home: Path) -> None:
    if os.access("/dev/net/tun", os.W_OK) and Path("/dev/net/tun").stat().st_mode & 0o006 == 0o006:
        pytest.skip("everybody may open /dev/net/tun here")
    up = as_nobody(nobodys_home, NO_DEVICE, "lab", "up", "wan", *MODEST)
    assert up.returncode == 2
    assert "/dev/net/tun" in up.stderr
    assert "sudo" in up.stderr
    assert len(up.stderr.splitlines()) == 1
    assert not (nobodys_home / "advisor" / "lab" / "wan").exists()
