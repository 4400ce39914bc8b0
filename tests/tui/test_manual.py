"""The manual on a terminal: readable in 80 columns, links between its pages, and no others."""

from typing import Any

import pytest
from textual.widgets import Markdown

from advisor.cli.manual.pages import pages
from advisor.tui.manual import ManualApp, _Pages

from .driving import until

SIZE = (80, 24)


def opened(topic: str) -> ManualApp:
    return ManualApp(pages()[topic], theme="textual-dark")


def shown(app: ManualApp) -> str:
    """The lines of the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def follow(pilot: Any, link: str) -> None:
    """Click on a link of the page that is open."""
    viewer = pilot.app.query_one(_Pages)
    await until(pilot, lambda: not viewer.loading)
    viewer.document.post_message(Markdown.LinkClicked(viewer.document, link))


@pytest.mark.asyncio
async def test_the_index_is_read_at_80_columns_and_links_are_followed() -> None:
    app = opened("index")
    async with app.run_test(size=SIZE) as pilot:
        viewer = app.query_one(_Pages)
        await until(pilot, lambda: "The manual of advisor" in shown(app))
        assert "q Leave" in shown(app)
        assert viewer.document.virtual_size.width <= SIZE[0]
        await follow(pilot, "verify.md")
        await until(pilot, lambda: "Proving the copy" in shown(app))
        await pilot.press("b")
        await until(pilot, lambda: "The manual of advisor" in shown(app))
        await pilot.press("t")
        await until(pilot, lambda: viewer.show_table_of_contents)
        await pilot.press("q")
    assert app.return_code == 0


@pytest.mark.asyncio
async def test_a_link_to_no_page_is_reported_and_not_followed() -> None:
    links = (
        "https://example.org/a.md",
        "../README.md/../../etc/passwd",
        "events.schema.json",
        "none.md",
        "[b]x",
    )
    app = opened("verify")
    async with app.run_test(size=SIZE) as pilot:
        for link in links:
            await follow(pilot, link)
            message = f"{link} is not a page of the manual"
            await until(
                pilot, lambda message=message: message in {n.message for n in app._notifications}
            )
        assert app.query_one(_Pages).navigator.location == pages()["verify"].absolute()


@pytest.mark.asyncio
async def test_a_page_in_the_folder_below_links_to_those_above() -> None:
    app = opened("configuration-keys")
    async with app.run_test(size=SIZE) as pilot:
        await follow(pilot, "../configuration.md")
        await until(pilot, lambda: "One TOML file" in shown(app))
