"""What a sender's kernel may report."""

import msgspec
import pytest

from advisor.domain.sending import SendingState

STATE = {
    "congestion": "cubic",
    "streams": 4,
    "window_bytes": 100_000,
    "starting": 0,
    "cuts": 3,
    "sent_segments": 1000,
    "segment_bytes": 1448,
}


def test_what_a_kernel_counts_is_read() -> None:
    assert msgspec.to_builtins(msgspec.convert(STATE, SendingState)) == STATE | {
        "busy_s": 0.0,
        "receiver_limited_s": 0.0,
        "buffer_limited_s": 0.0,
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [("streams", 0), *((name, -1) for name in STATE if name != "congestion"), ("cuts", 2**63)],
)
def test_counts_that_no_kernel_has_are_refused(field: str, value: int) -> None:
    with pytest.raises(msgspec.ValidationError, match=field):
        msgspec.convert(STATE | {field: value}, SendingState)
