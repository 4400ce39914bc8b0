"""Fetches what the agent is built from, by digest, and unpacks it."""

import hashlib
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from pathlib import Path
from typing import Any, Final

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[1]
PYTHON: Final = "313"


class Sources:
    """Archives in a folder, each fetched once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._named = tomllib.loads((_HERE / "sources.toml").read_text())

    def unpacked(self, name: str) -> Path:
        """The folder in the archive of that name in sources.toml."""
        target = self._folder / name
        if not target.exists():
            archive = self._fetched(name)
            draft = target.with_suffix(".draft")
            with tarfile.open(archive) as tar:
                tar.extractall(draft, filter="data")
            draft.rename(target)
        (inside,) = target.iterdir()
        return inside

    def _fetched(self, name: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        wanted = self._named[name]["sha256"]
        path = self._folder / self._named[name]["places"][0].rpartition("/")[2]
        if path.exists() and _digest(path.read_bytes()) == wanted:
            return path
        for place in self._named[name]["places"]:
            try:
                with urllib.request.urlopen(place, timeout=60) as answer:
                    content = answer.read()
            except OSError as error:
                print(f"{place}: {error}", file=sys.stderr)
                continue
            if _digest(content) == wanted:
                path.write_bytes(content)
                return path
            print(f"{place}: its SHA-256 is not the expected one", file=sys.stderr)
        sys.exit(f"the sources of {name} could not be fetched")

    def packages(self, machine: str, names: list[str]) -> Path:
        """A folder with these packages as uv.lock has them, built for that machine."""
        target = self._folder / f"packages-{machine}"
        if target.exists():
            return target
        wheels = self._folder / f"wheels-{machine}"
        wheels.mkdir(parents=True, exist_ok=True)
        lock = tomllib.loads((_ROOT / "uv.lock").read_text())
        chosen = [one for one in lock["package"] if one["name"] in names]
        listed = self._folder / "requirements.txt"
        for one in chosen:
            listed.write_text(_requirement(one))
            binary = [
                "--only-binary=:all:", "--implementation=cp", f"--python-version={PYTHON}",
                f"--platform=manylinux2014_{machine}", f"--platform=manylinux2010_{machine}",
                f"--platform=manylinux_2_17_{machine}",
            ]  # fmt: skip
            kind = binary if one.get("wheels") else ["--no-binary=:all:"]
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--require-hashes", *kind, "-r", str(listed), "-d", str(wheels)]
            subprocess.run(command, check=True)
        draft = target.with_suffix(".draft")
        for archive in sorted(wheels.iterdir()):
            _unpack(archive, draft)
        draft.rename(target)
        return target


def _requirement(package: dict[str, Any]) -> str:
    files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
    hashes = "".join(f" --hash={one['hash']}" for one in files)
    return f"{package['name']}=={package['version']}{hashes}\n"


def _unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".whl":
        zipfile.ZipFile(archive).extractall(folder)
        return
    with tarfile.open(archive) as tar:
        top = tar.getnames()[0].partition("/")[0]
        for member in tar.getmembers():
            member.name = member.name.removeprefix(f"{top}/")
            tar.extract(member, folder, filter="data")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
