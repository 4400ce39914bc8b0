"""The configuration file: what it is for, and what is said when it is wrong."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from advisor.cli.advise.command import advise
from advisor.cli.commands import options_by_word
from advisor.cli.completion import history_to_complete
from advisor.cli.config import configuration
from advisor.cli.config.command import option_of
from advisor.cli.transfer import command as transfer_command
from advisor.runtime.control import Control
from advisor.transfer.tuned.transfer import TransferOptions
from tests.commands import every_command

from .conftest import Typed

ADVISOR = [sys.executable, "-P", "-m", "advisor"]


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ADVISOR, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "ADVISOR_RUNTIME_DIR": str(home / "advisor"),
        },
        check=False,
    )


def write(home: Path, text: str) -> Path:
    file = home / ".config" / "advisor" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    return tmp_path


def parsed(*arguments: str) -> dict[str, Any]:
    """What `advise` makes of these arguments and the file, before it does anything."""
    return dict(advise.make_context("advise", list(arguments)).params)


OF_HOSTS = [("advise", word) for word in configuration.keys_of(configuration.HostTable)]
KEYS = [
    (table, word)
    for table in configuration.TABLES
    for word in configuration.keys_of(type(getattr(configuration.Configuration(), table)))
]


@pytest.mark.parametrize(("table", "word"), OF_HOSTS + KEYS)
def test_every_key_is_an_option(table: str, word: str) -> None:
    option = option_of(table, word)
    assert f"--{word}" in option.opts
    assert option.help


COMMANDS = dict(every_command())


@pytest.mark.parametrize(("table", "word"), KEYS)
def test_a_configured_default_reaches_every_command_of_its_table(
    table: str, word: str, configured: Path
) -> None:
    write(configured, f'[{table}]\n"{word}" = "7"\n')
    for words in configuration.TABLES[table]:
        command = COMMANDS[words]
        options = options_by_word(command)
        said = configuration.of_command(words, list(options))
        assert said == ({word: "7"} if word in options else {})


def test_the_tables_of_commands_and_of_hosts(configured: Path) -> None:
    write(
        configured,
        '[advise]\nmethod = "spsa"\n[transfer]\nmethod = "bayes"\nmax-rate = "4Gbit"\n'
        "verify = true\nmax-streams = 4\n[share]\nmodel = 'log'\n[plan]\nmax-streams = 3\n"
        '[hosts.near]\nmethod = "depth_width"\nmax-streams = 2\n',
    )
    transfer, plan = COMMANDS["transfer",], COMMANDS["plan",]
    far = transfer.make_context("transfer", [str(configured), "far", "--to", "/x"]).params
    assert (far["method"], far["max_rate"], far["verify"]) == ("bayes", 4e9, True)
    assert far["max_streams"] == 4
    near = transfer.make_context("transfer", [str(configured), "near", "--to", "/x"]).params
    assert (near["method"], near["max_streams"]) == ("bayes", 2)
    assert plan.make_context("plan", [str(configured), "far"]).params["max_streams"] == 3
    assert parsed("near")["method"] == "depth_width"


def test_what_is_typed_goes_before_the_host_and_that_before_all_sessions(configured: Path) -> None:
    write(
        configured,
        '[advise]\nbudget = "2min"\nmax-streams = 8\nconstant = ["a=10", "c=4"]\n'
        'transports = ["tcp"]\ntools = ["rclone", "xdd"]\n'
        '[hosts.near]\nbudget = "30s"\nbandwidth = "10Gbit"\nrtt = "4ms"\n',
    )
    everywhere = parsed("far")
    assert (everywhere["budget"], everywhere["max_streams"]) == (120.0, 8)
    assert list(everywhere["constant"]) == [("a", 10.0), ("c", 4.0)]
    assert everywhere["transports"] == ["tcp"]
    assert everywhere["tools"] == ["rclone", "xdd"]
    assert parsed("far", "--tools", "xrdcp")["tools"] == ["xrdcp"]
    assert everywhere["bandwidth"] is None
    assert parsed("far", "--for-tool", "xrdcp")["tools"] == ["xrdcp"]
    near = parsed("near", "--rtt", "9ms")
    assert (near["budget"], near["bandwidth"]) == (30.0, 1e10)
    assert near["rtt"] == pytest.approx(0.009)
    assert near["max_streams"] == 8


def test_bare_numbers_in_the_file_are_in_bits_and_seconds(configured: Path) -> None:
    write(configured, '[hosts.near]\nbandwidth = 10_000_000_000\nrtt = "0.004"\n')
    near = parsed("near")
    assert near["bandwidth"] == 1e10
    assert near["rtt"] == pytest.approx(0.004)


def test_former_names_of_words_are_read(configured: Path) -> None:
    write(configured, '[advise]\ntools = ["rclone"]\n')
    assert parsed("far")["tools"] == ["rclone"]
    write(configured, '[advise]\nfor-tool = ["rclone", "xdd"]\n')
    assert parsed("far")["tools"] == ["rclone", "xdd"]


@pytest.mark.parametrize("table", ["[advise]", "[hosts.near]"])
def test_former_names_of_words_are_validated(typed: Typed, tmp_path: Path, table: str) -> None:
    write(tmp_path, f'{table}\ntools = ["rclone"]\n')
    done = typed("config", "validate")
    assert (done.returncode, done.stderr) == (0, "")
    assert "good" in done.stdout


@pytest.mark.parametrize(
    ("words", "price", "streams"),
    [
        ([], 0.02, 4),
        (["--method", "harp"], None, None),
        (["--method", "harp", "--streams", "2"], None, 2),
        (["--method", "fixed"], None, 4),
        (["--price", "3%"], 0.03, 4),
    ],
)
def test_a_configured_default_is_for_methods_that_have_a_use_for_it(
    words: list[str],
    price: float | None,
    streams: int | None,
    typed: Typed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[TransferOptions] = []
    monkeypatch.setattr(
        transfer_command, "transfer_tuned", lambda _request, wanted, **_: begun.append(wanted)
    )
    monkeypatch.setattr(
        transfer_command, "run_moving", lambda session, *_, **__: session(print, Control()) or 0
    )
    write(tmp_path, "[transfer]\nprice = '2%'\nstreams = 4\n")
    (tmp_path / "data").write_bytes(b"x")
    done = typed("transfer", tmp_path / "data", "localhost", "--to", "/x", *words)
    assert done.stderr == ""
    # What is typed is kept, and refused.
    assert [(one.price, one.streams) for one in begun] == [(price, streams)]


CONNECTING = [
    words
    for words, command in every_command()
    if {"ports", "agent_command"} <= {one.name for one in command.params}
    and words not in {("agent",), ("advise",)}
]


@pytest.mark.parametrize("words", CONNECTING, ids=" ".join)
def test_how_agents_are_started_is_said_once_for_every_command(
    words: tuple[str, ...], configured: Path
) -> None:
    write(configured, '[advise]\nbudget = "2min"\nports = "50000-50100"\n')
    said = configuration.of_command(words, ["ports", "agent-command"])
    assert said == {"ports": "50000-50100"}
    assert len(CONNECTING) > 5


def test_the_agent_itself_reads_no_configuration(configured: Path) -> None:
    write(configured, "[advise\n")
    assert configuration.of_command(("agent",), ["ports", "listen"]) == {}


STORED = [
    (words, command, option)
    for words, command in every_command()
    for option in command.params
    if option.name == "store"
]


@pytest.mark.parametrize(
    ("words", "command", "option"), STORED, ids=[" ".join(words) for words, _, _ in STORED]
)
def test_the_store_is_that_of_every_command_that_has_one(
    words: tuple[str, ...], command: Any, option: Any, configured: Path
) -> None:
    write(configured, f'store = "{configured / "elsewhere"}"\n')
    context = typer.Context(command, info_name=words[-1])
    value, _ = option.consume_value(context, {})
    assert option.process_value(context, value).argument == str(configured / "elsewhere")


def test_the_configured_store_is_read_and_completed_from(configured: Path) -> None:
    assert len(STORED) > 15
    write(configured, f'store = "{configured / "elsewhere"}"\n')
    done = run(configured, "history", "--json")
    assert done.returncode == 0, done.stderr
    assert history_to_complete().argument == str(configured / "elsewhere")
    write(configured, "[store\n")
    assert history_to_complete().argument != str(configured / "elsewhere")


WRONG = [
    ('[advise]\nbudgt = "2min"\n', ["[advise] has no 'budgt'", "did you mean 'budget'"]),
    ("[advice]\n", ["has no 'advice'", "did you mean 'advise'"]),
    ('[hosts."x"]\nstreams = 4\n', ['[hosts."x"] has no', "max-streams"]),
    ("advise = 3\n", ["advise must be a table", "[advise]"]),
    ('[screen]\ndrawing = "oil"\n', ["[screen] drawing is one of ascii, block, braille"]),
    ("store = 3\n", ["store must be a directory"]),
    ("[advise\n", ["config.toml", "line 1"]),
    ('[advise]\nbudget = "soon"\n', ["budget", "soon"]),
    ("[advise]\nmax-streams = 1000\n", ["max-streams", "1000"]),
    ('[hosts."x"]\nbandwidth = "10GB/s"\n', ["bandwidth", "bits"]),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_what_is_wrong_is_reported_in_one_sentence(
    typed: Typed, text: str, words: list[str], tmp_path: Path
) -> None:
    file = write(tmp_path, text)
    for arguments in (["config", "validate"], ["advise", "x"]):
        done = typed(*arguments)
        assert done.returncode == 2, done.stdout
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert str(file) in done.stderr
        for word in words:
            assert word in done.stderr


def test_a_file_in_another_encoding(typed: Typed, tmp_path: Path) -> None:
    file = write(tmp_path, "")
    file.write_bytes('store = "/data/München"'.encode("latin-1"))
    done = typed("config", "validate")
    assert done.returncode == 2
    assert f"{file} is not UTF-8 text" in done.stderr


def test_a_wrong_file_keeps_nobody_from_looking(typed: Typed, tmp_path: Path) -> None:
    write(tmp_path, "[advise\n")
    assert typed("--help").returncode == 0
    assert typed("plugins").returncode == 0


def test_the_schema_has_every_word(typed: Typed) -> None:
    tables = json.loads(typed("config", "schema").stdout)["$defs"]
    assert set(tables["HostTable"]["properties"]) > set(
        configuration.keys_of(configuration.HostTable)
    )
    assert tables["Configuration"]["additionalProperties"] is False


def test_init_writes_a_good_file_and_never_over_another(typed: Typed) -> None:
    done = typed("config", "init")
    assert done.returncode == 0, done.stderr
    file = Path(done.stdout.strip())
    assert typed("config", "path").stdout == done.stdout
    assert tomllib.loads(file.read_text()) == {
        table: {} for table in [*configuration.TABLES, "screen", "keys"]
    }
    for word in configuration.keys_of(configuration.Sessions):
        assert f"# {word} = " in file.read_text()
    assert "good" in typed("config", "validate").stdout
    file.write_text("[advise]\nbudget = 30\n")
    again = typed("config", "init")
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert file.read_text() == "[advise]\nbudget = 30\n"
    shown = typed("config", "show").stdout
    assert "[advise] budget = 30" in shown
    (advise,) = (line for line in shown.splitlines() if line.startswith("[advise] as built in"))
    assert "method" in advise
    assert "budget" not in advise


def test_what_init_writes_is_read_whatever_the_umask(typed: Typed) -> None:
    umask = os.umask(0)
    try:
        assert typed("config", "init").returncode == 0
    finally:
        os.umask(umask)
    assert "good" in typed("config", "validate").stdout


def test_without_a_file_all_is_as_built_in(typed: Typed) -> None:
    assert "there is no such file" in typed("config", "show").stdout
    assert "nothing is set" in typed("config", "validate").stdout
