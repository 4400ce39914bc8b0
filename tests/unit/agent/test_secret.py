import contextlib
import socket
import ssl
import threading
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
    for mode in (0o644, 0o640, 0o610, 0o602):
        path.chmod(mode)
        with pytest.raises(BadSecret, match="chmod 600"):
            read_secret(path)
    with pytest.raises(BadSecret, match="cannot be read"):
        read_secret(tmp_path / "none")


def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> bytes:
    """What the client reads of a server that greets whoever is let in."""
    ours, theirs = socket.socketpair()

    def greet() -> None:
        with (
            theirs,
            contextlib.suppress(OSError),
            server.wrap_socket(theirs, server_side=True) as accepted,
        ):
            accepted.sendall(b"welcome")

    greeting = threading.Thread(target=greet)
    greeting.start()
    try:
        with ours, client.wrap_socket(ours, server_hostname="agent") as connected:
            return connected.recv(100)
    finally:
        greeting.join()


def test_the_same_secret_lets_in() -> None:
    secret = new_secret()
    assert handshake(tls_context(secret, "agent"), tls_context(secret, "advisor")) == b"welcome"


def test_an_agent_with_another_secret_is_not_believed() -> None:
    server, client = tls_context(new_secret(), "agent"), tls_context(new_secret(), "advisor")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, client)


def test_an_advisor_without_the_secret_hears_nothing() -> None:
    """It believes anyone, and still gets not one byte."""
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    try:
        heard = handshake(tls_context(new_secret(), "agent"), anyone)
    except (ssl.SSLError, ConnectionError):
        heard = b""
    assert heard == b""
