"""The last section of a page: machine, date and command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from advisor.domain.quantities import format_bytes
from tests.benchmarks.markdown import filled
from tests.benchmarks.wan.results import Late, Machine


def where_text(machines: Sequence[Machine], late: Sequence[Late], hosts: str) -> str:
    """Empty where nothing was measured.

    `hosts`: the lab's hosts that share the cores, as "Both hosts".
    """
    if not machines:
        return ""
    last = machines[-1]
    versions = ", ".join(f"{name} {version}" for name, version in last.versions.items())
    processors = _or(one.processor for one in machines)
    kernels = _or(one.kernel for one in machines)
    text = (
        f"{processors}, {last.cores} cores, {format_bytes(last.memory_bytes)}; Linux {kernels}; "
        f"{versions}. {hosts}, the emulator and the loads share these cores."
    )
    if late:
        middle_ms, worst_ms = (pick(one.p99_s for one in late) * 1000 for pick in (median, max))
        text += (
            f" The emulator delivered 99 % of the packets within {middle_ms:.1f} ms of their time "
            f"in the median lab, {worst_ms:.1f} ms in the worst."
        )
    began = "\n".join(
        filled(f"- {one.when}: `{one.command}`, load average {one.load_1min:.2f} before")
        for one in machines
    )
    return f"## Where\n\n{filled(text)}\n\nStarted or resumed with:\n\n{began}"


def _or(names: Iterable[str]) -> str:
    """Each name once: what was resumed may have been so on another machine."""
    return " or ".join(dict.fromkeys(names))
