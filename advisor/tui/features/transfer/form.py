"""What the user has entered to have files moved, as typed; kept on disk, so nothing is lost."""

import contextlib
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.advice import Advice
from advisor.domain.records import SessionRecord
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.transfer.tuned.parsing import parse_start
from advisor.tui.features.advising.form import Draft
from advisor.tui.kit.form_state import keep, load_form

METHODS: Final = {
    "doubling": "doubles and halves one number, and keeps what helps",
    "nelder-mead": "turns away from the worst of three settings",
    "compass": "a step up or down of one number, where it helps",
    "coordinate-descent": "files at a time first, then streams, and so on",
    "harp": "goes by past transfers of like files, and this one",
    "fixed": "changes nothing: keeps the setting it starts at",
}
"""What tunes a transfer, each in words for people who have not read the papers."""

_FILE = "move.json"
_REACH: Final = (
    "destination",
    "way",
    "agent",
    "secret_file",
    "agent_command",
    "address",
    "ports",
    "bandwidth",
    "rtt",
)


class TransferDraft(Draft, kw_only=True):
    """Each field of text is that of an option of `advisor transfer`, "" where nothing was entered.

    The fields of a draft that say what is moved and where to have the same meaning; of those that
    say what is profiled, none counts but `max_concurrency`, `max_streams` and `verify`. `anew`:
    also what an earlier run moved.
    """

    method: str = next(iter(METHODS))
    epoch: str = ""
    start: str = ""
    max_flows: str = ""
    max_rate: str = ""
    nice: str = ""
    price: str = ""
    anew: bool = False

    def transfer_arguments(self) -> list[str]:
        """The words of `advisor transfer`."""
        options = {
            "--to": self.to,
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
        }
        given = [f"{name}={text.strip()}" for name, text in options.items() if text.strip()]
        marks = [name for name, said in (("--verify", self.verify), ("--anew", self.anew)) if said]
        # A whole path begins with a slash, and so is no option.
        data = str(Path(self.data.strip()).expanduser())
        return [*given, *marks, data, *self.reach_arguments()]

    def why_not(self) -> str:
        """What is missing, or does not go together, a sentence with the remedy; "" when nothing is.

        Each field alone is taken to be right.
        """
        if not self.data.strip():
            return "nothing is said to be moved: type the path of a folder or a file here in 'What'"
        if not self.where:
            return "no destination is given: type the host that the files go to in 'To'"
        if self.way == "agent" and not self.secret_file.strip():
            return (
                "the agent over there has given you a secret: type the file that has it in "
                "'Secret file', below 'The way there'"
            )
        if not self.to.strip():
            return "it is not said where the files go over there: type a path in 'Goes to'"
        return self._why_not_this_start()

    def _why_not_this_start(self) -> str:
        if not self.start.strip():
            return ""
        start = parse_start(self.start)
        files, streams = start.concurrency, start.parallelism
        for number, most, what in (
            (files, self.max_concurrency, "files at a time"),
            (streams, self.max_streams, "streams for each"),
            (files * streams, self.max_flows, "streams in all"),
        ):
            if most.strip() and number > int(most):
                return f"the start has {number} {what}, and {most.strip()} are allowed at most"
        return ""

    def go_to(self, destination: str) -> None:
        """Another host, with what was said of the one before forgotten; the same stays."""
        agent = self.agent.strip().rpartition(":")[0] if self.way == "agent" else ""
        if destination in (self.destination.strip().rpartition("@")[2], agent):
            return
        self.reach_as(Draft(destination=destination))
        self.to = self.server = ""

    def reach_as(self, draft: Draft) -> None:
        """The same destination, by the same way."""
        for name in _REACH:
            setattr(self, name, getattr(draft, name))

    def take_up(self, request: AdviceRequest) -> None:
        """What, where to and how to get there, as far as a session's question says it."""
        dataset = request.dataset
        self.data = (dataset.path if dataset else None) or ""
        self.to, self.server = request.destination_path or "", request.server_url or ""
        self.reach_as(_reached_as(request))


def _reached_as(request: AdviceRequest) -> Draft:
    """The fields of the way to the destination, as they would be typed."""
    return Draft(
        destination=str(request.destination),
        way="agent" if request.agent else "ssh",
        agent="{}:{}".format(*request.agent) if request.agent else "",
        secret_file=request.secret_file or "",
        agent_command=request.agent_command or "",
        address=request.address or "",
        ports="{}-{}".format(*request.ports) if any(request.ports) else "",
        bandwidth=f"{request.bandwidth_bps:.0f}" if request.bandwidth_bps else "",
        rtt=f"{request.rtt_s:g}s" if request.rtt_s else "",
    )


def of_draft(draft: Draft) -> TransferDraft:
    """With what was entered on the way to an advice: what is moved, where to, how to get there."""
    move = TransferDraft(
        to=draft.to, server=draft.server, data=draft.data if draft.what == "data" else ""
    )
    move.reach_as(draft)
    return move


def of_session(store: Store, advice: Advice) -> TransferDraft:
    """As it was entered last, with what the session of this advice was asked and came to.

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
        # That of another version may not be read any more.
        with contextlib.suppress(msgspec.ValidationError):
            move.take_up(msgspec.convert(record.request, AdviceRequest))
    levels = [advice.setting.get(name) for name in ("concurrency", "parallelism")]
    move.start = "x".join(str(level) for level in levels) if all(levels) else ""
    return move


def load_transfer_draft() -> TransferDraft | None:
    """The one that was kept last; None where there is none that can be read."""
    return load_form(_FILE, TransferDraft)


def save_transfer_draft(move: TransferDraft) -> None:
    """Keep it for the next start. Where it cannot be kept, it lasts as long as the program."""
    keep(_FILE, move)
