"""The files that are moved."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from tests.benchmarks.disk.cases import Case


def make_dataset(folder: Path, case: Case) -> Path:
    """The case's files, of random bytes that are always the same: a folder, or the one file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rng = np.random.default_rng(case.files)
    names = []
    for number, group in enumerate(case.groups):
        for index in range(group.count):
            names.append(folder / f"{number}-{index:05d}.dat")
            names[-1].write_bytes(rng.bytes(group.size_bytes))
    return folder if case.is_directory else names[0]
