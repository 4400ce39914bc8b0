"""Starts and stops a lab, on behalf of the user's command."""

import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from filelock import Timeout

from advisor.agent.secret import new_secret, write_secret
from advisor.hosts import compiled
from advisor.hosts.packages import installation
from advisor.hosts.processes import Daemon
from advisor.lab import backend_select as choosing
from advisor.lab import emulator
from advisor.lab import messages as m
from advisor.lab.backend import BackendChoice
from advisor.lab.networks import own_network
from advisor.lab.paths import Direction, EmulatedPath, own_queue_bytes
from advisor.lab.running import LabOrder, require_known_hosts
from advisor.lab.state import MARK, LabError, LabFolder, only_one
from advisor.lab.supervisor import PROCEED, BuildOutcome, Built, NotBuilt

_SUPERVISOR = (sys.executable, "-P", "-m", "advisor.lab.supervisor")
# Everything below happens in the supervisor's own namespaces; slave, so that file systems mounted
# later on the host appear in the lab too, and nothing of the lab's appears outside.
_OWN_USER = ("--user", "--map-current-user", "--keep-caps")
_AS_ROOT = (
    ": an ordinary user needs user namespaces and a /dev/net/tun that all may open; "
    "'advisor doctor' names the lines that root runs for them"
)
_OWN = ("--net", "--mount", "--propagation", "slave")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to build: hosts by name with the path to each, at most 32 of them.

    `mesh`: they reach each other as well, over the paths of both. `own`: a rate of the source's own
    interface that all paths share. `steps`: a schedule.
    """

    hosts: dict[str, EmulatedPath]
    mesh: bool = False
    own: Direction | None = None
    seed: int = 0
    steps: list[m.ScheduledStep] = []
    backend: BackendChoice = "auto"


def bring_up(name: str, plan: Plan) -> m.LabStatus:
    """Build the lab and leave it running. Raises LabError, leaving nothing behind."""
    require_known_hosts(name, plan.hosts, plan.steps)
    program = _emulator(plan.backend)
    for tool in ("ip", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            how = installation(tool)
            raise LabError(f"'{tool}' is not installed", remedy=how.remedy, command=how.command)
    with _alone():
        place = LabFolder(name)
        if place.is_up:
            raise LabError(
                f"lab {name} is up already",
                remedy=f"'advisor lab down {name}' takes it down",
                command=f"advisor lab down {name}",
            )
        place.remove()  # The remains of a lab whose supervisor was killed.
        try:
            place.make()
            write_secret(place.secret, new_secret())
            return _build(place, plan, program)
        except OSError as error:
            place.remove()
            raise LabError(f"{place.folder}: {error.strerror}") from None
        except BaseException:
            place.remove()
            raise


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Exclude other processes from starting or stopping labs. Raises LabError."""
    try:
        with only_one():
            yield
    except Timeout:
        raise LabError("another 'advisor lab up' or 'down' is running and does not end") from None


def _emulator(backend: BackendChoice) -> str:
    """Our own emulator; empty if it is not wanted, or missing while netem may do."""
    found = None if backend == "netem" else compiled.program(emulator.SOURCE_FILE)
    if found is None and (backend == "own" or (backend == "auto" and not shutil.which("tc"))):
        raise LabError(choosing.NO_EMULATOR)
    return str(found or "")


def _build(place: LabFolder, plan: Plan, program: str) -> m.LabStatus:
    """Raises LabError, OSError."""
    reasons = []
    for user_namespace in (True, False):
        if not user_namespace and os.geteuid() != 0:
            continue
        outcome = _try(place, order_of(place.name, plan, program, user_namespace))
        if isinstance(outcome, Built):
            return outcome.status
        reasons.append(outcome.message)
    raise LabError(reasons[-1] + ("" if os.geteuid() == 0 else _AS_ROOT))


def order_of(name: str, plan: Plan, program: str, user_namespace: bool) -> LabOrder:
    """What the supervisor builds. `program`: the emulator, empty for none."""
    own = plan.own
    if own is not None:  # Fixed now: paths that change later do not change this queue.
        queue_bytes = own_queue_bytes(own, plan.hosts.values())
        own = msgspec.structs.replace(own, queue_bytes=queue_bytes)
    return LabOrder(
        name=name,
        mark=secrets.token_hex(16),
        outside=own_network(),
        program=program,
        user_namespace=user_namespace,
        hosts=plan.hosts,
        mesh=plan.mesh,
        own=own,
        seed=plan.seed,
        steps=plan.steps,
        backend=plan.backend,
    )


def _try(place: LabFolder, order: LabOrder) -> BuildOutcome:
    own = [*(_OWN_USER if order.user_namespace else ()), *_OWN]
    daemon = Daemon(["unshare", *own, "--", *_SUPERVISOR], place.log, {MARK: order.mark})
    try:
        # It may have ended already, and its last message says why.
        with contextlib.suppress(BrokenPipeError):
            daemon.stdin.write(msgspec.json.encode(order) + b"\n")
            daemon.stdin.flush()
        line = daemon.stdout.readline()
        if not line:
            daemon.kill()
            return NotBuilt(place.last_words() or "the lab's supervisor ended without a message")
        outcome: BuildOutcome = msgspec.json.decode(line, type=BuildOutcome)
        if isinstance(outcome, NotBuilt):
            daemon.kill()
            return outcome
        daemon.stdin.write(PROCEED)
        daemon.stdin.flush()
        daemon.let_go()
        _hurry(outcome.carriers)
        return outcome
    except BrokenPipeError:
        daemon.kill()
        return NotBuilt(place.last_words() or "the lab's supervisor ended as soon as it was up")
    except BaseException:
        daemon.kill()
        raise


def _hurry(carriers: list[int]) -> None:
    """Give these processes priority over the hosts' own, which share the cores.

    Only the real root may; otherwise packets are sometimes some milliseconds late.
    """
    with contextlib.suppress(PermissionError, ProcessLookupError, FileNotFoundError):
        for pid in carriers:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setscheduler(int(thread.name), os.SCHED_FIFO, os.sched_param(1))


def take_down(name: str) -> bool:
    """End the lab, however much of it is left; return whether there was any. Raises LabError."""
    place = LabFolder(name)
    if not place.folder.exists():
        return False
    with _alone():
        place.remove()
    if place.folder.exists():
        raise LabError(f"{place.folder} cannot be removed", remedy="remove it manually")
    return True
