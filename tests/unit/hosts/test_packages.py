"""Which package manager a host has, and what its packages are called."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.hosts import packages
from advisor.hosts.packages import System, installation, system_of

DEBIAN, UBUNTU = System("apt"), System("apt", is_ubuntu=True)
FEDORA, EL = System("dnf"), System("dnf", needs_epel=True)
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("os_release", "wanted"),
    [
        (b'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n', DEBIAN),
        (b"ID=ubuntu\nID_LIKE=debian\n", UBUNTU),
        (b'ID=linuxmint\nID_LIKE="ubuntu debian"\n', UBUNTU),
        (b"ID=fedora\n", FEDORA),
        (b'ID="rocky"\nID_LIKE="rhel centos fedora"\n', EL),
        (b"ID='almalinux'\nID_LIKE='rhel centos fedora'\n", EL),
        (b'ID="rhel"\nID_LIKE="fedora"\n', EL),
        (b"ID=arch\n", System(None)),
        (b"", System(None)),
        (b"ID=\nID_LIKE=\n", System(None)),
    ],
)
def test_the_family_is_that_of_the_id_or_of_what_it_is_like(
    os_release: bytes, wanted: System
) -> None:
    assert system_of(os_release) == wanted


@pytest.mark.parametrize(
    "attack",
    [
        b"ID=$(touch /tmp/x)debian\n",
        b"ID=debian;reboot\n",
        b"ID=`reboot`\nID_LIKE=\x1b[2J\n",
        b"\xff\xfe\x00ID=debian",
        b"ID" * 100_000,
        b"=\n==\nID\n",
    ],
    ids=["substitution", "command", "escape", "bytes", "long", "empty"],
)
def test_what_is_no_known_name_decides_nothing(attack: bytes) -> None:
    assert system_of(attack) == System(None)


@given(st.binary(max_size=300))
def test_no_content_raises_or_reaches_a_command(content: bytes) -> None:
    system = system_of(content)
    assert installation("libudt", on=system) in {
        installation("libudt", on=one) for one in (DEBIAN, UBUNTU, FEDORA, EL, System(None))
    }


def test_the_names_are_those_of_the_family() -> None:
    assert installation("libudt", on=DEBIAN) == ("apt-get install libudt0", "")
    assert installation("libudt", on=UBUNTU) == ("apt-get install libudt0v5", "")
    assert installation("libiperf", on=UBUNTU) == ("apt-get install libiperf0", "")
    assert installation("libudt", on=FEDORA) == ("dnf install udt", "")
    assert installation("libudt", on=EL) == ("dnf install epel-release && dnf install udt", "")
    assert installation("compiler", on=EL) == ("dnf install gcc glibc-devel", "")
    assert installation("ip", "tc", on=DEBIAN) == ("apt-get install iproute2", "")


def test_without_a_known_family_the_library_and_both_names_are_said() -> None:
    assert installation("libudt", on=System(None)) == (
        "",
        "install libudt (libudt0 in Debian, udt in Fedora)",
    )


@pytest.mark.parametrize(
    "content", [b"ID=fedora\n" + b"#" * 10**6, b"ID=fedora\n"], ids=["long", "short"]
)
def test_this_host_is_asked_by_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "os-release"
    file.write_bytes(content)
    monkeypatch.setattr(packages, "_OS_RELEASE", (tmp_path / "none", tmp_path, file))
    assert packages.this_system.__wrapped__() == FEDORA
    monkeypatch.setattr(packages, "_OS_RELEASE", (tmp_path,))
    assert packages.this_system.__wrapped__() == System(None)


def test_no_other_place_names_a_package_manager() -> None:
    names = re.compile(r"apt-get install|apt install|dnf install")
    files = [*ROOT.glob("advisor/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    found = {str(f.relative_to(ROOT)) for f in files if names.search(f.read_text())}
    assert found == {"advisor/hosts/packages.py"}
