"""What is sent to an agent over its standard input that is no conversation."""

import subprocess
from typing import Final

ATTACKS: Final = (
    b"garbage\n",
    b"[" * 60_000 + b"\n",
    b"x" * 200_000 + b"\n",
    b'{"do":"hello"}\n',
    b'{"do":"hello","protocol":1e999,"version":"1"}\n',
    b"\0" * 5000 + b"\n",
)


def attacked(agent: list[str], attack: bytes) -> tuple[int, bytes, bytes]:
    """The exit status of the agent, and what it answered and complained after its greeting."""
    process = subprocess.Popen(
        agent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert b'"protocol"' in process.stdout.readline()
    answered, complained = process.communicate(attack, timeout=60)
    return process.returncode, answered, complained
