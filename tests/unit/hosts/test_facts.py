import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor.domain.path import HostFacts
from advisor.hosts import interfaces, sysctl
from advisor.hosts.facts import host_facts
from advisor.hosts.libraries import libiperf_version, library_versions, libudt_version
from advisor.hosts.qdisc import qdisc_of


def test_what_the_kernel_says() -> None:
    facts = host_facts("127.0.0.1")
    assert facts.receive_max_bytes == int(Path("/proc/sys/net/core/rmem_max").read_text())
    assert facts.tcp_wmem_bytes is not None
    assert len(facts.tcp_wmem_bytes) == 3
    assert facts.congestion in facts.congestion_available
    assert facts.cores == len(os.sched_getaffinity(0))
    assert facts.memory_bytes > 2**20
    assert facts.kernel == facts.versions["kernel"]
    assert abs(facts.clock_s - time.time()) < 60
    assert {"advisor", "kernel", "python"} <= facts.versions.keys()


def test_the_interface_that_faces_loopback() -> None:
    facts = host_facts("127.0.0.1")
    assert (facts.interface, facts.link_bps) == ("lo", None)
    assert facts.mtu_bytes
    shown = subprocess.run(
        ["tc", "-json", "qdisc", "show", "dev", "lo", "root"], capture_output=True, check=True
    )
    assert facts.qdisc == json.loads(shown.stdout)[0]["kind"]


@pytest.mark.parametrize("facing", [None, "abc", "host.example", "1.2.3", "127.0.0.1; reboot"])
def test_no_address_to_face(facing: str | None) -> None:
    facts = host_facts(facing)
    assert facts.interface is facts.mtu_bytes is facts.qdisc is facts.link_bps is None


def test_facts_travel_in_a_message() -> None:
    facts = host_facts("127.0.0.1")
    assert msgspec.json.decode(msgspec.json.encode(facts), type=HostFacts) == facts


def test_missing_kernel_settings_are_none() -> None:
    assert sysctl.sysctl("net.core.no_such_thing") is None
    assert sysctl.sysctl_number("net.core.no_such_thing") is None
    assert sysctl.sysctl_triple("net.core.rmem_max") is None
    assert sysctl.sysctl_number("net.ipv4.tcp_congestion_control") is None


def test_a_host_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("advisor.hosts.sysctl.Path.read_text", _no_file)
    facts = host_facts(None)
    assert facts.receive_max_bytes is facts.tcp_rmem_bytes is facts.congestion is None
    assert facts.congestion_available == []


def _no_file(*_: Any) -> str:
    raise FileNotFoundError


def test_missing_libraries_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_there(_: str) -> None:
        raise OSError("cannot open shared object file")

    monkeypatch.setattr("advisor.hosts.libraries.ctypes.CDLL", not_there)
    assert libiperf_version() is libudt_version() is None
    assert library_versions() == {}


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ({"eth0": {"device"}}, 25e9),
        ({"eth0": set()}, None),
        ({"eth0": {"lower_a", "lower_b"}, "a": {"device"}, "b": {"device"}}, 25e9),
        ({"eth0": {"lower_a", "lower_b"}, "a": {"device"}, "b": set()}, None),
    ],
    ids=["card", "virtual", "bond of cards", "bridge with a virtual port"],
)
def test_a_link_speed_is_believed_of_hardware_only(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    devices: dict[str, set[str]],
    expected: float | None,
) -> None:
    for device, entries in devices.items():
        for entry in entries:
            (tmp_path / device / entry).mkdir(parents=True)
    monkeypatch.setattr(interfaces, "_DEVICES", tmp_path)
    assert interfaces._link_bps("eth0", 25_000) == expected
    assert interfaces._link_bps("eth0", 0) is None
    assert interfaces._link_bps("eth0", 65535) is None


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys, advisor.hosts.facts, advisor.hosts.rtt, advisor.hosts.path_mtu,"
        " advisor.hosts.tcp_info, advisor.hosts.peer_filter, advisor.models.limits,"
        " advisor.models.buffer_range, advisor.cli.doctor;"
        "print({'scipy', 'rich', 'textual', 'numpy'} & sys.modules.keys() or '')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == ""


@pytest.mark.namespaces
def test_between_two_hosts(network: Any) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (9000, 9000))
    code = (
        "import msgspec; from advisor.hosts.facts import host_facts;"
        "print(msgspec.json.encode([host_facts(a) for a in"
        " ('10.71.1.2', 'fd00:1::2', '10.71.1.1', '198.51.100.1')]).decode())"
    )
    # A whole process: /sys and /proc/net show the namespace of the process, not of a thread.
    done = subprocess.run(
        [*network.host("near"), sys.executable, "-c", code],
        capture_output=True,
        check=True,
        timeout=30,
    )
    v4, v6, own, nowhere = msgspec.json.decode(done.stdout, type=list[HostFacts])
    for facts in (v4, v6):
        assert (facts.interface, facts.mtu_bytes) == ("to-far", 9000)
        assert facts.link_bps is None  # veth says 10 Gbit/s.
        assert facts.qdisc == "noqueue"
    assert own.interface == "lo"
    assert nowhere.interface is None


@pytest.mark.namespaces
@pytest.mark.skipif(not shutil.which("tc"), reason="setting a qdisc needs the tc program")
def test_the_qdisc_of_each_interface(network: Any) -> None:
    queues = ("numtxqueues", "4")
    network.ip(
        "near", "link", "add", "name", "left", *queues, "type", "veth", "peer", "name", "right"
    )
    network.ip("near", "link", "set", "left", "up")
    with network.inside("near"):
        assert qdisc_of("left") == "noqueue"
        network.tc("near", "qdisc", "replace", "dev", "left", "root", "pfifo")
        assert qdisc_of("left") == "pfifo"
        network.tc("near", "qdisc", "replace", "dev", "left", "root", "mq")
        assert qdisc_of("left") not in ("mq", None)  # that of the queues below it
        assert qdisc_of("lo") == "noqueue"
        assert qdisc_of("no-such-device") is None
