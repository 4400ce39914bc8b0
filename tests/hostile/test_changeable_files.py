"""A plugin or a configuration that any other user may change is not used."""

from pathlib import Path

import pytest

from advisor import registry
from advisor.cli.config import configuration
from advisor.hosts.changeable import changeable_by_all

PLUGIN = "raise SystemExit('it was run')\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def faults() -> list[str]:
    found = registry._from_folders("methods")
    return [one.fault or "" for one in found if one.origin == "user"]


@pytest.mark.parametrize("open_one", ["data", "data/advisor/plugins/methods", "the file"])
@pytest.mark.parametrize("name", ["mine.py", "mine/__init__.py"])
def test_a_plugin_is_not_loaded(home: Path, name: str, open_one: str) -> None:
    file = home / "data" / "advisor" / "plugins" / "methods" / name
    file.parent.mkdir(parents=True)
    file.write_text(PLUGIN)
    place = file if open_one == "the file" else home / open_one
    place.chmod(place.stat().st_mode | 0o002)
    [fault] = faults()
    assert f"as every user may change {place}: run chmod o-w" in fault


def test_any_file_of_a_plugin_counts(home: Path) -> None:
    folder = home / "data" / "advisor" / "plugins" / "methods" / "mine"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(PLUGIN)
    (folder / "part.py").touch()
    (folder / "part.py").chmod(0o666)
    [fault] = faults()
    assert str(folder / "part.py") in fault


def test_a_configuration_is_not_read(home: Path) -> None:
    file = configuration.path()
    file.parent.mkdir(parents=True)
    file.write_text("[advise]\nagent-command = 'anything'\n")
    assert configuration.load().advise is not None
    file.chmod(0o646)
    with pytest.raises(configuration.BadConfiguration, match=f"run chmod o-w {file}"):
        configuration.load()


def test_a_link_leads_to_what_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file = tmp_path / "there" / "file"
    file.touch()
    link = tmp_path / "link"
    link.symlink_to(file)
    assert changeable_by_all(link) is None
    (tmp_path / "there").chmod(0o777)
    assert changeable_by_all(link) == tmp_path / "there"
    # Nobody else can replace another's file there.
    (tmp_path / "there").chmod(0o1777)
    assert changeable_by_all(link) is None
    (tmp_path / "there").chmod(0o755)
    tmp_path.chmod(0o777)
    assert changeable_by_all(link) == tmp_path
