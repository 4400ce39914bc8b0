"""What globus-url-copy is profiled over, the lines for it, and what is read of its output."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.api.tool import Kept, OutputReader, Piece, Progress, ToolLimits, TransferOrder
from advisor.domain.dataset import Dataset
from advisor.domain.space import Scale, Setting
from advisor.methods.lattice import step_values
from advisor.testing.samples import a_path
from tests.plugins.tools.gridftp_lines import PLUGIN, a_directory, a_request, the_line

OWN: Setting = {"concurrency": 4, "parallelism": 2}
FOLDER = a_directory(*[1000] * 1000)
FILE = Dataset(total_bytes=2**40, files=1, largest="", largest_bytes=2**40)


def own(setting: Setting, **changes: Any) -> list[str]:
    request = a_request(subject=PLUGIN.name, settings={PLUGIN.name: setting}, **changes)
    return the_line(request).argv


# --- what is searched ---


def test_what_is_searched_is_doublings_of_both_with_and_without_pipelining() -> None:
    space = PLUGIN.space(a_path(), FOLDER, ToolLimits(max_concurrency=24, max_streams=8))
    assert [p.name for p in space.parameters] == ["concurrency", "parallelism", "pipelining"]
    assert all(p.scale is Scale.LOG2 for p in space.parameters[:2])
    concurrency, parallelism, pipelining = (step_values(p) for p in space.parameters)
    assert concurrency == (1, 2, 4, 8, 16)
    assert parallelism == (1, 2, 4, 8)
    assert pipelining == (1, 0)
    assert "-pp" in own(OWN | {"pipelining": 0}, dataset=FOLDER)
    assert "-pp" not in own(OWN | {"pipelining": 1}, dataset=FOLDER)
    assert PLUGIN.space(a_path(), FOLDER, ToolLimits()).parameters[0].upper == 64
    assert space.cost({"concurrency": 1, "parallelism": 8}) < space.cost(OWN)


@pytest.mark.parametrize(("files", "most"), [(2, 2), (3, 2), (4, 4), (15, 8), (16, 16), (17, 16)])
def test_not_more_files_at_a_time_than_there_are(files: int, most: int) -> None:
    space = PLUGIN.space(a_path(), a_directory(*[1] * files), ToolLimits())
    assert space.parameters[0].upper == most
    assert str(files) in space.note


def test_one_file_has_parallelism_alone() -> None:
    space = PLUGIN.space(a_path(), FILE, ToolLimits())
    assert [p.name for p in space.parameters] == ["parallelism"]
    assert space.fixed == {"concurrency": 1}
    assert "one file" in space.note


def test_the_default_is_what_users_type_and_the_same_with_what_costs_nothing() -> None:
    default, free = PLUGIN.baselines(a_path(), FOLDER)
    assert (default.role, free.role) == ("default", "default with -fast -pp")
    assert own(default.setting, dataset=FOLDER)[:4] == ["globus-url-copy", "-vb", "-r", "-cd"]
    assert {"-fast", "-pp"} <= set(own(free.setting, dataset=FOLDER))
    assert "-cc" not in own(free.setting, dataset=FOLDER)


def test_the_defaults_for_one_file_move_one_over_one_stream() -> None:
    space = PLUGIN.space(a_path(), FILE, ToolLimits())
    for baseline in PLUGIN.baselines(a_path(), FILE):
        assert set(baseline.setting) >= space.names
        assert baseline.setting["concurrency"] == 1


# --- the lines ---


def test_its_own_setting_goes_before_those_of_the_transports() -> None:
    settings = a_request().settings | {PLUGIN.name: OWN}
    command = the_line(a_request(subject="udt", settings=settings, dataset=FOLDER))
    assert command.shell == (
        "globus-url-copy -vb -fast -p 2 -bs 1048576 -pp -cc 4 -r -cd "
        "file:///data/run%207.h5/ ftp://dtn2.example.org:2811/store/run%207.h5/"
    )
    assert "globus-gridftp-server -p 2811" in command.note


def test_what_is_there_is_not_sent_again() -> None:
    request = a_request(dataset=FOLDER, kept=Kept(files=17))
    assert "-sync -sync-level 1" in the_line(request).shell
    assert "17 files are already there" in the_line(request).note
    rest = the_line(a_request(kept=Kept(first_bytes=2**30)))
    assert "-off 1073741824 " in rest.shell
    assert "1 GiB are already there" in rest.note
    assert "-sync" not in rest.shell
    nothing = the_line(a_request(kept=Kept())).shell
    assert nothing == the_line(a_request()).shell


def test_checksums_only_when_they_are_wanted() -> None:
    assert "-verify-checksum" in own(OWN, verify=True)
    assert "-verify-checksum" not in own(OWN)


# --- the steps ---

PIECES = (
    Piece(source="/d/a b", target="/s/a b", size_bytes=5),
    Piece(source='/d/"q"\n', target="/s/p%", size_bytes=7, offset_bytes=100, is_whole=False),
)


def an_order(**changes: Any) -> TransferOrder:
    order = TransferOrder(
        setting=OWN,
        pieces=PIECES,
        path=a_path(),
        destination_host="2001:db8::1",
        list_file="/run/x/list",
    )
    return msgspec.structs.replace(order, **changes)


def test_a_transfer_is_one_program_and_a_list() -> None:
    (step,) = PLUGIN.steps(an_order())
    assert step.side == "source"
    assert step.argv == [
        *["globus-url-copy", "-vb", "-fast", "-p", "2", "-bs", "1048576", "-pp", "-cc", "4"],
        *["-cd", "-f", "/run/x/list"],
    ]
    assert step.list_text == (
        "file:///d/a%20b ftp://[2001:db8::1]:2811/s/a%20b 0,5\n"
        "file:///d/%22q%22%0A ftp://[2001:db8::1]:2811/s/p%25 100,7\n"
    )


@pytest.mark.parametrize(
    ("pieces", "make_folders", "makes"),
    [
        (PIECES, None, True),
        (PIECES, False, False),
        (PIECES[:1], None, False),
        (PIECES[:1], True, True),
    ],
)
def test_folders_are_made_where_they_may_be_missing(
    pieces: tuple[Piece, ...], make_folders: bool | None, makes: bool
) -> None:
    (step,) = PLUGIN.steps(an_order(pieces=pieces, make_folders=make_folders))
    assert ("-cd" in step.argv) is makes


def test_whole_files_alone_are_no_ranges() -> None:
    (step,) = PLUGIN.steps(an_order(pieces=PIECES[:1]))
    assert step.list_text == "file:///d/a%20b ftp://[2001:db8::1]:2811/s/a%20b\n"


def test_the_named_server_is_used() -> None:
    (step,) = PLUGIN.steps(an_order(server_url="gsiftp://dtn:5000"))
    assert step.list_text is not None
    assert all(" gsiftp://dtn:5000/s/" in line for line in step.list_text.splitlines())


@pytest.mark.parametrize(
    ("server_url", "port"),
    [(None, 2811), ("ftp://dtn:5000", 5000), ("ftp://dtn", 21), ("gsiftp://dtn", 2811)],
)
def test_which_connections_carry_commands(server_url: str | None, port: int) -> None:
    (step,) = PLUGIN.steps(an_order(server_url=server_url))
    assert step.control_port == port


def test_ranges_have_no_checksums() -> None:
    (ranges,) = PLUGIN.steps(an_order(verify=True))
    (whole,) = PLUGIN.steps(an_order(verify=True, pieces=PIECES[:1]))
    assert "-verify-checksum" not in ranges.argv
    assert "-verify-checksum" in whole.argv


def test_what_is_measured_is_what_is_printed() -> None:
    for baseline in (*PLUGIN.baselines(a_path(), FOLDER), None):
        setting = baseline.setting if baseline else OWN
        (step,) = PLUGIN.steps(an_order(setting=setting))
        options = step.argv[: step.argv.index("-cd")]
        printed = own(setting, dataset=FOLDER)
        assert options == printed[: printed.index("-r")]


# --- what it prints ---

LARGE = (
    "Source: file:///data/\nDest:   ftp://10.77.1.1:2811/store/\n  big\n\n"
    "    303038464 bytes        57.80 MB/sec avg        57.80 MB/sec inst\r"
    "    419430400 bytes        57.14 MB/sec avg        55.50 MB/sec inst\r\n"
)
BESIDE_EACH_OTHER = (
    "Source: file:///data/\nDest:   ftp://127.0.0.1:46033/store/\n  sparse  ->  r0\n\n"
    "Source: file:///data/\nDest:   ftp://127.0.0.1:46033/store/\n  sparse  ->  r1\n\n"
    "   1073741824 bytes       538.95 MB/sec avg       538.95 MB/sec inst\r"
    "Source: file:///data/\nDest:   ftp://127.0.0.1:46033/store/\n  sparse  ->  r2\n\n"
    "   1073741824 bytes       426.67 MB/sec avg       426.67 MB/sec inst\r"
    "   1073741824 bytes       243.81 MB/sec avg       243.81 MB/sec inst\r\n"
)
SMALL = (
    "Source: file:///data/\nDest:   ftp://127.0.0.1:38245/store/\n  emptydir/\n\n"
    "Source: file:///data/\nDest:   ftp://127.0.0.1:38245/store/\n  f000\n\n"
    "Source: file:///data/\nDest:   ftp://127.0.0.1:38245/store/\n  f001\n\n"
)


def lines(text: str) -> list[str]:
    return text.replace("\r", "\n").split("\n")


def read(text: str) -> list[Progress]:
    reader = PLUGIN.reader()
    return [progress for line in lines(text) if (progress := reader.feed(line))]


def test_a_large_file_is_followed() -> None:
    assert read(LARGE) == [
        Progress(moved_bytes=None, files_begun=1),
        Progress(moved_bytes=303038464, files_begun=1),
        Progress(moved_bytes=419430400, files_begun=1),
    ]


def test_files_beside_each_other_have_moved_so_much_at_the_least() -> None:
    assert read(BESIDE_EACH_OTHER)[-1] == Progress(moved_bytes=2**30, files_begun=3)


def test_small_files_are_counted_and_folders_are_not() -> None:
    assert read(SMALL)[-1] == Progress(moved_bytes=None, files_begun=2)


def test_a_name_that_looks_like_a_count_is_a_name() -> None:
    count = "    5 bytes        57.80 MB/sec avg        57.80 MB/sec inst"
    progress = read(f"Source: file:///d/\nDest:   ftp://h/\n{count}\n\n")
    assert progress == [Progress(moved_bytes=None, files_begun=1)]


def feed_counts(reader: OutputReader, counts: list[int]) -> int:
    progress = None
    for count in counts:
        progress = reader.feed(f"{count:13d} bytes {1.0:13.2f} MB/sec avg {1.0:13.2f} MB/sec inst")
    assert progress is not None
    return progress.moved_bytes or 0


@given(st.data())
def test_never_more_than_was_moved(data: st.DataObject) -> None:
    """Whatever the files and however their counts are mixed."""
    files = data.draw(
        st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=6).map(sorted), min_size=1)
    )
    order = data.draw(st.permutations([n for n, file in enumerate(files) for _ in file]))
    waiting = [iter(file) for file in files]
    mixed = [next(waiting[number]) for number in order]
    moved = feed_counts(PLUGIN.reader(), mixed)
    assert max(mixed) <= moved <= sum(file[-1] for file in files)


@given(st.lists(st.integers(1, 10**12), min_size=1))
def test_counts_that_fall_are_of_different_files(counts: list[int]) -> None:
    falling = sorted(set(counts), reverse=True)
    assert feed_counts(PLUGIN.reader(), falling) == sum(falling)
