"""Orders to a lab that is up, and its answers."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from advisor.cli.errors import UsageError
from advisor.lab.messages import LabCommand, LabStatus
from advisor.lab.paths import BadPath
from advisor.lab.state import LabError
from advisor.report.output import say, say_json


def lab_errors(command: Callable[..., int]) -> Callable[..., int]:
    """Errors of a lab end the command with one sentence and exit code 2."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> int:
        try:
            return command(*args, **options)
        except (LabError, BadPath) as error:
            raise UsageError.about("", error) from None

    return run


def order_lab(name: str, order: LabCommand, as_json: bool) -> int:
    """Send the order, and print the state of the lab after it. Raises LabError."""
    from advisor.lab.control import tell

    show_status(tell(name, order), as_json)
    return 0


def show_status(status: LabStatus, as_json: bool) -> None:
    """Print the state of a lab."""
    if as_json:
        say_json(msgspec.json.encode(status))
        return
    from advisor.report.lab import status_text

    say(status_text(status))


def steps_of(file: Path | None) -> list[Any]:
    """The changes in a file for `advisor lab schedule`. Raises UsageError."""
    from advisor.lab.schedule import BadSchedule, parse_schedule

    if file is None:
        return []
    try:
        return list(parse_schedule(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, BadSchedule) as error:
        raise UsageError.about(str(file), error) from None
