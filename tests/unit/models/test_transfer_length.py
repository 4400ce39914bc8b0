"""How long a probe of a transfer tool lasts."""

import pytest

from advisor.models.transfer_length import transfer_length


def test_a_tool_that_begins_late_has_as_much_time_for_its_data() -> None:
    usual, late = transfer_length(0.1), transfer_length(0.1, start=40)
    assert late.data_s == usual.data_s
    assert late.ceiling_s - usual.ceiling_s == pytest.approx(2.4)
    assert late.usual_s - usual.usual_s == pytest.approx(2.4)
    assert transfer_length(0.1, start=4) == usual
