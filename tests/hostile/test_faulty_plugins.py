"""A plugin of the user's that fails, in whatever way, is left out with one sentence, and no command
ends for it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from advisor import faults, registry
from advisor.domain.availability import Availability

SOUND: Final = """
from advisor.api.values import AVAILABLE

class Plugin:
    name = "NAME"
    summary = "finds nothing"
    constants = ()

    def available(self):
        return AVAILABLE

    def create(self, space, rng, knowledge, constants):
        raise NotImplementedError

plugin = Plugin()
"""
FAULTY: Final = {
    "kind": (SOUND.replace("= Plugin()", "= Plugin"), "`plugin` is a class: write"),
    "exits": ("import sys\nsys.exit('not here')\n", "SystemExit: not here"),
    "leaves": ("raise SystemExit\n", "SystemExit()"),
    "syntax": ("def (\n", "SyntaxError: "),
    "escapes": ("raise OSError('a\\n\\x1b[2Jb')\n", "OSError: a \\x1b[2Jb"),
    "number": (SOUND.replace('"NAME"', "3"), "that is no text"),
    "property": (SOUND + "Plugin.summary = property(lambda _: 1 / 0)\n", "ZeroDivisionError: "),
    "asked": (SOUND.replace("return AVAILABLE", "1 / 0"), "ZeroDivisionError: "),
    "quits": (SOUND.replace("return AVAILABLE", "raise SystemExit(3)"), "SystemExit: 3"),
    "nothing": (SOUND.replace("return AVAILABLE", "return None"), "returns no Availability"),
}


def run(home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python(home, "-m", "advisor", *words, **environment)


def python(home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(home),
            "XDG_DATA_HOME": str(home),
            **environment,
        },
        check=False,
    )


def a_plugin(home: Path, name: str, text: str) -> Path:
    folder = home / "advisor/plugins/methods"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(text.replace("NAME", name))
    return file


def test_each_is_told_in_one_line_and_the_command_works(tmp_path: Path) -> None:
    files = {name: a_plugin(tmp_path, name, text) for name, (text, _) in FAULTY.items()}
    a_plugin(tmp_path, "sound", SOUND)
    done = run(tmp_path, "plugins", "--json")
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    assert len(told) == len(FAULTY)
    for name, (_, fault) in FAULTY.items():
        [line] = [one for one in told if str(files[name]) in one]
        assert line.startswith(f"advisor: a plugin is left out: {files[name]}: ")
        assert fault in line
        assert line.isprintable()
    assert '"name":"sound"' in done.stdout
    assert '"name":"spsa"' in done.stdout


@pytest.mark.parametrize("name", ["exits", "kind", "asked"])
def test_a_command_that_names_it_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    a_plugin(tmp_path, name, FAULTY[name][0])
    done = run(tmp_path, "advise", "localhost", "--method", name)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert FAULTY[name][1] in done.stderr.splitlines()[-1]


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = "x" * 300
    done = run(tmp_path, "plugins", ADVISOR_PLUGINS=folder)
    assert done.returncode == 0, done.stderr
    assert f"left out: {folder}/methods cannot be read: File name too long" in done.stderr
    assert "spsa" in done.stdout


def test_a_completion_prints_none_of_it(tmp_path: Path) -> None:
    file = tmp_path / "advisor/plugins/tools/exits.py"
    file.parent.mkdir(parents=True)
    file.write_text(FAULTY["exits"][0])
    completing = "import sys; sys.argv[0] = 'advisor'; from advisor.cli.start import main; main()"
    done = python(
        tmp_path,
        *("-c", completing),
        _ADVISOR_COMPLETE="complete_bash",
        COMP_WORDS="advisor advise localhost --profile-tool rcl",
        COMP_CWORD="4",
    )
    assert done.stdout.split() == ["rclone"]
    assert done.stderr == ""


def test_the_users_own_interruption_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    a_plugin(tmp_path, "mine", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        list(registry._from_folders("methods"))


def test_a_fault_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(faults, "_tellers", [told.append])
    monkeypatch.setattr(faults, "_told", set())

    class Failing:
        name = "failing"

        def available(self) -> Availability:
            raise OSError("no such thing")

    plugin = Failing()
    for _ in range(2):
        found = registry.availability(plugin)  # type: ignore[arg-type] # one part of a plugin
        assert found.reason == "failing: OSError: no such thing"
    assert told == ["a plugin is left out: failing: OSError: no such thing"]
