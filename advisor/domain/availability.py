"""Whether something can be used on this machine, and if not, how to make it so."""

import msgspec


class Availability(msgspec.Struct, frozen=True):
    """`reason`: what is missing; `remedy`: the command or step that mends it. "" when usable."""

    reason: str = ""
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is missing."""
        return not self.reason


AVAILABLE = Availability()
"""Nothing is missing."""
