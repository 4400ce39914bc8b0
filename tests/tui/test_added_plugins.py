"""A method, a transport and a tool from a folder are on the screens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from advisor import registry, traits
from advisor.domain import events as ev
from advisor.domain.advice import Contender, Estimate
from advisor.domain.events import StopGauge
from advisor.testing.samples import a_path, measured
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.screens.comparison import compared, reasons_in_words
from advisor.tui.features.advising.screens.history import HistoryScreen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets import legend
from advisor.tui.features.advising.widgets.stop_gauges import gauge_lines
from advisor.tui.features.transfer.screens.form import TransferFormScreen
from advisor.tui.kit.fields.choice import Choice
from advisor.tui.kit.fields.field import Field

from .conftest import NewApp
from .driving import until
from .test_comparison import PAIR, SESSION, an_advice

ADDED: Final = Path(__file__).parents[1] / "data" / "added_plugins"
SETTING: Final = {"block_bytes": 65536}


def _forget() -> None:
    """Find plugins again: each process finds them once."""
    for known in (
        registry._in_folders,
        registry._found,
        registry._former_names,
        traits.reference_transport,
        traits.imported_subject,
        traits.flow_names,
        legend._by_label,
    ):
        known.cache_clear()


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as environment:
        environment.setenv("ADVISOR_PLUGINS", str(ADDED))
        _forget()
        yield
    _forget()


def _session() -> SessionModel:
    """One probe over the added transport, and advice in which it came off second."""
    probe: dict[str, Any] = {
        "ordinal": 1,
        "stage": "pipes",
        "purpose": "search",
        "subject": "pipes",
        "setting": SETTING,
        "label": "w",
    }
    second = Contender(
        role="rival",
        subject="pipes",
        setting=SETTING,
        throughput=Estimate(3.0e9, (2.5e9, 3.5e9)),
        probes=4,
    )
    advice = an_advice()
    return SessionModel(
        [
            ev.SessionStarted(
                at_s=0, session=SESSION, pair=PAIR, method="wander", seed=1, budget_s=60.0
            ),
            ev.PathFound(at_s=0.1, path=a_path(), limits=[]),
            ev.ProbeStarted(at_s=1.0, **probe),
            ev.ProbeEnded(at_s=4.0, result=measured(3.0e9), remaining_s=0.0, **probe),
            an_advice(contenders=[*advice.contenders, second]),
        ]
    )


def test_a_session_shows_the_transport_by_its_label_and_the_methods_marks() -> None:
    model = _session()
    [probe] = model.probes
    assert legend.mark_of(probe) == "♧"
    assert "wandered to" in {role.meaning for role in legend.roles()}
    bars = {bar.name: bar for bar in compared(model)}
    assert bars["Runner-up"].detail == "Pipes, 64 KiB blocks"
    assert any("Pipes" in line for line in reasons_in_words(model, an_advice()))
    gauge = StopGauge(name="S", value=1, limit=3, meaning="settings wandered to")
    assert gauge_lines("wander", [gauge])[0].startswith("wandered")


@pytest.mark.asyncio
async def test_the_forms_offer_them(new_app: NewApp) -> None:
    app = new_app(Draft(destination="dtn02", method="wander"))
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(TransferFormScreen())
        await until(pilot, lambda: app.screen.query(Choice))
        offered = {choice.id: str(choice.label) for choice in app.screen.query(Choice)}
        assert "goes anywhere, and keeps the best of it" in offered["wander"]
        app.open(HistoryScreen())
        await until(pilot, lambda: app.screen.query("#field-method"))
        assert app.screen.query_one("#field-method", Field).problem == ""
        assert app.draft.tool_name == ""
        app.draft.profiled = "tool"
        assert app.draft.tool_name == "carrier"
