import pytest

from advisor.domain.endpoints import Endpoint, Pair


def test_hosts_and_users() -> None:
    assert Endpoint.parse("dtn01.example.org") == Endpoint("dtn01.example.org")
    assert Endpoint.parse("alice@dtn01") == Endpoint("dtn01", "alice")
    assert str(Endpoint.parse("alice@dtn01")) == "alice@dtn01"
    assert Endpoint.parse("localhost").is_local
    assert Endpoint.parse("::1").host == "::1"


@pytest.mark.parametrize("text", ["", "-oProxyCommand=x", "a b", "@host", "host@", "a@-x", "h;ls"])
def test_what_ssh_might_misread_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        Endpoint.parse(text)


def test_pairs() -> None:
    assert Pair.parse("a->b") == Pair("a", "b")
    assert str(Pair("a", "b")) == "a->b"
    with pytest.raises(ValueError, match="write"):
        Pair.parse("a-b")
