"""The pictures of the manual show what the screens draw.

After a change that is meant: `PYTHONPATH=. python scripts/screenshots.py`, and a look at every
picture that changed.
"""

import re
from pathlib import Path

import pytest

from advisor.tui.screens import WALK

from .pictures import FOLDER, NAMES, picture, text_in, walk

DOCS = FOLDER.parent


def kept(name: str) -> str:
    return (FOLDER / f"{name}.svg").read_text()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.asyncio
async def test_it_is_current(name: str, tmp_path: Path) -> None:
    text = text_in(kept(name))
    assert len(" ".join(text)) > 200
    assert text_in(await picture(tmp_path, name, text)) == text


def test_the_walk_has_every_step_in_its_order() -> None:
    assert kept("walk") == walk([kept(name) for name in WALK])


def test_every_picture_is_shown_somewhere_and_only_those() -> None:
    pages = [DOCS.parent / "README.md", *DOCS.glob("*.md")]
    shown = {
        name
        for page in pages
        for name in re.findall(r"\]\((?:docs/)?screens/([\w-]+)\.svg\)", page.read_text())
    }
    assert shown == {one.stem for one in FOLDER.iterdir()} == {*NAMES, "walk"}
