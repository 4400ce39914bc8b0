"""The interfaces that an agent tells its advisor."""

import socket
from collections import namedtuple

import psutil
import pytest

from advisor.domain.connection import ADDRESSES_LIMIT, INTERFACES_LIMIT, HostInterface
from advisor.hosts.interfaces import data_interfaces

_Address = namedtuple("_Address", "family address")
_Stats = namedtuple("_Stats", "isup speed mtu")
UP, DOWN = _Stats(True, 0, 1500), _Stats(False, 0, 1500)


def interfaces_of(
    monkeypatch: pytest.MonkeyPatch, addresses: dict[str, list[str]], **stats: _Stats
) -> list[HostInterface]:
    """What is known of a host with these addresses."""
    known = {
        name: [
            _Address(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
            for address in found
        ]
        for name, found in addresses.items()
    }
    named = {name.partition(":")[0]: UP for name in addresses} | stats
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: known)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: named)
    return data_interfaces()


def test_addresses_that_other_hosts_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    found = interfaces_of(
        monkeypatch,
        {
            "lo": ["127.0.0.1", "::1"],
            "nicx1": ["10.0.0.1", "fe80::1%nicx1", "2001:db8::1"],
            "nicx1:0": ["10.0.0.9"],
            "nicx0": ["169.254.1.1"],
            "nicx2": ["10.0.2.1"],
        },
        nicx2=DOWN,
    )
    assert [(one.name, one.addresses) for one in found] == [
        ("nicx1", ["10.0.0.1", "2001:db8::1", "10.0.0.9"])
    ]


def test_no_more_than_fits_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"nicx{n:02}": [f"10.{n}.0.{k}" for k in range(1, 20)] for n in range(99)}
    found = interfaces_of(monkeypatch, many)
    assert len(found) == INTERFACES_LIMIT
    assert {len(one.addresses) for one in found} == {ADDRESSES_LIMIT}


def test_a_name_that_no_message_takes_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert interfaces_of(monkeypatch, {"a b": ["10.0.0.1"], "-f": ["10.0.0.2"]}) == []
