"""The wheel is whole: plugins and profiles are inside the package, nothing is beside it."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from advisor import registry

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_one_top_level_name_and_no_more(unpacked: Path) -> None:
    names = {path.name for path in unpacked.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"advisor"}
    assert (unpacked / "advisor/plugins/methods/spsa.py").is_file()
    assert (unpacked / "advisor/report/fleet_page/template.html").is_file()
    assert (unpacked / "advisor/report/fleet_page/style.css").is_file()
    assert (unpacked / "advisor/profiles/README.md").is_file()
    assert (unpacked / "advisor/py.typed").is_file()
    assert (unpacked / "advisor/__init__.pyi").is_file()
    assert (unpacked / "advisor/profiles/45.6ms.profile.gz").is_file()


def test_it_runs_from_the_wheel(unpacked: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        # The checkout's own package is installed in this environment too: the wheel comes first.
        return subprocess.run(
            [sys.executable, "-P", "-m", "advisor", *arguments],
            env={**os.environ, "PYTHONPATH": str(unpacked), "XDG_DATA_HOME": str(tmp_path)},
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    where = subprocess.run(
        [sys.executable, "-P", "-c", "import advisor; print(advisor.__file__)"],
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert str(unpacked) in where
    lines = [json.loads(line) for line in run("plugins", "--json").splitlines()]
    assert {line["name"] for line in lines} == {one.name for one in registry.listing()}
    assert "rtt-93.6" in json.loads(run("lab", "paths", "--json"))
    assert (unpacked / "advisor/lab/wanpath.c").is_file()
    assert "reference-45.6ms" in run("profile", "list")
    assert run("help", "commands") == (ROOT / "docs/reference/commands.md").read_text()
    events = run("advise", "localhost", "--json", "--budget", "8").splitlines()
    assert json.loads(events[-1])["event"] == "advice"
