"""The fields that say how to reach the destination, as all forms have them."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from advisor.domain.addresses import (
    parse_address,
    parse_host_port,
    parse_interfaces,
    parse_ports,
)
from advisor.domain.quantities import parse_given_rate, parse_rtt
from advisor.tui.features.advising.draft import Draft
from advisor.tui.kit.fields.field import Check, Field


class _Entry(NamedTuple):
    label: str
    example: str
    explained: str
    check: Check | None = None


_ENTRIES: Final = {
    "agent_command": _Entry(
        "Agent command",
        "advisor agent --stdio",
        "The agent's command there, if advisor is not in the PATH of a login by ssh, as in "
        "/opt/advisor/bin/advisor agent --stdio.",
    ),
    "agent": _Entry(
        "Agent at",
        "HOST:PORT that 'advisor agent --listen' printed",
        "The address at which an agent listens there; ssh is not used then.",
        parse_host_port,
    ),
    "secret_file": _Entry(
        "Secret file",
        "file with the secret that it printed",
        "A file here, readable by you alone (chmod 600), with the line that the agent printed. "
        "Both sides prove that they know it before anything else.",
    ),
    "address": _Entry(
        "Data address",
        "IP address, if data goes to another one than the name's",
        "Transfer nodes often have one network for logins and one for data.",
        parse_address,
    ),
    "source_address": _Entry(
        "Source address",
        "this host's IP address for data, if it has several",
        "Data leave from this address; without it, from the one that the kernel's routes choose.",
        parse_address,
    ),
    "interfaces": _Entry(
        "Several networks",
        "as in eth1=eth1,eth2=eth2: here=there",
        "Pairs of an interface or address here and one there. Each is measured alone and all at "
        "once, in place of the data and source address. The step Path lists them.",
        parse_interfaces,
    ),
    "ports": _Entry(
        "Ports",
        "as in 50000-51000, if a firewall asks for it",
        "The ports that the agent may open for test traffic; sites often name them in "
        "GLOBUS_TCP_PORT_RANGE. They are open only while a test runs.",
        parse_ports,
    ),
    "bandwidth": _Entry(
        "Reserved rate",
        "as in 10Gbit, if you have a reservation",
        "The part of the path that you may use, in bit/s; without it, the rate of the slower "
        "network card. Results are compared with it, and large files are divided by it.",
        parse_given_rate,
    ),
    "rtt": _Entry(
        "Round trip",
        "as in 93.6ms, to begin with",
        "The initial round-trip time. It is measured again during the session, where the path "
        "answers.",
        parse_rtt,
    ),
}
SOURCE: Final = ("source_address", "interfaces")
REACH: Final = tuple(name for name in _ENTRIES if name not in SOURCE)
"""The names of those that every form has, as the draft has them. Only what measures can be bound
to a source address: most tools that move files cannot."""


def reach_fields(draft: Draft, names: Iterable[str] = REACH) -> Iterable[Field]:
    """The fields of these entries of a draft."""
    for name in names:
        entry = _ENTRIES[name]
        yield Field(
            entry.label,
            name,
            draft,
            check=entry.check,
            example=entry.example,
            explained=entry.explained,
        )
