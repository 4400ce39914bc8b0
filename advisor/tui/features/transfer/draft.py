"""The form of a transfer: the entries as typed, stored on disk."""

import contextlib
from typing import Final

import msgspec

from advisor.domain.advice import Advice
from advisor.domain.records import SessionRecord
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.store.postgres.address import is_address
from advisor.traits import (
    can_move,
    default_method,
    method_traits,
    methods,
)
from advisor.transfer.tuned.parsing import parse_start
from advisor.transfer.tuned.prior_advice import advised_levels
from advisor.transfer.tuned.tuners import FIXED, MOST_STREAMS, learns_from_transfers, why_no_price
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.reach_fields import REACH
from advisor.tui.features.transfer.move_draft import MoveDraft
from advisor.tui.kit.fields.form_state import load_form, save_form

_FILE: Final = "move.json"
_FIXED_TEXT: Final = "changes nothing: keeps the setting it starts at"


def tuning_methods() -> dict[str, str]:
    """The methods that tune a transfer, described for people who have not read the papers."""
    texts = {name: method_traits(name).form_text for name in methods()}
    return {**{name: text for name, text in texts.items() if text}, FIXED: _FIXED_TEXT}


class TransferDraft(MoveDraft, kw_only=True):
    """Each text field holds the value of an option of `advisor transfer`, "" if not entered.

    A draft's fields for data and destination have the same meaning; of those for profiling only
    `tool`, `max_concurrency`, `max_streams` and `verify` are used. `advised_start`: the start that
    advice filled in, which is for one run to its hosts; "" where there is none.
    """

    method: str = msgspec.field(default_factory=lambda: default_method("transfer"))
    start: str = ""
    advised_start: str = ""
    max_flows: str = ""
    max_rate: str = ""
    nice: str = ""
    price: str = ""
    via: str = ""
    node_command: str = ""

    @property
    def pushes(self) -> bool:
        """Whether ssh brings the agent along."""
        return self.way == "push"

    @pushes.setter
    def pushes(self, wanted: bool) -> None:
        self.way = "push" if wanted else "agent" if self.agent.strip() else "ssh"

    @property
    def most_streams(self) -> int:
        """Streams for each file at most; the default where none or no number is entered."""
        text = self.max_streams.strip()
        return int(text) if text.isdecimal() and int(text) else MOST_STREAMS

    def transfer_arguments(self) -> list[str]:
        """The arguments of `advisor transfer`."""
        options = {
            "--to": self.to,
            "--tool": self.tool,
            "--server": self.server,
            "--method": self.method,
            "--epoch": self.epoch,
            "--start": self.start,
            "--max-concurrency": self.max_concurrency,
            "--max-streams": self.max_streams,
            "--max-flows": self.max_flows,
            "--max-rate": self.max_rate,
            "--nice": self.nice,
            "--price": self.price,
            "--via": self.via,
            "--node-command": self.node_command if self.via.strip() else "",
        }
        given = [f"{name}={text.strip()}" for name, text in options.items() if text.strip()]
        verify = ["--verify"] if self.verify else []
        return [*given, *verify, *self.once_flags, self.data_path, *self.reach_arguments()]

    def why_not(self) -> str:
        """What is missing or contradictory: a sentence with the remedy; "" if nothing is.

        Invalid entries are not judged: their fields say what is wrong.
        """
        return (
            self.why_no_data()
            or self._why_no_destination()
            or self.why_no_folder()
            or self._why_not_this_start()
            or self._why_not_this_price()
            or self._why_not_over_nodes()
        )

    def why_no_queue(self, history: str) -> str:
        """Why this history has no queue for several nodes, with the remedy; "" if it has one."""
        if not self.via.strip() or is_address(history):
            return ""
        return (
            "several nodes share the files by a database: begin with 'advisor --store "
            "postgresql://HOST/DATABASE', or empty 'Nodes'"
        )

    def _why_not_this_price(self) -> str:
        if self.price.strip() and (reason := why_no_price(self.method)):
            return f"{reason}: empty 'Stream price', or choose another method"
        return ""

    def _why_not_over_nodes(self) -> str:
        if not self.via.strip():
            return ""
        if learns_from_transfers(self.method):
            return f"{self.method} needs past transfers, which nodes do not have: choose another"
        return ""

    def _why_no_destination(self) -> str:
        if not self.where:
            return "no destination is given: type the host that the files go to in 'To'"
        if self.way == "agent" and not self.secret_file.strip():
            return (
                "the agent needs the secret that it printed: type the file that has it in "
                "'Secret file', below 'How to reach it'"
            )
        return ""

    def _why_not_this_start(self) -> str:
        try:
            start = parse_start(self.start)
        except ValueError:
            return ""
        files, streams = start.concurrency, start.parallelism
        for number, most, what in (
            (files, self.max_concurrency, "files at a time"),
            (streams, self.max_streams, "streams for each"),
            (files * streams, self.max_flows, "streams in total"),
        ):
            if most.strip().isdecimal() and number > int(most):
                return f"the start has {number} {what}, and {most.strip()} are allowed at most"
        return ""

    @property
    def starts_as_advised(self) -> bool:
        """Whether the start is the one that advice filled in."""
        return bool(self.start) and self.start == self.advised_start

    def forget_once(self) -> None:
        """The next run has none of these flags, and starts at what is advised then."""
        super().forget_once()
        self._forget_advised_start()

    def _forget_advised_start(self) -> None:
        if self.starts_as_advised:
            self.start = ""
        self.advised_start = ""

    def go_to(self, destination: str) -> None:
        """Change the destination; entries for another host are cleared."""
        agent = self.agent.strip().rpartition(":")[0] if self.way == "agent" else ""
        if destination in (self.destination.strip().rpartition("@")[2], agent):
            return
        self.reach_as(Draft(destination=destination))
        self.to = self.server = self.tool = self.via = ""
        self._forget_advised_start()

    def reach_as(self, draft: Draft) -> None:
        """Take over the destination and how to reach it."""
        for name in ("destination", "way", *REACH):
            setattr(self, name, getattr(draft, name))
        if not self.has_agent:  # Somebody has to prove at the destination what arrived.
            self.way = "ssh"

    def take_up(self, request: AdviceRequest) -> None:
        """Take over data, destination and how to reach it from the request of a session."""
        dataset = request.dataset
        self.data = (dataset.path if dataset else None) or ""
        self.to, self.server = request.destination_path or "", request.server_url or ""
        self.tool = request.tool if request.tool and can_move(request.tool) else ""
        self.reach_as(_reached_as(request))


def _reached_as(request: AdviceRequest) -> Draft:
    """The fields that say how to reach the destination, as they would be typed."""
    return Draft(
        destination=str(request.destination),
        way="agent" if request.agent else "push" if request.push else "ssh",
        agent="{}:{}".format(*request.agent) if request.agent else "",
        secret_file=request.secret_file or "",
        agent_command=request.agent_command or "",
        address=request.address or "",
        ports="{}-{}".format(*request.ports) if any(request.ports) else "",
        bandwidth=f"{request.bandwidth_bps:.0f}bit" if request.bandwidth_bps else "",
        rtt=f"{request.rtt_s * 1000:.6g}ms" if request.rtt_s else "",
    )


def of_draft(draft: Draft) -> TransferDraft:
    """A transfer draft with the data and destination that were entered for advice."""
    move = TransferDraft(
        to=draft.to, server=draft.server, data=draft.data if draft.what == "data" else ""
    )
    move.reach_as(draft)
    return move


def of_session(store: Store, advice: Advice) -> TransferDraft:
    """The last draft, updated with the request and the result of this advice's session.

    Raises StoreError.
    """
    move = load_transfer_draft() or TransferDraft()
    found = (
        record
        for record in store.records(advice.pair)
        if isinstance(record, SessionRecord) and record.session == advice.session
    )
    move.go_to(advice.pair.destination)
    for record in found:
        # A request stored by another version may be unreadable.
        with contextlib.suppress(msgspec.ValidationError):
            move.take_up(msgspec.convert(record.request, AdviceRequest))
    levels = advised_levels(advice.subject, advice.setting, move.most_streams)
    move.start = f"{levels.concurrency}x{levels.parallelism}" if levels else ""
    move.advised_start = move.start
    return move


def load_transfer_draft() -> TransferDraft | None:
    """The draft stored last; None where none can be read."""
    return load_form(_FILE, TransferDraft)


def save_transfer_draft(move: TransferDraft) -> None:
    """Store the entries for the next run. If that fails, they last as long as the program."""
    save_form(_FILE, move)
