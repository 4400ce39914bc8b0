"""The report on a fleet as HTML: what it shows, and that texts of the database stay text."""

from collections.abc import Iterator
from html.parser import HTMLParser

import msgspec
import pytest

from advisor.domain.advice import Limit
from advisor.domain.endpoints import Pair
from advisor.fleet.changes import Change, FactChange
from advisor.fleet.configuration.reading import decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.fleet import Fleet
from advisor.fleet.state.courses import Course, thinned
from advisor.fleet.state.rows import HostState, Pause
from advisor.fleet.state.standing import FleetStanding, PairStanding
from advisor.report.fleet_page.matrix import MOST_WITH_FIGURES
from advisor.report.fleet_page.page import report_page
from tests.fleet_at_work import described

NOW_S = 1_760_000_000.0
DAY_S = 86_400.0
ATTACKS = (
    "</style></script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- <svg/onload=alert(1)> -->",
    "]]><iframe src=//evil.example>",
    "&lt;b&gt; &amp; \u202e\x1b[2J",
)
_ELEMENTS = (
    "a article b body br code details div footer h1 h2 h3 head header html i input label li main"
    " meta nav p path section small span style summary svg table tbody td text th thead title tr ul"
)
_ATTRIBUTES = (
    "aria-hidden aria-label charset checked class content d for height href http-equiv id lang name"
    " open role scope text-anchor title type viewbox width x y"
)
ELEMENTS, ATTRIBUTES = set(_ELEMENTS.split()), set(_ATTRIBUTES.split())


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text outside of the style."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.comments: list[str] = []
        self._in_style = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if not self._in_style:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]


def standing(source: str, destination: str, **changes: object) -> PairStanding:
    one = PairStanding(
        task="mesh",
        source=source,
        destination=destination,
        last_s=NOW_S - 2 * DAY_S,
        due_s=NOW_S + DAY_S,
        rate_bps=9.4e9,
        rtt_s=0.0456,
        news="none",
        failures=0,
        reason="",
    )
    return msgspec.structs.replace(one, **changes)


def change(**changes: object) -> Change:
    one = Change(
        pair=Pair("a", "b"),
        subject="mesh",
        since_s=NOW_S - 10 * DAY_S,
        noticed_s=NOW_S - 7 * DAY_S,
        before_bps=9.4e9,
        after_bps=4.7e9,
        records=4,
        facts=[FactChange(where="source", fact="kernel", before="6.1", after="6.12")],
    )
    return msgspec.structs.replace(one, **changes)


def points(*rates_bps: float) -> list[tuple[float, float]]:
    return [(NOW_S - (len(rates_bps) - n) * DAY_S, rate) for n, rate in enumerate(rates_bps)]


def courses() -> list[Course]:
    """a to b changed, a to c is limited, b to a fails, c to a was never measured."""
    limit = Limit(what="a small buffer", side="destination", remedy="sysctl -w x=1")
    return [
        Course(
            pair=standing("a", "b", rate_bps=4.7e9),
            points=points(9.4e9, 9.4e9, 4.7e9, 4.7e9),
            results=4,
            changes=[change()],
            limits=[],
        ),
        Course(pair=standing("a", "c"), points=points(9.4e9), results=1, limits=[limit]),
        Course(pair=standing("b", "a", failures=2, reason="no route"), points=points(2e9, 1e9)),
        Course(
            pair=standing(
                "c", "a", last_s=None, rate_bps=None, rtt_s=None, reason="c is down: gone"
            )
        ),
    ]


def whole(**changes: object) -> FleetStanding:
    one = FleetStanding(
        version=3,
        applied_by="olga",
        applied_s=NOW_S - 1e6,
        now_s=NOW_S,
        pairs=6,
        measured=3,
        due=2,
        workers=[],
        running=[],
        down=[],
        busy={},
        pauses=[],
        missing=[],
    )
    return msgspec.structs.replace(one, **changes)


def fleet(*hosts: str) -> Fleet:
    return resolved(decoded(described(*hosts).encode()))


def page(found: list[Course], of: FleetStanding | None = None, *hosts: str) -> Page:
    made = report_page(fleet(*(hosts or "abc")), of or whole(), found, NOW_S - 90 * DAY_S)
    return Page(made)


def cells(found: Page) -> Iterator[str]:
    return (a["class"] for a in found.all("td") if a.get("class", "").startswith("v"))


def test_each_pair_is_in_the_matrix_and_in_the_list() -> None:
    found = page(courses())
    titles = [a["title"] for a in found.all("a") if "title" in a]
    assert titles == [
        "a → b: 4.70 Gbit/s, 2 d ago",
        "a → c: 9.40 Gbit/s, 2 d ago",
        "b → a: 9.40 Gbit/s, 2 d ago",
        "c → a: –; c is down: gone",
    ]
    assert [a["id"] for a in found.all("tr") if a.get("id", "").startswith("p")] == [
        "p1",
        "p2",
        "p3",
        "p4",
    ]
    assert list(cells(found)) == ["v5 a0", "v9 a0", "v9 a0"]


def test_what_changed_limits_and_is_missing_is_said() -> None:
    text = page(courses()).text
    assert "-50%, 9.40 Gbit/s to 4.70 Gbit/s" in text
    assert "a: kernel was 6.1, then 6.12" in text
    assert "a small buffer" in text
    assert "sysctl -w x=1" in text
    assert "c is down: gone" in text
    assert "no route" in text
    assert "Of 1 measured pairs no session is recorded in this time." in text


def test_a_curve_is_drawn_for_pairs_with_results_alone() -> None:
    found = page(courses())
    assert len(found.all("svg", **{"class": "spark"})) == 3
    assert len(found.all("svg", **{"class": "chart"})) == 1
    [line] = [a["d"] for a in found.all("path", **{"class": "line"})][:1]
    heights = [float(point.split()[1]) for point in line.removeprefix("M").split("L")]
    # The highest rate is at the top, and half of it halfway to zero.
    assert heights == [12, 12, 57, 57]


def test_pauses_and_hosts_that_are_down_are_named() -> None:
    down = HostState(host="c", failures=3, message="no route")
    pause = Pause(host="", paused_by="olga", paused_s=NOW_S)
    text = page(courses(), whole(down=[down], pauses=[pause])).text
    assert "The whole fleet is paused by olga until it is resumed." in text
    assert "c cannot be reached, tried 3 times: no route" in text


def test_many_hosts_have_small_cells() -> None:
    hosts = [f"h{n}" for n in range(MOST_WITH_FIGURES + 2)]
    found = [Course(pair=standing(hosts[0], to)) for to in hosts[1:]]
    assert page(found, None, *hosts).all("table", **{"class": "heat small"})
    assert not page(found[:-1], None, *hosts).all("table", **{"class": "heat small"})


@pytest.mark.parametrize("attack", ATTACKS)
def test_texts_of_the_database_stay_text(attack: str) -> None:
    limit = Limit(what=attack, side=None, remedy=attack)
    facts = [FactChange(where="source", fact=attack, before=attack, after=attack)]
    harmful = [
        Course(
            pair=standing(attack, "b", failures=1, reason=attack),
            points=points(1e9, 2e9),
            changes=[change(facts=facts), change(facts=facts)],
            limits=[limit],
        ),
        Course(pair=standing("a", attack, last_s=None, reason=attack)),
    ]
    of = whole(
        applied_by=attack,
        down=[HostState(host=attack, failures=1, message=attack)],
        pauses=[Pause(host=attack, paused_by=attack, paused_s=NOW_S)],
        busy={attack: NOW_S + 60},
    )
    named = msgspec.structs.replace
    hosts = fleet("a", "b")
    shown = named(hosts, hosts=(*hosts.hosts, named(hosts.hosts[0], name=attack)))
    made = Page(report_page(shown, of, harmful, NOW_S - DAY_S))
    assert {tag for tag, _ in made.elements} <= ELEMENTS
    assert {name for _, found in made.elements for name in found} <= ATTRIBUTES
    assert all(a["href"].startswith("#") for a in made.all("a"))
    assert len(made.all("style")) == 1
    assert made.comments == []
    assert attack.split("\u202e")[0] in made.text
    assert "\x1b" not in made.text.replace(attack, "")


def test_nothing_is_loaded_from_anywhere() -> None:
    found = page(courses())
    [policy] = [
        a["content"] for a in found.all("meta", **{"http-equiv": "Content-Security-Policy"})
    ]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in found.elements}
    assert not any("style" in attributes for _, attributes in found.elements)


def test_the_text_of_an_attack_is_found_if_it_is_not_escaped() -> None:
    """What the tests above look for is there where a page has it."""
    made = Page(f"<p>{ATTACKS[1]}</p>")
    assert not {tag for tag, _ in made.elements} <= ELEMENTS


def test_thinned_points_keep_their_extremes() -> None:
    many = [(float(n), 100.0 + n % 7) for n in range(1000)]
    many[437] = (437.0, 1.0)
    kept = thinned(many, 60)
    assert len(kept) <= 60
    assert (437.0, 1.0) in kept
    assert list(kept) == sorted(kept)
    assert thinned(many[:60], 60) == many[:60]
