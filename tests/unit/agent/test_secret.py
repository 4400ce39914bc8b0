import asyncio
import ssl
from pathlib import Path

import pytest

from advisor.agent.secret import (
    BadSecret,
    new_secret,
    parse_secret,
    read_secret,
    tls_context,
    write_secret,
)


def test_secrets_are_long_and_differ() -> None:
    one, other = new_secret(), new_secret()
    assert one != other
    assert len(one.replace("-", "")) * 5 == 160
    assert parse_secret(f"  {one.lower()}\n") == one


@pytest.mark.parametrize("text", ["", "secret", "AAAA-BBBB", "1111-" * 7 + "1111"])
def test_what_is_no_secret_is_refused(text: str) -> None:
    with pytest.raises(BadSecret):
        parse_secret(text)


def test_a_secret_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    secret = new_secret()
    write_secret(path, secret)
    assert path.stat().st_mode & 0o077 == 0
    assert read_secret(path) == secret
    with pytest.raises(OSError, match="exists"):
        write_secret(path, secret)
    path.chmod(0o644)
    with pytest.raises(BadSecret, match="chmod 600"):
        read_secret(path)
    with pytest.raises(BadSecret, match="cannot be read"):
        read_secret(tmp_path / "none")


async def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> bytes:
    """What the client reads of a server that greets whoever is let in."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"welcome")
        writer.close()

    listening = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=server)
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=client, server_hostname="agent"
        )
        try:
            return await reader.read()
        finally:
            writer.close()


def test_the_same_secret_lets_in() -> None:
    secret = new_secret()
    assert asyncio.run(handshake(tls_context(secret, "agent"), tls_context(secret, "advisor"))) == (
        b"welcome"
    )


def test_an_agent_with_another_secret_is_not_believed() -> None:
    server, client = tls_context(new_secret(), "agent"), tls_context(new_secret(), "advisor")
    with pytest.raises(ssl.SSLCertVerificationError):
        asyncio.run(handshake(server, client))


def test_an_advisor_without_the_secret_hears_nothing() -> None:
    """It believes anyone, and still gets not one byte."""
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    try:
        heard = asyncio.run(handshake(tls_context(new_secret(), "agent"), anyone))
    except (ssl.SSLError, ConnectionError):
        heard = b""
    assert heard == b""
