"""The groups of past transfers behind an answer, one per row, and those left out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar, Final

import msgspec
from rich.text import Text
from textual.binding import Binding, BindingType

from advisor.domain.evidence import Evidence, GroupLeftOut, SimilarGroup
from advisor.domain.quantities import format_bytes, format_rate
from advisor.tui.kit.charts.axis import rate_unit
from advisor.tui.kit.sentences import shortened
from advisor.tui.kit.tables.row_table import RowTable

Group = SimilarGroup | GroupLeftOut

_TITLE: Final = "Groups of past transfers"
_RANGE_CELLS: Final = 10
_WIDE: Final = 104
_NETWORK: Final = "path"
_BEST: Final = "its best: concurrency ×\nparallelism × pipelining"
_LEAST_OF_NETWORK: Final = 6
_SCROLLBAR: Final = 1


class EvidenceColumn(msgspec.Struct, frozen=True):
    """A heading of one or two lines, and the cells of the column."""

    name: str
    cells: list[str]
    numeric: bool = False

    @property
    def width(self) -> int:
        """Its width in terminal columns, without padding."""
        return max(len(line) for text in (self.name, *self.cells) for line in text.split("\n"))


class EvidenceTable(RowTable):
    """`show` evidence in it. `group`: the selected group."""

    HELP = (
        "[b]Groups of past transfers[/b]\nA group is transfers of like files over one path "
        "within a day, so they met about the same traffic. To each a surface is fitted: "
        "throughput by concurrency, parallelism and pipelining.\n[b]alike[/b]: how similar they "
        "are to your transfer, from 0 to 1, by the path's rate, round trip and buffers, and by "
        "the size and number of files. 1 is the same.\n[b]weight[/b]: how much a group counts in "
        "the answer; all together are 100 %. The closer its prediction is to the sample just "
        "taken, the more it counts: it then met traffic like the present one.\n[b]sample[/b]: "
        "what the group expects of the sample's setting, and how far that is from what the "
        "sample gave. [b]answer[/b]: what it expects of the setting that is advised.\n[b]its "
        "best[/b]: where the group's own surface is highest. The answer is lower: fewer files "
        "and streams at a time that keep 70 % of it, averaged over the groups by their "
        "weight.\nA group has no weight, and is left out, if no surface fits its transfers: they "
        "scatter too much, or are too few. Enter shows the chosen group's surface against its "
        "points."
    )
    DEFAULT_CSS = """
    EvidenceTable { max-height: 14; scrollbar-size-vertical: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Surface", id="surface"),
    ]

    def __init__(self) -> None:
        super().__init__(_TITLE, id="groups")
        self.header_height = 2
        self._groups: dict[str, Group] = {}

    @property
    def group(self) -> Group | None:
        """The selected group; None if there is none."""
        return self._groups.get(self.chosen)

    def show(self, evidence: Evidence, width: int) -> None:
        """Fill it with this; `width` decides how much is said of each."""
        listed: list[Group] = [*evidence.groups, *evidence.left_out]
        self.set_title(_TITLE, f"{len(evidence.groups)} used, {len(evidence.left_out)} left out")
        self._groups = {str(number): group for number, group in enumerate(listed)}
        columns = columns_of(evidence, width)
        rows = zip(*(column.cells for column in columns), strict=True)
        kinds = [column.numeric for column in columns]
        self.fill(
            [
                (key, _texts(cells, kinds, isinstance(group, GroupLeftOut)))
                for (key, group), cells in zip(self._groups.items(), rows, strict=True)
            ],
            tuple(column.name for column in columns),
        )


def columns_of(evidence: Evidence, width: int) -> list[EvidenceColumn]:
    """The columns that fit the width; the network's name is cut to the rest."""
    listed: list[Group] = [*evidence.groups, *evidence.left_out]
    wide = width >= _WIDE
    columns = [*_known(listed), *_said(evidence, wide=wide)]
    networks = [group.conditions.network or "not known" for group in listed]
    best = EvidenceColumn(_BEST, [_best_setting(group) for group in listed])
    if wide:
        columns.append(msgspec.structs.replace(best, cells=_cut(best.cells, best_width(listed))))
    left = width - _SCROLLBAR - 2 - sum(column.width + 2 for column in columns)
    if max((len(name) for name in networks), default=0) > left:
        networks = [_short(name) for name in networks]
    network = EvidenceColumn(_NETWORK, _cut(networks, max(_LEAST_OF_NETWORK, left)))
    if wide:
        # The reasons get the width that the names leave.
        more = max(0, left - network.width)
        columns[-1] = EvidenceColumn(_BEST, _cut(best.cells, columns[-1].width + more))
    return [network, *columns]


def best_width(listed: Sequence[Group]) -> int:
    """The width that the last column needs for settings alone."""
    shown = [_best_setting(group) for group in listed if isinstance(group, SimilarGroup)]
    return EvidenceColumn(_BEST, shown).width


def _known(listed: Sequence[Group]) -> list[EvidenceColumn]:
    return [
        EvidenceColumn("files\nof", [format_bytes(one.conditions.file_bytes) for one in listed]),
        EvidenceColumn("day", [_day(one.began_s) for one in listed]),
        EvidenceColumn("trans-\nfers", [f"{one.transfers:,}" for one in listed], numeric=True),
    ]


def _said(evidence: Evidence, *, wide: bool) -> list[EvidenceColumn]:
    """The cells of weight and prediction; empty for groups left out."""
    none = [""] * len(evidence.left_out)
    groups = evidence.groups
    rates = [rate for one in groups for rate in (one.sample_bps or 0.0, one.answer_bps)]
    scale, unit = rate_unit(max(rates, default=1.0))
    columns = [
        EvidenceColumn("alike", [f"{one.likeness:.2f}" for one in groups] + none, numeric=True),
        EvidenceColumn(
            "weight",
            [_weight(one.share, wide=wide) for one in groups] + ["none"] * len(none),
            numeric=not wide,
        ),
        EvidenceColumn(
            f"answer\n{unit}", [f"{one.answer_bps / scale:.3g}" for one in groups] + none, True
        ),
    ]
    if evidence.sample:
        cells = [_of_sample(one, evidence.sample.throughput_bps, scale) for one in groups]
        columns.insert(2, EvidenceColumn(f"sample\n{unit}", cells + none, numeric=True))
    return columns


def _of_sample(group: SimilarGroup, gave_bps: float, scale: float) -> str:
    """`1.92 +1 %`: predicted for the sample, and its deviation from the measured value."""
    if group.sample_bps is None:
        return ""
    return f"{group.sample_bps / scale:.3g} {group.sample_bps / gave_bps - 1:+.0%}"


def _weight(share: float, *, wide: bool) -> str:
    words = f"{share:.0%}"
    if not wide:
        return words
    return f"{words:>4} {'█' * max(1, round(share * _RANGE_CELLS))}"


def _day(began_s: float | None) -> str:
    return "" if began_s is None else datetime.fromtimestamp(began_s, UTC).date().isoformat()


def _best_setting(group: Group) -> str:
    if isinstance(group, GroupLeftOut):
        return f"left out: {group.reason}"
    best = group.best
    levels = f"{best.concurrency} × {best.parallelism} × {best.pipelining}"
    return f"{levels}: {format_rate(group.best_bps)}"


def _cut(texts: Sequence[str], width: int) -> list[str]:
    return [shortened(text, width) for text in texts]


def _short(network: str) -> str:
    """Host names without their domains; addresses unchanged."""
    hosts = network.split("->")
    return "->".join(
        host if host[-1:].isdigit() else host.partition(".")[0] or host for host in hosts
    )


def _texts(cells: Sequence[str], numeric: Sequence[bool], left_out: bool) -> tuple[Text, ...]:
    style = "dim" if left_out else ""
    return tuple(
        Text(cell, style, justify="right" if is_number else "left")
        for cell, is_number in zip(cells, numeric, strict=True)
    )
