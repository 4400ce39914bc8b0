"""Measures what `advisor lab profile` was asked for: a lab with a path for each RTT."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor.cli.lab.lifecycle import NewPathOptions
from advisor.cli.lab.options import changes_of
from advisor.cli.lab.rtt_runs import (
    ProfileRun,
    measure_in_turn,
    memory_folders,
    profiles_by_name,
)
from advisor.cli.profile.rtt import show_rtt_profile
from advisor.lab import catalogue
from advisor.lab.lifecycle import Plan, bring_up, take_down
from advisor.lab.paths import EmulatedPath, changed
from advisor.report.rtt_profile import places_of, rtt_profile
from advisor.runtime.exit_codes import EXIT_DONE
from advisor.store.history import Store
from advisor.traits import reference_transport, tool_traits

_FLOWS: Final = "1,4,10"
_POINTS: Final = "2"
"""Of parameters that are not named: the ends of their range."""


class AskedRtts(msgspec.Struct, frozen=True, kw_only=True):
    """The round-trip times in seconds, and what is measured at each.

    `settings`, `congestion` and `transports`: as typed for 'advisor profile'; None for the default.
    """

    rtts_s: Sequence[float]
    repeats: int
    settings: Sequence[str] | None
    congestion: str | None
    transports: str | None
    tools: Sequence[str]
    plot: Path | None


def measure_rtts(
    name: str, path: NewPathOptions, asked: AskedRtts, store: Store, *, as_json: bool
) -> int:
    """Measure and show it; the exit code. Raises LabError."""
    with _lab(name, path, asked.rtts_s) as hosts, contextlib.ExitStack() as files:
        runs = _runs(name, hosts, asked, files)
        status = measure_in_turn(runs, store)
    if status == EXIT_DONE:
        stored = profiles_by_name(store)
        profile = rtt_profile(places_of(stored[run.name] for run in runs))
        show_rtt_profile(profile, asked.plot, as_json=as_json)
    return status


def _runs(
    name: str, hosts: Sequence[str], asked: AskedRtts, files: contextlib.ExitStack
) -> list[ProfileRun]:
    """The memory that tools read from is there as long as `files`."""
    grid = _grid_words(asked.settings or _default_settings(), asked.repeats)
    search = ["--congestion", asked.congestion] if asked.congestion else []
    search += ["--transports", asked.transports] if asked.transports else []
    # The RTT is the emulated one: measured on a busy machine it would be another each time.
    where = {
        host: [f"lab:{name}:{host}", "--rtt", f"{rtt_s * 1000:g}ms"]
        for host, rtt_s in zip(hosts, asked.rtts_s, strict=True)
    }
    runs = [
        ProfileRun(name=f"{name}-{host}", words=[*where[host], *grid, *search]) for host in hosts
    ]
    for host in hosts if asked.tools else []:
        source, target = files.enter_context(memory_folders(name, host))
        to_memory = ["--data", source, "--to", target]
        runs += [
            ProfileRun(
                name=f"{name}-{host}-{tool}",
                words=[*where[host], *_tool_words(tool, asked.repeats), *to_memory],
            )
            for tool in asked.tools
        ]
    return runs


def _default_settings() -> list[str]:
    """Autotuned streams, as the paper profiles them; other transports over their own range."""
    return [f"{reference_transport()}.{one}" for one in (f"streams={_FLOWS}", "buffer=auto")]


def _grid_words(settings: Sequence[str], repeats: int) -> list[str]:
    axes = [word for setting in settings for word in ("--set", setting)]
    return [*axes, "--points", _POINTS, "--repeats", str(repeats)]


def _tool_words(tool: str, repeats: int) -> list[str]:
    """One file, by the number of its streams."""
    streams = f"{tool_traits(tool).stream_parameter}={_FLOWS}"
    return ["--profile-tool", tool, *_grid_words([streams], repeats)]


@contextlib.contextmanager
def _lab(name: str, options: NewPathOptions, rtts_s: Sequence[float]) -> Iterator[list[str]]:
    """A lab with a path for each RTT, up inside the block; yields its hosts. Raises LabError."""
    changes = changes_of(options)
    common = catalogue.find(options.path_name) if options.path_name else EmulatedPath()
    paths = {
        _host_name(rtt_s): changed(common, msgspec.structs.replace(changes, rtt_s=rtt_s))
        for rtt_s in rtts_s
    }
    bring_up(name, Plan(hosts=paths))
    try:
        yield list(paths)
    finally:
        take_down(name)


def _host_name(rtt_s: float) -> str:
    """A name of a host for an RTT: `rtt-45-6ms`."""
    return f"rtt-{rtt_s * 1000:g}ms".replace(".", "-")
