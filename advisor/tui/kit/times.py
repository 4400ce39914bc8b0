"""Times and ages as text."""

from advisor.domain.quantities import format_duration


def age_words(age_s: float) -> str:
    """An age in its largest unit, as `3 d`, in whole seconds at least."""
    return " ".join(format_duration(max(1, round(age_s))).split(" ")[:2])


def moment_words(at_s: float) -> str:
    """The time at the start of a line."""
    return format_duration(round(at_s)) if at_s >= 1 else "0 s"
