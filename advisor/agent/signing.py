"""The agent's key: signs receipts, and seals what the agent has read."""

import functools
import os
from pathlib import Path
from typing import Final

import platformdirs
from blake3 import blake3
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_NAME: Final = "receipt-key"
_KEY_BYTES: Final = 32
_SEALS: Final = "advisor 2026-11 seals of pieces that an agent has read"


class AgentKey:
    """An Ed25519 key and what is derived from it. `public`: the public key in hexadecimal."""

    def __init__(self, secret: bytes) -> None:
        """`secret`: 32 random bytes."""
        self._signing = Ed25519PrivateKey.from_private_bytes(secret)
        self._sealing = blake3(secret, derive_key_context=_SEALS).digest()
        self.public = self._signing.public_key().public_bytes_raw().hex()

    def sign(self, statement: bytes) -> str:
        """The signature in hexadecimal."""
        return self._signing.sign(statement).hex()

    def seal(self, content: bytes) -> str:
        """A keyed hash in hexadecimal, which this agent can check later."""
        return blake3(content, key=self._sealing).hexdigest()


def is_signed(statement: bytes, signature: str, public_key: str) -> bool:
    """Whether the owner of the key has signed the statement."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), statement)
    except (InvalidSignature, ValueError):
        return False
    return True


@functools.cache
def passing_key() -> AgentKey:
    """A key that is stored nowhere and lasts as long as the process."""
    return AgentKey(os.urandom(_KEY_BYTES))


@functools.cache
def agent_key() -> AgentKey:
    """The key of this account on this host, created when it is first needed.

    Where it cannot be stored, it lasts as long as the process. Raises OSError for a key that other
    accounts can read.
    """
    file = platformdirs.user_data_path("advisor") / _NAME
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create(file)
    except FileExistsError:
        pass
    except OSError:
        return passing_key()
    return AgentKey(_read(file))


def _create(file: Path) -> None:
    """Raises FileExistsError, OSError."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, os.urandom(_KEY_BYTES))
        os.fsync(handle)
        file.hardlink_to(draft)
    finally:
        os.close(handle)
        draft.unlink()


def _read(file: Path) -> bytes:
    """Raises OSError."""
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as content:
        status = os.fstat(handle)
        secret = content.read(_KEY_BYTES + 1)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077 or len(secret) != _KEY_BYTES:
        raise PermissionError(f"{file} is no private key of this account: remove it")
    return secret
