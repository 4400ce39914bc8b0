import asyncio
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor.domain.advice import Advice
from advisor.domain.dataset import Dataset
from advisor.hosts.processes import running
from advisor.report.script import script_text
from advisor.testing.gridftp import PACKAGES, GridFTPServer, anonymous_server

Advised = Callable[..., Advice]
OTHERS = ("aria2c", "bbcp", "globus", "rclone", "xrdcp")
NAMES = ["a b", "it's", 'q"x', "50%", "p%41", "h#1", "st*r?[1]", "$HOME`x`", "back\\n", "mésure"]


def run(
    path: Path, *arguments: str, syntax_only: bool = False, **environment: str
) -> tuple[int, str, str]:
    """Status, output and errors of the script."""
    settings = [f"{name}={value}" for name, value in environment.items()]
    shell = ["sh", "-n"] if syntax_only else ["sh"]

    async def scenario() -> tuple[int, str, str]:
        async with running(["env", *settings, *shell, str(path), *arguments]) as child:
            output = await child.stdout.read()
            status = await child.wait()
            return status, os.fsdecode(output), child.stderr.decode(errors="replace")

    return asyncio.run(scenario())


def written(folder: Path, advice: Advice) -> Path:
    path = folder / "advice.sh"
    path.write_text(script_text(advice), errors="surrogateescape")
    return path


@pytest.fixture
def stand_ins(tmp_path: Path) -> str:
    """A search path where the tools only print their arguments, one a line."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("globus-url-copy", "timeout", *OTHERS):
        (folder / name).write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


REQUESTS: list[dict[str, Any]] = [
    {},
    {"source_path": "/data/it's a `name`", "destination_path": "/store/$HOME"},
    {"source_path": "/data/run", "dataset": Dataset(total_bytes=10, files=3, largest="x")},
    {"dataset": Dataset(total_bytes=10**9)},
    {"source_path": os.fsdecode(b"/data/latin\xe9")},
    {"source_path": "/data/new\nline", "destination_path": "/store/a"},
]


@pytest.mark.parametrize("changes", REQUESTS)
def test_every_shell_takes_it(tmp_path: Path, advised: Advised, changes: dict[str, Any]) -> None:
    path = written(tmp_path, advised(**changes))
    assert path.read_bytes().startswith(b"#!/bin/sh\n")
    assert run(path, syntax_only=True) == (0, "", "")


def test_a_filled_script_runs_the_very_line(
    tmp_path: Path, advised: Advised, stand_ins: str
) -> None:
    dataset = Dataset(total_bytes=10**9, files=1, largest="", largest_bytes=10**9)
    advice = advised(dataset, source_path="/data/it's $HOME", destination_path="/store/a b")
    path = written(tmp_path, advice)
    assert "_PATH=" not in path.read_text()
    globus, destination, source = advice.commands
    for arguments, command in (
        ((), globus),
        (("globus-url-copy",), globus),
        (("xdd-destination",), destination),
        (("xdd-source",), source),
    ):
        status, output, errors = run(path, *arguments, PATH=stand_ins)
        assert (status, errors) == (0, "")
        assert output.splitlines() == command.argv[1:]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_filled_in_comes_out_as_if_it_had_been_said(
    tmp_path: Path, advised: Advised, stand_ins: str, name: str
) -> None:
    given = {"SOURCE_PATH": f"/d/{name}", "DESTINATION_PATH": f"/s/{name}", "SIZE_IN_BYTES": "9"}
    size = Dataset(total_bytes=9)
    flows = {"settings": {"tcp": {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}}}
    said = advised(size, source_path=f"/d/{name}", destination_path=f"/s/{name}", **flows)
    path = written(tmp_path, advised(**flows))
    for argument, command in zip(
        ("globus-url-copy", "xdd-destination", "xdd-source"), said.commands, strict=True
    ):
        status, output, errors = run(path, argument, PATH=stand_ins, **given)
        assert (status, errors) == (0, "")
        # How long xdd may take follows from the size, which was not known.
        skipped = 1 if argument.startswith("xdd") else 0
        assert output.splitlines()[skipped:] == command.argv[1 + skipped :]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tool", OTHERS)
def test_so_does_what_is_filled_in_for_other_tools(
    tmp_path: Path, advised: Advised, stand_ins: str, tool: str, name: str
) -> None:
    said = advised(tools=[tool], source_path=f"/d/{name}", destination_path=f"/s/{name}")
    path = written(tmp_path, advised(tools=[tool]))
    given = {
        "SOURCE_PATH": f"/d/{name}",
        "DESTINATION_PATH": f"/s/{name}",
        "ENDPOINT_ID": "1-2",
        "SOURCE_COLLECTION_ID": "3-4",
        "DESTINATION_COLLECTION_ID": "5-6",
    }
    identities = {word: value for word, value in given.items() if word.endswith("_ID")}
    suffix = {"globus": "", "rclone": "", "bbcp": ""}.get(tool, "-destination")
    for number, command in enumerate(said.commands):
        status, output, errors = run(
            path, f"{tool}{suffix}" + "-again" * number, PATH=stand_ins, **given
        )
        assert (status, errors) == (0, "")
        expected = "\n".join(command.argv[1:])
        for word, value in sorted(identities.items(), key=lambda item: -len(item[0])):
            expected = expected.replace(word, value)
        assert output.splitlines() == expected.splitlines()


@pytest.mark.parametrize(
    ("argument", "given", "reason"),
    [
        ("rclone", {"DESTINATION_PATH": "/s/f"}, "SOURCE_PATH is not an absolute path"),
        ("xrdcp-destination", {"SOURCE_PATH": "/f"}, "DESTINATION_PATH is not an absolute path"),
        ("globus", {}, "ENDPOINT_ID is not filled in"),
        ("globus-again", {"SOURCE_PATH": "/f"}, "SOURCE_COLLECTION_ID is not filled in"),
    ],
)
def test_other_tools_lines_are_refused_too(
    tmp_path: Path,
    advised: Advised,
    stand_ins: str,
    argument: str,
    given: Mapping[str, str],
    reason: str,
) -> None:
    path = written(tmp_path, advised(tools=OTHERS))
    status, output, errors = run(path, argument, PATH=stand_ins, **given)
    assert (status, output) == (2, "")
    assert reason in errors


@pytest.mark.parametrize("tool", ["aria2c", "rsync"])
def test_a_path_in_a_command_of_another_shell_is_never_filled_in(
    tmp_path: Path, advised: Advised, stand_ins: str, tool: str
) -> None:
    dataset = Dataset(total_bytes=10**9, path="/data/run", files=3, largest="x")
    path = written(tmp_path, advised(dataset, tools=[tool]))
    status, output, errors = run(path, PATH=stand_ins, DESTINATION_PATH="/s/d; reboot")
    assert (status, output) == (2, "")
    assert "DESTINATION_PATH cannot be filled in here" in errors


def test_a_directory_that_is_filled_in_ends_with_one_slash(
    tmp_path: Path, advised: Advised, stand_ins: str
) -> None:
    dataset = Dataset(total_bytes=10**9, path="/data/run", files=3, largest="x")
    path = written(tmp_path, advised(dataset))
    for given in ("/s/a b", "/s/a b/"):
        status, output, _ = run(path, PATH=stand_ins, DESTINATION_PATH=given)
        assert status == 0
        assert output.splitlines()[-2:] == [
            "file:///data/run/",
            "sshftp://dtn2.example.org/s/a%20b/",
        ]


@pytest.mark.parametrize(
    ("argument", "given", "reason"),
    [
        ("globus-url-copy", {}, "SOURCE_PATH is not an absolute path"),
        ("globus-url-copy", {"SOURCE_PATH": "d/f"}, "SOURCE_PATH is not an absolute path"),
        ("globus-url-copy", {"SOURCE_PATH": "/d/f"}, "DESTINATION_PATH is not an absolute path"),
        ("globus-url-copy", {"SOURCE_PATH": "/"}, "SOURCE_PATH is a directory"),
        ("xdd-destination", {"DESTINATION_PATH": "/s/f"}, "SIZE_IN_BYTES is not filled in"),
        ("xdd-source", {"SOURCE_PATH": "/f", "SIZE_IN_BYTES": "1G"}, "SIZE_IN_BYTES is not"),
        ("scp", {}, "choose from globus-url-copy, xdd-destination, xdd-source"),
    ],
)
def test_it_refuses_with_one_sentence(
    tmp_path: Path,
    advised: Advised,
    stand_ins: str,
    argument: str,
    given: Mapping[str, str],
    reason: str,
) -> None:
    status, output, errors = run(written(tmp_path, advised()), argument, PATH=stand_ins, **given)
    assert (status, output) == (2, "")
    assert reason in errors
    assert errors.count("\n") == 1


def test_the_evidence_is_above_the_lines_as_comments(advised: Advised) -> None:
    head, _, rest = script_text(advised()).partition("set -eu\n")
    assert all(line.startswith("#") for line in head.strip().splitlines())
    assert "90 %: 8.50 to 9.50 Gbit/s" in head
    assert "sysctl -w a=`b`" in head
    assert "session  20261121T074920Z-d28598" in head
    assert "sysctl" not in rest


def test_two_lines_of_one_tool_have_a_name_each(
    tmp_path: Path, advised: Advised, stand_ins: str
) -> None:
    udt = {"block_bytes": 895600, "buffer_bytes": 8192 * 8972, "mss_bytes": 9000}
    tcp = {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}
    advice = advised(
        subject="udt",
        settings={"tcp": tcp, "udt": udt},
        server_url="ftp://dtn2:5820",
        source_path="/d/f",
        destination_path="/s/f",
    )
    path = written(tmp_path, advice)
    first = run(path, PATH=stand_ins)
    second = run(path, "globus-url-copy-again", PATH=stand_ins)
    assert first[1].splitlines() == advice.commands[0].argv[1:]
    assert second[1].splitlines() == advice.commands[1].argv[1:]


def test_without_a_line_there_is_no_script(advised: Advised) -> None:
    with pytest.raises(ValueError, match="no command line"):
        script_text(msgspec.structs.replace(advised(), commands=[]))


@pytest.mark.parametrize("name", ["plain", "a b", "it's 50% #1"])
def test_it_really_copies(tmp_path: Path, advised: Advised, name: str) -> None:
    for program in ("globus-gridftp-server", "globus-url-copy"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is absent: apt install {PACKAGES[program]}")
    content = os.urandom(3 * 2**20 + 17)
    (tmp_path / name).write_bytes(content)

    async def copied(server: GridFTPServer) -> bytes:
        path = written(tmp_path, advised(server_url=server.url))
        given = [f"SOURCE_PATH={tmp_path / name}", f"DESTINATION_PATH={server.folder / name}"]
        async with asyncio.timeout(20), running(["env", *given, "sh", str(path)]) as child:
            await child.stdout.read()
            assert await child.wait() == 0, child.stderr.decode(errors="replace")
        return (server.folder / name).read_bytes()

    async def scenario() -> bytes:
        async with anonymous_server() as server:
            return await copied(server)

    assert asyncio.run(scenario()) == content
