"""What every method asked on two fixed surfaces: tests/plugins/golden/NAME.json holds it.

A change of a method that changes its trajectory must show. When it is meant, write the files again
and look at what changed in them:

    PYTHONPATH=. .venv/bin/python -m tests.plugins.golden_trajectories [NAME …]
"""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from advisor import registry
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting, Space
from advisor.methods.api import Knowledge
from advisor.testing.samples import a_path, a_space, a_transfer_space, measured

FOLDER: Final = Path(__file__).parent / "golden"
PROBES: Final = 60
SEED: Final = 2017

# 40 GB in files of 4 MB and 40 GB in files of 2 GB.
_DATASET: Final = Dataset(
    total_bytes=80 * 10**9, sizes=((21, 10_000, 40 * 10**9), (30, 20, 40 * 10**9))
)
KNOWLEDGE: Final = Knowledge(path=a_path(rtt_s=0.04), bandwidth_bps=10e9, dataset=_DATASET)


def _hill(setting: Setting, _probe: int) -> float:
    """2 Gbit/s at 9 streams of 4 MiB, falling off on both sides."""
    streams, buffer = float(setting["streams"]), float(setting["buffer_bytes"])
    return 2e9 * math.exp(-(((streams - 9) / 12) ** 2) - ((math.log2(buffer) - 22) / 5) ** 2)


def _plateau(setting: Setting, probe: int) -> float:
    """Rises with the flows to a plateau of 8 Gbit/s, falls beyond 128, with a wave of 8 %."""
    flows = float(setting["concurrency"]) ** 1.5 * float(setting["parallelism"]) ** 0.5
    falls = max(0.0, math.log2(flows / 128)) * 0.2
    rises = min(1.0, 0.05 * flows) + 0.02 * math.log2(float(setting["pipelining"]))
    return 8e9 * max(0.05, rises - falls) * (1 + 0.08 * math.sin(2.3 * probe))


SURFACES: Final[dict[str, tuple[Space, Callable[[Setting, int], float]]]] = {
    "hill": (a_space(), _hill),
    "plateau": (a_transfer_space(), _plateau),
}


def bundled() -> list[str]:
    """The methods that come with the program."""
    lines = registry.listing()
    return [one.name for one in lines if (one.kind, one.origin) == ("methods", "bundled")]


def _values(setting: Setting) -> str:
    return " ".join(str(value) for value in setting.values())


def _search(name: str, space: Space, surface: Callable[[Setting, int], float]) -> dict[str, Any]:
    method = registry.method(name).create(space, np.random.default_rng(SEED), KNOWLEDGE, {})
    asked: list[str] = []
    while len(asked) < PROBES and (setting := method.ask()) is not None:
        asked.append(f"{method.label}: {_values(setting)}")
        method.tell(setting, measured(round(surface(setting, len(asked)))))
    best = method.best()
    assert best is not None
    return {
        "parameters": " ".join(p.name for p in space.parameters),
        "asked": asked,
        "best": f"{_values(best[0])}: {best[1]:.0f} bit/s",
        "stop_reason": method.stop_reason,
    }


def trajectories(name: str) -> dict[str, Any]:
    """By surface: what was asked, for what, and how it ended."""
    return {surface: _search(name, *one) for surface, one in SURFACES.items()}


def read(name: str) -> Any:
    """What was written last."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def write(name: str) -> None:
    """Write the trajectories of one method, one probe a line."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(trajectories(name), ensure_ascii=False, indent=1)
    (FOLDER / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or bundled():
        write(chosen)
