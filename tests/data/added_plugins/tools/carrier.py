"""A tool for tests: copies files, and ranges of them, on this host."""

import json
import shlex
import sys
from collections.abc import Mapping

from advisor.api.tool import (
    CommandRequest,
    Progress,
    Step,
    ToolLimits,
    ToolTraits,
    ToolTrouble,
    TransferOrder,
)
from advisor.api.values import (
    AVAILABLE,
    Availability,
    Baseline,
    Command,
    Dataset,
    FailureKind,
    Parameter,
    PathFacts,
    Space,
)

_COPY = """
import json, os, sys
moved = 0
for piece in json.load(open(sys.argv[1])):
    os.makedirs(os.path.dirname(piece["target"]), exist_ok=True)
    source = os.open(piece["source"], os.O_RDONLY)
    target = os.open(piece["target"], os.O_WRONLY | os.O_CREAT, 0o644)
    at, left = piece["offset"], piece["size"]
    while left:
        data = os.pread(source, min(left, 1 << 16), at)
        os.pwrite(target, data, at)
        at, left, moved = at + len(data), left - len(data), moved + len(data)
        print("moved", moved, flush=True)
    os.close(source)
    os.close(target)
"""


class _Reader:
    def feed(self, line: str) -> Progress | None:
        word, _, number = line.partition(" ")
        return Progress(moved_bytes=int(number)) if word == "moved" else None


class Carrier:
    """The tool `carrier`: of lower rank than those that come with the program."""

    name = "carrier"
    summary = "copies on this host"
    flags: Mapping[str, str] = {"carrier": "Copies.", "--at-once FILES": "How many at a time."}
    moves_several = True
    traits = ToolTraits(rank=-1, is_default=True, moves_ranges=True)

    def available(self) -> Availability:
        return AVAILABLE

    def commands(self, request: CommandRequest) -> list[Command]:
        setting = request.settings.get(self.name) or {"concurrency": 1}
        at_once = str(setting.get("concurrency", 1))
        argv = ["carrier", "--at-once", at_once, request.source, request.target]
        return [Command(tool=self.name, side="source", argv=argv, shell=shlex.join(argv), note="")]

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        files = Parameter(name="concurrency", unit="files", lower=1, upper=limits.max_concurrency)
        return Space(parameters=(files,), cost_order=("concurrency",), fixed={}, note="")

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        return [Baseline("default", {"concurrency": 1})]

    def carries(self, name: str) -> str:
        return ""

    def steps(self, order: TransferOrder) -> list[Step]:
        pieces = [
            {"source": p.source, "target": p.target, "offset": p.offset_bytes, "size": p.size_bytes}
            for p in order.pieces
        ]
        return [
            Step(
                side="source",
                argv=[sys.executable, "-c", _COPY, order.list_file],
                list_text=json.dumps(pieces),
            )
        ]

    def reader(self) -> _Reader:
        return _Reader()

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        return ToolTrouble(FailureKind.CRASHED, errors[-200:]) if status else None


plugin = Carrier()
