"""What was found out about the settings of hosts: how each stands, what it costs, what lifts it.

One model for whoever judges hosts: `host_audit` judges one host before any path is known, and
`host_review` both hosts of a path, from the same `limits` that the advice names.
"""

from enum import StrEnum

import msgspec

from advisor.domain.advice import Side


class Severity(StrEnum):
    """How a setting stands: bad limits transfers, watch may limit them."""

    GOOD = "good"
    WATCH = "watch"
    BAD = "bad"
    UNKNOWN = "unknown"


class Remedy(msgspec.Struct, frozen=True):
    """A command or a sentence, never applied here. `side`: None for both hosts or the path."""

    side: Side | None
    line: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. `source`, `destination`: its value there, "" where it is not looked at.

    `recommended`: a better value, and `reference`: who recommends it, with the date; "" for none.
    `cost`: what it costs, in a sentence, "" if nothing is known to be lost.
    """

    what: str
    source: str
    destination: str = ""
    severity: Severity
    recommended: str = ""
    reference: str = ""
    cost: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def remedy(self) -> str:
        """The first remedy's line, "" if there is nothing to do."""
        return self.remedies[0].line if self.remedies else ""
