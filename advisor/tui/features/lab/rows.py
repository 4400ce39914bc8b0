"""The rows of the lab screen: labs that are there, and paths to bring up."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from rich.text import Text

from advisor.domain.quantities import format_duration
from advisor.lab.control import tell
from advisor.lab.messages import GetStatus
from advisor.lab.paths import EmulatedPath
from advisor.lab.state import LabError, LabFolder
from advisor.tui.kit.charts.gauge import gauge
from advisor.tui.kit.sentences import shortened

UP_COLUMNS: Final = ("lab", "state", "RTT\nms", "rate\nMbit/s", "loss\n%")
PATH_COLUMNS: Final = ("name", "RTT\nms", "", "rate\nMbit/s", "what")
_BAR_CELLS: Final = 8
_BESIDE_TITLE: Final = 54
"""Terminal columns of everything but the title of a path."""
_LEAST_TITLE: Final = 20

Row = tuple[str, tuple[Text, ...]]
"""A key and its cells."""


class LabHost(NamedTuple):
    """One destination in a lab. `place`: its name for `advisor advise`, "" if none answers.

    `state`: a mark and words. `path`: None where none is known.
    """

    lab: str
    place: str
    state: str
    path: EmulatedPath | None


def hosts_of(folder: LabFolder) -> list[LabHost]:
    """A lab's destinations, or one row that says why there are none."""
    if not folder.is_up:
        why = folder.last_words() or "without a message"
        return [LabHost(folder.name, "", f"✗ ended: {why}", None)]
    try:
        status = tell(folder.name, GetStatus())
    except LabError as error:
        return [LabHost(folder.name, "", f"✗ {error}", None)]
    up = f"up {format_duration(max(1.0, round(status.up_s)))}"
    one = len(status.hosts) == 1
    return [
        LabHost(
            folder.name,
            f"lab:{folder.name}" if one else f"lab:{folder.name}:{host.name}",
            f"✗ path cut, {up}" if host.is_cut else f"✓ {up}",
            host.path,
        )
        for host in status.hosts
    ]


def lab_row(key: str, host: LabHost) -> Row:
    """A destination's row in the table of labs."""
    numbers = ("", "", "")
    if host.path:
        loss = max(host.path.forward.loss, host.path.reverse.loss)
        numbers = (_rtt_ms(host.path), _rate_mbps(host.path), f"{loss * 100:g}")
    cells = (Text(host.place or host.lab), Text(host.state), *map(_number, numbers))
    return key, cells


def path_rows(paths: Mapping[str, EmulatedPath], width: int) -> list[Row]:
    """The rows of the paths to bring up; the bars compare round-trip times.

    `width`: of the screen, in terminal columns.
    """
    longest_s = max((path.rtt_s for path in paths.values()), default=0.0) or 1.0
    room = max(_LEAST_TITLE, width - _BESIDE_TITLE)
    return [
        (
            name,
            (
                Text(name),
                _number(_rtt_ms(path)),
                Text(gauge(path.rtt_s / longest_s, _BAR_CELLS), "dim"),
                _number(_rate_mbps(path)),
                Text(shortened(path.title, room)),
            ),
        )
        for name, path in paths.items()
    ]


def _number(text: str) -> Text:
    return Text(text, justify="right")


def _rtt_ms(path: EmulatedPath) -> str:
    return f"{path.rtt_s * 1000:.4g}"


def _rate_mbps(path: EmulatedPath) -> str:
    """There, and back where that differs."""
    there, back = (f"{way.rate_bps / 1e6:,.6g}" for way in (path.forward, path.reverse))
    return there if there == back else f"{there} / {back}"
