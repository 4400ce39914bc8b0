import pytest

from advisor.domain.endpoints import Endpoint, LabHost, Pair


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


def test_hosts_of_a_lab() -> None:
    assert LabHost.parse("lab:wan") == LabHost("wan")
    assert LabHost.parse("lab:wan-2:kraken") == LabHost("wan-2", "kraken")
    assert Endpoint.parse("lab:wan").lab_host == LabHost("wan")
    assert Endpoint.parse(" lab:wan:far ").lab_host == LabHost("wan", "far")
    assert str(Endpoint.parse("lab:wan:far")) == "lab:wan:far"
    assert not Endpoint.parse("lab:wan").is_local
    for real in ("localhost", "lab", "label.example.org", "alice@lab", "Lab:5"):
        assert Endpoint.parse(real).lab_host is None


@pytest.mark.parametrize(
    "text",
    [
        "lab:",
        "lab::far",
        "lab:wan:",
        "lab:wan:far:x",
        "lab:-wan",
        "lab:../etc",
        "lab:wan:a/b",
        "lab:wan.x",
        "lab:" + "x" * 32,
        "alice@lab:wan",
    ],
)
def test_what_is_no_host_of_a_lab(text: str) -> None:
    with pytest.raises(ValueError, match="write lab:"):
        Endpoint.parse(text)


def test_the_end_of_a_line_is_no_part_of_a_name() -> None:
    with pytest.raises(ValueError, match="write lab:"):
        LabHost.parse("lab:wan\n")


def test_pairs() -> None:
    assert Pair.parse("a->b") == Pair("a", "b")
    assert str(Pair("a", "b")) == "a->b"
    with pytest.raises(ValueError, match="write"):
        Pair.parse("a-b")
