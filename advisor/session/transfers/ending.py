"""What is there at the end of a transfer, and what is not."""

from typing import Any, Final

from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.session.moving.portion import Portion

EXIT_DONE: Final = 0
EXIT_NOT_ALL: Final = 1
EXIT_INTERRUPTED: Final = 130

_NAMED: Final = 100


def ending_of(portion: Portion, elapsed_s: float, failure: str, *, is_over: bool) -> dict[str, Any]:
    """The fields of `TransferEnded`. `failure`: why it gave up, ""; `is_over`: nobody ended it."""
    troubles = portion.troubles
    complete = is_over and not troubles
    there = f"{portion.arrived_files} of {portion.total_files} files are there whole"
    exit_code = EXIT_DONE if complete else EXIT_NOT_ALL
    if complete:
        files = portion.arrived_files
        number = "the file is" if files == 1 else f"all {files} files are"
        message = f"{number} there, {_moved_words(portion.arrived_bytes, elapsed_s)}"
    elif failure:
        message = f"{failure}; {there}"
    elif not is_over:
        message = f"stopped: {there}; the same command moves all of them again"
        exit_code = EXIT_INTERRUPTED
    else:
        message = f"{there}, {len(troubles)} could not be moved"
    return {
        "complete": complete,
        "files": portion.arrived_files,
        "moved_bytes": portion.arrived_bytes,
        "elapsed_s": elapsed_s,
        "message": message,
        "missing": [f"{one.file.name}: {one.message}" for one in troubles[:_NAMED]],
        "missing_files": len(troubles),
        "exit_code": exit_code,
    }


def _moved_words(moved_bytes: int, elapsed_s: float) -> str:
    rate = format_rate(moved_bytes * 8 / max(1e-3, elapsed_s))
    return f"{format_bytes(moved_bytes)} in {format_duration(elapsed_s)}, {rate}"
