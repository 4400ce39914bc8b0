"""A real session, as it was told: TCP and UDT over 20 ms and 200 Mbit/s."""

import gzip
from pathlib import Path

import msgspec

from advisor.domain.events import AnyEvent

_FILE = Path(__file__).parent / "recordings" / "lab-20ms-200mbit.jsonl.gz"


def events() -> list[AnyEvent]:
    decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
    return [decoder.decode(line) for line in gzip.decompress(_FILE.read_bytes()).splitlines()]
