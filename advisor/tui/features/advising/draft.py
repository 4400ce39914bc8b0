"""The form of an advice request: the entries as typed, stored on disk."""

import contextlib
from typing import Literal

import msgspec

from advisor.domain.dataset import Dataset
from advisor.domain.events import PastResult
from advisor.domain.path import PathFacts
from advisor.domain.quantities import parse_size
from advisor.domain.traits import FOUND_TOOL
from advisor.traits import tools_without_agent
from advisor.tui.features.advising.checks import usual_tool
from advisor.tui.kit.fields.form_state import load_form, save_form
from advisor.tui.kit.fields.paths import in_full

Way = Literal["ssh", "push", "agent", "none"]
What = Literal["data", "size", "count", "unknown"]
Profiled = Literal["network", "tool"]
_FILE = "draft.json"


class PathSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the last path check. `reach`: the arguments it was made with."""

    reach: list[str]
    path: PathFacts
    past: list[PastResult] = []


class Draft(msgspec.Struct, kw_only=True):
    """Each text field holds the value of an option of `advisor advise`, "" if not entered.

    `way`: how the agent is reached, which ssh may bring along (`push`); `none`: without one.
    `what`: which fields describe the dataset: `data`, a path here,
    whose scan found `scanned`; `size`, the total; `files` of `each_size`; or none yet. `profiled`:
    the network from memory to memory, or a tool that moves part of the files from disk to disk;
    then `keep` and `verify` are those of `advisor advise`, and options of the network alone are
    left out. `seen`: the last path check: use `path_seen`.
    """

    destination: str = ""
    way: Way = "ssh"
    agent: str = ""
    secret_file: str = ""
    agent_command: str = ""
    address: str = ""
    source_address: str = ""
    interfaces: str = ""
    ports: str = ""
    bandwidth: str = ""
    rtt: str = ""
    what: What = "unknown"
    data: str = ""
    size: str = ""
    files: str = ""
    each_size: str = ""
    to: str = ""
    profiled: Profiled = "network"
    tool: str = ""
    keep: bool = False
    verify: bool = False
    max_concurrency: str = ""
    server: str = ""
    budget: str = ""
    method: str = ""
    transports: str = ""
    congestion: str = ""
    max_streams: str = ""
    gain_ratio: str = ""
    impeded: str = ""
    iterations: str = ""
    constants: str = ""
    buffer_scale: str = ""
    seed: str = ""
    scanned: Dataset | None = None
    seen: PathSeen | None = None

    @property
    def path_seen(self) -> PathSeen | None:
        """The result of checking the path of the present entries; None if it was not checked."""
        return self.seen if self.seen and self.seen.reach == self.reach_arguments() else None

    @property
    def has_agent(self) -> bool:
        """Whether an agent answers at the destination, as it takes to check the path."""
        return self.way != "none"

    @property
    def where(self) -> str:
        """The destination as typed; "" for none."""
        return self.destination.strip() or (self.agent.strip() if self.way == "agent" else "")

    @property
    def tool_name(self) -> str:
        """The tool to profile, or that is tried first; "" for the network alone."""
        if self.profiled != "tool":
            return ""
        return self.tool.strip() or usual_tool(
            several=bool(self.scanned and self.scanned.largest),
            server=self.server.strip(),
            without_agent=not self.has_agent,
        )

    def why_no_tool(self) -> str:
        """Why the chosen tool cannot be profiled, with the remedy; "" when it can."""
        if self.profiled == "tool" and not self._data():
            return (
                "a tool is profiled with real files: choose 'a directory or a file here' and type "
                "its path, or profile the network alone"
            )
        if self.profiled == "tool" and not self.to.strip():
            return (
                "a tool writes files at the destination: type where they go in 'Goes to', or "
                "profile the network alone"
            )
        if not self.has_agent and self.tool_name not in (able := tools_without_agent()):
            return (
                "without an agent only a tool that looks after its files at its own server can be "
                f"profiled: choose {' or '.join(able)}, or another way in step Where"
            )
        return ""

    def dataset(self) -> Dataset | None:
        """The dataset, as far as it is known. Raises ValueError for invalid entries."""
        match self.what:
            case "data":
                return self.scanned if self.data.strip() else None
            case "size" if self.size.strip():
                return Dataset(total_bytes=parse_size(self.size))
            case "count" if self.files.strip() and self.each_size.strip():
                files, each_bytes = parse_count(self.files), parse_size(self.each_size)
                one_bin = (each_bytes.bit_length() - 1, files, files * each_bytes)
                return Dataset(total_bytes=files * each_bytes, files=files, sizes=(one_bin,))
        return None

    def reach_arguments(self) -> list[str]:
        """The arguments of `advisor path` or `advise` that say where and how."""
        options = {
            "--agent-command": self.agent_command if self.way == "ssh" else "",
            "--agent": self.agent if self.way == "agent" else "",
            "--secret-file": self.secret_file if self.way == "agent" else "",
            "--address": self.address,
            "--source-address": self.source_address,
            "--ports": self.ports if self.has_agent else "",
            "--bandwidth": self.bandwidth,
            "--rtt": self.rtt,
        }
        # Last, after `--`: no typed text becomes an option.
        where = ["--", self.destination.strip()] if self.destination.strip() else []
        return [*_given(options), *(["--push"] if self.way == "push" else []), *where]

    def advise_arguments(self) -> list[str]:
        """The arguments of `advisor advise`."""
        options = {
            "--data": self._data(),
            "--size": self._size(),
            "--to": self.to,
            "--server": self.server,
            "--budget": self.budget,
            "--method": self.method,
            "--max-streams": self.max_streams,
            "--gain-ratio": self.gain_ratio,
            "--impeded": self.impeded,
            "--iterations": self.iterations,
            "--seed": self.seed,
        }
        constants = [
            f"--constant={one.strip()}" for one in self.constants.split(",") if one.strip()
        ]
        return [
            *_given(options),
            *constants,
            *self._profiled_arguments(),
            *([] if self.has_agent else ["--without-agent"]),
            *self.reach_arguments(),
        ]

    def _profiled_arguments(self) -> list[str]:
        """The arguments for the network alone, or for a tool."""
        if not self.tool_name:
            return _given(
                {
                    "--interfaces": self.interfaces,
                    "--transports": self.transports,
                    "--congestion": self.congestion,
                    "--buffer-scale": self.buffer_scale,
                }
            )
        tool = self.tool.strip() or FOUND_TOOL
        options = {"--profile-tool": tool, "--max-concurrency": self.max_concurrency}
        marks = {"--keep": self.keep and self.has_agent, "--verify": self.verify}
        return [*_given(options), *(name for name, said in marks.items() if said)]

    def _data(self) -> str:
        if self.what != "data" or not self.data.strip():
            return ""
        return in_full(self.data.strip())

    def _size(self) -> str:
        if self.what == "count":
            with contextlib.suppress(ValueError):
                if dataset := self.dataset():
                    return str(dataset.total_bytes)
        return self.size if self.what == "size" else ""


def parse_count(text: str) -> int:
    """A count of files, as `1000000` or `1 000 000`. Raises ValueError."""
    digits = "".join(text.split())
    if not (digits.isascii() and digits.isdigit()) or not 1 <= int(digits) <= 10**12:
        raise ValueError("write how many files there are, as in 200000")
    return int(digits)


def _given(options: dict[str, str]) -> list[str]:
    return [f"{name}={text.strip()}" for name, text in options.items() if text.strip()]


def load_draft() -> Draft:
    """The draft stored last; an empty one where none can be read."""
    return load_form(_FILE, Draft) or Draft()


def save_draft(draft: Draft) -> None:
    """Store the entries for the next run. If that fails, they last as long as the program."""
    save_form(_FILE, draft)
