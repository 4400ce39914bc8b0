"""Malformed messages, in both directions.

    python -m tests.soak.fuzzed_messages                       1,000,000 messages: minutes
    python -m tests.soak.fuzzed_messages --messages 20000 --seed 4

Real messages are cut off, changed in single bytes or values, nested, given huge numbers, or
replaced by noise. Invariants: each is refused with the one exception that its reader
handles, or is a message of the protocol after all, which is written as it was read; and the memory
of this process does not grow. Exit code 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
from rich.console import Console

from advisor.agent import messages as m
from advisor.agent import target_messages as t
from advisor.domain.proof import Algorithm
from advisor.hosts.decoding import BadData

_CONVERSATION: Final = Path(__file__).parents[1] / "data/version_0_1/conversation.jsonl"
_PATH: Final = "/store/run42/f"
_NEW: Final[tuple[m.Request | m.Reply, ...]] = (
    t.ClaimTarget(target=_PATH, manifest="a" * 64, token="b" * 64, who="me@here"),
    t.ReleaseTarget(done=True),
    t.LookAtTarget(paths=[_PATH]),
    t.RemoveExisting(paths=[_PATH]),
    t.MakeFolders(paths=[_PATH]),
    t.MakeLinks(links=[(_PATH, "../g")]),
    t.SetAttributes(entries=[(_PATH, 0o640, 10**18), (_PATH, None, 0)]),
    t.GetDigests(algorithm=Algorithm.BLAKE3, pieces=[(_PATH, 0, 7)]),
    t.AddToReceipt(
        algorithm=Algorithm.SHA256, pieces=[t.SealedPiece(_PATH, 0, 7, "c" * 64, "d" * 64)]
    ),
    t.SignReceipt(manifest="a" * 64, tool="globus-url-copy"),
    t.TargetClaimed(is_empty=True, is_resumed=False),
    t.TargetTaken(target=_PATH, file=_PATH, who="", since_s=1.0, is_active=True),
    t.TargetReleased(),
    t.TargetSeen(found=[("file", 7), None]),
    t.TargetChanged(reasons=["", "No such file"]),
    t.DigestsFound(digests=[t.PieceDigest("c" * 64, "d" * 64)], seen_bytes=7),
    t.ReceiptGrown(),
    t.ReceiptSigned(statement="{}", signature="e" * 128, public_key="f" * 64),
)
_ODD: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 2**63, 10**400, 1e308, -0.0, "", "\u202e\x1b]52;c;x\x07", "/" * 5000,
    [], [[]], {}, {"do": "hello"}, ["x"] * 500,
)  # fmt: skip


def _lines() -> list[bytes]:
    old = [json.loads(line)["line"].encode() for line in _CONVERSATION.read_text().splitlines()]
    return [*old, *(m.as_line(one).strip() for one in _NEW)]


def _cut(line: bytes, rng: Random) -> bytes:
    return line[: rng.randrange(len(line))]


def _flipped(line: bytes, rng: Random) -> bytes:
    changed = bytearray(line)
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _replaced(line: bytes, rng: Random) -> bytes:
    """One value anywhere in it is another."""
    message = json.loads(line)
    place: Any = message
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and rng.random() < 0.6:
            place = place[key]
            continue
        place[key] = rng.choice(_ODD)
        break
    return json.dumps(message).encode()


def _extended(line: bytes, rng: Random) -> bytes:
    return json.dumps(json.loads(line) | {f"x{rng.randrange(9)}": rng.choice(_ODD)}).encode()


def _nested(line: bytes, rng: Random) -> bytes:
    depth = rng.choice((70, 1000, 1000, 30_000))
    opened, closed = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    message = json.loads(line)
    inner = opened * depth + b"1" + closed * depth
    key = rng.choice([*message, "new"])
    message[key] = 0
    return json.dumps(message).encode().replace(b": 0", b": " + inner, 1)


def _noise(_: bytes, rng: Random) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 30, 5000)))


def _long(line: bytes, rng: Random) -> bytes:
    return line + b" " * rng.choice((10, 65_536))


_CHANGES: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (
    *(_cut, _flipped, _flipped, _replaced, _replaced, _replaced),
    *(_extended, _noise, _noise, _long, _nested),
)


def _tried(line: bytes, read: Callable[[bytes], Any]) -> str:
    """What became of a message. Raises whatever else than a refusal comes out."""
    try:
        message = read(line)
    except (BadData, ValueError, msgspec.MsgspecError):
        return "refused"
    again = read(m.as_line(message).strip())
    if again != message:
        raise AssertionError(f"read as something else: {line[:300]!r}")
    return "a message after all"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000_000, help="[1000000]")
    parser.add_argument("--seed", type=int, default=0, help="[0]")
    options = parser.parse_args()
    rng, lines, began_s = Random(options.seed), _lines(), time.monotonic()
    counts: Counter[str] = Counter()
    before_kb = 0
    for number in range(options.messages):
        line = rng.choice(_CHANGES)(rng.choice(lines), rng)
        for read in (m.read_request, m.read_reply):
            counts[f"{read.__name__}: {_tried(line, read)}"] += 1
        if number == options.messages // 10:
            before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    console = Console(highlight=False, soft_wrap=True)
    for name, count in sorted(counts.items()):
        console.print(f"{name}: {count}")
    console.print(
        f"{grown_kb} kB more memory after the first tenth; {time.monotonic() - began_s:.0f} s"
    )
    if grown_kb > 50_000:
        sys.exit("the memory grows")


if __name__ == "__main__":
    main()
