"""The result of a session, from its events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from advisor.api.tool import CommandRequest
from advisor.domain import events as ev
from advisor.domain.advice import Estimate
from advisor.domain.measurement import Failure
from advisor.domain.space import Setting, Space
from advisor.hosts.datasets import scan
from advisor.methods.lattice import Lattice
from tests.benchmarks.disk.cases import Case
from tests.benchmarks.disk.cell_lines import Wanted
from tests.benchmarks.disk.results import Session
from tests.benchmarks.disk.tools import Place


def session_of(
    reported: Sequence[dict[str, Any]],
    case: Case,
    method: str,
    seed: int,
    seconds: float,
) -> Session:
    """The session's result, without the lines of its cells."""
    tool = case.tool.name
    events = [msgspec.convert(one, type=ev.AnyEvent, str_keys=True) for one in reported]
    advice = next((e for e in events if isinstance(e, ev.AdviceGiven)), None)
    probes = [e for e in events if isinstance(e, ev.ProbeEnded)]
    failures = [probe.result.message for probe in probes if isinstance(probe.result, Failure)]
    made = Session(
        case=case.key,
        method=method,
        seed=seed,
        setting=None,
        searching=sum(probe.stage == tool for probe in probes),
        probes=len(probes),
        failed=len(failures),
        failures=sorted(set(failures)),
        seconds=seconds,
        ended=_ended(events, tool),
        notices=[e.message for e in events if isinstance(e, ev.Notice)],
    )
    if advice is None:
        return made
    [command] = [command for command in advice.commands if command.tool == tool]
    return msgspec.structs.replace(
        made,
        setting=advice.setting,
        shell=command.shell,
        expected_bps=advice.expected_bps,
        interval_bps=advice.interval_bps,
        transfer_s=advice.transfer_s,
        gain=advice.gain,
        further_gains={
            one.role.removeprefix("default with "): Estimate(
                1 / one.ratio.value, (1 / one.ratio.interval[1], 1 / one.ratio.interval[0])
            )
            for one in advice.contenders
            if one.ratio and one.role.startswith("default ")
        },
        composition=advice.composition,
    )


def _ended(events: Sequence[ev.AnyEvent], tool: str) -> str:
    gave_up = [e.message for e in events if isinstance(e, ev.GaveUp)]
    searched = [e.reason for e in events if isinstance(e, ev.StageEnded) and e.stage == tool]
    return next(iter([*gave_up, *searched]), "it printed nothing")


def cells_of(reported: Sequence[dict[str, Any]], tool: str, data: Path, place: Place) -> Wanted:
    """Every cell of the space that was searched, and what their lines depend on."""
    events = [msgspec.convert(one, type=ev.AnyEvent, str_keys=True) for one in reported]
    path = next(e.path for e in events if isinstance(e, ev.PathFound))
    [advice] = [e for e in events if isinstance(e, ev.AdviceGiven)]
    [command] = [command for command in advice.commands if command.tool == tool]
    searched = (e for e in events if isinstance(e, ev.StageStarted) and e.stage == tool)
    space = next(e.space for e in searched)
    assert space is not None  # Stages that search have one.
    request = CommandRequest(
        subject=tool,
        settings={},
        path=path,
        destination_host=path.destination_address,
        dataset=scan(data),
        source_path=str(data),
        destination_path=str(place.target),
        server_url=place.server or "{0.scheme}://{0.netloc}".format(urlsplit(command.argv[-1])),
    )
    return Wanted(request, settings_of(space))


def settings_of(space: Space) -> list[Setting]:
    """Every cell, a step apart."""
    lattice = Lattice.of_steps(space)
    return [lattice.setting(lattice.number(number)) for number in range(lattice.size)]
