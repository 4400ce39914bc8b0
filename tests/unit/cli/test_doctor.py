import subprocess
import sys
from typing import Any

import msgspec
import pytest

from advisor import software as software_module
from advisor.cli.doctor import Checkup, doctor
from advisor.hosts.privileges import Privilege
from advisor.software import Software, can_run_tcp, software


def run(*arguments: str) -> int:
    status = doctor.main(list(arguments), standalone_mode=False)
    assert isinstance(status, int)
    return status


def with_software(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    found = [
        Software(name=s.name, purpose=s.purpose, found=None, remedy=f"get {s.name}")
        if s.name == missing
        else Software(name=s.name, purpose=s.purpose, found="here", remedy="")
        for s in software()
    ]
    monkeypatch.setattr("advisor.cli.doctor.software", lambda: found)


def test_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_software(monkeypatch, "xdd")
    assert run() == 0
    out = capsys.readouterr().out
    assert "libiperf" in out
    assert "get xdd" in out
    assert "net.core.rmem_max" in out
    assert "\x1b" not in out


def test_without_libiperf_it_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_software(monkeypatch, "libiperf")
    assert run() == 1
    assert "missing" in capsys.readouterr().out
    assert run("--json") == 1
    assert msgspec.json.decode(capsys.readouterr().out, type=Checkup).can_run_tcp is False


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    run("--json")
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    checkup = msgspec.json.decode(out, type=Checkup)
    assert {s.name for s in checkup.software} >= {"libiperf", "libudt", "ssh", "xdd"}
    assert {f.what for f in checkup.findings} >= {"net.ipv4.tcp_rmem", "cores"}


def test_long_commands_are_not_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    with_software(monkeypatch, "xdd")
    run()
    assert any(len(line) > 40 for line in capsys.readouterr().out.splitlines())


def test_json_loads_no_rich() -> None:
    code = (
        "import sys; from advisor.cli.doctor import doctor;"
        "doctor.main(['--json'], standalone_mode=False);"
        "print({'rich', 'textual', 'scipy', 'numpy'} & sys.modules.keys() or '', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stderr.strip() == ""


def test_missing_software_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: Any) -> None:
        return None

    known = [msgspec.structs.replace(r, find=nothing) for r in software_module._requirements()]
    monkeypatch.setattr(software_module, "_requirements", lambda: known)
    found = software()
    assert not can_run_tcp(found)
    remedies = {s.name: s.remedy for s in found}
    assert remedies["libiperf"] == "apt-get install libiperf0"
    assert remedies["ssh"] == "apt-get install openssh-client"
    assert all(remedies.values())


def test_what_is_not_allowed_says_the_line_for_root(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Privilege(
        name="ICMP echo",
        purpose="measure the RTT",
        available=False,
        without="handshakes do",
        remedy="sysctl -w this=that",
    )
    monkeypatch.setattr("advisor.cli.doctor.privileges", lambda: [refused])
    assert run() == 0
    out = capsys.readouterr().out
    assert "not allowed      ICMP echo" in out
    assert "handshakes do" in out
    assert "as root: sysctl -w this=that" in out
