"""The base of the forms that move files at once."""

from collections.abc import Iterable

from textual.widgets import Checkbox

from advisor.transfer.tuned.parsing import parse_epoch
from advisor.tui.features.transfer.move_draft import MoveDraft
from advisor.tui.kit.fields.choice import Tick
from advisor.tui.kit.fields.counted_field import CountedField
from advisor.tui.kit.fields.field import Check, Field, first_problem
from advisor.tui.kit.fields.paths import existing_path
from advisor.tui.kit.fields.suggestions import PathSuggester
from advisor.tui.page import Page


class MoveForm(Page):
    """A subclass binds a key to `begin`."""

    @property
    def draft(self) -> MoveDraft:
        """The entries."""
        raise NotImplementedError

    def why_incomplete(self) -> str:
        """What is missing or contradictory in valid entries; "" if nothing is."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the transfer with these entries, and show it."""
        raise NotImplementedError

    def data_field(self, explained: str) -> Field:
        """What is moved."""
        return CountedField(
            "What",
            "data",
            self.draft,
            check=existing_path,
            example="a folder or a file here, as in /data/run7",
            explained=f"{explained} They are counted in the background.",
            suggester=PathSuggester(),
        )

    def epoch_field(self, explained: str, example: str) -> Field:
        """The length of the control epochs."""
        return self.field("Epoch", "epoch", check=parse_epoch, example=example, explained=explained)

    def once_ticks(self) -> Iterable[Tick]:
        """What may be replaced at the destination, and whether all is moved again."""
        yield Tick(
            "Replace files that exist there",
            self.draft.overwrite,
            "By default nothing that exists at the destination is replaced.",
            id="overwrite",
        )
        yield Tick(
            "Keep files that exist there, if their content is the same",
            self.draft.skip_existing,
            "Both sides read them and compare checksums. Others are named, and nothing is moved.",
            id="skip_existing",
        )
        yield Tick(
            "Take over from an abandoned transfer",
            self.draft.take_over,
            "Another transfer to the same folder was not finished. With this, the folder is "
            "claimed for this one.",
            id="take_over",
        )
        yield Tick(
            "Move everything again",
            self.draft.restart,
            "By default a transfer that was stopped or failed resumes from there. With this, "
            "what arrived before is moved again.",
            id="restart",
        )

    def field(
        self,
        label: str,
        attribute: str,
        *,
        check: Check | None = None,
        example: str,
        explained: str,
    ) -> Field:
        """A field of the draft."""
        return Field(
            label, attribute, self.draft, check=check, example=example, explained=explained
        )

    def renew(self) -> None:
        """Show the entries as they are."""
        for field in self.query(Field):
            field.refill()
        with self.prevent(Checkbox.Changed):
            for tick in self.query(Tick):
                tick.value = getattr(self.draft, tick.id or "")

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        """Store it at once, as texts are."""
        setattr(self.draft, event.checkbox.id or "", event.value)

    def why_not_begin(self) -> str:
        """Why it cannot start: wrong or missing entries, or a running session."""
        return (
            first_problem(list(self.query(Field)))
            or self.why_incomplete()
            or self.advisor.why_no_session()
        )

    def action_begin(self) -> None:
        """Start the transfer, or say why not."""
        if reason := self.why_not_begin():
            self.advisor.refuse(reason)
            return
        self.start()
        self.draft.forget_once()
        # A screen that the palette opened stays, and shows what the next transfer will be.
        self.renew()
