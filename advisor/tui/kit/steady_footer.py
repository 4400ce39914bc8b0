"""A footer that is rebuilt only when its keys change."""

from typing import Any

from textual.screen import Screen
from textual.widgets import Footer


class SteadyFooter(Footer):
    """Textual's own is rebuilt at every change of focus, with a layout of the whole screen."""

    _shown: tuple[object, ...] = ()

    def bindings_changed(self, screen: Screen[Any]) -> None:
        shown = tuple(
            (active.binding.key, active.binding.description, active.enabled)
            for active in screen.active_bindings.values()
            if active.binding.show
        )
        if shown == self._shown:
            return
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self._shown = shown
        super().bindings_changed(screen)
