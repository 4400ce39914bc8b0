"""The result of a session, from its events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from advisor import registry
from advisor.api.tool import CommandRequest
from advisor.domain import events as ev
from advisor.domain.advice import Estimate
from advisor.domain.measurement import Failure
from advisor.domain.space import Setting, Space
from advisor.hosts.datasets import scan
from advisor.methods.lattice import Lattice
from tests.benchmarks.disk.cases import TOOL, Case
from tests.benchmarks.disk.results import Session


def session_of(
    told: Sequence[dict[str, Any]],
    case: Case,
    method: str,
    seed: int,
    places: tuple[Path, str],
    seconds: float,
) -> Session:
    """The session's result. `places`: the data and its target."""
    events = [msgspec.convert(one, type=ev.AnyEvent, str_keys=True) for one in told]
    advice = next((e for e in events if isinstance(e, ev.AdviceGiven)), None)
    probes = [e for e in events if isinstance(e, ev.ProbeEnded)]
    failures = [probe.result.message for probe in probes if isinstance(probe.result, Failure)]
    made = Session(
        case=case.key,
        method=method,
        seed=seed,
        setting=None,
        searching=sum(probe.stage == TOOL for probe in probes),
        probes=len(probes),
        failed=len(failures),
        failures=sorted(set(failures)),
        seconds=seconds,
        ended=_ended(events),
        notices=[e.message for e in events if isinstance(e, ev.Notice)],
    )
    if advice is None:
        return made
    [command] = [command for command in advice.commands if command.tool == TOOL]
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
        by_cell=_lines(events, command.argv[-1], places),
    )


def _ended(events: Sequence[ev.AnyEvent]) -> str:
    gave_up = [e.message for e in events if isinstance(e, ev.GaveUp)]
    searched = [e.reason for e in events if isinstance(e, ev.StageEnded) and e.stage == TOOL]
    return next(iter([*gave_up, *searched]), "it printed nothing")


def _lines(
    events: Sequence[ev.AnyEvent], url: str, places: tuple[Path, str]
) -> list[tuple[Setting, str]]:
    """The line of every cell, as the advice would have it. `url`: where its own line goes to."""
    data, target = places
    path = next(e.path for e in events if isinstance(e, ev.PathFound))
    searched = (e for e in events if isinstance(e, ev.StageStarted) and e.stage == TOOL)
    space = next(e.space for e in searched)
    assert space is not None  # Stages that search have one.
    request = CommandRequest(
        subject=TOOL,
        settings={},
        path=path,
        destination_host=path.destination_address,
        dataset=scan(data),
        source_path=str(data),
        destination_path=target,
        server_url="{0.scheme}://{0.netloc}".format(urlsplit(url)),
    )
    return [(setting, _line(setting, request)) for setting in settings_of(space)]


def settings_of(space: Space) -> list[Setting]:
    """Every cell, a step apart."""
    lattice = Lattice.of_steps(space)
    return [lattice.setting(lattice.number(number)) for number in range(lattice.size)]


def _line(setting: Setting, request: CommandRequest) -> str:
    own = msgspec.structs.replace(request, settings={TOOL: setting})
    [command] = registry.tool(TOOL).commands(own)
    return command.shell
