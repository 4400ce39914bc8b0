"""What is no message is refused; nothing else is let through."""

import json
import random
from collections.abc import Iterator

import msgspec
import pytest

from advisor.agent import messages as m

VALID: list[m.Request] = [
    m.Hello(protocol=1, version="0.1.0"),
    m.GetFacts(facing="192.0.2.1"),
    m.OpenEcho(source_address="2001:db8::1", token="0" * 32),
    m.CloseEcho(),
    m.OpenProbe(
        transport="tcp",
        setting={"streams": 4, "buffer_bytes": 1048576, "congestion": "cubic"},
        source_address="192.0.2.1",
        token="f" * 32,
        ceiling_s=2.0,
        sample_every_s=0.1,
    ),
    m.CloseProbe(),
]
TEXTS = [m.as_line(request).strip() for request in VALID]


@pytest.mark.parametrize("request_", VALID)
def test_requests_survive_the_wire(request_: m.Request) -> None:
    assert m.read_request(m.as_line(request_)) == request_


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"do": "shutdown"}',
        b'{"do": "close_probe", "extra": 1}',
        b'{"do": "hello", "protocol": 0, "version": ""}',
        b'{"do": "hello", "protocol": "1", "version": ""}',
        b'{"do": "facts", "facing": "example.org; rm -rf /"}',
        b'{"do": "open_echo", "source_address": "192.0.2.1", "token": "short"}',
        b'{"do": "hello", "protocol": 1, "version": "' + b"x" * 70000 + b'"}',
    ],
)
def test_garbage_is_refused(line: bytes) -> None:
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        m.read_request(line)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("transport", "../etc/passwd"),
        ("transport", ""),
        ("setting", {f"k{i}": 1 for i in range(17)}),
        ("setting", {"a b": 1}),
        ("setting", {"a": [1]}),
        ("setting", {"a": "x" * 65}),
        ("source_address", "nowhere!"),
        ("token", "G" * 32),
        ("ceiling_s", 0),
        ("ceiling_s", -1),
        ("ceiling_s", 1e9),
        ("sample_every_s", 0),
    ],
)
def test_every_field_of_a_probe_is_bounded(field: str, value: object) -> None:
    message = json.loads(TEXTS[4]) | {field: value}
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        m.read_request(json.dumps(message).encode())


def fuzzed(rng: random.Random, count: int) -> Iterator[bytes]:
    """Messages that are each broken in a way that leaves them no valid request."""
    for _ in range(count):
        text = bytearray(rng.choice(TEXTS))
        match rng.randrange(6):
            case 0:  # cut short: what is left of a JSON object is none
                yield bytes(text[: rng.randrange(len(text))])
            case 1:  # bytes that no JSON text holds unescaped
                for _ in range(rng.randrange(1, 8)):
                    text[rng.randrange(len(text))] = rng.choice([*range(0x80, 0xC0), *range(8)])
                yield bytes(text)
            case 2:  # noise
                yield rng.randbytes(rng.randrange(200))
            case 3:  # a field nobody knows
                message = json.loads(text)
                message[f"x{rng.randrange(10**6)}"] = rng.random()
                yield json.dumps(message).encode()
            case 4:  # a field of another type
                message = json.loads(text)
                key = rng.choice(sorted(message))
                message[key] = rng.choice([None, [], {"a": {}}, True, [message[key]]])
                yield json.dumps(message).encode()
            case _:  # two on one line, or one wrapped
                yield rng.choice([bytes(text + text), b"[" + text + b"]", b'"' + text])


def test_a_hundred_thousand_fuzzed_messages_are_all_refused() -> None:
    accepted = []
    for line in fuzzed(random.Random(20170405), 100_000):
        try:
            accepted.append((line, m.read_request(line)))
        except (msgspec.MsgspecError, ValueError):
            continue
    assert accepted == []
