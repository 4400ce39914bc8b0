"""Hosts with two networks: all their connections found, kept apart, and measured at once."""

from typing import Any

import pytest

from .conftest import Agent, Namespaces, StartAgent
from .program import Start

pytestmark = pytest.mark.namespaces
FAST, SLOW = "10.99.7", "10.99.8"
QUICK = ["--transports", "tcp", "--congestion", "reno", "--max-streams", "4", "--seed", "1"]


@pytest.fixture
def two_links(joined: Namespaces) -> Namespaces:
    """The hosts of `joined` (200 Mbit/s), with a second link of 100 Mbit/s; IPv4 and IPv6."""
    peer = ("peer", "name", "v1", "netns", joined.destination.path)
    joined.source.run("ip", "link", "add", "v1", "type", "veth", *peer)
    shaped = ("tbf", "rate", "100mbit", "burst", "128kb", "latency", "50ms")
    for side, number in ((joined.source, 1), (joined.destination, 2)):
        side.run("ip", "addr", "add", f"{SLOW}.{number}/24", "dev", "v1")
        side.run("ip", "link", "set", "v1", "up")
        side.run("tc", "qdisc", "add", "dev", "v1", "root", *shaped)
        for net, device in ((7, "v0"), (8, "v1")):
            side.run("ip", "addr", "add", f"fd00:{net}::{number}/64", "dev", device, "nodad")
    joined.source.wait_for_link("v1")
    return joined


@pytest.fixture
def agent(two_links: Namespaces, start_agent: StartAgent) -> Agent:
    return start_agent(host=f"{FAST}.2", prefix=two_links.destination.host)


def event_of(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found = [event for event in events if event["event"] == kind]
    assert found, [event["event"] for event in events]
    return found[-1]


def test_path_lists_the_connections(start: Start, two_links: Namespaces, agent: Agent) -> None:
    # No route leads there from the source: it is no connection.
    two_links.destination.run("ip", "link", "add", "d0", "type", "veth")
    two_links.destination.run("ip", "addr", "add", "203.0.113.1/32", "dev", "d0")
    two_links.destination.run("ip", "link", "set", "d0", "up")
    run = start("path", f"{FAST}.2", "--json", *agent.options, prefix=two_links.source.host)
    assert run.finish().returncode == 0
    found = event_of(run.events, "connections_found")
    ends = {
        (
            one["connection"]["source_interface"],
            one["connection"]["source_address"],
            one["connection"]["destination_interface"],
            one["connection"]["destination_address"],
        )
        for one in found["connections"]
    }
    assert ends == {
        ("v0", f"{FAST}.1", "v0", f"{FAST}.2"),
        ("v0", "fd00:7::1", "v0", "fd00:7::2"),
        ("v1", f"{SLOW}.1", "v1", f"{SLOW}.2"),
        ("v1", "fd00:8::1", "v1", "fd00:8::2"),
    }
    for one in found["connections"]:
        assert one["mtu_bytes"] == 1500
        assert 0 < one["rtt_s"] < 1
        assert one["caution"] == ""


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param(f"v0=v0,v1={SLOW}.2", id="IPv4", marks=pytest.mark.soak),
        pytest.param("fd00:7::1=v0,v1=fd00:8::2", id="IPv6"),
    ],
)
def test_each_is_measured_and_all_at_once(
    start: Start, two_links: Namespaces, agent: Agent, pairs: str
) -> None:
    run = start(
        *("advise", f"{FAST}.2", "--json", *agent.options, *QUICK, "--interfaces", pairs),
        *("--budget", "90", "--size", "1TB", "--for-tool", "xdd,rclone"),
        prefix=two_links.source.host,
    )
    done = run.finish(timeout_s=200)
    assert done.returncode == 0, done.stderr
    advice = event_of(run.events, "advice")
    at_once = advice["at_once"]
    fast, slow = at_once["parts"]
    assert fast["connection"]["source_interface"] == "v0"
    assert slow["connection"]["source_interface"] == "v1"
    assert 100e6 < fast["alone"]["value"] < 205e6
    assert 50e6 < slow["alone"]["value"] < 105e6
    # They share nothing but the processors of this machine, which may have been busy before.
    alone_bps = fast["alone"]["value"] + slow["alone"]["value"]
    assert 0.6 * alone_bps < at_once["total_bps"]["value"] < 310e6
    assert at_once["adds"] is True, at_once
    for measured in (e for e in run.events if e["event"] == "measured_at_once"):
        fast_bps, slow_bps = measured["throughputs_bps"]
        assert 0 < fast_bps < 205e6
        assert 0 < slow_bps < 105e6
    kept_apart(start, two_links, agent, slow, fast)
    lines = [(line["tool"], line["side"], line["argv"]) for line in advice["commands"]]
    bound = [argv[argv.index("--bind") + 1] for tool, _, argv in lines if tool == "rclone"]
    assert bound == [part["connection"]["source_address"] for part in at_once["parts"]]
    if "fd00" not in pairs:
        # xdd has one pair of lines for both, with a destination each.
        ends = [
            [argv[n + 1] for n, word in enumerate(argv) if word == "dest"]
            for tool, _, argv in lines
            if tool == "xdd"
        ]
        assert len(ends) == 2
        assert ends[0] == ends[1]
        assert [end.partition(":")[0] for end in ends[0]] == [f"{FAST}.2", f"{SLOW}.2"]


def kept_apart(
    start: Start,
    two_links: Namespaces,
    agent: Agent,
    slow: dict[str, Any],
    fast: dict[str, Any],
) -> None:
    """Each connection is answered with its own records."""
    for part, bound_bps in ((slow, 105e6), (fast, 205e6)):
        addresses = [
            *("--source-address", part["connection"]["source_address"]),
            *("--address", part["connection"]["destination_address"]),
        ]
        run = start(
            *("advise", f"{FAST}.2", "--json", *agent.options, "--accept-history", *addresses),
            prefix=two_links.source.host,
        )
        assert run.finish().returncode == 0
        assert not [e for e in run.events if e["event"] == "probe_started"]
        advice = event_of(run.events, "advice")
        assert advice["basis"] == "history"
        assert 0.5 * part["alone"]["value"] < advice["expected_bps"] < bound_bps


def test_a_shared_bottleneck_is_said(start: Start, two_links: Namespaces, agent: Agent) -> None:
    # Both pairs of addresses go over one link.
    for side, number in ((two_links.source, 1), (two_links.destination, 2)):
        side.run("ip", "addr", "add", f"10.99.9.{number}/24", "dev", "v1")
    run = start(
        *("advise", f"{FAST}.2", *agent.options, *QUICK, "--budget", "60"),
        *("--interfaces", f"{SLOW}.1={SLOW}.2,10.99.9.1=10.99.9.2"),
        prefix=two_links.source.host,
    )
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert "All at once" in done.stdout
    assert "no clear gain" in done.stdout
    # Beside other work the few rounds may not settle it.
    assert "use one" in done.stdout or "give a larger --budget" in done.stdout
    assert "at once, each at its setting" not in done.stdout


def test_a_changed_address_is_a_caution(start: Start, two_links: Namespaces, agent: Agent) -> None:
    run = start(
        *("profile", f"{FAST}.2", "--json", *agent.options, "--congestion", "reno"),
        *("--transports", "tcp", "--set", "streams=1", "--set", "tcp.buffer=auto"),
        *("--repeats", "1"),
        prefix=two_links.source.host,
    )
    assert run.finish().returncode == 0
    # As behind NAT: the host is the same, and so is its interface.
    two_links.destination.run("ip", "addr", "add", f"{FAST}.77/24", "dev", "v0")
    advised = start(
        *("advise", f"{FAST}.2", "--json", *agent.options, "--accept-history"),
        *("--address", f"{FAST}.77"),
        prefix=two_links.source.host,
    )
    assert advised.finish().returncode == 0
    assert not [e for e in advised.events if e["event"] == "probe_started"]
    [result] = event_of(advised.events, "history_found")["results"]
    assert f"between {FAST}.1 and {FAST}.2; the addresses are others now" in result["caution"]
    assert any(f"{FAST}.2; the addresses are others" in r for r in advised.events[-1]["reasons"])


def test_no_more_is_promised_than_is_reserved(
    start: Start, two_links: Namespaces, agent: Agent
) -> None:
    measured = start(
        *("advise", f"{FAST}.2", "--json", *agent.options, *QUICK, "--budget", "15"),
        prefix=two_links.source.host,
    )
    assert measured.finish().returncode == 0
    taken = start(
        *("advise", f"{FAST}.2", "--json", *agent.options, "--accept-history"),
        *("--bandwidth", "20Mbit"),
        prefix=two_links.source.host,
    )
    assert taken.finish().returncode == 0
    assert not [e for e in taken.events if e["event"] == "probe_started"]
    advice = taken.events[-1]
    assert 19e6 < advice["expected_bps"] <= 20e6  # Less headers.
    assert advice["interval_bps"][1] <= 20e6
    assert any("no more is promised than the 20 Mbit/s" in r for r in advice["reasons"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--interfaces", "v0=v0"], "give two to 8 different pairs"),
        (["--interfaces", "v0=v0,v1"], "write HERE=THERE"),
        (["--interfaces", "v0=v0,v1=v7"], "the destination has no interface 'v7'"),
        (["--interfaces", "v0=v0,v9=v1"], "there is no interface 'v9'"),
        (["--interfaces", "v0=v0,v0=v1"], "leave by v1, not by v0"),
        (["--interfaces", "v0=v0,10.99.7.1=10.99.8.2"], "leave by v1, not by"),
        (["--interfaces", "v0=v0,fd00:8::1=10.99.8.2"], "different families"),
        (["--interfaces", "v0=v0,v1=v1", "--interface", "v0"], "exclude each other"),
        (["--interfaces", "v0=v0,v1=v1", "--accept-history"], "exclude each other"),
        (["--interfaces", "v0=v0,v1=v1", "--budget", "6"], "too short for 2 connections"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    start: Start, two_links: Namespaces, agent: Agent, words: list[str], sentence: str
) -> None:
    done = start(
        "advise", f"{FAST}.2", *agent.options, *words, prefix=two_links.source.host
    ).finish()
    assert done.returncode == 2, done.stderr
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
