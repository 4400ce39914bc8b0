"""From a worker's thread to the screen."""

from collections.abc import Callable

from textual.widget import Widget
from textual.worker import get_current_worker


def is_there(widget: Widget) -> bool:
    """Whether it can be drawn on: while the application closes, timers and workers still run after
    widgets are removed."""
    return widget.is_mounted and widget.app.is_running


def draw_from_thread(widget: Widget, draw: Callable[..., object], *found: object) -> None:
    """Call `draw` in the screens' thread with what this worker has found.

    Nothing is drawn if the worker was cancelled meanwhile, as by a newer one, or if the widget is
    gone.
    """
    worker = get_current_worker()

    def drawn() -> None:
        if not worker.is_cancelled and is_there(widget):
            draw(*found)

    widget.app.call_from_thread(drawn)
