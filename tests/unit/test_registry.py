"""Plugins are found from all four places in the same way, and a broken one hinders no other."""

import json
import subprocess
import sys
from pathlib import Path

from advisor import registry

METHOD = """
from advisor.api.values import AVAILABLE

class Plugin:
    name = "{name}"
    summary = "finds nothing"
    constants = ()

    def available(self):
        return AVAILABLE

    def create(self, space, rng, knowledge, constants):
        raise NotImplementedError

plugin = Plugin()
"""


def listed(home: Path, **environment: str) -> dict[str, dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "advisor", "plugins", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_DATA_HOME": str(home), **environment},
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["name"]: line for line in lines}


def test_the_bundled_ones_are_found(tmp_path: Path) -> None:
    found = listed(tmp_path)
    assert {"spsa", "tcp", "udt", "globus-url-copy", "xdd"} <= set(found)
    assert all(line["origin"] == "bundled" for line in found.values())
    for line in found.values():
        availability = line["availability"]
        assert isinstance(availability, dict)
        assert bool(availability["reason"]) == bool(availability["remedy"])


def test_a_users_own_and_a_named_folder_are_found(tmp_path: Path) -> None:
    own, named = tmp_path / "advisor/plugins/methods", tmp_path / "named/methods"
    for folder, name in ((own, "mine"), (named, "named")):
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(METHOD.format(name=name))
    package = own / "packaged"
    package.mkdir()
    (package / "helper.py").write_text("NAME = 'packaged'\n")
    text = METHOD.format(name="x").replace('"x"', "NAME")
    (package / "__init__.py").write_text("from .helper import NAME\n" + text)
    found = listed(tmp_path, ADVISOR_PLUGINS=str(tmp_path / "named"))
    assert found["mine"]["origin"] == "user"
    assert found["packaged"]["origin"] == "user"
    assert found["named"]["origin"] == str(tmp_path / "named")
    assert "spsa" in found


def test_an_entry_point_is_found(tmp_path: Path) -> None:
    (tmp_path / "their_method.py").write_text(METHOD.format(name="theirs"))
    info = tmp_path / "their_distribution-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: their-distribution\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text("[advisor.methods]\ntheirs = their_method\n")
    found = listed(tmp_path, PYTHONPATH=str(tmp_path))
    assert found["theirs"]["origin"] == "their-distribution"


def test_a_broken_plugin_is_listed_and_hinders_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "advisor/plugins/tools"
    folder.mkdir(parents=True)
    (folder / "broken.py").write_text("import no_such_module_anywhere\n")
    (folder / "empty.py").write_text("")
    found = listed(tmp_path)
    broken, empty = found["broken"]["availability"], found["empty"]["availability"]
    assert isinstance(broken, dict)
    assert isinstance(empty, dict)
    assert "no_such_module_anywhere" in broken["reason"]
    assert "no object `plugin`" in empty["reason"]
    assert "spsa" in found


def test_a_bundled_name_cannot_be_taken(tmp_path: Path) -> None:
    folder = tmp_path / "advisor/plugins/methods"
    folder.mkdir(parents=True)
    (folder / "spsa.py").write_text(METHOD.format(name="spsa"))
    assert listed(tmp_path)["spsa"]["origin"] == "bundled"


def test_a_former_name_finds_the_plugin_of_today() -> None:
    assert registry.method("octave") is registry.method("bayes")
    assert "octave" not in {line.name for line in registry.listing()}
