"""The field for the destination, which completes known names."""

from typing import Final

from textual import work
from textual.widgets import Input

from advisor.domain.endpoints import Endpoint
from advisor.runtime.destinations import KnownDestination, known_destinations
from advisor.tui.features.advising.draft import Draft
from advisor.tui.kit.fields.field import Field
from advisor.tui.kit.fields.suggestions import DestinationSuggester
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.open_history import OpenHistory

_NAMED: Final = 5


class DestinationField(Field):
    """`lists_known`: whether the known names are shown below it while it is empty."""

    def __init__(self, draft: Draft, history: OpenHistory, *, lists_known: bool = False) -> None:
        self._completing = DestinationSuggester()
        super().__init__(
            "To",
            "destination",
            draft,
            check=Endpoint.parse,
            example="host, user@host, lab:NAME or localhost",
            explained="The host that gets the data, as you would give it to ssh. Names that are "
            "known are completed: right arrow takes them.",
            suggester=self._completing,
        )
        self._history = history
        self._lists_known = lists_known

    @property
    def known_names(self) -> list[str]:
        """The names that are completed."""
        return self._completing.names

    def on_mount(self) -> None:
        """Runs in addition to Field's handler: Textual calls both."""
        self._learn_names()

    def on_input_changed(self, _: Input.Changed) -> None:
        """Runs in addition to Field's handler: Textual calls both."""
        self.hint("")

    @work(thread=True, exclusive=True, group="names")
    def _learn_names(self) -> None:
        with self._history.store() as store:
            known = known_destinations(store)
        draw_from_thread(self, self._take_names, known)

    def _take_names(self, known: list[KnownDestination]) -> None:
        self._completing.names = [one.name for one in known]
        if self._lists_known and not self.text:
            named = ", ".join(one.name for one in known[:_NAMED])
            self.hint(f"known: {named}{', …' if len(known) > _NAMED else ''}")
