"""What ends or fails a conversation with an agent."""

from advisor.domain.problem import ProblemError, ProblemKind


class PeerError(ProblemError):
    """The other side cannot be used; the message is one sentence with its remedy."""

    kind = ProblemKind.UNREACHABLE


class Refusal(PeerError):
    """The agent refused or failed this request; the conversation continues."""

    kind = ProblemKind.REFUSED


class PeerGone(PeerError):
    """The connection to the agent ended, or the agent stopped answering."""

    kind = ProblemKind.LOST
