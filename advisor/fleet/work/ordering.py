"""The line by which the source of a pair measures it. Pure.

The source runs a command of advisor, reached over ssh as an endpoint is; its records come back with
its events. Only values of a checked configuration get into the line, quoted, each value behind the
name of its option.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.agent.connect import ssh_argv
from advisor.domain.endpoints import Endpoint
from advisor.domain.shell import shell_line
from advisor.fleet.plan.fleet import Fleet, Host, Task
from advisor.runtime.advisor_child import ADVISOR
from advisor.store.passing_on import PASSED_ON

_AGENT: Final = ("agent", "--stdio")
SSH_ALIVE: Final = ("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
"""A network that is cut ends the session within a quarter of a minute."""
SESSION_SHARE: Final = 0.8
"""Of the budget is what the session is given. What is left is for ending it."""


class Order(msgspec.Struct, frozen=True):
    """What is started for a measurement. `argv`: of the process on this host.

    `source`, `destination`: their endpoints. `command`: what ssh starts at the source, "" on this
    host and in a lab. `obeys`: whether it takes orders on standard input.
    """

    argv: list[str]
    source: Endpoint
    destination: Endpoint
    command: str
    obeys: bool


def order_of(fleet: Fleet, task: Task, source: int, destination: int) -> Order:
    """How this pair is measured for this task."""
    here, there = fleet.hosts[source], fleet.hosts[destination]
    words = [*_words(task, there.reach), *_reach(here, there), f"--store={PASSED_ON}", "--json"]
    obeys = task.what != "path"
    if obeys:
        words.append("--orders")
    ends = Endpoint.parse(here.reach), Endpoint.parse(there.reach)
    if ends[0].is_local:
        return Order([*ADVISOR, *words], *ends, "", obeys)
    if lab := ends[0].lab_host:
        enter = [
            *ADVISOR,
            "lab",
            "exec",
            lab.lab,
            *(("--host", lab.host) if lab.host else ()),
            "--",
        ]
        return Order([*enter, *ADVISOR, *words], *ends, "", obeys)
    # What starts advisor is a line for a shell, as the user wrote it: it may begin with ~.
    command = f"{_program(here) or 'advisor'} {shell_line(words)}"
    return Order(ssh_argv(ends[0], command, SSH_ALIVE), *ends, command, obeys)


def _words(task: Task, reach: str) -> list[str]:
    options = task.options
    budget = f"--budget={SESSION_SHARE * task.budget_s:g}s"
    match task.what:
        case "path":
            return ["path", reach]
        case "advice":
            return ["advise", reach, "--measure", budget, *_transports(task)]
        case "profile":
            grid = [f"--set={one}" for one in options.get("set", [])]
            return ["profile", "measure", reach, *grid, *_transports(task)]
        case "disk-to-disk":
            moved = (f"--profile-tool={options['tool']}", f"--data={options['data']}")
            return ["advise", reach, "--measure", budget, *moved, f"--to={options['to']}"]


def _transports(task: Task) -> Iterator[str]:
    if given := task.options.get("transports"):
        yield f"--transports={','.join(given)}"


def _reach(here: Host, there: Host) -> Iterator[str]:
    if there.agent:
        yield f"--agent={there.agent}"
    elif program := _program(there):
        yield f"--agent-command={program} {' '.join(_AGENT)}"
    if len(here.interfaces) == 1:
        yield f"--interface={here.interfaces[0]}"


def _program(host: Host) -> str:
    """What starts advisor at a host, without the words that make an agent of it."""
    return host.agent_command.removesuffix(" ".join(_AGENT)).strip()


def programs_of(fleet: Fleet) -> str | None:
    """The first key of a configuration by which it starts programs, or reads and writes files."""
    for host in fleet.hosts:
        if host.agent_command:
            return f"hosts.{host.name}.agent-command"
    for task in fleet.tasks:
        if task.what == "disk-to-disk":
            return f"measure.{task.name}"
    return None
