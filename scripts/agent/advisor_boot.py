"""Loads extension modules and shared libraries from the program's own file.

The loader of the C library opens files only. Each of them is copied into memory that has a file
descriptor (memfd_create), and is opened by that: nothing is written to a disk.
"""

import ctypes
import os
import platform
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from zipimport import zipimporter

from advisor_contents import EXTENSIONS, LIBRARIES

_archive = zipimporter("/proc/self/exe")
# The program is built for C libraries that have no function for it.
_MEMFD_CREATE = {"x86_64": 319, "aarch64": 279}[platform.machine()]
_CLOSE_ON_EXEC = 1


def _in_memory(name: str, entry: str) -> str:
    """The path of a copy in memory. Raises OSError.

    Its descriptor stays open: the loader takes a path that it has seen before for the same library.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.syscall(_MEMFD_CREATE, os.fsencode(name), _CLOSE_ON_EXEC)
    if handle < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "memfd_create")
    with open(handle, "wb", closefd=False) as copy:
        copy.write(_archive.get_data(entry))
    return f"/proc/self/fd/{handle}"


class _Loader(ExtensionFileLoader):
    def create_module(self, spec):
        self.path = spec.origin = _in_memory(spec.name, EXTENSIONS[spec.name])
        return super().create_module(spec)


class _Extensions:
    """Finds what zipimport does not import."""

    @staticmethod
    def find_spec(name, path=None, target=None) -> ModuleSpec | None:
        if name not in EXTENSIONS:
            return None
        place = f"/proc/self/exe/{EXTENSIONS[name]}"
        return spec_from_file_location(name, place, loader=_Loader(name, place))


sys.meta_path.append(_Extensions)
for _name, _entry in LIBRARIES.items():
    # Whoever asks the loader for this name from now on is given this library.
    ctypes.CDLL(_in_memory(_name, _entry))
