"""What a tool's errors mean: patterns in its output, and a sentence with the remedy for each."""

import re
from collections.abc import Iterable

import msgspec

from advisor.api.tool import ToolTrouble
from advisor.domain.measurement import FailureKind

__all__ = ["TroubleCase", "first_trouble"]


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
