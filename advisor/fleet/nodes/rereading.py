"""Checks, when all pieces have arrived, what one agent has to see of what others have proven."""

from collections.abc import Sequence

import msgspec

from advisor.agent.peer_errors import PeerError
from advisor.domain.names import names_in_short
from advisor.fleet.nodes.crew import Crew
from advisor.runtime.exit_codes import EXIT_FAILED
from advisor.transfer.engine.journal import NotedPart
from advisor.transfer.engine.outcome import TransferOutcome, TransferState, with_differing
from advisor.transfer.engine.route import Route
from advisor.transfer.engine.session import TransferSession


async def reread(
    session: TransferSession,
    crew: Crew,
    route: Route,
    state: TransferState,
    outcome: TransferOutcome,
) -> TransferOutcome:
    """The outcome after the check: that of the moving, unless something differs or is not read.

    What was read is not read again after a later attempt.
    """
    [group] = state.groups
    noted = (await state.journal.read(group.files)).parts
    try:
        wrong = await _differing(session, crew, route, state, noted)
    except PeerError as error:
        return msgspec.structs.replace(
            outcome,
            complete=False,
            has_all_files=False,
            message=f"all files are there, but not all of them were read again: {error}; "
            f"{state.remedy}",
            exit_code=EXIT_FAILED,
        )
    crew.suspects.clear()
    crew.of_other_agents.clear()
    if not wrong:
        return outcome
    session.delivery.proofs.forget(wrong)
    await state.journal.begin(one for one in noted if one.part.file.name not in wrong)
    return with_differing(
        outcome,
        wrong,
        f"{names_in_short(wrong)} changed at the destination after a node had proven it; "
        f"{state.remedy}",
    )


async def _differing(
    session: TransferSession,
    crew: Crew,
    route: Route,
    state: TransferState,
    noted: Sequence[NotedPart],
) -> list[str]:
    """The files that differ at the destination, sorted. Raises PeerError.

    It looks at the size of every file, which a node that was lost may have truncated; it reads
    what such a node had, and what an agent without its key has proven.
    """
    [group] = state.groups
    proofs, link = session.delivery.proofs, session.far_end.link
    sizes = await link.sizes([route.places.target_of(file.name) for file in group.files])
    wrong = {
        file.name for file, size in zip(group.files, sizes, strict=True) if size != file.size_bytes
    }
    read_again = (crew.suspects | crew.of_other_agents) - wrong
    some = [one for one in noted if one.part.file.name in read_again]
    if some and proofs.algorithm is not None:
        words = names_in_short(sorted(read_again))
        session.events.notice(f"Reads again what other agents have proven: {words}.")
        parts, digests = [one.part for one in some], [one.digest for one in some]
        same = await proofs.confirm(link, parts, digests)
        wrong |= {part.file.name for part, is_same in zip(parts, same, strict=True) if not is_same}
    return sorted(wrong)
