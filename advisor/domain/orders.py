"""The orders a user may give to a running session. `advisor advise --orders` reads them from stdin.

The change made by an order is reported as an event.
"""

from typing import TypeAlias

import msgspec

from advisor.domain.space import Setting


class Order(msgspec.Struct, frozen=True, kw_only=True, tag_field="order"):
    """The base of all orders."""


class Pause(Order, frozen=True, kw_only=True, tag="pause"):
    """Start no further probe; the budget does not run meanwhile."""


class Resume(Order, frozen=True, kw_only=True, tag="resume"):
    """End a pause."""


class Skip(Order, frozen=True, kw_only=True, tag="skip"):
    """End this run of probes (`tcp/cubic`, `udt`) when the current probe has ended."""

    stage: str


class Extend(Order, frozen=True, kw_only=True, tag="extend"):
    """Give the session more time, in seconds."""

    by_s: float

    def __post_init__(self) -> None:
        if not 0 < self.by_s <= 86400:
            raise ValueError("by_s must be above 0 and at most a day")


class Try(Order, frozen=True, kw_only=True, tag="try"):
    """Measure this setting next, once."""

    subject: str = msgspec.field(name="transport")
    setting: Setting


class Ask(Order, frozen=True, kw_only=True, tag="ask"):
    """Change what is requested for a destination, where there are several.

    `asked` as the user types it: a share `4`, a rate `400Mbit`, a factor `x1.5`, a concurrency
    `@3`.
    """

    destination: str
    asked: str


class Stop(Order, frozen=True, kw_only=True, tag="stop"):
    """End the session with the best setting so far."""


AnyOrder: TypeAlias = Pause | Resume | Skip | Extend | Try | Ask | Stop
