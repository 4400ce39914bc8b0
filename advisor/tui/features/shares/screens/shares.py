"""Shares: requested, predicted and measured rates of several destinations."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec
from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.domain import orders as o
from advisor.store.errors import StoreError
from advisor.tui.features.shares.board import Board
from advisor.tui.features.shares.draft import SharesDraft, load_shares_draft, save_shares_draft
from advisor.tui.features.shares.live_shares import LiveShares
from advisor.tui.features.shares.pending_orders import PendingOrders
from advisor.tui.features.shares.planning import Planning
from advisor.tui.features.shares.screens.form import SharesFormScreen
from advisor.tui.features.shares.texts import NOTHING_LEARNED, train_line
from advisor.tui.features.shares.widgets.share_row import ShareRow
from advisor.tui.features.shares.widgets.share_view import ShareView
from advisor.tui.kit.copying.clipboard import copied_message
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.static import Static
from advisor.tui.page import Page

if TYPE_CHECKING:
    from advisor.tui.features.shares.forecasts import Learned

_DRAWN_EVERY_S: Final = 1.0


class SharesScreen(Page):
    """Plans from forecasts; shows the application's transfer to several destinations live."""

    NAME = "Shares of several destinations"
    HELP = (
        "[b]Shares of several destinations[/b]\nFiles go from this host to several destinations "
        "at once. The rate of each depends on how many files go to it at a time, and on how many "
        "go to all; `advisor share train` learned models of that. Ask for a share, a rate or a "
        "factor for each, and see at once what is possible. Space leaves one out, or includes "
        "it; c copies the equivalent command.\nr opens the form that starts the transfer; "
        "rates are checked and corrected while it runs, and changed requests apply from the next "
        "control epoch. x stops it. Leaving the screen does not: Home shows the way back."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "take", "In or out", id="take-destination"),
        Binding("c", "copy", "Copy the command", show=False, id="copy-shares"),
        Binding("r", "run", "Run", id="run-shares", tooltip="Move files"),
        Binding("x", "stop", "Stop", id="stop-shares", tooltip="What arrived is kept"),
    ]
    DEFAULT_CSS = """
    SharesScreen #body { overflow-y: hidden; }
    SharesScreen #empty { height: auto; margin: 1 0; }
    SharesScreen #command { max-height: 2; }
    """
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.board = Board(load_shares_draft())
        self._kept: SharesDraft | None = None
        self._planning = Planning(self, self.board, self._ended, self._draw)
        self._was_running = False
        self._orders = PendingOrders(self.set_timer)

    def content(self) -> Iterable[Widget]:
        yield Static("… reading the history, and fitting models to it", id="empty")
        yield ShareView(id="view")
        yield Copyable(id="command")

    @property
    def _live(self) -> LiveShares | None:
        """The transfer that runs, or ran last."""
        return self.advisor.shares

    @property
    def _is_running(self) -> bool:
        return self.advisor.is_sharing

    def on_mount(self) -> None:
        self.query_one(ShareView).display = False
        self.every(_DRAWN_EVERY_S, self._draw)

    def on_unmount(self) -> None:
        self._keep()

    def on_screen_resume(self) -> None:
        # There may be new measurements. During a run, fitting models would disturb it.
        if not (self._is_running and self.board.learned):
            self._learn()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _keep(self) -> None:
        if self.board.sharing != self._kept:
            save_shares_draft(self.board.sharing)
            self._kept = msgspec.convert(msgspec.to_builtins(self.board.sharing), SharesDraft)

    @work(thread=True, exclusive=True, group="learned")
    def _learn(self) -> None:
        from advisor.tui.features.shares.forecasts import learned_of

        try:
            with self.advisor.history.store() as store:
                learned = learned_of(store, time.time(), self.board.learned)
        except StoreError as error:
            draw_from_thread(self, self._say_empty, f"✗ {error}")
            return
        draw_from_thread(self, self.call_later, self._take, learned)

    @property
    def _is_open(self) -> bool:
        """Whether the widgets exist: the result of a thread may come too late."""
        return self.is_mounted and self.app.is_running

    def _say_empty(self, words: str, line: str = "") -> None:
        """Show this text and a line to copy in place of destinations."""
        if not self._is_open:
            return
        self.query_one("#empty", Static).update(Content(words))
        self.query_one("#empty").display = True
        self.query_one(ShareView).display = False
        self.query_one(Copyable).hold(line)

    async def _take(self, learned: "Learned") -> None:
        if not self._is_open:
            return
        if not learned.forecasts:
            self._say_empty(NOTHING_LEARNED, train_line(learned.too_little or learned.untrained))
            return
        self.board.take_up(learned)
        view = self.query_one(ShareView)
        await view.make_rows([*self.board.names, *learned.too_little], self.board.sharing.asked)
        self.query_one("#empty").display = False
        view.display = True
        if self.focused is None:
            view.query(ShareRow).first().focus()
        self._planning.plan_soon()
        self.call_after_refresh(self._draw)

    def _ended(self) -> set[str]:
        """The destinations that the running transfer has finished."""
        if not self._live or not self._is_running:
            return set()
        return {name for name, one in self._live.model.destinations.items() if one.ended}

    def _draw(self) -> None:
        """Draw what changed, unless another screen is shown."""
        if not self._is_open or self.app.screen is not self or not self.board.names:
            return
        self._keep()
        if self._was_running and not self._is_running:
            self._learn()
        self._was_running = self._is_running
        model = self._live.model if self._live else None
        self.query_one(ShareView).show(
            self.board, model, self._orders.sent, is_running=self._is_running
        )
        self.query_one(Copyable).hold("" if model else self._line)

    @property
    def _line(self) -> str:
        """The command that plans these requests; "" if they cannot be planned."""
        board = self.board
        if board.sharing.why_not(board.names):
            return ""
        return board.sharing.plan_line(board.names, board.tool)

    def on_share_row_typed(self, event: ShareRow.Typed) -> None:
        """Plan while typing; send the order when the field is left."""
        name = event.row.destination
        self.board.type(name, event.text)
        self._changed(name, is_left=event.is_left)

    def on_share_row_dragged(self, event: ShareRow.Dragged) -> None:
        """Plan while dragging; send the order when it is dropped."""
        name = event.row.destination
        if self.board.drag(name, event.rate_bps, is_left=event.is_left):
            event.row.refill(self.board.sharing.asked[name])
            self._changed(name, is_left=event.is_left)

    def on_share_row_stepped(self, event: ShareRow.Stepped) -> None:
        """Plan at once; send the order when no more keys come."""
        name = event.row.destination
        if name not in self.board.asked:
            self.advisor.refuse(f"{name} is left out: space includes it")
            return
        self.board.step(name, event.by)
        event.row.refill(self.board.sharing.asked[name])
        self._changed(name, is_left=False)
        if self._is_running:
            self._orders.send_soon(name, lambda: self._order(name))

    def _changed(self, name: str, *, is_left: bool) -> None:
        self._planning.plan_soon()
        self._draw()
        if is_left and self._is_running:
            self._order(name)

    def _order(self, name: str) -> None:
        """Send the destination's request to the running transfer."""
        self._orders.cancel(name)
        live, sharing = self._live, self.board.sharing
        if live is None or not self._is_running or name in self._ended():
            return
        if problem := sharing.problem_of(name):
            self.advisor.refuse(f"{name}: {problem}")
            return
        self._orders.send(live, name, sharing.asked[name].strip())
        self._draw()

    def action_take(self) -> None:
        """Toggle whether the chosen destination takes part."""
        row = self.query_one(ShareView).chosen
        if self._is_running:
            self.advisor.refuse("files are being moved: the destinations can be changed after that")
        elif row is None:
            self.advisor.refuse("no destination is chosen: tab goes to them")
        elif row.destination not in self.board.names:
            self.advisor.refuse(f"too few measurements of {row.destination}: train it again")
        else:
            self.board.sharing.toggle(row.destination)
            self._changed(row.destination, is_left=False)

    def action_copy(self) -> None:
        """Copy the equivalent command line."""
        line = self.query_one(Copyable).line or self._line
        if line:
            self.notify(copied_message(self.app, line))
        else:
            self.advisor.refuse(self.board.sharing.why_not(self.board.names))

    def action_run(self) -> None:
        """Open the form that starts the transfer."""
        board = self.board
        if self._is_running:
            self.advisor.refuse("it is running: x stops it")
        elif not board.names:
            self.advisor.refuse("nothing was learned yet: run the command above")
        elif reason := (
            board.sharing.why_not(board.names) or board.trouble or self.advisor.why_no_session()
        ):
            self.advisor.refuse(reason)
        else:
            self._orders.sent.clear()
            self.advisor.open(SharesFormScreen(board.sharing, board.names, board.tool))

    def action_stop(self) -> None:
        """Stop it, after a confirmation."""
        live = self._live
        if live is None or not self._is_running or live.model.is_over:
            self.advisor.refuse("no files are being moved: r starts a transfer")
            return
        question = "Stop moving files to all destinations? What arrived is kept."
        self.app.push_screen(AskScreen(question, "Stop"), self._stop_if)

    def _stop_if(self, yes: bool | None) -> None:
        if yes and self._live:
            self._live.order(o.Stop())
            self.notify("Stopping: what arrived is kept.")

    def action_back(self) -> None:
        """Leave the screen; the transfer continues."""
        if self._is_running:
            self.notify("The transfer continues: f at home shows it.")
        super().action_back()
