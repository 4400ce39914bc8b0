"""What a line of text says of a probe."""

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.report.lines import line_of
from advisor.testing.samples import measured


@pytest.mark.parametrize(
    ("settled", "predicted", "words"),
    [
        (True, False, "1 Gbit/s"),
        (False, False, "1 Gbit/s (not settled)"),
        (False, True, "1 Gbit/s (predicted from its losses, not settled)"),
        (True, True, "1 Gbit/s (predicted from its losses)"),
    ],
)
def test_a_result_says_whether_it_settled_and_was_predicted(
    settled: bool, predicted: bool, words: str
) -> None:
    result = msgspec.structs.replace(measured(1e9), settled=settled, predicted=predicted)
    line = line_of(
        ev.ProbeEnded(
            at_s=4.0,
            ordinal=1,
            stage="tcp",
            purpose="search",
            subject="tcp",
            setting={"streams": 4},
            result=result,
            remaining_s=40.0,
        )
    )
    assert line is not None
    assert line.endswith(f": {words}")
