"""Makes the pictures of the manual, and the animated walk of the README.

PYTHONPATH=. .venv/bin/python scripts/screenshots.py [NAME…]
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from advisor.tui.screens import WALK
from tests.tui.pictures import FOLDER, NAMES, picture, walk


def main() -> None:
    """One picture a screen; those that are named, or all."""
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as home:
            for kind in ("STATE", "CACHE", "DATA", "CONFIG"):
                os.environ[f"XDG_{kind}_HOME"] = f"{home}/{kind.lower()}"
            os.environ["ADVISOR_RUNTIME_DIR"] = f"{home}/advisor"
            (FOLDER / f"{name}.svg").write_text(asyncio.run(picture(Path(home), name)))
    steps = [(FOLDER / f"{name}.svg").read_text() for name in WALK]
    (FOLDER / "walk.svg").write_text(walk(steps))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    main()
