"""xdd's printed lines are held to those that were run by hand, argument by argument."""

import shlex
from typing import Any

import pytest

from advisor import registry
from advisor.api.command_line import explain
from advisor.api.tool import CommandRequest, Kept, SeveralConnectionsTool, Tool
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting
from advisor.testing.samples import a_host, a_path

PLUGIN = next(t for t in registry.tools() if t.name == "xdd")
TCP: Setting = {"streams": 8, "buffer_bytes": 16 * 2**20, "congestion": "cubic"}
OWN: Setting = {"streams": 4, "request_bytes": 2**20, "direct": 0}
SIZE = 10 * 10**9


def the_pair(**changes: Any) -> tuple[Command, Command]:
    given: dict[str, Any] = {
        "subject": "tcp",
        "settings": {"tcp": TCP},
        "labels": {"tcp": "TCP", "udt": "UDT"},
        "path": a_path(),
        "destination_host": "dtn2",
        "dataset": Dataset(total_bytes=SIZE, path="/data/f", largest="", largest_bytes=SIZE),
        "source_path": "/data/f",
        "destination_path": "/store/f",
    }
    destination, source = PLUGIN.commands(CommandRequest(**(given | changes)))
    return destination, source


def value_of(command: Command, option: str) -> str:
    return command.argv[command.argv.index(option) + 1]


def end_of(command: Command) -> str:
    """Address, base port and flows."""
    return command.argv[command.argv.index("dest") + 1]


def test_it_is_a_tool_that_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(PLUGIN, Tool)
    monkeypatch.setenv("PATH", "")
    assert not PLUGIN.available().ok
    assert "bws/xdd" in PLUGIN.available().remedy


def test_the_destination_is_first_and_writes() -> None:
    destination, _ = the_pair()
    assert destination.side == "destination"
    assert destination.argv[0] == "timeout"
    assert (
        destination.argv[2:]
        == (
            "xdd -target /store/f -op write -e2e isdest -reqsize 4194304 -blocksize 1 "
            f"-bytes {SIZE} -e2e dest 192.0.2.2:40010,8 -noordering -preallocate {SIZE} "
            "-minall -stoponerror -hb 1 -hb bytes -hb lf"
        ).split()
    )


def test_the_source_is_second_and_reads() -> None:
    _, source = the_pair()
    assert source.side == "source"
    assert source.argv[0] == "timeout"
    assert (
        source.argv[2:]
        == (
            "xdd -target /data/f -op read -e2e issource -reqsize 4194304 -blocksize 1 "
            f"-bytes {SIZE} -e2e dest 192.0.2.2:40010,8 -looseordering -minall -stoponerror"
        ).split()
    )


@pytest.mark.parametrize("streams", [1, 5, 124, 200])
@pytest.mark.parametrize("size", [1, 4 * 2**20, 4 * 2**20 + 1, SIZE])
def test_both_sides_agree(streams: int, size: int) -> None:
    settings = {"tcp": TCP | {"streams": streams}}
    pair = the_pair(settings=settings, dataset=Dataset(total_bytes=size))
    assert end_of(pair[0]) == end_of(pair[1])
    assert (
        {value_of(c, "-bytes") for c in pair} == {value_of(pair[0], "-preallocate")} == {str(size)}
    )
    flows = int(end_of(pair[0]).rpartition(",")[2])
    assert 1 <= flows <= min(124, streams, -(-size // (4 * 2**20)))
    assert ("Measured with" in pair[1].note) == (flows != streams)


def test_the_ports_to_open_are_named() -> None:
    assert "TCP ports 40010 to 40017" in the_pair()[0].note
    assert "ports 40010 must" in the_pair(settings={"tcp": TCP | {"streams": 1}})[0].note


@pytest.mark.parametrize("name", ["a b", "it's", 'q"x', "$HOME`x`", "*?[1]", "é"])
def test_argv_and_shell_are_the_same_line(name: str) -> None:
    for command in the_pair(source_path=f"/d/{name}", destination_path=f"/d/{name}"):
        assert shlex.split(command.shell) == command.argv
        assert value_of(command, "-target") == f"/d/{name}"


def test_nothing_is_removed_by_a_line() -> None:
    destination, source = the_pair()
    assert "removed first" in destination.note
    assert "rm" not in [*destination.argv, *source.argv]


def test_a_directory_is_moved_file_by_file() -> None:
    dataset = Dataset(
        total_bytes=SIZE, path="/data", files=3, largest="run 1/big.h5", largest_bytes=6 * 10**9
    )
    destination, source = the_pair(dataset=dataset, source_path="/data/", destination_path="/store")
    assert value_of(source, "-target") == "/data/run 1/big.h5"
    assert value_of(destination, "-target") == "/store/run 1/big.h5"
    assert value_of(source, "-bytes") == str(6 * 10**9)
    assert "repeat both for each file" in source.note


def test_a_file_into_a_directory_keeps_its_name() -> None:
    destination, _ = the_pair(destination_path="/store/")
    assert value_of(destination, "-target") == "/store/f"


def test_placeholders_only_for_what_was_not_said() -> None:
    destination, source = the_pair(source_path=None, destination_path=None, dataset=None)
    assert value_of(source, "-target") == "/SOURCE_PATH"
    assert value_of(destination, "-target") == "/DESTINATION_PATH"
    assert value_of(destination, "-preallocate") == value_of(source, "-bytes") == "SIZE_IN_BYTES"
    assert "Replace SOURCE_PATH with the real path. Replace SIZE_IN_BYTES with" in source.note
    assert "Replace DESTINATION_PATH with the real path. Replace SIZE_IN_BYTES" in destination.note
    assert not any("Replace" in command.note for command in the_pair())


def test_only_the_placeholders_of_the_line_are_named() -> None:
    destination, source = the_pair(destination_path=None)
    assert "Replace" not in source.note
    assert "Replace DESTINATION_PATH with the real path." in destination.note
    assert "SIZE_IN_BYTES" not in destination.note


def test_the_size_of_one_of_many_files_is_not_guessed() -> None:
    _, source = the_pair(dataset=Dataset(total_bytes=SIZE, files=1000))
    assert value_of(source, "-bytes") == "SIZE_IN_BYTES"


@pytest.mark.parametrize("bandwidth_bps", [None, 1e8, 1e9, 100e9])
@pytest.mark.parametrize("size", [1, SIZE, 10**14])
def test_the_timeout_spares_what_is_only_slow(bandwidth_bps: float | None, size: int) -> None:
    host = a_host(link_bps=bandwidth_bps)
    path = a_path(bandwidth_bps=bandwidth_bps, source=host, destination=host)
    pair = the_pair(path=path, dataset=Dataset(total_bytes=size))
    ideal_s = size * 8 / (bandwidth_bps or 1e9)
    assert {int(c.argv[1]) > 59 + 9 * ideal_s for c in pair} == {True}
    assert pair[0].argv[1] == pair[1].argv[1]


def test_udt_is_reported_to_be_out_of_reach() -> None:
    _, source = the_pair(subject="udt", settings={"udt": {"mss_bytes": 9000}, "tcp": TCP})
    assert "TCP only" in source.note
    assert "TCP only" not in the_pair()[1].note


def test_without_a_tcp_setting_there_is_no_line() -> None:
    request = CommandRequest(
        subject="udt",
        settings={"udt": {"mss_bytes": 9000}},
        path=a_path(),
        destination_host="dtn2",
    )
    assert PLUGIN.commands(request) == []


@pytest.mark.parametrize(
    ("buffer_bytes", "kernel_bytes", "is_noted"),
    [
        (16 * 2**20, 64 * 2**20, False),
        (64 * 2**20, 64 * 2**20, True),
        (2**18, 64 * 2**20, True),
        (4 * 2**20, 4 * 2**20, False),
        (0, 64 * 2**20, True),
    ],
)
def test_a_buffer_that_cannot_be_had_is_reported(
    buffer_bytes: int, kernel_bytes: int, is_noted: bool
) -> None:
    settings = {"tcp": TCP | {"buffer_bytes": buffer_bytes}}
    path = a_path(
        source=a_host(send_max_bytes=kernel_bytes),
        destination=a_host(receive_max_bytes=kernel_bytes),
    )
    assert ("always asks for 16 MiB" in the_pair(settings=settings, path=path)[1].note) == is_noted


def test_another_congestion_control_is_a_remedy_not_a_step() -> None:
    assert "sysctl" not in the_pair()[1].note
    _, source = the_pair(path=a_path(source=a_host(congestion="reno")))
    assert "sysctl -w net.ipv4.tcp_congestion_control=cubic" in source.note
    assert "sysctl" not in source.shell


def test_an_ipv6_path_is_reported() -> None:
    destination, source = the_pair(path=a_path(destination_address="2001:db8::1"))
    assert end_of(source) == end_of(destination) == "dtn2:40010,8"
    assert "IPv4 only" in destination.note


def test_an_ipv6_address_alone_will_not_do() -> None:
    destination, source = the_pair(
        path=a_path(destination_address="2001:db8::1"), destination_host="2001:db8::1"
    )
    assert end_of(source) == end_of(destination) == "DESTINATION_ADDRESS:40010,8"
    assert "replace DESTINATION_ADDRESS with" in destination.note


def test_the_address_has_to_be_the_destination_s_own() -> None:
    assert "192.0.2.2 must be this host's own address" in the_pair()[0].note


def test_an_empty_file_has_no_line() -> None:
    request = CommandRequest(
        subject="tcp",
        settings={"tcp": TCP},
        path=a_path(),
        destination_host="dtn2",
        dataset=Dataset(total_bytes=1, path="/data/f", files=1, largest="", largest_bytes=0),
    )
    assert PLUGIN.commands(request) == []


def test_its_own_setting_is_used_where_it_was_profiled() -> None:
    destination, source = the_pair(settings={"tcp": TCP, "xdd": OWN})
    for command in (destination, source):
        assert value_of(command, "-reqsize") == str(2**20)
        assert end_of(command).endswith(",4")
        assert "-dio" not in command.argv
    assert "per socket" not in source.note


@pytest.mark.parametrize(("kept_bytes", "direct"), [(0, True), (3 * 2**20, True), (1000, False)])
def test_direct_io_is_on_both_ends_or_on_none(kept_bytes: int, direct: bool) -> None:
    pair = the_pair(settings={"xdd": OWN | {"direct": 1}}, kept=Kept(first_bytes=kept_bytes))
    assert [("-dio" in command.argv) for command in pair] == [direct, direct]


def test_what_is_there_already_is_not_sent_again() -> None:
    destination, source = the_pair(settings={"xdd": OWN}, kept=Kept(first_bytes=2**30))
    for command in (destination, source):
        assert value_of(command, "-startoffset") == str(2**30)
        assert value_of(command, "-bytes") == str(SIZE - 2**30)
    assert value_of(destination, "-preallocate") == str(SIZE)
    assert "keep that file" in destination.note
    assert "removed" not in destination.note


def test_checksums_are_said_to_be_beyond_it() -> None:
    assert "does not verify checksums" in the_pair(verify=True)[1].note
    assert "does not verify checksums" not in the_pair()[1].note


def test_no_flag_is_explained_that_no_line_has() -> None:
    continued = the_pair(settings={"xdd": OWN | {"direct": 1}}, kept=Kept(first_bytes=2**20))
    used = {
        sentence for command in continued for _, sentence in explain(command.argv, PLUGIN.flags)
    }
    assert set(PLUGIN.flags.values()) <= used


def test_a_destination_that_begins_like_the_source_is_no_bound_source() -> None:
    path = a_path(source_address="192.0.2.1", destination_address="192.0.2.10", chose_source=True)
    _, source = the_pair(path=path)
    assert end_of(source) == "192.0.2.10:40010,8"
    assert "xdd has no option to send from 192.0.2.1:" in source.note


def several(*addresses: str, **changes: Any) -> list[Command]:
    assert isinstance(PLUGIN, SeveralConnectionsTool)
    size = changes.pop("size", SIZE)
    streams = iter(changes.pop("streams", [TCP["streams"]] * len(addresses)))
    requests = [
        CommandRequest(
            subject="tcp",
            settings={"tcp": TCP | {"streams": next(streams)}},
            path=a_path(
                destination_address=address, source_address=f"10.9.9.{n}", chose_source=True
            ),
            destination_host=address,
            dataset=Dataset(total_bytes=size, path="/data/f", largest="", largest_bytes=size),
            destination_path="/store/f",
        )
        for n, address in enumerate(addresses)
    ]
    return PLUGIN.joint_commands(requests)


def test_several_networks_are_destinations_of_one_pair_of_lines() -> None:
    destination, source = several("192.0.2.2", "198.51.100.2", streams=[8, 3])
    for command in (destination, source):
        argv = command.argv
        ends = [
            argv[n + 1] for n, word in enumerate(argv) if argv[n - 1 : n + 1] == ["-e2e", "dest"]
        ]
        assert ends == ["192.0.2.2:40010,8", "198.51.100.2:40018,3"]
    assert "TCP ports 40010 to 40020 must be open" in destination.note
    assert "spread over 192.0.2.2, 198.51.100.2" in source.note


def test_several_networks_that_one_run_cannot_use_have_no_joint_lines() -> None:
    assert several("192.0.2.2", "2001:db8::2") == []
    assert several("192.0.2.2", "198.51.100.2", streams=[100, 25]) == []
    # Two requests are too few for 4 and 4 connections.
    assert several("192.0.2.2", "198.51.100.2", streams=[4, 4], size=5 * 2**20) == []
