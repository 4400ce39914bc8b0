"""What each command loads, seen from a child process."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import json, sys
from advisor.cli.main import main
try:
    main({arguments!r})
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded_by(arguments: list[str], home: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM.format(arguments=arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_DATA_HOME": str(home)},
        check=True,
    )
    names: list[str] = json.loads(done.stderr.strip().splitlines()[-1])
    return {name.split(".")[0] for name in names} | set(names)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_loads_next_to_nothing(arguments: list[str], tmp_path: Path) -> None:
    loaded = loaded_by(arguments, tmp_path)
    assert not loaded & {
        "textual",
        "scipy",
        "numpy",
        "sklearn",
        "pydantic",
        "rich",
        "tinydb",
        "asyncio",
        "advisor.advising",
        "advisor.runtime",
        "advisor.transfer",
    }


@pytest.mark.parametrize(
    "arguments",
    [["history", "--json"], ["plugins", "--json"], ["doctor", "--json"]],
)
def test_json_commands_load_no_screen_and_no_statistics(
    arguments: list[str], tmp_path: Path
) -> None:
    assert not loaded_by(arguments, tmp_path) & {"textual", "scipy", "rich"}


@pytest.mark.parametrize(
    "arguments", [["advise", "--help"], ["share", "--help"], ["fleet", "--help"]]
)
def test_the_help_of_a_command_loads_no_screen_and_no_statistics(
    arguments: list[str], tmp_path: Path
) -> None:
    """Typer draws it with rich; `advisor --help` alone draws its own boxes, which is faster."""
    assert not loaded_by(arguments, tmp_path) & {"textual", "scipy", "sklearn"}


@pytest.mark.parametrize(
    "arguments", [["lab", "paths"], ["history", "--json"], ["agent", "--help"]]
)
def test_short_commands_load_no_arrays_and_no_other_validation(
    arguments: list[str], tmp_path: Path
) -> None:
    """They start in a moment, many times over in a script."""
    assert not loaded_by(arguments, tmp_path) & {"numpy", "pydantic", "email"}


def test_an_end_of_a_probe_loads_no_loop_and_no_arrays() -> None:
    """It starts again for every probe, on both hosts."""
    program = "import sys, advisor.probing.child as child; child.main(); print(*sys.modules)"
    line = [sys.executable, "-P", "-c", program]
    done = subprocess.run(
        line, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60
    )
    # Its output is for reports; what a transport prints goes to standard error.
    loaded = set(done.stderr.split())
    assert "advisor_plugins_bundled_transports_udt" in loaded
    assert not loaded & {"asyncio", "numpy", "importlib.metadata", "rich"}


def test_the_help_of_advise_loads_nothing_that_measures_or_computes(tmp_path: Path) -> None:
    loaded = loaded_by(["advise", "--help"], tmp_path)
    assert not loaded & {"numpy", "cryptography", "advisor.advising", "advisor.agent"}


def test_one_place_starts_processes() -> None:
    """What import contracts cannot see: asyncio's own way, and os's."""
    starts = re.compile(r"create_subprocess_|os\.(fork|spawn|system|popen|exec)|\bPopen\(")
    files = [*ROOT.glob("advisor/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    found = {str(f.relative_to(ROOT)) for f in files if starts.search(f.read_text())}
    assert found == {"advisor/hosts/processes.py"}


@pytest.mark.parametrize(
    "arguments",
    [["fleet", "--help"], ["fleet", "work", "--help"], ["fleet", "validate", "none"], ["history"]],
)
def test_nothing_of_a_database_is_loaded_before_it_is_used(
    arguments: list[str], tmp_path: Path
) -> None:
    loaded = loaded_by(arguments, tmp_path)
    assert not loaded & {"psycopg", "procrastinate", "prometheus_client", "advisor.fleet.work"}


def test_the_base_install_imports_no_extra_but_where_it_says_so() -> None:
    """Both are extras: what else imported them would fail without."""
    imports = re.compile(r"^\s*(?:from|import) (sklearn|matplotlib)\b", flags=re.M)
    files = [*ROOT.glob("advisor/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    found = {
        (str(f.relative_to(ROOT)), name) for f in files for name in imports.findall(f.read_text())
    }
    assert found == {
        ("advisor/models/harp/ann.py", "sklearn"),
        ("advisor/report/backtest_plot.py", "matplotlib"),
        ("advisor/report/plotting.py", "matplotlib"),
        ("advisor/report/rtt_profile_plot.py", "matplotlib"),
    }
