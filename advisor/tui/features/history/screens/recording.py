"""The recorded session that comes with the program, for people without a second host."""

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content

from advisor.domain.events import AnyEvent
from advisor.tui.features.history.replay import Replay
from advisor.tui.features.history.screens.playback import PlaybackPage


class RecordingScreen(PlaybackPage):
    """Plays the recording `events` when it opens."""

    NAME = "Recording"
    HELP = (
        "[b]A recording[/b]\nA session that was run once, on an emulated path of 46 ms and "
        "1 Gbit/s whose hosts give a connection 256 KiB of buffer by default. Nothing is "
        "measured now.\n\n"
        "Space plays and pauses, + and − change the speed, Left and Right go from probe to probe; "
        "v shows the resulting advice. Escape returns home, where d measures on this machine."
    )
    DEFAULT_CSS: ClassVar[str] = "RecordingScreen #about { background: $act; color: $background; }"

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        super().__init__()
        self._events = events

    def trail(self) -> Content:
        return Content.styled("Recording", "bold")

    def about(self) -> list[Content]:
        words = " A RECORDING: nothing is measured now. 46 ms, 1 Gbit/s, emulated; Escape: home."
        return [Content(words)]

    def on_mount(self) -> None:
        super().on_mount()
        replay = Replay(self._events)
        replay.go_to(0.0)
        replay.play_or_pause()
        self.call_after_refresh(self.take, replay)
