"""Path and hosts: the present round trip, and both hosts against the recommendations."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import ScreenResume, ScreenSuspend
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import DataTable

from advisor.domain.path import PathFacts
from advisor.models.findings import Finding, Remedy, Severity
from advisor.models.host_review import review
from advisor.report.connections import connections_lines
from advisor.tui.features.advising.path_check import UNCHECKED, PathCheck
from advisor.tui.features.advising.step import Step
from advisor.tui.features.advising.widgets.watched_path import WatchedPath
from advisor.tui.kit.charts.theme_style import theme_style
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.panels.field_group import FieldGroup
from advisor.tui.kit.sentences import sentence
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable

_REDRAW_S: Final = 1.0
_REMEDIES: Final = 2
_SEVERITIES: Final = {
    Severity.BAD: ("✗ bad", "failed"),
    Severity.WATCH: ("! watch", "act"),
    Severity.UNKNOWN: ("? unknown", "default"),
    Severity.GOOD: ("✓ good", "advised"),
}
"""Word and colour of each, the worst first."""


class PathScreen(Step):
    """The facts of the path and both hosts that limit a transfer."""

    NAME = "Path"
    STEP = "path"
    HELP = (
        "[b]Path and hosts[/b]\nEach row is a setting of the two hosts or of the path between "
        "them. Bad: it limits this transfer. Watch: it may. Below the table is what the chosen "
        "row costs on this path, and the command that fixes it, for the administrator of that "
        "host. Nothing is ever changed from here."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy_remedy", "Copy the command", id="copy-remedy"),
        Binding("f4", "look_again", "Look again", id="look-again"),
    ]
    DEFAULT_CSS = """
    PathScreen #findings { max-height: 16; scrollbar-size-horizontal: 0; }
    PathScreen #cost { height: auto; }
    PathScreen #trouble { height: auto; padding: 0 2; }
    PathScreen #rtt { padding: 0 2; }
    PathScreen #connections { height: auto; padding: 0 2; }
    """

    AUTO_FOCUS = "#findings"

    def __init__(self) -> None:
        super().__init__()
        self._look: PathCheck | None = None
        self._findings: dict[str, Finding] = {}
        self._drawn: object = None

    def content(self) -> Iterable[Widget]:
        yield Static(id="trouble")
        yield Copyable(id="mend")
        yield WatchedPath(id="rtt")
        yield RowTable("Findings", "", "what", "source", "destination", "advised", id="findings")
        remedies = (Copyable(id=f"remedy-{number}") for number in range(_REMEDIES))
        detail = FieldGroup("", Static(id="cost"), *remedies, id="detail")
        detail.display = False
        yield detail
        yield Static(id="connections")

    def on_mount(self) -> None:
        self.every(_REDRAW_S, self._draw)

    async def on_screen_resume(self, _: ScreenResume) -> None:
        """Start watching the draft's path."""
        look = self._look
        if look is None or look.reach != self.advisor.draft.reach_arguments():
            await self.action_look_again()
        self._draw()

    async def on_screen_suspend(self, _: ScreenSuspend) -> None:
        """Stop watching."""
        if not isinstance(self.app.screen, ModalScreen):
            await self._end_look()

    async def on_unmount(self) -> None:
        await self._end_look()

    async def _end_look(self) -> None:
        if self._look:
            look, self._look = self._look, None
            await look.close()

    async def action_look_again(self) -> None:
        """Start again."""
        await self._end_look()
        if self.advisor.draft.where and self.advisor.draft.has_agent:
            self._look = PathCheck(self.advisor.draft, self.advisor.history, self._draw, watch=True)
        self._drawn = None
        self._draw()

    def _path(self) -> PathFacts | None:
        if self._look and self._look.model.path:
            return self._look.model.path
        seen = self.advisor.draft.path_seen
        return seen.path if seen else None

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        look = self._look
        now = (look, look.model.version, look.trouble, look.is_running) if look else None
        if now == self._drawn and self._drawn is not None:
            return
        self._drawn = now
        trouble = self._trouble()
        self.query_one("#trouble", Static).update(Content(trouble))
        self.query_one("#trouble").display = bool(trouble)
        self.query_one("#mend", Copyable).mend(look.trouble if look else None)
        path = self._path()
        rtts_s = [rtt_s for _, rtt_s in look.model.rtts] if look else []
        self.query_one(WatchedPath).show([path.rtt_s, *rtts_s] if path else [])
        connections = look.model.connections if look else None
        several = connections if connections and len(connections.connections) > 1 else None
        lines = connections_lines(several) if several else []
        self.query_one("#connections", Static).update(Content("\n".join(lines)))
        self._fill(path)

    def _trouble(self) -> str:
        where = self.advisor.draft.where
        if not where:
            return "· No destination is given: go back to Where (escape) and type one."
        if not self.advisor.draft.has_agent:
            return f"· {sentence(UNCHECKED)}"
        if self._look and self._look.trouble:
            return f"✗ {self._look.trouble}"
        if self._look and self._look.model.path is None:
            return f"… checking the path to {where}, without any load"
        return ""

    def _fill(self, path: PathFacts | None) -> None:
        """Show the findings of this path; none of an earlier one, while it is not known."""
        order = list(_SEVERITIES)
        found = review(path) if path else []
        found = sorted(found, key=lambda finding: order.index(finding.severity))
        self._findings = {finding.what: finding for finding in found}
        table = self.query_one("#findings", RowTable)
        table.set_title("Findings", _severities_words(found) if found else "")
        table.fill([(what, self._cells(finding)) for what, finding in self._findings.items()])
        self._show_detail()

    def _cells(self, finding: Finding) -> tuple[Text, ...]:
        word, colour = _SEVERITIES[finding.severity]
        return (
            Text(word, theme_style(self.app.theme_variables, colour)),
            Text(finding.what),
            Text(finding.source),
            Text(finding.destination),
            Text(finding.recommended, "dim"),
        )

    def on_data_table_row_highlighted(self, _: DataTable.RowHighlighted) -> None:
        self._show_detail()

    def _chosen(self) -> Finding | None:
        return self._findings.get(self.query_one("#findings", RowTable).chosen)

    def _show_detail(self) -> None:
        """Show what the chosen row costs here, and the commands that fix it."""
        finding = self._chosen()
        detail = self.query_one("#detail", FieldGroup)
        detail.display = finding is not None
        self._hold(detail, finding.remedies if finding else ())
        if finding is None:
            return
        words = [sentence(finding.cost or "fine here")]
        if finding.recommended and finding.reference:
            words.append(f"{finding.recommended} is advised by {finding.reference}.")
        detail.set_title(finding.what, "c copy the command" if finding.remedies else "")
        self.query_one("#cost", Static).update(Content("\n".join(words)))

    def _hold(self, detail: FieldGroup, remedies: Sequence[Remedy]) -> None:
        """Offer the first of these to be copied."""
        # The children of panels are mounted after the screen.
        for number, copyable in enumerate(detail.query(Copyable)):
            line = remedies[number] if number < len(remedies) else None
            copyable.hold(line.line if line else "", _side(line) if line else "")

    def action_copy_remedy(self) -> None:
        """Copy the command that fixes the chosen row."""
        line = self.query_one("#remedy-0", Copyable)
        if line.line:
            line.action_copy()
        else:
            self.advisor.refuse("this row needs no remedy: choose one that says bad or watch")

    def why_not_next(self) -> str:
        if not self.advisor.draft.where:
            return "no destination is given: go back to Where (escape) and type one"
        return ""


def _severities_words(findings: Iterable[Finding]) -> str:
    """`2 bad, 1 to watch`; "all good" without either."""
    counts = Counter(finding.severity for finding in findings)
    bad, watch = counts[Severity.BAD], counts[Severity.WATCH]
    words = [f"{bad} bad" if bad else "", f"{watch} to watch" if watch else ""]
    return ", ".join(filter(None, words)) or "nothing bad"


def _side(remedy: Remedy) -> str:
    return f"on the {remedy.side}" if remedy.side else "on both hosts or the path"
