"""What --via takes."""

import pytest

from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.nodes import MOST_NODES, FleetNodes, NodePair, node_pair, parse_nodes, server_on


def test_pairs_sources_alone_and_servers() -> None:
    assert parse_nodes("a=b, me@c") == [
        NodePair(source=Endpoint("a"), destination=Endpoint("b")),
        NodePair(source=Endpoint("c", "me")),
    ]
    [one] = parse_nodes("localhost=ftp://[fe80::1]:2811")
    assert isinstance(one, NodePair)
    assert (one.destination, one.server_url) == (Endpoint("fe80::1"), "ftp://[fe80::1]:2811")
    [one] = parse_nodes("a=gsiftp://dtn:2811/")
    assert isinstance(one, NodePair)
    assert (one.destination, one.server_url) == (Endpoint("dtn"), "gsiftp://dtn:2811")
    [one] = parse_nodes("a=sftp://me@[fe80::1]:2222")
    assert isinstance(one, NodePair)
    assert (one.destination, one.server_url) == (Endpoint("fe80::1"), "sftp://me@[fe80::1]:2222")
    assert parse_nodes("localhost=lab:x:far") == [
        NodePair(source=Endpoint("localhost"), destination=Endpoint("lab:x:far"))
    ]
    assert parse_nodes("@all=@b,@c") == [FleetNodes("@all", "@b"), FleetNodes("@c", "")]


NONE = ["", "a=", "=b", "a=b=c", "-oProxyCommand=x", "a=-x", "a,,b", "lab:x=b", "a=ftp://b/c"]
TOO_MANY = ",".join(["a"] * (MOST_NODES + 1))


@pytest.mark.parametrize(
    "text", [*NONE, "a=ftp://", "a=sftp://me@", "a=x:bucket/run", "@", "@a=@", TOO_MANY]
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_nodes(text)


def test_a_server_is_on_the_same_port_of_another_host() -> None:
    assert server_on("ftp://dtn21:2811", "dtn22") == "ftp://dtn22:2811"
    assert server_on("gsiftp://[fe80::1]:2811", "fe80::2") == "gsiftp://[fe80::2]:2811"
    assert server_on("gsiftp://[fe80::1]", "b") == "gsiftp://b"
    assert server_on("sftp://me@dtn21:2222", "dtn22") == "sftp://me@dtn22:2222"
    assert server_on("ssh://me@[fe80::1]", "b") == "ssh://me@b"
    assert server_on(None, "b") is None


@pytest.mark.parametrize(
    "store", ["s3://bucket/run", "https://s3:9000/bucket", "remote:bucket/run"]
)
def test_a_store_is_the_same_for_every_host(store: str) -> None:
    assert server_on(store, "dtn22") == store


def test_a_pair_has_the_names_of_the_history() -> None:
    here, there = node_pair("localhost", ""), node_pair("a", "b")
    assert here.named("me", "dtn") == Pair("me", "dtn")
    assert there.named("me", "dtn") == Pair("a", "b")
