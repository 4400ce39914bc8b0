"""What happened, as the end of a transfer says it. Pure."""

from typing import Final

from textual.content import Content

from advisor.domain import events as ev
from advisor.domain.advice import CameTrue, Fulfilment, PriorAdvice
from advisor.domain.quantities import format_rate, format_rates
from advisor.report.times import local_time
from advisor.report.transfer import measured_how
from advisor.tui.features.transfer.texts import mean_bps, moved_sentence, pair_words
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.kit.sentences import count_words, sentence

_SHOWN_MISSING: Final = 2
_GOOD, _ACT, _BAD = ("✓", "$advised"), ("!", "$act"), ("✗", "$failed")
_CAME_TRUE: Final[dict[CameTrue, str]] = {
    "within": "as advised",
    "above": "faster than advised",
    "below": "slower than advised",
}


def end_title(model: TransferModel) -> Content:
    """Whether it is complete, in a few words; empty before the end."""
    if model.gave_up:
        words, colour = "✗ Failed" if model.started else "✗ Not started", "$failed"
    elif model.ended is None:
        return Content("")
    elif model.ended.complete:
        words, colour = "✓ Complete", "$advised"
    else:
        words, colour = "! Not complete", "$act"
    pair = f": {pair_words(model)}" if model.pair else ""
    return Content.assemble((words, f"bold {colour}"), pair)


def end_lines(model: TransferModel) -> list[Content]:
    """What happened: how much arrived and how fast, the proof, the advice, and what is missing.

    Empty before the end.
    """
    if model.gave_up:
        return [
            _line(_BAD, sentence(model.gave_up.message)),
            Content("  Nothing is being moved. g tries again, m opens the form to change it."),
        ]
    ended = model.ended
    if ended is None:
        return []
    advice = model.started.advised if model.started else None
    if ended.complete:
        files = "The file is" if ended.files == 1 else f"All {ended.files:,} files are"
        lines = [_line(_GOOD, f"{files} there. {moved_sentence(ended)}"), _proof_line(ended)]
        return [*lines, *_advice_lines(ended, advice)]
    return [
        _line(_ACT, sentence(ended.message)),
        Content(f"  {moved_sentence(ended)}"),
        *_advice_lines(ended, advice),
        *_missing_lines(ended),
        Content("  g resumes: what has arrived is not moved again."),
    ]


def _line(mark: tuple[str, str], text: str) -> Content:
    return Content.assemble((f"{mark[0]} ", mark[1]), text)


def _proof_line(ended: ev.TransferEnded) -> Content:
    if ended.receipt:
        return _line(_GOOD, "Equal by checksum at both ends; the receipt is signed.")
    # The engine says there why nothing is proven.
    *_, why = ended.message.split("; ")
    return _line(_ACT, f"No receipt: {sentence(why)}" if why != ended.message else "No receipt.")


def _advice_lines(ended: ev.TransferEnded, advice: PriorAdvice | None) -> list[Content]:
    if ended.advised:
        return [fulfilment_line(ended.advised)]
    if advice is None or not mean_bps(ended):
        return []
    return [
        Content(
            f"  Advised {format_rate(advice.expected_bps)}{measured_how(advice.subject)}; this "
            f"run reached {format_rate(mean_bps(ended))}."
        )
    ]


def fulfilment_line(advised: Fulfilment) -> Content:
    """The measured rate compared with the advice."""
    how = measured_how(advised.subject)
    came = advised.came_true
    hint = " Files and disks may limit it." if how and came == "below" else ""
    return _line(
        _ACT if came == "below" else _GOOD,
        f"{format_rate(advised.rate_bps)}, {_CAME_TRUE[came]}: "
        f"{format_rates(*advised.interval_bps)}{how}, {local_time(advised.advised_s)}.{hint}",
    )


def _missing_lines(ended: ev.TransferEnded) -> list[Content]:
    """The first missing files: the log has room for all."""
    lines = [_line(_BAD, line) for line in ended.missing[:_SHOWN_MISSING]]
    more = ended.missing_files - len(lines)
    if more > 0:
        lines.append(_line(_BAD, f"{count_words(more, 'more file')}: key 3 lists them."))
    return lines
