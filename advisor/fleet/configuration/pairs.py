"""`[measure.NAME]` made into a Task: what is measured, and between which hosts."""

from typing import Final

from advisor.domain.names import parse_names
from advisor.domain.quantities import parse_duration
from advisor.domain.target_path import parse_target_path
from advisor.fleet.configuration.reading import wrong
from advisor.fleet.configuration.selecting import ALL, Selector
from advisor.fleet.configuration.tables import MeasureTable
from advisor.fleet.configuration.values import Place, read
from advisor.fleet.plan.fleet import DAY_S, Task

_LISTS: Final = {
    "mesh": ("hosts",),
    "hub-and-spokes": ("hubs", "spokes"),
    "pairs": ("sources", "destinations"),
}
_OPTIONS: Final = {
    "path": (),
    "advice": ("transports",),
    "profile": ("transports", "set"),
    "disk-to-disk": ("tool", "data", "to"),
}
_LEAST_EVERY_S: Final = 60.0
_MOST_EVERY_S: Final = 10 * 365 * DAY_S
_MOST_BUDGET_S: Final = DAY_S / 2

Block = tuple[tuple[int, ...], tuple[int, ...]]


def task_of(name: str, table: MeasureTable, selector: Selector) -> Task:
    """The task of a table. Raises BadFleet."""
    place = ("measure", name)
    every_s = read((*place, "every"), table.every, parse_duration)
    if not _LEAST_EVERY_S <= every_s <= _MOST_EVERY_S:
        raise wrong(
            (*place, "every"), f"'{table.every}' is out of range", "write a minute to ten years"
        )
    budget_s = read((*place, "budget"), table.budget, parse_duration)
    if not 1 <= budget_s <= _MOST_BUDGET_S:
        raise wrong(
            (*place, "budget"), f"'{table.budget}' is out of range", "write a second to 12 hours"
        )
    blocks = _blocks(place, table, selector)
    task = Task(
        name=name,
        what=table.what,
        blocks=blocks,
        every_s=every_s,
        budget_s=budget_s,
        options=_options(place, table),
    )
    if next(task.pairs(), None) is None:
        raise wrong(place, "it has no pair of two hosts", "name more hosts")
    return task


def _blocks(place: Place, table: MeasureTable, selector: Selector) -> tuple[Block, ...]:
    lists = _LISTS[table.between]
    for key in (key for keys in _LISTS.values() for key in keys if key not in lists):
        if getattr(table, key):
            raise wrong(
                (*place, key),
                f"'{table.between}' has no {key}",
                f"write {' and '.join(lists)}, or another between",
            )
    default = [ALL] if table.between == "mesh" else []
    first, *second = (
        tuple(selector.hosts((*place, key), getattr(table, key) or default)) for key in lists
    )
    if table.between == "mesh":
        return ((first, first),)
    [other] = second
    if table.between == "pairs":
        return ((first, other),)
    ways = {"from-hubs": ((first, other),), "to-hubs": ((other, first),)}
    return ways.get(table.direction, ((first, other), (other, first)))


def _options(place: Place, table: MeasureTable) -> dict[str, str | list[str]]:
    own = _OPTIONS[table.what]
    for key in sorted({key for keys in _OPTIONS.values() for key in keys} - set(own)):
        if getattr(table, key):
            raise wrong(
                (*place, key), f"'{table.what}' has no {key}", "remove it, or write another what"
            )
    for number, transport in enumerate(table.transports):
        read((*place, "transports", number), transport, parse_names)
    if table.what == "disk-to-disk":
        for key in own:
            if not getattr(table, key):
                raise wrong((*place, key), "it is missing", f"write {key} = …")
        read((*place, "to"), table.to, parse_target_path)
    if table.what == "profile" and not table.set:
        raise wrong((*place, "set"), "it is missing", 'write a grid as in set = ["streams=1,4,16"]')
    return {key: getattr(table, key) for key in own if getattr(table, key)}
