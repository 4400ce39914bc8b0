"""The systems, the accounts and the commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SYSTEMS: Final = {"bookworm": "Debian 12", "trixie": "Debian 13"}
ACCOUNTS: Final = {"root": "root", "user": "an ordinary user"}
COMMANDS: Final = ("run", "test")

PACKAGES: Final = ("git", "make", "python3", "ca-certificates")
"""The packages of a system in addition to Debian's required ones and apt."""

USER: Final = "scientist"
"""The ordinary account's name."""


@dataclass(frozen=True, slots=True)
class Case:
    """One command of one account on one system. `system` is its name at Debian."""

    system: str
    account: str
    command: str

    @property
    def key(self) -> str:
        return f"{self.system}-{self.account}-{self.command}"

    @property
    def title(self) -> str:
        system = SYSTEMS.get(self.system, self.system)
        return f"{system}, {ACCOUNTS[self.account]}, make {self.command}"

    @property
    def limit_s(self) -> float:
        """The time limit, after which it counts as failed."""
        return 900.0 if self.command == "run" else 4500.0


def cases(systems: list[str], accounts: list[str], commands: list[str]) -> list[Case]:
    """What is short comes first."""
    return [
        Case(system, account, command)
        for command in commands
        for system in systems
        for account in accounts
    ]
