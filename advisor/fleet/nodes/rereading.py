"""Checks, when all pieces have arrived, what one agent has to see of what others have proven."""

from collections.abc import Sequence

import msgspec

from advisor.agent.peer_errors import PeerError
from advisor.domain.names import names_in_short
from advisor.fleet.nodes.crew import Crew
from advisor.runtime.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED
from advisor.runtime.stop import Stopped, unless_stopped
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

    What was read is not read again after a later attempt. If the session is stopped meanwhile, the
    target is not completed, and no receipt is signed.
    """
    [group] = state.groups
    noted = (await state.journal.read(group.files)).parts
    try:
        wrong = await unless_stopped(
            _differing(session, crew, route, state, noted), session.control.stop
        )
    except Stopped:
        return _not_reread(outcome, state, "stopped", EXIT_INTERRUPTED)
    except PeerError as error:
        return _not_reread(outcome, state, str(error), EXIT_FAILED)
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


def _not_reread(
    outcome: TransferOutcome, state: TransferState, why: str, exit_code: int
) -> TransferOutcome:
    return msgspec.structs.replace(
        outcome,
        complete=False,
        has_all_files=False,
        message=f"all files are there, but not all of them were read again: {why}; {state.remedy}",
        exit_code=exit_code,
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
        tell = session.delivery.reading_back(parts, "what other agents have proven")
        same = await proofs.confirm(link, parts, digests, tell)
        wrong |= {part.file.name for part, is_same in zip(parts, same, strict=True) if not is_same}
    return sorted(wrong)
