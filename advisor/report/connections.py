"""The connections of two hosts as text."""

from advisor.domain.advice import AtOnce, ConnectionShare
from advisor.domain.connection import Connection, UsableConnection
from advisor.domain.events import ConnectionsFound
from advisor.domain.quantities import format_duration, format_rate
from advisor.traits import describe


def connections_lines(event: ConnectionsFound) -> list[str]:
    """A line for each connection that can be used, and one for each note."""
    lines = [f"connection: {_usable(one)}" for one in event.connections]
    return [
        *(lines or ["connection: none was found between two interfaces"]),
        *(f"connection: {note}" for note in event.notes),
    ]


def at_once_lines(at_once: AtOnce) -> list[str]:
    """What each connection carries alone and beside the others, and what all reach together."""
    return [*(_share(part) for part in at_once.parts), total_words(at_once)]


def total_words(at_once: AtOnce) -> str:
    """What all reach together, in one line."""
    lower, upper = at_once.gain.interval
    total_bps, sum_bps = at_once.total_bps.value, at_once.sum_bps
    times = "once" if at_once.rounds == 1 else f"{at_once.rounds} times"
    return (
        f"all at once: {format_rate(total_bps)}, measured {times}; {total_bps / sum_bps:.0%} of "
        f"the sum {format_rate(sum_bps)}, × {at_once.gain.value:.2f} (90 %: {lower:.2f} to "
        f"{upper:.2f}) of {at_once.best.name} alone"
    )


def _share(part: ConnectionShare) -> str:
    return (
        f"{part.name}: alone {format_rate(part.alone.value)}, beside the others "
        f"{format_rate(part.at_once.value)} ({part.at_once.value / part.alone.value:.0%}); "
        f"{describe(part.subject, part.setting)}"
    )


def ends_words(connection: Connection) -> str:
    """`eth1 10.0.1.1 -> eth0 10.0.1.2`; without the interface where it is not known."""
    ends = (
        (connection.source_interface, connection.source_address),
        (connection.destination_interface, connection.destination_address),
    )
    return " -> ".join(" ".join(filter(None, end)) for end in ends)


def _usable(one: UsableConnection) -> str:
    link_bps = one.connection.link_bps
    link = f"{format_rate(link_bps)} link" if link_bps else "link speed unknown"
    facts = f"{link}, MTU {one.mtu_bytes}, RTT {format_duration(one.rtt_s)}"
    return f"{ends_words(one.connection)}: {facts}{f' ({one.caution})' if one.caution else ''}"
