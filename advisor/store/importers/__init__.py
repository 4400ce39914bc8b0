"""Measurements that other programs left in files, read into records."""

from collections.abc import Iterator
from pathlib import Path

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.store.importers import iperf3, probdata
from advisor.store.importers.entries import BadEntry

__all__ = ["BadEntry", "read_file"]


def read_file(path: Path, pair: Pair | None = None) -> Iterator[ProbeRecord | BadEntry]:
    """The probes in a file, whatever its format, and what in it is not taken.

    The format is told by the content: ProbData's .PROF, or what `iperf3 -J` prints. `pair` is where
    the data really came from and went to; without it, it is what the file says. The `session` of a
    record is made from its content, so that Store.append_new takes it only once.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        yield BadEntry("", "it is not text: neither ProbData's .PROF nor iperf3 -J")
        return
    except OSError as error:
        yield BadEntry("", f"it cannot be read: {(error.strerror or str(error)).lower()}")
        return
    yield from _read_text(text, pair)


def _read_text(text: str, pair: Pair | None) -> Iterator[ProbeRecord | BadEntry]:
    lines = text.splitlines()
    if text.lstrip().startswith("{"):
        yield from iperf3.read(text, pair)
    elif any(probdata.looks_like(line) for line in lines):
        yield from probdata.read(lines, pair)
    else:
        yield BadEntry("", _unknown(text))


def _unknown(text: str) -> str:
    if not text.strip():
        return "it is empty"
    if text.startswith("Connecting to host") or "iperf Done." in text:
        return (
            "it is iperf3's text for people, which leaves figures out: import what iperf3 -J prints"
        )
    return "its format is not known: neither ProbData's .PROF nor iperf3 -J"
