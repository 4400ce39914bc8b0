"""Temporary keys for a GridFTP server and one of its users, valid for a day."""

from pathlib import Path
from typing import Final

import msgspec

from advisor.hosts.processes import output_of

SUBJECT: Final = "/CN=Test User"
"""The user's name, as a gridmap file has it."""

_AUTHORITY: Final = "/CN=Test Authority"
_POLICY: Final = f"""\
access_id_CA X509 '{_AUTHORITY}'
pos_rights globus CA:sign
cond_subjects globus '"*"'
"""
_STEP_S: Final = 20.0


class Keys(msgspec.Struct, frozen=True):
    """Environment variables that show the Globus programs where their keys are."""

    of_server: dict[str, str]
    of_client: dict[str, str]


async def _run(*argv: str) -> str:
    status, output = await output_of(argv, _STEP_S)
    if status != 0:
        raise RuntimeError(f"{' '.join(argv[:2])} ended with {status}: {output.strip()}")
    return output.strip()


async def _new_key(base: Path, name: str, *arguments: str) -> None:
    key = base / f"{name}.key"
    # Globus refuses a key that others may read; openssl makes it with mode 600.
    await _run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), *arguments)


async def _authority(base: Path) -> Path:
    """Make the authority; return the folder of trusted certificates."""
    certificate = base / "authority.pem"
    subject = ["-x509", "-days", "1", "-subj", _AUTHORITY, "-out", str(certificate)]
    await _new_key(base, "authority", *subject)
    trusted = base / "trusted"
    trusted.mkdir()
    digest = await _run("openssl", "x509", "-hash", "-noout", "-in", str(certificate))
    (trusted / f"{digest}.0").write_bytes(certificate.read_bytes())
    (trusted / f"{digest}.signing_policy").write_text(_POLICY)
    return trusted


async def _signed(base: Path, name: str, subject: str) -> tuple[Path, Path]:
    """A certificate by the authority and its key."""
    request, certificate = base / f"{name}.csr", base / f"{name}.pem"
    await _new_key(base, name, "-subj", subject, "-out", str(request))
    signing = ["-CA", str(base / "authority.pem"), "-CAkey", str(base / "authority.key")]
    output = ["-CAcreateserial", "-days", "1", "-in", str(request), "-out", str(certificate)]
    await _run("openssl", "x509", "-req", *signing, *output)
    return certificate, base / f"{name}.key"


async def make_keys(base: Path, host: str) -> Keys:
    """Authority, server and user, with a proxy for the user. Raises RuntimeError, TimeoutError."""
    trusted = str(await _authority(base))
    server_certificate, server_key = await _signed(base, "server", f"/CN={host}")
    user_certificate, user_key = await _signed(base, "user", SUBJECT)
    proxy = str(base / "proxy")
    of_client = {"X509_CERT_DIR": trusted, "X509_USER_PROXY": proxy}
    user = ["-cert", str(user_certificate), "-key", str(user_key), "-out", proxy]
    await _run("env", f"X509_CERT_DIR={trusted}", "grid-proxy-init", "-q", *user)
    of_server = {
        "X509_CERT_DIR": trusted,
        "X509_USER_CERT": str(server_certificate),
        "X509_USER_KEY": str(server_key),
    }
    return Keys(of_server=of_server, of_client=of_client)
