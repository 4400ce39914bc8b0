"""`python -m tests.benchmarks.probes`: the page on the length of probes."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from tests.benchmarks.probes.document import lab_text, simulated_text, trace_text, write
from tests.benchmarks.probes.recordings import recorded
from tests.benchmarks.probes.traces import FILE, traces

_DOCS: Final = Path(__file__).resolve().parents[3] / "docs"
_OPINION: Final = Path(__file__).with_name("opinion.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=Path, default=_DOCS / "benchmarks/probes.jsonl.gz")
    parser.add_argument("--page", type=Path, default=_DOCS / "benchmarks-probes.md")
    options = parser.parse_args()
    sections = []
    folder = Path(os.environ.get("ADVISOR_DATA", ""))
    if os.environ.get("ADVISOR_DATA") and (folder / FILE).exists():
        sections.append(trace_text(traces(folder)))
    else:
        print(f"without ADVISOR_DATA and its {FILE}: lab paths only")
    if recordings := recorded(options.recordings):
        sections.append(lab_text(recordings))
    sections.append(simulated_text())
    write(options.page, sections, _OPINION.read_text(encoding="utf-8").strip())
    print(f"written: {options.page}")


if __name__ == "__main__":
    main()
