"""How a fleet and one of its pairs stand, in words. Pure."""

from collections.abc import Iterator, Sequence

from rich.text import Text
from textual.content import Content

from advisor.domain.quantities import format_duration, format_rate
from advisor.fleet.state.rows import ALL, Attempt
from advisor.fleet.state.standing import FleetStanding, PairStanding
from advisor.report.fleet_status import age, attempt_cells, reached
from advisor.report.times import local_time
from advisor.tui.kit.charts.spark import spark
from advisor.tui.kit.sentences import capitalised, count_words


def fleet_words(standing: FleetStanding) -> Content:
    """Who works, what runs, and what hinders; a line for each trouble."""
    workers = count_words(len(standing.workers), "worker") if standing.workers else "no worker"
    line = (
        f"{standing.measured:,} of {standing.pairs:,} pairs measured · {standing.due:,} due · "
        f"{workers} · {len(standing.running)} measured now"
    )
    return Content("\n").join([Content(line), *_troubles(standing)])


def _troubles(standing: FleetStanding) -> Iterator[Content]:
    if not standing.workers:
        yield _act("Nothing is measured without a worker: advisor fleet work")
    for pause in standing.pauses:
        what = "The fleet" if pause.host == ALL else pause.host
        until = f" until {local_time(pause.until_s)}" if pause.until_s is not None else ""
        yield _act(f"{what} is paused{until}, by {pause.paused_by}")
    for host in standing.down:
        yield Content.styled(f"✗ {host.host} cannot be reached: {host.message}", "$failed")


def _act(words: str) -> Content:
    return Content.styled(words, "$act")


def trouble_words(sentence: str) -> Content:
    """Why the database gave no answer."""
    return Content.styled(f"✗ {capitalised(sentence)}", "$failed")


def pair_words(one: PairStanding, now_s: float) -> Content:
    """What a pair reached, when, and why it is not measured now."""
    ends = Content.styled(f"{one.source} → {one.destination}", "bold")
    if one.last_s is None:
        found = "never measured"
    else:
        rtt = f", RTT {1000 * one.rtt_s:.3g} ms" if one.rtt_s and one.rate_bps else ""
        found = f"{reached(one)}{rtt}, {age(one, now_s)} ago"
    lines = [Content.assemble(ends, f"  {found}"), Content(_due(one, now_s))]
    if one.failures:
        failed = f"✗ failed {count_words(one.failures, 'time')} since"
        lines.append(Content.styled(failed, "$failed"))
    if one.news != "none":
        sure = "suspected" if one.news == "suspected" else "certain"
        lines.append(_act(f"A change of its throughput is {sure}"))
    return Content("\n").join(lines)


def _due(one: PairStanding, now_s: float) -> str:
    due = "due now" if one.due_s <= now_s else f"due in {format_duration(one.due_s - now_s)}"
    return f"{due}: {one.reason}" if one.reason else due


def curve_words(attempts: Sequence[Attempt], width: int) -> Content:
    """The rates of a pair from the oldest to the newest, on a scale from zero."""
    rates = [one.rate_bps for one in reversed(attempts) if one.rate_bps is not None]
    if not rates:
        return Content("")
    ends = dict.fromkeys(format_rate(bps) for bps in (min(rates), max(rates)))
    span = " to ".join(ends)
    return Content(f"{spark(rates, max(8, width - len(span) - 2))}  {span}")


def attempt_rows(attempts: Sequence[Attempt]) -> list[tuple[str, tuple[Text, ...]]]:
    """The rows of a table of attempts."""
    return [(str(one.id), tuple(map(Text, attempt_cells(one)))) for one in attempts]
