"""The report on a fleet in a real browser: what it draws, and that it asks nobody for anything."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from advisor.fleet.state.courses import Course
from advisor.report.fleet_page.page import report_page
from tests.browser import Browser, need_chromium
from tests.unit.report.test_fleet_page import (
    ATTACKS,
    DAY_S,
    NOW_S,
    Page,
    change,
    courses,
    fleet,
    points,
    standing,
    whole,
)

_SHADES = {"light": (0x0B, 0x5A, 0x49), "dark": (0x8F, 0xF0, 0xCF)}
"""Of the highest throughput."""

pytestmark = need_chromium


# On a busy host, a page of the browser itself tells that its fonts load slowly.
_BROWSERS_OWN = re.compile(r"source: chrome://\S+ \(\d+\)$")


class Seen(NamedTuple):
    """What the browser made of a page. `asked`: the addresses that the page asked for."""

    page: Page
    console: list[str]
    asked: list[str]


def see(browser: Browser, file: Path) -> Seen:
    """Open a file, and follow what it asks for."""
    done, asked = browser.see(file.as_uri())
    lines = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    console = [line for line in lines if not _BROWSERS_OWN.search(line)]
    return Seen(Page(done.stdout), console, asked)


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return Browser(tmp_path)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report on pairs of which some have names, messages and remedies that attack."""
    harmful = [
        Course(
            pair=standing("a", "b", failures=1, reason=attack),
            points=points(1e9, 2e9),
            changes=[change(facts=None)],
        )
        for attack in ATTACKS
    ]
    found = [*courses(), *harmful]
    made = report_page(
        fleet("a", "b", "c"), whole(applied_by=ATTACKS[0]), found, NOW_S - 90 * DAY_S
    )
    file = tmp_path / "fleet.html"
    file.write_text(made)
    return file


def test_the_report_asks_nobody_runs_nothing_and_draws_every_pair(
    browser: Browser, report: Path
) -> None:
    seen = see(browser, report)
    assert seen.console == []
    assert seen.asked == []
    assert "script" not in {tag for tag, _ in seen.page.elements}
    # As the browser understood it, each row and cell is where it was written.
    written = Page(report.read_text())
    for tag in ("tr", "td", "th", "svg", "path", "details", "a"):
        assert len(seen.page.all(tag)) == len(written.all(tag)), tag
    for attack in ATTACKS[:-1]:
        assert attack in seen.page.text


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (600, "dark")])
def test_the_matrix_is_shaded_in_light_and_dark(
    browser: Browser, report: Path, width: int, scheme: str
) -> None:
    picture = browser.picture(report.as_uri(), width, scheme)
    assert picture.width == width
    colours = {colour: number for number, colour in picture.getcolors(2**24) or []}
    # A cell has more than 40 by 20 pixels, and three pairs have the highest throughput.
    assert colours.get(_SHADES[scheme], 0) > 1500


def test_a_page_that_asks_is_found_out(browser: Browser, tmp_path: Path) -> None:
    """What the tests above look for is there where a page has it."""
    file = tmp_path / "bad.html"
    file.write_text("<img src=http://example.org/x.png><script>console.error('seen')</script>")
    seen = see(browser, file)
    assert seen.asked == ["http://example.org/x.png"]
    assert "seen" in seen.console[0]


def test_the_policy_refuses_what_an_attack_would_add(browser: Browser, report: Path) -> None:
    """Were anything of the database not escaped, it would neither run nor load."""
    attack = (
        "<script>document.title = 'taken'</script><img src=http://example.org/x.png>"
        "<style>body { background: url(http://example.org/y.png) }</style>"
    )
    report.write_text(report.read_text().replace("<h1>", f"{attack}<h1>", 1))
    seen = see(browser, report)
    assert seen.asked == []
    assert seen.page.text.lstrip().startswith("Fleet report,")
    assert len([line for line in seen.console if "Content Security Policy" in line]) == 3
