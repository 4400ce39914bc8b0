"""The pairing secret, and TLS in which both sides prove that they have it.

From the secret each side derives the same two key pairs, one for agents and one for advisors, and
with them the same two self-signed certificates, byte for byte: Ed25519 signatures and everything
that is signed are deterministic. Each side presents the certificate of its role and trusts only
that of the other role. So the TLS handshake itself is the proof, both ways, and no byte of our
protocol is read from a peer without that proof. The secret never crosses the wire, and the keys do
not help to guess it: it has 160 random bits.
"""

import base64
import datetime
import os
import re
import secrets
import ssl
import tempfile
from pathlib import Path
from typing import Final, Literal

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.shell import shell_line

Role = Literal["agent", "advisor"]

_BYTES: Final = 20
_GROUPS: Final = re.compile(r"(?:[A-Z2-7]{4}-){7}[A-Z2-7]{4}")


class BadSecret(ProblemError, ValueError):
    """Not a pairing secret; the message says what to do."""

    kind = ProblemKind.INVALID


def new_secret() -> str:
    """A new secret in a form that can be read out: eight groups of four letters and digits."""
    text = base64.b32encode(secrets.token_bytes(_BYTES)).decode()
    return "-".join(text[i : i + 4] for i in range(0, len(text), 4))


def parse_secret(text: str, where: str = "the text") -> str:
    """The secret in canonical form, from any case and spacing. Raises BadSecret about `where`."""
    secret = text.strip().upper()
    if not _GROUPS.fullmatch(secret):
        raise BadSecret(
            f"{where} does not contain a pairing secret",
            remedy="copy the line that the agent printed",
        )
    return secret


def read_secret(path: Path) -> str:
    """The secret in a file. Raises BadSecret with the remedy, also if others may read it."""
    where = f"--secret-file {path}"
    try:
        text = path.read_text(encoding="ascii", errors="replace")
        mode = path.stat().st_mode
    except OSError as error:
        raise BadSecret(
            f"{where} cannot be read: {error.strerror}", kind=ProblemKind.NO_ACCESS
        ) from None
    if mode & 0o077:
        raise BadSecret(
            f"{where} can be read by others", command=shell_line(["chmod", "600", str(path)])
        )
    return parse_secret(text, where)


def write_secret(path: Path, secret: str) -> None:
    """Write a new file that only its owner may read. Raises OSError, also if it exists already."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secret + "\n")


def _credentials(secret: str, role: Role) -> tuple[bytes, bytes]:
    """The role's private key and certificate in PEM, both derived only from the secret."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = b"data-transfer-advisor pairing 1 " + role.encode()
    seed = HKDF(hashes.SHA256(), 32, salt=None, info=info).derive(secret.encode())
    key = Ed25519PrivateKey.from_private_bytes(seed)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, role)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        # Fixed, or both sides would derive different certificates; the secret is what expires.
        .not_valid_before(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(role)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, None)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private, certificate.public_bytes(serialization.Encoding.PEM)


def tls_context(secret: str, role: Role) -> ssl.SSLContext:
    """TLS 1.3 for this role, trusting only the other role of the same secret.

    An advisor connects with `server_hostname="agent"`.
    """
    other: Role = "advisor" if role == "agent" else "agent"
    private, own = _credentials(secret, role)
    _, trusted = _credentials(secret, other)
    side = ssl.PROTOCOL_TLS_SERVER if role == "agent" else ssl.PROTOCOL_TLS_CLIENT
    context = ssl.SSLContext(side)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=trusted.decode())
    with tempfile.TemporaryDirectory() as folder:  # The ssl module reads keys only from files.
        pem = Path(folder) / "own.pem"
        write_secret(pem, (private + own).decode())
        context.load_cert_chain(pem)
    return context
