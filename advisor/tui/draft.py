"""What the user has entered on the way to an advice, as typed; kept on disk, so nothing is lost."""

import contextlib
from pathlib import Path
from typing import Literal

import msgspec
from platformdirs import user_state_path

from advisor.store.errors import StoreError
from advisor.store.files import make_directory, replace_file

Way = Literal["ssh", "agent"]
_FILE = "draft.json"


class Draft(msgspec.Struct, kw_only=True):
    """Each field is the text of an option of `advisor advise`, "" where nothing was entered.

    `way`: how the agent is reached. `size`, or `data` with what a scan found.
    """

    destination: str = ""
    way: Way = "ssh"
    agent: str = ""
    secret_file: str = ""
    agent_command: str = ""
    address: str = ""
    ports: str = ""
    bandwidth: str = ""
    rtt: str = ""
    data: str = ""
    size: str = ""
    to: str = ""
    server: str = ""
    budget: str = ""
    method: str = ""
    transports: str = ""
    congestion: str = ""
    max_streams: str = ""

    def reach_arguments(self) -> list[str]:
        """The words of `advisor path` or `advise` that say where and how."""
        options = {
            "--agent-command": self.agent_command if self.way == "ssh" else "",
            "--agent": self.agent if self.way == "agent" else "",
            "--secret-file": self.secret_file if self.way == "agent" else "",
            "--address": self.address,
            "--ports": self.ports,
            "--bandwidth": self.bandwidth,
            "--rtt": self.rtt,
        }
        # Last, behind a mark: no text that was typed becomes an option.
        where = ["--", self.destination.strip()] if self.destination.strip() else []
        return [*_given(options), *where]

    def advise_arguments(self) -> list[str]:
        """The words of `advisor advise`."""
        options = {
            "--data": self.data if not self.size else "",
            "--size": self.size,
            "--to": self.to,
            "--server": self.server,
            "--budget": self.budget,
            "--method": self.method,
            "--transports": self.transports,
            "--congestion": self.congestion,
            "--max-streams": self.max_streams,
        }
        return [*_given(options), *self.reach_arguments()]


def _given(options: dict[str, str]) -> list[str]:
    return [f"{name}={text.strip()}" for name, text in options.items() if text.strip()]


def _file() -> Path:
    return user_state_path("advisor") / _FILE


def load_draft() -> Draft:
    """The one that was kept last; an empty one where there is none that can be read."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(_file().read_bytes(), type=Draft)
    return Draft()


def keep_draft(draft: Draft) -> None:
    """Keep it for the next start. Where it cannot be kept, it lasts as long as the program."""
    with contextlib.suppress(OSError, StoreError):
        make_directory(_file().parent)
        replace_file(_file(), msgspec.json.encode(draft))
