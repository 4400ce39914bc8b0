"""Nonsense in every option: one sentence, exit code 2, before anything is opened."""

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Typed

ADVISOR = [sys.executable, "-P", "-m", "advisor"]

SHARED = ["--store", "postgresql:///nowhere"]
FILE = "/etc/hostname"
MOVED = ["--data", FILE, "--to", "/x"]
FIXED = ["--method", "fixed", "--start"]

CASES: list[tuple[list[str], list[str]]] = [
    (["advise"], ["DESTINATION"]),
    (["advise", "a b"], ["DESTINATION", "a b"]),
    (["advise", "-oProxyCommand=x"], ["-o"]),
    (["advise", "no_such_user@@host;rm"], ["DESTINATION"]),
    (["advise", "localhost", "--bandwidth", "abc"], ["--bandwidth", "abc", "Mbit"]),
    (["advise", "localhost", "--bandwidth", "0"], ["--bandwidth", "above zero"]),
    (["advise", "localhost", "--bandwidth", "10GB/s"], ["--bandwidth", "bits"]),
    (["advise", "localhost", "--rtt", "0"], ["--rtt", "above zero"]),
    (["advise", "localhost", "--rtt", "-5ms"], ["--rtt", "-5ms"]),
    (["advise", "localhost", "--budget", "1"], ["--budget", "1 s", "at least 5 s"]),
    (["advise", "localhost", "--budget", "soon"], ["--budget", "soon"]),
    (["advise", "localhost", "-N", "0"], ["-N", "0", "1 to"]),
    (["advise", "localhost", "-N", "many"], ["-N", "many"]),
    (["advise", "localhost", "--method", "spsa", "-L", "-1"], ["-L", "-1"]),
    (["advise", "localhost", "-L", "5"], ["L", "bayes", "C, "]),
    (["advise", "localhost", "-C", "1.5"], ["-C", "1.5"]),
    (["advise", "localhost", "--gain-ratio", "2"], ["--gain-ratio", ": 2 is not from 0.01 to 1"]),
    (["advise", "localhost", "--iterations", "0"], ["--iterations", ": 0 is not from 1 to 1000"]),
    (["advise", "localhost", "--constant", "N=0"], ["--constant N: 0 is not from 1 to 1000"]),
    (
        ["advise", "localhost", "--method", "bayes", "--impeded", "5"],
        ["--impeded", "is not an option of the method 'bayes'"],
    ),
    (["advise", "localhost", "--constant", "a"], ["--constant", "NAME=NUMBER"]),
    (["advise", "localhost", "--constant", "zeta=1"], ["zeta", "octave_cost"]),
    (["advise", "localhost", "--constant", "noise=nan"], ["noise", "nan"]),
    (["advise", "localhost", "--method", "magic"], ["--method", "magic", "spsa"]),
    (["advise", "localhost", "--transports", "tcp,ipx"], ["--transports", "ipx", "udt"]),
    (["advise", "localhost", "--tools", "xdd,scp"], ["--for-tool", "scp", "rclone"]),
    (["advise", "localhost", "--max-streams", "500"], ["--max-streams", "500", "128"]),
    (["advise", "localhost", "--size", "big"], ["--size", "big", "TB"]),
    (["advise", "localhost", "--data", "/nonexistent"], ["--data", "/nonexistent"]),
    (["advise", "localhost", "--server", "file://x"], ["--server", "gsiftp"]),
    (
        ["transfer", FILE, "localhost", "--to", "/x", "--server", "foo:2811"],
        ["--server 'foo:2811' has no scheme, as in gsiftp://HOST:PORT; see `advisor help tools`"],
    ),
    (["transfer", FILE], ["DESTINATION is missing"]),
    (["advise", "localhost", "--address", "nowhere"], ["--address", "nowhere"]),
    (["advise", "localhost", "--seed", "-1"], ["--seed", "-1"]),
    (["advise", "localhost", "--buffer-scale", "cubic"], ["--buffer-scale", "cubic", "log2"]),
    (["advise", "--agent", "host"], ["--agent", "host", "HOST:PORT"]),
    (["advise", "--agent", "host:99999"], ["--agent", "65535"]),
    (["advise", "--agent", "host:5199"], ["--secret-file"]),
    (["advise", "localhost", "--secret-file", "x"], ["--agent"]),
    (["advise", "localhost", "--ports", "9-1"], ["--ports", "9-1"]),
    (["advise", "localhost", "--accept-history", "--measure"], ["--accept-history"]),
    (["advise", "localhost", "--data", "/etc/hostname", "--size", "1TB"], ["--data", "--size"]),
    (["advise", "localhost", "--no-such-option"], ["--no-such-option"]),
    (["agent"], ["--stdio", "--listen"]),
    (["agent", "--listen", "here"], ["--listen", "here", "ADDRESS:PORT"]),
    (["agent", "--listen", "127.0.0.1:99999"], ["--listen", "65535"]),
    (["agent", "--stdio", "--ports", "0-5"], ["--ports", "0-5"]),
    (
        ["agent", "--listen", "127.0.0.1:0", "--files", "/etc", "--files", "/no/such"],
        ["--files /no/such: there is no such folder"],
    ),
    (["agent", "--listen", "127.0.0.1:0", "--files", FILE], ["--files", FILE]),
    (["frobnicate"], ["frobnicate"]),
    (["advise", "lab:"], ["DESTINATION", "lab:NAME"]),
    (["advise", "lab:a b"], ["DESTINATION", "lab:NAME"]),
    (["advise", "lab:../x"], ["lab:NAME"]),
    (["advise", "lab:wan:far:x"], ["lab:NAME:HOST"]),
    (["advise", "me@lab:wan"], ["lab has no users", "lab:wan"]),
    (["lab", "frobnicate"], ["frobnicate"]),
    (["lab", "up"], ["NAME"]),
    (["lab", "up", "../x"], ["NAME", "../x", "letters, digits and dashes"]),
    (["lab", "up", "-x"], ["-x"]),
    (["lab", "up", "x" * 32], ["NAME", "31"]),
    (["lab", "up", "wan", "--path", "kracken"], ["kracken", "did you mean kraken", "lab paths"]),
    (["lab", "up", "wan", "--path", "./none.toml"], ["none.toml", "No such file"]),
    (["lab", "up", "wan", "--path", "/etc/hostname"], ["/etc/hostname"]),
    (["lab", "up", "wan", "--rtt", "soon"], ["--rtt", "soon"]),
    (["lab", "up", "wan", "--rtt", "-5ms"], ["--rtt", "-5ms"]),
    (["advise", "localhost", "--rtt", "50"], ["--rtt", "'50': add a unit, as in 50ms"]),
    (["advise", "localhost", "--rtt", "50m"], ["--rtt", "at most 10 s: write milliseconds"]),
    (["advise", "localhost", "--bandwidth", "10"], ["'10': add a unit, as in 10Mbit"]),
    (["advise", "localhost", "--bandwidth", "10bit"], ["--bandwidth", "at least 1 kbit/s"]),
    (["advise", "localhost", "--size", "10Gb"], ["--size", "b stands for bits", "GiB"]),
    (["transfer", FILE, "localhost", "--to", "/x", "--max-rate", "1"], ["--max-rate", "1Mbit"]),
    (["lab", "up", "wan", "--rtt", "50"], ["--rtt", "add a unit, as in 50ms"]),
    (["lab", "up", "wan", "--rate", "1000000"], ["--rate", "add a unit"]),
    (["lab", "profile", "--rtts", "10,45.6ms"], ["--rtts", "add a unit, as in 10ms"]),
    (["lab", "up", "wan", "--rtt", "11s"], ["rtt", "10", "11"]),
    (["lab", "up", "wan", "--rate", "1GB/s"], ["--rate", "bits"]),
    (["lab", "up", "wan", "--rate", "0"], ["--rate", "above zero"]),
    (["lab", "up", "wan", "--rate", "1kbit"], ["rate", "10000"]),
    (["lab", "up", "wan", "--rate", "1Tbit"], ["rate", "1e+11"]),
    (["lab", "up", "wan", "--loss", "much"], ["--loss", "much", "1%"]),
    (["lab", "up", "wan", "--loss", "100%"], ["loss", "0.9"]),
    (["lab", "up", "wan", "--loss", "nan"], ["loss", "nan"]),
    (["lab", "up", "wan", "--burst", "0"], ["burst", "from 1"]),
    (["lab", "up", "wan", "--burst", "few"], ["--burst", "few"]),
    (["lab", "up", "wan", "--loss", "80%", "--burst", "2"], ["bursts of at least 4"]),
    (["lab", "up", "wan", "--queue", "0"], ["--queue", "at least one byte"]),
    (["lab", "up", "wan", "--queue", "3GB"], ["queue"]),
    (["lab", "up", "wan", "--jitter", "6s"], ["jitter", "5"]),
    (["lab", "up", "wan", "--mtu", "500"], ["mtu", "576"]),
    (["lab", "up", "wan", "--mtu", "70kB"], ["mtu", "65000"]),
    (["lab", "up", "wan", "--tcp-buffer", "1"], ["tcp_buffer", "4096"]),
    (["lab", "up", "wan", "--hosts", ""], ["--hosts"]),
    (["lab", "up", "wan", "--hosts", "a,a"], ["--hosts", "a unique name"]),
    (["lab", "up", "wan", "--hosts", "a,,b"], ["--hosts", "letters, digits and dashes"]),
    (["lab", "up", "wan", "--hosts", "source"], ["--hosts", "other than source"]),
    (["lab", "up", "wan", "--hosts", "a=nowhere"], ["no path 'nowhere'"]),
    (["lab", "up", "wan", "--hosts", ",".join(f"h{i}" for i in range(33))], ["at most 32"]),
    (["lab", "up", "wan", "--source-rate", "fast"], ["--source-rate", "fast"]),
    (["lab", "up", "wan", "--source-queue", "1MB"], ["--source-queue", "--source-rate"]),
    (["lab", "up", "wan", "--schedule", "/nonexistent"], ["--schedule", "/nonexistent"]),
    (["lab", "up", "wan", "--schedule", "/etc/os-release"], ["/etc/os-release", "line 1", "TIME"]),
    (["lab", "up", "wan", "--schedule", "/bin/sh"], ["/bin/sh"]),
    (["lab", "up", "wan", "--seed", "-1"], ["--seed", "-1"]),
    (["lab", "set", "wan"], ["nothing to change", "--rtt"]),
    (["lab", "set", "wan", "--loss", "5"], ["no lab 'wan' is up", "advisor lab up wan"]),
    (["lab", "set", "wan", "--mtu", "1500"], ["--mtu"]),
    (["lab", "cut", "wan"], ["no lab 'wan' is up"]),
    (["lab", "restore", "wan", "--host", "x"], ["no lab 'wan' is up"]),
    (["lab", "load", "wan"], ["--transfers", "--compute"]),
    (["lab", "load", "wan", "--transfers", "129"], ["--transfers", "128"]),
    (["lab", "load", "wan", "--compute", "-1"], ["--compute", "-1"]),
    (["lab", "load", "wan", "--transfers", "1"], ["no lab 'wan' is up"]),
    (["lab", "schedule", "wan"], ["FILE", "--stop"]),
    (["lab", "schedule", "wan", "--stop", "/etc/hostname"], ["FILE", "--stop"]),
    (["lab", "schedule", "wan", "/nonexistent"], ["/nonexistent"]),
    (["lab", "status", "wan"], ["no lab 'wan' is up"]),
    (["lab", "down"], ["NAME", "--all"]),
    (["lab", "down", "wan", "--all"], ["NAME", "--all"]),
    (["lab", "down", "wan"], ["no lab 'wan' is up"]),
    (["lab", "exec", "wan", "--", "true"], ["no lab 'wan' is up", "advisor lab up wan"]),
    (["lab", "up", "wan\n"], ["NAME", "letters, digits and dashes"]),
    (["lab", "up", "wan", "--hosts", "localhost"], ["--hosts", "localhost"]),
    (["lab", "up", "wan", "--source-rate", "1bit"], ["source-rate", "10000"]),
    (["advise", "localhost", "--tool", "globus-url-copy"], ["--data"]),
    (["advise", "localhost", "--tool", "bbcp", *MOVED], ["cannot be profiled"]),
    (["advise", "localhost", "--tool", "nothing", *MOVED], ["there is none called"]),
    (["advise", "localhost", "--keep"], ["--profile-tool"]),
    (
        ["advise", "localhost", "--tool", "globus-url-copy", *MOVED, "--congestion", "a"],
        ["leave it out"],
    ),
    (["plan", "/nowhere", "localhost", "--to", "/x"], ["/nowhere"]),
    (["plan", FILE, "localhost"], ["--to is missing"]),
    (["plan", FILE, "localhost", "--to", "run42"], ["--to", "'run42'", "write it as in /home/"]),
    (["transfer", FILE, "localhost", "--to", "~/run42"], ["--to", "'~/run42': not absolute"]),
    (["transfer", FILE, "localhost", "--to", "s3://b/x"], ["--to", "'s3://b/x'", "--server"]),
    (["verify", "localhost", "--data", FILE, "--to", "x"], ["--to", "'x': not absolute"]),
    (["advise", "localhost", "--data", FILE, "--to", "./x"], ["--to", "'./x': not absolute"]),
    (["plan", FILE, "localhost", "--to", "/x", "--no-sample"], ["--run"]),
    (["plan", FILE, "localhost", "--to", "/x", "--restart"], ["--restart is about --run"]),
    (["plan", FILE, "localhost", "--to", "/x", "--method", "magic"], ["magic"]),
    (["plan", FILE, "localhost", "--to", "/x", "--server", "what"], ["--server"]),
    (["plan", FILE, "--to", "/x"], ["DESTINATION"]),
    (["transfer", "/nowhere", "localhost", "--to", "/x"], ["/nowhere"]),
    (["transfer", FILE, "localhost"], ["--to is missing"]),
    (["transfer", FILE, "localhost", "--to", "/x", "--method", "magic"], ["magic"]),
    (["transfer", FILE, "localhost", "--to", "/x", "--server", "what"], ["--server"]),
    (["transfer", FILE, "localhost", "--to", "/x", "--epoch", "100ms"], ["--epoch"]),
    (
        ["transfer", FILE, "localhost", "--to", "/x", "--receipt", "/etc/hostname/r.json"],
        ["--receipt /etc/hostname/r.json: '/etc/hostname' is no folder"],
    ),
    (["transfer", FILE, "localhost", "--to", "/x", "--receipt", "/etc"], ["--receipt", "/etc"]),
    (
        ["transfer", FILE, "localhost", "--to", "/x", "--no-checksum", "--receipt", "r"],
        ["--no-checksum and --receipt contradict"],
    ),
    (
        ["plan", FILE, "localhost", "--to", "/x", "--run", "--no-checksum", "--checksum", "md5"],
        ["--no-checksum and --checksum contradict"],
    ),
    (["transfer", FILE, "dtn", "--to", "/x", "--via", "a="], ["--via", "SOURCE=DESTINATION"]),
    (["transfer", FILE, "dtn", "--to", "/x", "--via", "a"], ["--store", "postgresql://"]),
    (["transfer", FILE, "localhost", "--to", "/x", "--via", "a", *SHARED], ["that node itself"]),
    (
        ["transfer", FILE, "dtn", "--to", "/x", "--via", "a=sftp://b", *SHARED],
        ["gsiftp://HOST:PORT"],
    ),
    (["transfer", FILE, "dtn", "--to", "/x", "--via", "a", "--method", "harp"], ["harp"]),
    (["transfer", FILE, "dtn", "--to", "/x", "--node-command", "x"], ["--via"]),
    (["transfer", FILE, "localhost", "--to", "/x", "--max-flows", "0"], ["--max-flows"]),
    (
        ["transfer", FILE, "localhost", "--to", "/x", "--streams", "20"],
        ["--streams is more than --max-streams"],
    ),
    (["transfer", FILE, "localhost", "--to", "/x", "--price", "free"], ["as in 2%"]),
    (
        ["transfer", FILE, "localhost", "--to", "/x", "--price", "2%", *FIXED, "2x8"],
        ["--method fixed keeps one setting", "leave out --price"],
    ),
    (
        ["transfer", FILE, "localhost", "--to", "/x", "--price", "2%", "--method", "harp"],
        ["--method harp compares rates", "leave out --price"],
    ),
    (["transfer", FILE, "localhost", "--to", "/x", "--max-rate", "quick"], ["--max-rate"]),
    (["transfer", FILE, "gsiftp://localhost/x", "--to", "/x"], ["leave out --to"]),
    (["transfer", FILE, "gsiftp://localhost"], ["gsiftp://HOST:PORT/PATH"]),
    (["transfer", FILE, "gsiftp://localhost/~/x"], ["the whole path"]),
    (["transfer", "gsiftp://localhost/x", "gsiftp://localhost/y"], ["run this where the data is"]),
    (["transfer", FILE, "localhost", "--to", "/x", *FIXED, "2"], ["4x8"]),
    (["transfer", FILE, "localhost", "--to", "/x", *FIXED, "99x2"], ["--max-c"]),
    (["transfer", FILE, "--to", "/x"], ["DESTINATION"]),
]


def run(arguments: list[str], store: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ADVISOR, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(store),
            "XDG_DATA_HOME": str(store),
            "ADVISOR_RUNTIME_DIR": str(store / "advisor"),
        },
        check=False,
    )


@pytest.mark.parametrize(("arguments", "words"), CASES, ids=lambda x: " ".join(x)[:40])
def test_nonsense_gets_one_sentence(
    typed: Typed,
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No lab comes up where its tools are not found, should nonsense be taken.
    monkeypatch.setenv("PATH", "/nonexistent" if arguments[:1] == ["lab"] else "/usr/bin:/bin")
    assert_one_sentence(typed(*arguments), words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("arguments", "words"), [CASES[0], CASES[-1]], ids=["advise", "transfer"])
def test_so_it_does_as_a_process(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    assert_one_sentence(run(arguments, tmp_path), words)
    assert list(tmp_path.iterdir()) == []


def assert_one_sentence(done: subprocess.CompletedProcess[str], words: list[str]) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_a_secret_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    done = run(
        ["advise", "--agent", "127.0.0.1:9", "--secret-file", str(tmp_path / "none")], tmp_path
    )
    assert done.returncode == 2
    assert "--secret-file" in done.stderr
    assert "cannot be read" in done.stderr


def test_without_a_command_it_says_what_there_is(tmp_path: Path) -> None:
    done = run([], tmp_path)
    assert done.returncode == 0
    assert "New advice: advisor advise" in done.stdout
    assert "advisor --help" in done.stdout
    assert done.stderr == "Nothing is stored yet: measure with `advisor advise`.\n"


def test_resuming_nothing_is_reported(tmp_path: Path) -> None:
    done = run(["resume"], tmp_path)
    assert done.returncode == 2
    assert "no interrupted session" in done.stderr
    more = run(["resume", "--more", "30s"], tmp_path)
    assert more.returncode == 2
    assert "no such session" in more.stderr
    alone = run(["resume", "--session", "x"], tmp_path)
    assert alone.returncode == 2
    assert "no such session" in alone.stderr


def test_an_unreachable_agent_is_exit_three(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("-".join(["ABCD"] * 8) + "\n")
    secret.chmod(0o600)
    done = run(["advise", "--agent", "127.0.0.1:9", "--secret-file", str(secret)], tmp_path)
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert "advisor agent --listen" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_host_is_exit_three(tmp_path: Path) -> None:
    done = run(["advise", "no-such-host.invalid"], tmp_path)
    assert done.returncode == 3
    assert "no-such-host.invalid" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_method_that_gives_no_advice_says_what_to_do_instead(typed: Typed) -> None:
    done = typed("advise", "localhost", "--method", "sweep")
    assert done.returncode == 2
    assert "advisor profile HOST" in done.stderr
