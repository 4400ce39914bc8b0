"""How far the models' inputs are from the data they were fitted to."""

from collections.abc import Mapping, Sequence

from advisor.domain.shares import Served


def beyond_words(
    levels: Mapping[str, int],
    samples: Mapping[str, Sequence[Served]],
    names: Mapping[str, str] | None = None,
) -> str:
    """The concurrencies beyond the measured range, as a sentence; "" if there are none.

    `names`: display names of the destinations; None for the names as they are.
    """
    measured = {name: [one.concurrency for one in samples[name]] for name in levels}
    together = [one.source_concurrency for name in levels for one in samples[name]]
    beyond = [
        f"{(names or {}).get(name, name)} {level} ({range_words(measured[name])} measured)"
        for name, level in levels.items()
        if not min(measured[name]) <= level <= max(measured[name])
    ]
    total = sum(levels.values())
    if not min(together) <= total <= max(together):
        beyond.append(f"all {total} ({range_words(together)} measured)")
    return f"Beyond what was measured: {', '.join(beyond)}." if beyond else ""


def range_words(levels: Sequence[int]) -> str:
    """`1 to 4`, or the single value."""
    low, high = min(levels), max(levels)
    return f"{low}" if low == high else f"{low} to {high}"
