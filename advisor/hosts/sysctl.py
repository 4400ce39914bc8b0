"""Reads kernel settings. Nothing here ever sets one."""

from pathlib import Path


def sysctl(name: str) -> str | None:
    """The value of a name such as `net.core.rmem_max`; None if it cannot be read."""
    try:
        return Path("/proc/sys", *name.split(".")).read_text().strip()
    except OSError:
        return None


def sysctl_number(name: str) -> int | None:
    """The value as a whole number; None if it is not one."""
    numbers = sysctl_numbers(name)
    return numbers[0] if len(numbers) == 1 else None


def sysctl_triple(name: str) -> tuple[int, int, int] | None:
    """The value as minimum, default and maximum; None if it is not a triple."""
    numbers = sysctl_numbers(name)
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None


def sysctl_numbers(name: str) -> list[int]:
    """The value as whole numbers; empty if it is missing or contains anything else."""
    words = (sysctl(name) or "").split()
    return [int(word) for word in words] if all(word.isdecimal() for word in words) else []
