"""What `make package` builds: recipes as the project has it, man pages as the commands are."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.cli.main import cli
from package import build, man

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(man.pages(1.8e9))


def test_the_container_installs_the_package_that_is_built() -> None:
    text = (ROOT / "package/Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    words = [line.split()[0] for line in lines]
    assert words == ["FROM", "ARG", "RUN", "USER", "WORKDIR", "ENTRYPOINT", "CMD"]
    assert f"ARG VERSION={PROJECT['version']}" in lines
    [debian] = [one for one in build.TARGETS if one.system == "debian13"]
    name = build.file_name(debian).rpartition("_")[0]
    assert f"/dist/{name}_".replace(PROJECT["version"], "${VERSION}") in text
    assert "debian:13" in lines[0]
    script = lines[2].split("target=/dist ", 1)[1]
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)


def test_the_conda_recipe_has_the_projects_version_and_dependencies() -> None:
    recipe = yaml.safe_load((ROOT / "package/conda/meta.yaml").read_text())
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    run = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert run == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    [(name, place)] = PROJECT["scripts"].items()
    assert recipe["build"]["entry_points"] == [f"{name} = {place}"]


@pytest.mark.parametrize("target", build.TARGETS, ids=lambda one: one.system)
def test_a_package_is_for_the_python_of_its_system(
    target: build.Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "BUILD", tmp_path)
    settings = build.nfpm_settings(target, tmp_path / "tree", 1_800_000_000)
    assert settings["version"] == PROJECT["version"]
    assert settings["mtime"] == "2027-01-15T08:00:00Z"
    assert f"python{target.python}" in settings["depends"]
    assert f"Programming Language :: Python :: {target.python}" in PROJECT["classifiers"]
    links = {one["dst"]: one["src"] for one in settings["contents"] if one["type"] == "symlink"}
    assert links[f"{build.HOME}/bin/python3"] == f"/usr/bin/python{target.python}"
    assert links["/usr/bin/advisor"] == f"{build.HOME}/bin/advisor"
    for script in settings["scripts"].values():
        subprocess.run(["sh", "-n", script], check=True)


def test_an_upgrade_of_an_rpm_keeps_the_new_versions_bytecode(tmp_path: Path) -> None:
    script = build.scripts("python3")["preremove"].replace(build.HOME, str(tmp_path))
    cache = tmp_path / "lib/x/__pycache__"
    cache.mkdir(parents=True)
    for argument, is_left in (("1", True), ("upgrade", False)):
        subprocess.run(["sh", "-s", argument], input=script, text=True, check=True)
        assert cache.exists() is is_left


def test_every_command_has_a_page_with_all_its_options(pages: dict[str, str]) -> None:
    seen = 0
    stack: list[tuple[Any, Any, list[str]]] = [
        (cli, cli.make_context("advisor", [], resilient_parsing=True), ["advisor"])
    ]
    while stack:
        command, context, words = stack.pop()
        page = pages["-".join(words) + ".1"].replace("\\-", "-")
        for one in command.get_params(context):
            if one.get_help_record(context):
                assert all(name in page for name in getattr(one, "opts", []) if "-" in name)
        seen += 1
        for name in getattr(command, "list_commands", lambda _: [])(context):
            below = command.get_command(context, name)
            if not below.hidden:
                made = below.make_context(name, [], parent=context, resilient_parsing=True)
                stack.append((below, made, [*words, name]))
    assert seen == len(pages) > 40


def test_the_pages_are_read_without_a_warning(pages: dict[str, str]) -> None:
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    text = "".join(pages.values())
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-K", "utf8", "-ww"], input=text.encode(), capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_line_of_a_page_is_an_instruction_by_accident(pages: dict[str, str]) -> None:
    known = {".TH", ".SH", ".PP", ".TP", ".nf", ".fi"}
    for page in pages.values():
        for line in page.splitlines():
            assert line[:1] != "'"
            assert line[:1] != "." or line.split()[0] in known
    assert man._line(".so /etc/passwd") == "\\&.so /etc/passwd"
    assert man._line("a\\fB-b") == "a\\efB\\-b"


def test_the_same_commit_gives_the_same_pages(pages: dict[str, str]) -> None:
    assert dict(man.pages(1.8e9)) == pages
    assert re.search(r'"2027-01-15"', pages["advisor.1"])
