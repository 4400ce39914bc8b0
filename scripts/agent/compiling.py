"""Compiles the interpreter and the two libraries of the agent for one kind of machine.

Zig's C compiler brings the headers and the symbol versions of every glibc along, for every machine:
what it builds here runs where the C library is as old as `GLIBC`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from sources import Sources

GLIBC: Final = "2.17"
_HERE: Final = Path(__file__).parent
_LIBIPERF: Final = (
    "cjson", "iperf_api", "iperf_error", "iperf_auth", "iperf_client_api", "iperf_locale",
    "iperf_server_api", "iperf_tcp", "iperf_udp", "iperf_sctp", "iperf_util", "iperf_time", "dscp",
    "net", "tcp_info", "timer", "units",
)  # fmt: skip
# Not what the headers of the build say, but what the oldest C library has.
_ABSENT: Final = {"ac_cv_func_memfd_create": "no"}
_CROSS: Final = {
    "ac_cv_file__dev_ptmx": "yes",
    "ac_cv_file__dev_ptc": "no",
    "ac_cv_buggy_getaddrinfo": "no",
}
_BUILDER: Final = "x86_64"


class Compiled:
    """What was compiled for one machine; each part once, in a folder of its own."""

    def __init__(self, machine: str, sources: Sources, folder: Path) -> None:
        self._machine = machine
        self._sources = sources
        self._folder = folder / machine
        self._installed = self._folder / "installed"
        self._tools = _tools(machine, self._folder / "tools")

    @property
    def program(self) -> Path:
        """The interpreter, with its own `main`."""
        done = self._folder / "advisor-agent"
        if not done.exists():
            objects = self._interpreter() / "libpython3.13.a"
            draft = done.with_suffix(".draft")
            self._run(
                [
                    self._tools["CC"], "-O2", "-g0", "-s", "-rdynamic",
                    f"-I{self.python_source / 'Include'}", f"-I{objects.parent}",
                    "-o", str(draft), str(_HERE / "main.c"),
                    "-Wl,--whole-archive", str(objects), "-Wl,--no-whole-archive",
                    *map(str, self._archives(objects.parent)),
                    "-lm", "-ldl", "-lpthread", "-lutil",
                ]
            )  # fmt: skip
            draft.rename(done)
        return done

    @property
    def python_source(self) -> Path:
        """CPython's sources."""
        return self._sources.unpacked("python")

    @property
    def builder(self) -> Path:
        """The folder of the interpreter of the same version that runs on the building host."""
        if self._machine == _BUILDER:
            return self._interpreter()
        return Compiled(_BUILDER, self._sources, self._folder.parent)._interpreter()

    def libiperf(self) -> Path:
        """`libiperf.so.0`."""
        done = self._folder / "libiperf.so.0"
        if not done.exists():
            source = self._sources.unpacked("iperf3") / "src"
            made = self._folder / "iperf3"
            made.mkdir(parents=True, exist_ok=True)
            shutil.copy(_HERE / "iperf_config.h", made)
            text = (source / "version.h.in").read_text()
            (made / "version.h").write_text(text.replace("@PACKAGE_VERSION@", "3.16"))
            files = [str(source / f"{name}.c") for name in _LIBIPERF]
            self._library("CC", done, [f"-I{made}", f"-I{source}", "-DHAVE_CONFIG_H", *files])
        return done

    def libudt(self) -> Path:
        """`libudt.so.0`."""
        done = self._folder / "libudt.so.0"
        if not done.exists():
            files = sorted(map(str, (self._sources.unpacked("udt") / "src").glob("*.cpp")))
            kind = ["-DAMD64"] if self._machine == "x86_64" else []
            flags = ["-DLINUX", *kind, "-fno-strict-aliasing", "-fvisibility=hidden"]
            self._library("CXX", done, [*flags, *files])
        return done

    def _library(self, compiler: str, done: Path, arguments: list[str]) -> None:
        flags = ["-O2", "-g0", "-fPIC", "-shared", "-s", "-pthread", "-w"]
        name = f"-Wl,-soname,{done.name}"
        draft = done.with_suffix(".draft")
        self._run([self._tools[compiler], *flags, name, *arguments, "-lm", "-o", str(draft)])
        draft.rename(done)

    def _archives(self, interpreter: Path) -> list[Path]:
        hashes = interpreter / "Modules" / "_hacl" / "libHacl_Hash_SHA2.a"
        return [hashes, self._installed / "libffi.a", self._installed / "libz.a"]

    def _interpreter(self) -> Path:
        """The folder in which CPython was built."""
        folder = self._folder / "python"
        if (folder / "done").exists():
            return folder
        self._zlib()
        self._libffi()
        folder.mkdir(parents=True, exist_ok=True)
        include = f"-I{self._installed}"
        more = {
            "LIBFFI_CFLAGS": include,
            "LIBFFI_LIBS": str(self._installed / "libffi.a"),
            "ZLIB_CFLAGS": include,
            "ZLIB_LIBS": str(self._installed / "libz.a"),
            **_ABSENT,
        }
        arguments = ["--prefix=/advisor", "--disable-test-modules", "--without-ensurepip"]
        arguments += ["--without-doc-strings", "--without-readline"]
        if self._machine != _BUILDER:
            builder = self.builder
            arguments += [f"--host={self._machine}-linux-gnu", f"--build={_BUILDER}-linux-gnu"]
            arguments += [f"--with-build-python={builder / 'python'}"]
            more |= _CROSS
        if not (folder / "Makefile").exists():
            # By a relative path, as it is in the program.
            configure = os.path.relpath(self.python_source / "configure", folder)
            self._run([configure, *arguments], folder, more)
        shutil.copy(_HERE / "Setup.local", folder / "Modules" / "Setup.local")
        # The first call may only write the Makefile again, with the modules of Setup.local.
        self._run(["make", "Makefile"], folder, more)
        self._run(["make", "-j2", "python", "libpython3.13.a"], folder, more)
        (folder / "done").touch()
        return folder

    def _zlib(self) -> None:
        folder = self._folder / "zlib"
        if (self._installed / "libz.a").exists():
            return
        shutil.copytree(self._sources.unpacked("zlib"), folder, dirs_exist_ok=True)
        self._run(["./configure", "--static"], folder, {"CHOST": self._machine})
        self._run(["make", "-j2", "libz.a"], folder)
        self._install(folder, "zlib.h", "zconf.h", "libz.a")

    def _libffi(self) -> None:
        folder = self._folder / "libffi"
        if (self._installed / "libffi.a").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        configure = self._sources.unpacked("libffi") / "configure"
        kinds = [f"--host={self._machine}-linux-gnu", f"--build={_BUILDER}-pc-linux-gnu"]
        parts = ["--disable-shared", "--disable-docs", "--disable-exec-static-tramp"]
        self._run([str(configure), *kinds, *parts], folder)
        self._run(["make", "-j2"], folder)
        self._install(folder, "include/ffi.h", "include/ffitarget.h", ".libs/libffi.a")

    def _install(self, folder: Path, *names: str) -> None:
        self._installed.mkdir(exist_ok=True)
        for name in names:
            shutil.copy(folder / name, self._installed)

    def _run(
        self, argv: list[str], folder: Path | None = None, more: dict[str, str] | None = None
    ) -> None:
        """Run a step of the build; its output goes into a log that is shown if it fails."""
        environment = os.environ | self._tools | (more or {})
        environment |= {"SOURCE_DATE_EPOCH": "0", "LC_ALL": "C"}
        # Paths of this machine do not get into the program.
        environment["CFLAGS"] = f"-O2 -g0 -w -ffile-prefix-map={self._folder.parent}=."
        log = self._folder / "log"
        with log.open("ab") as out:
            done = subprocess.run(argv, cwd=folder, env=environment, stdout=out, stderr=out)
        if done.returncode:
            tail = log.read_text(errors="replace").splitlines()[-30:]
            sys.exit("\n".join([*tail, f"{argv[0]} failed; all of its output is in {log}"]))


def _tools(machine: str, folder: Path) -> dict[str, str]:
    """Programs of the names that a build expects, which call Zig."""
    import ziglang

    zig = Path(ziglang.__file__).parent / "zig"
    target = f"-target {machine}-linux-gnu.{GLIBC}"
    called = {"CC": f"cc {target}", "CXX": f"c++ {target}", "AR": "ar", "RANLIB": "ranlib"}
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in called.items():
        script = folder / name.lower()
        script.write_text(f'#!/bin/sh\nexec {zig} {words} "$@"\n')
        script.chmod(0o755)
    return {name: str(folder / name.lower()) for name in called}
