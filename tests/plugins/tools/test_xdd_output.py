"""What xdd printed in real runs, good and bad, and what is made of it. Recorded with 7.0.0.rc."""

from pathlib import Path

import pytest

from advisor import registry
from advisor.api.tool import Progress
from advisor.domain.measurement import FailureKind

PLUGIN = registry.transfer_tool("xdd")
RECORDED = Path(__file__).parent / "recorded" / "xdd"


def recorded(name: str) -> str:
    return (RECORDED / name).read_text()


def read(name: str) -> list[Progress]:
    reader = PLUGIN.reader()
    read = [reader.feed(line) for line in recorded(name).split("\n")]
    return [progress for progress in read if progress is not None]


@pytest.mark.parametrize(
    ("name", "moved_bytes"),
    [
        ("good.source", 2147483648),
        ("odd-size.source", 100000001),
        ("bytes-less-than-reqsize-1flow.source", 1000),
        ("source-shorter-than-bytes.source", 536870912),
        ("destination-disk-full.destination", 104857600),
    ],
)
def test_the_result_is_read(name: str, moved_bytes: int) -> None:
    assert read(f"{name}.stdout") == [Progress(moved_bytes=moved_bytes, files_begun=1)]


def test_one_that_was_cut_tells_nothing() -> None:
    assert read("destination-sigkill.source.stdout") == []


def test_heartbeats_and_errors_are_no_results() -> None:
    assert read("good.destination.stderr") == []
    assert read("xfs-build-on-xfs-full.destination.stderr") == []


def test_that_it_cannot_preallocate_is_no_trouble() -> None:
    errors = recorded("good.destination.stderr")
    assert "no preallocation possible" in errors
    assert PLUGIN.trouble(0, "", errors) is None
    ended = PLUGIN.trouble(-9, "", errors)
    assert ended is not None
    assert ended.message == "xdd was ended by signal 9: run both sides again."


@pytest.mark.parametrize(
    ("name", "status", "kind", "words"),
    [
        ("source-file-missing.source", 4, FailureKind.NO_ACCESS, "/data/nothing"),
        ("source-not-readable.source", 4, FailureKind.NO_ACCESS, "open /data/secret"),
        ("destination-directory-missing.destination", 4, FailureKind.NO_ACCESS, "create the"),
        ("destination-not-writable.destination", 4, FailureKind.NO_ACCESS, "open /data/notm"),
        ("destination-is-directory.destination", 4, FailureKind.NO_ACCESS, "Is a directory"),
        ("destination-disk-full.destination", 6, FailureKind.DISK_FULL, "disk is full"),
        ("destination-disk-full.source", -13, FailureKind.RESET, "ended too early"),
        ("destination-sigkill.source", 141, FailureKind.RESET, "ended too early"),
        ("destination-timeout-sigterm.source", -13, FailureKind.RESET, "ended too early"),
        ("destination-not-started.source", 4, FailureKind.REFUSED, "does not listen"),
        ("destination-address-not-its-own.destination", 4, FailureKind.REFUSED, "not its own"),
        ("destination-port-busy.destination", 124, FailureKind.TIMED_OUT, "in time"),
        ("destination-port-busy.destination", -9, FailureKind.BUSY, "port 43011"),
        ("name-unknown.source", 4, FailureKind.REFUSED, "no.such.host.invalid"),
        ("source-shorter-than-bytes.source", 6, FailureKind.FILES_CHANGED, "shorter"),
        ("destination-probed-by-connect.destination", 2, FailureKind.PEER_GONE, "source's xdd"),
        ("source-sigkill.destination", 2, FailureKind.PEER_GONE, "source's xdd"),
        ("source-sigkill.source", -9, FailureKind.CRASHED, "signal 9"),
        ("source-sigterm.source", 15, FailureKind.CRASHED, "signal 15"),
        ("timeout-expires.destination", 124, FailureKind.TIMED_OUT, "in time"),
        ("bytes-0.destination", 3, FailureKind.REJECTED_SETTING, "Preallocate value of '0'"),
        ("bytes-0.source", 6, FailureKind.CRASHED, "signal 6"),
        ("option-unknown.destination", 3, FailureKind.REJECTED_SETTING, "-nosuchoption"),
        ("argument-missing.destination", 2, FailureKind.REJECTED_SETTING, "'-reqsize'"),
        ("dio-reqsize-not-aligned.source", 6, FailureKind.REJECTED_SETTING, "4096"),
        ("xfs-build-on-xfs-full.destination", 6, FailureKind.DISK_FULL, "disk is full"),
    ],
)
def test_trouble_has_a_name_and_a_remedy(
    name: str, status: int, kind: FailureKind, words: str
) -> None:
    trouble = PLUGIN.trouble(status, "", recorded(f"{name}.stderr"))
    assert trouble is not None
    assert trouble.kind is kind
    assert words in trouble.message
    assert trouble.message.endswith(".")


def test_the_side_that_knows_why_is_believed() -> None:
    """Of a full disk the source learns no more than that it was cut off."""
    names = ("destination-disk-full.source.stderr", "destination-disk-full.destination.stderr")
    trouble = PLUGIN.trouble(-13, "", "".join(recorded(name) for name in names))
    assert trouble is not None
    assert trouble.kind is FailureKind.DISK_FULL


def test_a_host_without_xdd_is_reported() -> None:
    trouble = PLUGIN.trouble(127, "", "timeout: failed to run command 'xdd': No such file")
    assert trouble is not None
    assert trouble.kind is FailureKind.NO_ACCESS
    assert "bws/xdd" in trouble.message


def test_what_nobody_knows_is_quoted() -> None:
    trouble = PLUGIN.trouble(4, "", "xdd: xdd_main: ERROR: Could not start plan\n")
    assert trouble is not None
    assert "xdd_main: ERROR: Could not start plan" in trouble.message
