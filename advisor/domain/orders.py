"""What a user may order while a session runs. `advisor advise --orders` reads them from its input.

What an order changed is told as an event, like all else.
"""

from typing import TypeAlias

import msgspec

from advisor.domain.space import Setting


class Order(msgspec.Struct, frozen=True, kw_only=True, tag_field="order"):
    """What every order is."""


class Pause(Order, frozen=True, kw_only=True, tag="pause"):
    """Start no further probe; the time stands still."""


class GoOn(Order, frozen=True, kw_only=True, tag="go_on"):
    """End a pause."""


class Skip(Order, frozen=True, kw_only=True, tag="skip"):
    """End this run of probes (`tcp/cubic`, `udt`) once the probe under way is over."""

    stage: str


class Extend(Order, frozen=True, kw_only=True, tag="extend"):
    """Give the session more time, in seconds."""

    by_s: float

    def __post_init__(self) -> None:
        if not 0 < self.by_s <= 86400:
            raise ValueError("by_s must be above 0 and at most a day")


class Try(Order, frozen=True, kw_only=True, tag="try"):
    """Measure this setting next, once."""

    transport: str
    setting: Setting


class Ask(Order, frozen=True, kw_only=True, tag="ask"):
    """Ask this for a destination from now on, where several are served.

    `asked` as it is typed: a share `4`, a rate `400Mbit`, a factor `x1.5`, a concurrency `@3`.
    """

    destination: str
    asked: str


class Stop(Order, frozen=True, kw_only=True, tag="stop"):
    """End the session with the best so far."""


AnyOrder: TypeAlias = Pause | GoOn | Skip | Extend | Try | Ask | Stop
