import os
import socket
from pathlib import Path
from typing import Any

import pytest

from advisor.hosts import peer_filter
from advisor.hosts import privileges as module
from advisor.hosts.privileges import Privilege, privileges


def named(name: str) -> Privilege:
    (found,) = [one for one in privileges() if one.name == name]
    return found


def test_each_says_what_it_is_for_and_what_is_done_without_it() -> None:
    found = privileges()
    assert {"ICMP echo", "network namespaces", "/dev/net/tun"} <= {one.name for one in found}
    assert all(one.purpose for one in found)
    assert [one for one in found if one.available == bool(one.without)] == []


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 -- names, not paths
    privileges()
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208 -- names, not paths
    assert list(tmp_path.iterdir()) == []


def test_no_socket_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoEcho(socket.socket):
        def __init__(self, *words: Any, **options: Any) -> None:
            if socket.IPPROTO_ICMP in words[2:]:
                raise PermissionError(1, "Operation not permitted")
            super().__init__(*words, **options)

    monkeypatch.setattr(module.socket, "socket", NoEcho)
    echo = named("ICMP echo")
    assert not echo.available
    assert echo.remedy.startswith("sysctl -w net.ipv4.ping_group_range=")


def test_a_kernel_that_keeps_filters_to_root(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(peer_filter, "only_from", refused)
    assert not named("filter on TCP data ports").available


@pytest.mark.parametrize(
    ("setting", "value", "remedy"),
    [
        ("kernel.apparmor_restrict_unprivileged_userns", 1, "userns=0"),
        ("kernel.unprivileged_userns_clone", 0, "userns_clone=1"),
        ("user.max_user_namespaces", 0, "max_user_namespaces=10000"),
    ],
)
def test_the_setting_that_forbids_namespaces_is_named(
    monkeypatch: pytest.MonkeyPatch, setting: str, value: int, remedy: str
) -> None:
    async def failed(*_: Any) -> tuple[int, str]:
        return 1, ""

    def number(name: str) -> int | None:
        return value if name == setting else None

    monkeypatch.setattr(module, "output_of", failed)
    monkeypatch.setattr(module, "sysctl_number", number)
    found = named("network namespaces")
    assert not found.available
    assert found.remedy.endswith(remedy)


def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_TUN", tmp_path / "tun")
    assert named(str(tmp_path / "tun")).remedy == "modprobe tun"


def test_a_folder_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc/self")
    assert not named("direct I/O in this folder").available
