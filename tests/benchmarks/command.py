"""The options that all benchmarks have: measure, or write the page."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.benchmarks.wan.hosts import Trouble

_Results = TypeVar("_Results")


def run_bench(
    name: str,
    options: argparse.Namespace,
    results: Callable[[Path], _Results],
    measure: Callable[[argparse.Namespace, _Results], None],
    write_document: Callable[[_Results, Path], None],
) -> None:
    """The bench of that name, whose results are NAME.jsonl in the folder `out`; exits on trouble.

    Of the options `fresh`, `document` and `page` count here.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    file = options.out / f"{name}.jsonl"
    if options.fresh:
        file.unlink(missing_ok=True)
    try:
        if options.document:
            write_document(results(file), options.page)
        else:
            measure(options, results(file))
    except Trouble as trouble:
        sys.exit(f"bench-{name}: {trouble}")
    except KeyboardInterrupt:
        sys.exit(130)
