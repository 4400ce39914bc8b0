"""Brings the agent to a host where advisor is not installed, over the ssh connection that runs it.

A short shell script (bootstrap.sh) receives one compressed program, compares its digest, and
becomes it. Files with the program are made by `make agent`, one for each kind of machine.
"""

import asyncio
import gzip
import hashlib
import secrets
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

import advisor
from advisor.agent.connect import Reached, reach_ssh
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.domain.endpoints import Endpoint
from advisor.domain.printable import printable
from advisor.domain.problem import ProblemKind
from advisor.domain.quantities import format_bytes
from advisor.domain.shell import shell_line
from advisor.hosts.processes import Child

_ANSWER_S: Final = 30.0
_SEND_S: Final = 600.0
_STALLED_S: Final = 30.0
_CHUNK_BYTES: Final = 64 * 1024
_MOST_BYTES: Final = 256 * 2**20
# Lines that a login's start-up files may print before the script does.
_NOISE_LINES: Final = 200
_MARK: Final = "advisor-push "

Tell = Callable[[str], None]


class AgentFile(msgspec.Struct, frozen=True):
    """An agent for one kind of machine: the compressed program, and what it unpacks to."""

    machine: str
    sent: bytes
    digest: str
    size_bytes: int


def agent_folders() -> list[Path]:
    """Where agents are looked for: the user's data folder, the package, the checkout."""
    package = Path(advisor.__file__).parent
    own = platformdirs.user_data_path("advisor") / "agents"
    return [own, package / "agents", package.parent / "dist"]


def agent_files() -> list[AgentFile]:
    """The agents of this version, one for each kind of machine. Raises PeerError without any."""
    found: dict[str, AgentFile] = {}
    prefix, suffix = f"advisor-agent-{advisor.__version__}-", ".gz"
    for folder in agent_folders():
        for path in sorted(folder.glob(f"{prefix}*{suffix}")):
            machine = path.name.removeprefix(prefix).removesuffix(suffix)
            if machine not in found:
                found[machine] = _read(machine, path)
    if not found:
        own, *_ = agent_folders()
        raise PeerError(
            "there is no agent here that could be sent",
            remedy=f"make it in advisor's sources; an installed advisor finds it in {own}",
            command="make agent",
            folder="advisor's sources",
            kind=ProblemKind.MISSING,
        )
    return list(found.values())


def _read(machine: str, path: Path) -> AgentFile:
    """Raises PeerError for a file that is no agent."""
    try:
        sent = path.read_bytes()
        with gzip.open(path) as file:
            content = file.read(_MOST_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise PeerError(
            f"{path} cannot be read: {error}", remedy="make it again", command="make agent"
        ) from None
    return AgentFile(machine, sent, hashlib.sha256(content).hexdigest(), len(content))


async def reach_pushed(
    endpoint: Endpoint,
    ports: tuple[int, int],
    tell: Tell,
    *,
    keep: bool,
    ssh_options: Sequence[str] = (),
) -> Reached:
    """Bring an agent to the other host and start it. Raises PeerError.

    `tell` gets sentences for the user; `keep`: whether a copy may stay in the account's cache
    there, where the next connection finds it.
    """
    files = await asyncio.to_thread(agent_files)
    script = script_for(files, ports, keep=keep)
    # Any login shell understands this. The script comes first on standard input, then the agent.
    command = f"exec sh -c 'eval \"$(head -c {len(script)})\"'"
    begin = partial(_bring, endpoint, files, script, tell)
    return await reach_ssh(endpoint, command, ssh_options, begin)


def script_for(files: Sequence[AgentFile], ports: tuple[int, int], *, keep: bool) -> bytes:
    """The shell script that receives and starts one of these agents."""
    known = [f"{one.machine}:{one.digest}:{one.size_bytes}:{len(one.sent)}" for one in files]
    values = {
        "agents": " ".join(known),
        "token": secrets.token_hex(16),
        "keep": str(int(keep)),
        "arguments": " ".join(map(str, ports)),
    }
    # Assignments of letters, digits, spaces and colons, still quoted.
    lines = "".join(f"{name}={shell_line([value])}\n" for name, value in values.items())
    text = resources.files("advisor.agent").joinpath("bootstrap.sh").read_text(encoding="utf-8")
    return (lines + text).encode()


async def _bring(
    endpoint: Endpoint, files: Sequence[AgentFile], script: bytes, tell: Tell, child: Child
) -> None:
    """Hold the conversation with the script until it becomes the agent.

    Raises PeerError, EOFError if the connection ends.
    """
    await _write(child, script)
    refused: list[str] = []
    while True:
        match (await _word(child)).split(maxsplit=1):
            case ["send", machine]:
                file = next((one for one in files if one.machine == machine), None)
                if file is None:
                    raise PeerError(f"{endpoint} asks for something that is not here")
                size = format_bytes(len(file.sent))
                tell(f"sending the agent to {endpoint}: {size}, SHA-256 {file.digest}")
                await _write(child, file.sent)
            case ["cached", path]:
                tell(f"the agent in the cache of {endpoint} is used ({path}); its SHA-256 is right")
            case ["kept", path]:
                tell(f"a copy of the agent stays on {endpoint}: {path}")
            case ["unkept", path]:
                tell(f"no copy of the agent could be kept on {endpoint} in {path}")
            case ["norun", place]:
                refused.append(place)
            case ["failed", why]:
                raise _failure(endpoint, files, why, refused)
            case ["start"]:
                return


async def _write(child: Child, content: bytes) -> None:
    """Send it. A failure shows in what the other side says next, or does not say."""
    async with asyncio.timeout(_SEND_S):
        for at in range(0, len(content), _CHUNK_BYTES):
            try:
                child.stdin.write(content[at : at + _CHUNK_BYTES])
                async with asyncio.timeout(_STALLED_S):
                    await child.stdin.drain()
            except ConnectionError:
                return
            except TimeoutError:
                raise PeerGone("the other host takes no more of the agent") from None


async def _word(child: Child) -> str:
    """The next line of the script, without its mark. Raises PeerError, EOFError at the end."""
    for _ in range(_NOISE_LINES):
        try:
            async with asyncio.timeout(_ANSWER_S):
                line = await child.stdout.readline()
        except TimeoutError:
            raise PeerGone(f"the other host did not answer within {_ANSWER_S:g} s") from None
        except (ConnectionError, ValueError):
            line = b""
        if not line:
            raise EOFError
        text = printable(line.decode(errors="replace").rstrip("\n"))
        if text.startswith(_MARK):
            return text.removeprefix(_MARK)
    raise PeerError("what answers over ssh is not a shell that can start the agent")


def _failure(
    endpoint: Endpoint, files: Sequence[AgentFile], why: str, refused: Sequence[str]
) -> PeerError:
    """The problem for what the script said."""
    code, _, words = why.partition(" ")
    where = f" ({', '.join(refused)})" if refused else ""
    match code:
        case "machine":
            have = ", ".join(one.machine for one in files)
            reason = f"{endpoint} is a {words} machine, and there is an agent for {have} only"
        case "lacks":
            reason = f"{endpoint} lacks {words}, which the agent needs to be received"
        case "space":
            reason = f"{endpoint} has no space for the agent in{words}"
        case "digest":
            return PeerGone(f"the agent did not reach {endpoint} as it was sent ({words})")
        case "runs":
            reason = f"{endpoint} does not run the agent{where}: {words}"
        case _:
            reason = f"{endpoint} has no folder that the agent can be written to and run from"
    return PeerError(
        reason,
        remedy="install advisor there and leave out --push; without an agent there, only what is "
        "in the history can be advised (--accept-history)",
        kind=ProblemKind.MISSING,
    )
