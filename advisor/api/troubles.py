"""What a tool's errors mean: patterns in its output, and a sentence with the remedy for each."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from advisor.api.tool import ToolTrouble
from advisor.domain.measurement import FailureKind

__all__ = ["MOST_SHOWN", "TroubleCase", "first_trouble", "trouble_of_run", "why_not_by_ssh"]

MOST_SHOWN: Final = 200
"""Characters of a program's own words in a sentence."""


class TroubleCase(msgspec.Struct, frozen=True):
    """`pattern` in the errors means `kind`; its named groups are used in the sentence.

    `^` and `$` match at each line.
    """

    pattern: str
    kind: FailureKind
    sentence: str


def first_trouble(cases: Iterable[TroubleCase], text: str) -> ToolTrouble | None:
    """What the first case means whose pattern is in the text; None for none."""
    for case in cases:
        if found := re.search(case.pattern, text, re.MULTILINE):
            return ToolTrouble(case.kind, case.sentence.format_map(found.groupdict()))
    return None


def trouble_of_run(
    program: str,
    status: int,
    cases: Iterable[TroubleCase],
    text: str,
    *,
    said: str,
    refusal: str = "",
) -> ToolTrouble | None:
    """What went wrong in a run with this exit status; None for status 0.

    `text`: the errors, in which the cases are looked for. `said`: the line of them to show where no
    case fits. `refusal`: why the server refused connections, "" if it did not.
    """
    if status == 0:
        return None
    if refusal:
        return ToolTrouble(FailureKind.RESET, f"{refusal[0].upper()}{refusal[1:]}.")
    if trouble := first_trouble(cases, text):
        return trouble
    words = f": {said[:MOST_SHOWN].rstrip('.')}" if said else ""
    return ToolTrouble(FailureKind.CRASHED, f"{program} ended with status {status}{words}.")


def why_not_by_ssh(
    program: str, address: str, said: str, missing: re.Pattern[str], instead: str = ""
) -> str:
    """Why ssh could not run a program at an address, in a sentence without its full stop.

    `said`: what was printed. `missing`: what of it means that the program is not there. `instead`:
    what else helps where ssh does not log in.
    """
    if missing.search(said):
        return f"{program} is not installed at {address}: install it there, or use another tool"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    why = f" ({lines[-1][:MOST_SHOWN].rstrip('.')})" if lines else ""
    return (
        f"ssh cannot run {program} at {address} without a password{why}: run 'ssh {address}' until "
        f"it asks for none{instead}"
    )
