"""Changes of pairs, as text and as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from advisor.domain.quantities import format_rate
from advisor.fleet.changes import Change
from advisor.report.output import say
from advisor.report.times import local_time


def changes_data(found: Sequence[Change]) -> dict[str, Any]:
    """The changes for JSON."""
    return {"changes": [msgspec.to_builtins(one) | {"factor": one.factor} for one in found]}


def print_changes(found: Sequence[Change], pairs: int) -> None:
    """Print each change with what may explain it."""
    if not found:
        say(f"nothing has changed on {pairs} {'pair' if pairs == 1 else 'pairs'}")
    for one in found:
        rates = f"{format_rate(one.before_bps)} to {format_rate(one.after_bps)}"
        say(f"{one.pair}  {one.subject}: {one.factor - 1:+.0%}, {rates}")
        times = f"since {local_time(one.since_s)}, certain since {local_time(one.noticed_s)}"
        say(f"  {times}, {one.records} {'record' if one.records == 1 else 'records'}")
        for line in explained(one):
            say(f"  {line}")


def explained(one: Change, names: Mapping[str, str] | None = None) -> list[str]:
    """What may explain a change, in lines. `names`: of source and destination, where wanted."""
    if one.facts is None:
        return ["no host facts are stored for it"]
    if not one.facts:
        return ["none of the recorded facts of hosts and path changed with it"]
    wheres = {f.where: f.where for f in one.facts} | dict(names or {})
    return [f"{wheres[f.where]}: {f.fact} was {f.before}, then {f.after}" for f in one.facts]
