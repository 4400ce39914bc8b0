"""The similarity of two paths."""

import math


def likeness(
    rtt_s: float | None,
    bandwidth_bps: float | None,
    other_rtt_s: float | None,
    other_bandwidth_bps: float | None,
) -> float | None:
    """The similarity of two paths, in (0, 1]: 1 for the same, halved for each factor of two.

    2 ** -d, where d is the distance in octaves: hypot(log2 of the RTTs' ratio, log2 of the
    bandwidths' ratio). A bandwidth that is not known for both is left out; without both RTTs
    (above zero) the similarity is unknown: None.
    """
    if not rtt_s or not other_rtt_s or min(rtt_s, other_rtt_s) < 0:
        return None
    octaves = [math.log2(rtt_s / other_rtt_s)]
    if bandwidth_bps and other_bandwidth_bps and min(bandwidth_bps, other_bandwidth_bps) > 0:
        octaves.append(math.log2(bandwidth_bps / other_bandwidth_bps))
    return float(2 ** -math.hypot(*octaves))
