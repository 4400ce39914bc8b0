"""`make agent`: the agent that `--push` brings along, a file for each kind of machine, in dist/.

It is a Python interpreter (main.c) with a ZIP archive of its modules behind it, compressed. The
same sources are to give the same file: no path of this host and no time is put into it. It needs a
network to the package registries, once, and some minutes for each kind of machine.
"""

import argparse
import gzip
import hashlib
import io
import json
import platform
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from compiling import Compiled
from sources import Sources

_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parents[1]
_CACHE: Final = _ROOT / "build" / "agent"
_MACHINES: Final = ("x86_64", "aarch64")
_PACKAGES: Final = [
    "blake3", "cffi", "cryptography", "filelock", "iperf3", "msgspec", "platformdirs", "psutil",
]  # fmt: skip
_ENTRIES: Final = ("advisor.agent.carried", "advisor.probing.child")
# The interpreter imports these by itself, or advisor by name.
_ALSO: Final = ("advisor_boot", "encodings.utf_8", "encodings.ascii", "encodings.latin_1",
    "encodings.idna", "encodings.cp437", "runpy", "_cffi_backend")  # fmt: skip
_PLUGINS: Final = ("transports", "tools")
_BUNDLED: Final = "advisor_bundled"
# What modules of the standard library import for uses that an agent has not.
_WITHOUT: Final = [
    "_pyrepl", "argparse", "bz2", "curses", "dbm", "distutils", "doctest", "ensurepip", "html",
    "http", "idlelib", "lzma", "multiprocessing", "pdb", "pydoc", "sqlite3", "_ssl", "ssl", "test",
    "tkinter", "turtle", "unittest", "venv", "webbrowser", "xml", "xmlrpc",
    "asyncio.__main__", "asyncio.windows_events", "asyncio.windows_utils",
    "numpy", "rich", "scipy", "sklearn", "textual", "typer",
]  # fmt: skip
# What modules read beside themselves.
_DATA: Final = ["advisor/hosts/packages.txt"]
_FAULTS: Final = """
from advisor import registry
found = [one for kind in %r for one in registry._found(kind).values()]
faults = [one.fault for one in found if one.fault]
assert registry.transports() and registry.tools() and not faults, faults
"""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def main() -> None:
    """Build the agents that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", choices=_MACHINES, action="append")
    wanted = parser.parse_args().machine or _MACHINES
    sources = Sources(_CACHE / "sources")
    for machine in wanted:
        content = _agent(machine, sources)
        if str(_ROOT).encode() in content:
            raise SystemExit(f"the agent for {machine} has the path of this checkout in it")
        path = _ROOT / "dist" / f"advisor-agent-{_version()}-{machine}.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(content, 9, mtime=0))
        digest = hashlib.sha256(content).hexdigest()
        print(f"{path.relative_to(_ROOT)}: {path.stat().st_size / 1e6:.1f} MB, SHA-256 {digest}")


def _version() -> str:
    found: dict[str, str] = {}
    exec((_ROOT / "advisor" / "__init__.py").read_text(), found)
    return found["__version__"]


def _agent(machine: str, sources: Sources) -> bytes:
    compiled = Compiled(machine, sources, _CACHE)
    packages = sources.packages(machine, _PACKAGES)
    bundled = _bundled_plugins()
    folders = [_HERE, _ROOT, packages, compiled.python_source / "Lib"]
    plugins = [f"plugins.{kind}.{name}" for kind, name in bundled]
    entries = _compiled([*_ENTRIES, *_ALSO, *plugins], folders, compiled)
    extensions = {}
    for path in sorted(packages.rglob("*.so")):
        entry = path.relative_to(packages)
        extensions[".".join((*entry.parts[:-1], entry.name.partition(".")[0]))] = str(entry)
        entries[str(entry)] = path.read_bytes()
    libraries = {path.name: f"lib/{path.name}" for path in (compiled.libiperf(), compiled.libudt())}
    for path in (compiled.libiperf(), compiled.libudt()):
        entries[f"lib/{path.name}"] = path.read_bytes()
    contents = f"EXTENSIONS = {extensions!r}\nLIBRARIES = {libraries!r}\n"
    entries["advisor_contents.py"] = contents.encode()
    entries |= _entry_points(bundled)
    entries |= {name: (_ROOT / name).read_bytes() for name in _DATA}
    content = compiled.program.read_bytes() + _archive(entries)
    if machine == platform.machine():
        _try(content)
    return content


def _try(content: bytes) -> None:
    """Start it, and load every plugin. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "agent")
        program.write_bytes(content)
        program.chmod(0o700)
        subprocess.run([program, "-c", _FAULTS % (_PLUGINS,)], check=True)


def _bundled_plugins() -> list[tuple[str, str]]:
    """Kind and name of each plugin that an agent may be asked for."""
    found = []
    for kind in _PLUGINS:
        for path in sorted((_ROOT / "plugins" / kind).iterdir()):
            if not path.name.startswith("_") and (path.suffix == ".py" or path.is_dir()):
                found.append((kind, path.stem))
    return found


def _entry_points(plugins: list[tuple[str, str]]) -> dict[str, bytes]:
    """The plugins as those of an installed distribution: there is no folder to look into."""
    lines = []
    for group in _PLUGINS:
        lines.append(f"[advisor.{group}]")
        lines += [f"{name} = plugins.{kind}.{name}" for kind, name in plugins if kind == group]
    folder = f"{_BUNDLED}-{_version()}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {_BUNDLED}\nVersion: {_version()}\n"
    return {
        f"{folder}/METADATA": metadata.encode(),
        f"{folder}/entry_points.txt": "\n".join(lines).encode(),
    }


def _compiled(roots: list[str], folders: list[Path], compiled: Compiled) -> dict[str, bytes]:
    """The modules that these roots need, as the agent's interpreter loads them."""
    with tempfile.TemporaryDirectory() as result:
        task = {
            "roots": roots,
            "folders": list(map(str, folders)),
            "without": _WITHOUT,
            "replaced": {"ctypes.util": str(_HERE / "ctypes_util.py")},
            "result": result,
        }
        subprocess.run(
            [compiled.builder / "python", "-S", "-B", _HERE / "compile_modules.py"],
            input=json.dumps(task),
            text=True,
            check=True,
            env={"PYTHONPATH": str(compiled.python_source / "Lib"), "PYTHONHOME": "/nowhere"},
        )
        found = Path(result).rglob("*.pyc")
        return {str(path.relative_to(result)): path.read_bytes() for path in found}


def _archive(entries: dict[str, bytes]) -> bytes:
    """A ZIP archive of uncompressed entries: the whole is compressed when it is sent."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in sorted(entries):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), entries[name])
    return content.getvalue()


if __name__ == "__main__":
    main()
