"""The rate and the RTT to calculate with before the path was measured. Pure."""

from typing import Final

import msgspec

from advisor.domain.quantities import format_duration, format_rate, parse_given_rate, parse_rtt
from advisor.models.limits import is_loopback, wanted_bps
from advisor.tui.features.advising.draft import Draft

_USUAL_BPS: Final = 10e9
_USUAL_RTT_S: Final = 0.05


class AssumedPath(msgspec.Struct, frozen=True, kw_only=True):
    """`is_checked`: whether the path of the present entries was checked."""

    rate_bps: float
    rtt_s: float
    is_checked: bool

    @property
    def bdp_bytes(self) -> float:
        """The bandwidth-delay product."""
        return self.rate_bps * self.rtt_s / 8

    @property
    def words(self) -> str:
        """What is assumed, and of which path."""
        known = "this path" if self.is_checked else "a path not checked yet"
        return f"{known}: {format_rate(self.rate_bps)} × {format_duration(self.rtt_s)}"


def assumed_path(draft: Draft) -> AssumedPath:
    """What was entered has precedence over the checked path, and that over usual values."""
    seen = draft.path_seen
    if seen and not is_loopback(seen.path):
        rate_bps, rtt_s = wanted_bps(seen.path), seen.path.rtt_s
    else:
        rate_bps, rtt_s = _USUAL_BPS, _USUAL_RTT_S
    try:
        rate_bps = parse_given_rate(draft.bandwidth) if draft.bandwidth.strip() else rate_bps
        rtt_s = parse_rtt(draft.rtt) if draft.rtt.strip() else rtt_s
    except ValueError:
        pass  # The previous step reports what is wrong with it.
    return AssumedPath(rate_bps=rate_bps, rtt_s=rtt_s, is_checked=seen is not None)
