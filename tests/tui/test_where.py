"""Where: tried as one types, wrong entries answered under their field, nothing lost."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.store.history import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.screens.path import PathScreen
from advisor.tui.features.advising.screens.what import WhatScreen
from advisor.tui.features.advising.screens.where import WhereScreen
from advisor.tui.features.advising.widgets.destination_field import DestinationField
from advisor.tui.features.advising.widgets.known_hosts import KnownHosts
from advisor.tui.home import HomeScreen
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.fields.choice import Choice
from advisor.tui.kit.fields.field import Field

from .conftest import NewApp
from .driving import until, words
from .stored import keep_probes

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)])


async def at_where(app: AdvisorApp, pilot: Pilot[int]) -> None:
    app.go("where")
    await until(pilot, lambda: isinstance(app.screen, WhereScreen) and app.focused)


@SIZES
@pytest.mark.asyncio
async def test_this_machine_is_found_while_typing(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await at_where(app, pilot)
        await until(pilot, lambda: "type where the data goes" in words(app, "#reached"))
        await pilot.press(*"localhost")
        assert app.draft.destination == "localhost"
        await until(pilot, lambda: app.draft.path_seen)
        await until(pilot, lambda: "round trip" in words(app, "#reached"))
        assert "agent answers: advisor" in words(app, "#reached")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, WhereScreen))
        assert app.screen.query_one("#field-destination Input", Input).value == "localhost"


@SIZES
@pytest.mark.asyncio
async def test_no_host_is_answered_under_its_field(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await at_where(app, pilot)
        await pilot.press(*"no host!")
        field = app.screen.query_one("#field-destination", Field)
        assert field.problem == "'no host!' is not a host: write HOST or USER@HOST"
        assert field.problem in str(field.query_one(".note", Static).render())
        # Not beside it again.
        await until(pilot, lambda: words(app, "#reached") == "")
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert isinstance(app.screen, WhereScreen)


@pytest.mark.asyncio
async def test_what_is_typed_first_replaces_the_last_destination(new_app: NewApp) -> None:
    app = new_app(Draft(destination="localhost", bandwidth="10Gbit"))
    async with app.run_test(size=(120, 40)) as pilot:
        await at_where(app, pilot)
        await pilot.press(*"dtn02")
        assert app.draft.destination == "dtn02"
        # It is no longer the prefilled one: whoever comes back goes on typing.
        app.screen.query_one("#field-bandwidth Input", Input).focus()
        await pilot.pause()
        app.screen.query_one("#field-destination Input", Input).focus()
        await pilot.press(*".org")
        assert app.draft.destination == "dtn02.org"
        assert app.draft.bandwidth == "10Gbit"


@pytest.mark.asyncio
async def test_the_last_destination_can_be_added_to(new_app: NewApp) -> None:
    app = new_app(Draft(destination="dtn02"))
    async with app.run_test(size=(80, 24)) as pilot:
        await at_where(app, pilot)
        await pilot.press("end", *".org")
        assert app.draft.destination == "dtn02.org"


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("bandwidth", "10GB/s", "rates are in bits"),
        ("ports", "7-3", "the first port is above the last"),
        ("agent", "dtn02", "write HOST:PORT"),
        ("address", "dtn02", "'dtn02' is not an IP address"),
        ("interfaces", "eth1,eth2", "write HERE=THERE"),
        ("rtt", "soon", "not a duration"),
    ],
)
@pytest.mark.asyncio
async def test_wrong_entries_say_what_is_right(
    new_app: NewApp, name: str, wrong: str, said: str
) -> None:
    app = new_app(Draft(**{name: wrong}))  # type: ignore[arg-type]  # all of them are text
    async with app.run_test(size=(80, 24)) as pilot:
        await at_where(app, pilot)
        field = app.screen.query_one(f"#field-{name}", Field)
        assert said in field.problem
        assert said in str(field.query_one(".note", Static).render())


@pytest.mark.asyncio
async def test_an_error_comes_with_the_command_that_mends_it(new_app: NewApp) -> None:
    app = new_app(Draft(destination="lab:nowhere"))
    async with app.run_test(size=(80, 24)) as pilot:
        await at_where(app, pilot)
        await until(pilot, lambda: app.screen.query_one(Copyable).line)
        assert "no lab 'nowhere' is up" in words(app, "#reached")
        line = app.screen.query_one(Copyable)
        assert line.line == "advisor lab up nowhere"
        line.focus()
        await pilot.press("c")
        assert app.clipboard == "advisor lab up nowhere"


@pytest.mark.asyncio
async def test_going_on_without_an_answer_is_allowed(new_app: NewApp) -> None:
    app = new_app(Draft(destination="lab:nowhere"))
    async with app.run_test(size=(80, 24)) as pilot:
        await at_where(app, pilot)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen))


@pytest.mark.asyncio
async def test_a_listening_agent_has_its_own_fields(new_app: NewApp) -> None:
    app = new_app(Draft(agent_command="/opt/advisor agent --stdio"))
    async with app.run_test(size=(120, 40)) as pilot:
        await at_where(app, pilot)
        assert not app.screen.query_one("#field-agent").display
        app.screen.query_one("#way").focus()
        await pilot.press("down", "down")
        await until(pilot, lambda: app.screen.query_one("#field-agent").display)
        assert app.draft.way == "agent"
        assert not app.screen.query_one("#field-agent-command").display
        assert "HOST:PORT" in words(app, "#reached")
        assert app.draft.agent_command == "/opt/advisor agent --stdio"


@pytest.mark.asyncio
async def test_an_agent_is_brought_along(new_app: NewApp) -> None:
    app = new_app(Draft(destination="no-host.invalid"))
    async with app.run_test(size=(80, 24)) as pilot:
        await at_where(app, pilot)
        app.screen.query_one("#way").focus()
        await pilot.press("down")
        await until(pilot, lambda: app.draft.way == "push")
        assert not app.screen.query_one("#field-agent-command").display
        assert app.screen.query_one("#field-ports").display
        await until(pilot, lambda: words(app, "#reached").startswith("✗"))


@pytest.mark.asyncio
async def test_without_an_agent_nothing_is_checked_before_the_session(new_app: NewApp) -> None:
    app = new_app(Draft(destination="localhost", way="none"))
    async with app.run_test(size=(80, 24)) as pilot:
        await at_where(app, pilot)
        await until(pilot, lambda: "when the measurement starts" in words(app, "#reached"))
        for name in ("agent-command", "ports", "agent", "secret-file"):
            assert not app.screen.query_one(f"#field-{name}").display
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen))
        app.go("path")
        await until(pilot, lambda: isinstance(app.screen, PathScreen))
        await until(pilot, lambda: "Without an agent" in words(app, "#trouble"))
        assert app.draft.path_seen is None


@pytest.mark.asyncio
async def test_names_that_are_known_complete(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await at_where(app, pilot)
        screen = app.screen
        assert isinstance(screen, WhereScreen)
        await until(pilot, lambda: screen.query_one(DestinationField).known_names)
        await pilot.press(*"loc")
        await until(pilot, lambda: screen.query_one("#field-destination Input", Input)._suggestion)
        await pilot.press("right")
        assert app.draft.destination == "localhost"


@pytest.mark.asyncio
async def test_a_known_host_is_picked_and_enter_is_next(new_app: NewApp, store: Store) -> None:
    keep_probes(store, "dtn02", [1e9])
    app = new_app(Draft(way="agent"))
    async with app.run_test(size=(120, 40)) as pilot:
        await at_where(app, pilot)
        known = app.screen.query_one(KnownHosts)
        await until(pilot, lambda: known.option_count >= 2)
        known.focus()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.draft.destination == "dtn02"
        assert app.draft.way == "ssh"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, WhatScreen))
        app.screen.query_one("#what").focus()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PathScreen))


@pytest.mark.asyncio
async def test_a_way_that_changed_elsewhere_is_chosen(new_app: NewApp) -> None:
    app = new_app(Draft(destination="dtn02", way="agent"))

    def chosen() -> list[str | None]:
        return [choice.id for choice in app.screen.query(Choice) if choice.value]

    async with app.run_test(size=(120, 40)) as pilot:
        await at_where(app, pilot)
        await until(pilot, lambda: chosen() == ["agent"])
        assert app.screen.query_one("#field-agent").display
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        # As Home does for the pair that is chosen there.
        app.draft.destination, app.draft.way = "no-host.invalid", "ssh"
        await at_where(app, pilot)
        await until(pilot, lambda: chosen() == ["ssh"])
        await until(pilot, lambda: app.screen.query_one("#field-agent-command").display)
        assert not app.screen.query_one("#field-agent").display
        assert app.draft.way == "ssh"
