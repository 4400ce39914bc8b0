"""What is no message is refused; nothing else is let through."""

import json
import random
from collections.abc import Iterator

import msgspec
import pytest

from advisor.agent import message_base as b
from advisor.agent import messages as m
from advisor.domain.connection import ADDRESSES_LIMIT, INTERFACES_LIMIT
from advisor.domain.file_io import FileIoJob
from advisor.hosts.checksums import Checksum
from advisor.hosts.decoding import BadData
from advisor.testing.samples import a_host, a_path

JOB = FileIoJob(
    direction="write",
    threads=4,
    request_bytes=1048576,
    direct=True,
    total_bytes=2**30,
    ceiling_s=5.0,
)
VALID: list[m.Request] = [
    m.Hello(protocol=1, version="0.1.0"),
    m.GetFacts(facing="192.0.2.1"),
    m.OpenEcho(source_address="2001:db8::1", token="0" * 32),
    m.CloseEcho(),
    m.OpenProbe(
        transport="tcp",
        setting={"streams": 4, "buffer_bytes": 1048576, "congestion": "cubic"},
        source_address="192.0.2.1",
        token="f" * 32,
        ceiling_s=2.0,
        sample_every_s=0.1,
    ),
    m.CloseProbe(),
    m.GetFolder(path="/data"),
    m.RunFileIo(folder="/data", job=JOB),
    m.GetSizes(paths=["/data/a", "/data/b c"]),
    m.SyncFiles(paths=["/data/a"]),
    m.GetChecksums(paths=["/data/a"]),
    m.MakeScratch(folder="/data/run42"),
    m.MoveFiles(pairs=[("/data/.advisor-1/a", "/data/a")]),
    m.RemoveScratch(folder="/data/.advisor-1"),
    m.StopWork(),
    m.OpenProbes(
        probes=[
            m.OpenProbe(
                transport="udt",
                setting={"block_bytes": 8192},
                source_address="2001:db8::1",
                token="e" * 32,
                ceiling_s=2.0,
                sample_every_s=0.1,
                chose_source=True,
            )
        ]
        * m.PROBES_LIMIT
    ),
    m.RunStep(
        tool="xdd",
        order=m.StepOrder(
            setting={"streams": 4, "request_bytes": 2**20, "direct": 0},
            pieces=(
                m.StepPiece(source="/a", target="/data/.advisor-1/0", size_bytes=2**40),
                m.StepPiece(
                    source="/b",
                    target="/data/.advisor-1/1",
                    size_bytes=1,
                    offset_bytes=2**30,
                    is_whole=False,
                ),
            ),
            path=msgspec.convert(msgspec.to_builtins(a_path()), m.StepPath),
            destination_host="dtn2.example.org",
        ),
    ),
]
TEXTS = [m.as_line(request).strip() for request in VALID]


@pytest.mark.parametrize("request_", VALID)
def test_requests_survive_the_wire(request_: m.Request) -> None:
    assert m.read_request(m.as_line(request_)) == request_


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"do": "shutdown"}',
        b'{"do": "close_probe", "extra": 1}',
        b'{"do": "hello", "protocol": 0, "version": ""}',
        b'{"do": "hello", "protocol": "1", "version": ""}',
        b'{"do": "facts", "facing": "example.org; rm -rf /"}',
        b'{"do": "open_echo", "source_address": "192.0.2.1", "token": "short"}',
        b'{"do": "hello", "protocol": 1, "version": "' + b"x" * 70000 + b'"}',
    ],
)
def test_garbage_is_refused(line: bytes) -> None:
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        m.read_request(line)


def test_a_message_is_as_long_as_the_limit_and_no_longer() -> None:
    assert m.MESSAGE_LIMIT_BYTES == 64 * 1024
    request, reply = m.as_line(m.StopWork()), m.as_line(m.Alive())
    assert m.read_request(padded(request, m.MESSAGE_LIMIT_BYTES)) == m.StopWork()
    assert m.read_reply(padded(reply, m.MESSAGE_LIMIT_BYTES)) == m.Alive()
    with pytest.raises(BadData, match="longer"):
        m.read_request(padded(request, m.MESSAGE_LIMIT_BYTES + 1))
    with pytest.raises(BadData, match="longer"):
        m.read_reply(padded(reply, m.MESSAGE_LIMIT_BYTES + 1))


def padded(line: bytes, length: int) -> bytes:
    return line.rstrip(b"\n").ljust(length - 1) + b"\n"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("transport", "../etc/passwd"),
        ("transport", ""),
        ("transport", "tcp\n"),
        ("setting", {f"k{i}": 1 for i in range(17)}),
        ("setting", {"a b": 1}),
        ("setting", {"a\n": 1}),
        ("setting", {"a": [1]}),
        ("setting", {"a": "x" * 65}),
        ("source_address", "nowhere!"),
        ("source_address", "127.0.0.1\n"),
        ("token", "G" * 32),
        ("token", "f" * 32 + "\n"),
        ("ceiling_s", 0),
        ("ceiling_s", -1),
        ("ceiling_s", 1e9),
        ("sample_every_s", 0),
    ],
)
def test_every_field_of_a_probe_is_bounded(field: str, value: object) -> None:
    message = json.loads(TEXTS[4]) | {field: value}
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        m.read_request(json.dumps(message).encode())


AN_ORDER = json.loads(TEXTS[-1])["order"]
A_PIECE = AN_ORDER["pieces"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"pieces": []},
        {"pieces": [A_PIECE] * (m.PIECES_LIMIT + 1)},
        {"pieces": [A_PIECE | {"size_bytes": -1}]},
        {"pieces": [A_PIECE | {"size_bytes": 2**63}]},
        {"pieces": [A_PIECE | {"offset_bytes": -1}]},
        {"pieces": [A_PIECE | {"extra": 1}]},
        {"setting": {f"k{i}": 1 for i in range(17)}},
        {"setting": {"a": [1]}},
        {"path": AN_ORDER["path"] | {"destination_address": "-rf"}},
        {"path": AN_ORDER["path"] | {"extra": 1}},
        {"destination_host": "-oProxyCommand"},
        {"destination_host": "a b"},
        {"list_file": "/etc/passwd"},
        {"base_port": 22},
        {"argv": ["sh"]},
    ],
)
def test_every_field_of_a_transfer_is_bounded(change: dict[str, object]) -> None:
    message = json.loads(TEXTS[-1])
    m.read_request(json.dumps(message).encode())
    message["order"] |= change
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        m.read_request(json.dumps(message).encode())


NO_PATHS = ["", "data", "./data", "~/data", "/a\0b", "\0", "/" + "x" * 4096]


@pytest.mark.parametrize("path", NO_PATHS)
@pytest.mark.parametrize(
    "field",
    [
        {"do": "get_folder", "path": ...},
        {"do": "run_file_io", "folder": ..., "job": json.loads(TEXTS[7])["job"]},
        {"do": "get_sizes", "paths": ["/a", ...]},
        {"do": "get_checksums", "paths": [...]},
        {"do": "make_scratch", "folder": ...},
        {"do": "move_files", "pairs": [["/a", ...]]},
        {"do": "move_files", "pairs": [[..., "/a"]]},
        {"do": "remove_scratch", "folder": ...},
        {
            "do": "run_step",
            "tool": "xdd",
            "order": AN_ORDER | {"pieces": [A_PIECE | {"target": ...}]},
        },
        {
            "do": "run_step",
            "tool": "xdd",
            "order": AN_ORDER | {"pieces": [A_PIECE | {"source": ...}]},
        },
    ],
)
def test_what_is_no_absolute_path_is_refused(field: object, path: str) -> None:
    def filled(value: object, text: str) -> object:
        match value:
            case dict():
                return {key: filled(item, text) for key, item in value.items()}
            case list():
                return [filled(item, text) for item in value]
        return text if value is ... else value

    m.read_request(json.dumps(filled(field, "/a\n' \"é/ö")).encode())
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        m.read_request(json.dumps(filled(field, path)).encode())


def test_a_path_that_is_not_utf_8_is_refused() -> None:
    for text in (
        b'{"do": "get_folder", "path": "/\xff"}',
        rb'{"do":"get_folder","path":"/\udcff"}',
    ):
        with pytest.raises((msgspec.MsgspecError, ValueError)):
            m.read_request(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("direction", "erase"),
        ("threads", 0),
        ("threads", 129),
        ("request_bytes", 511),
        ("total_bytes", 2**51),
        ("ceiling_s", 601),
        ("direct", 1),
    ],
)
def test_every_field_of_a_measurement_of_files_is_bounded(field: str, value: object) -> None:
    message = json.loads(TEXTS[7])
    message["job"][field] = value
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        m.read_request(json.dumps(message).encode())


@pytest.mark.parametrize("count", [0, b.PATHS_LIMIT + 1])
def test_a_request_is_about_some_files_and_not_too_many(count: int) -> None:
    for request in (
        m.GetSizes(paths=["/a"] * count),
        m.GetChecksums(paths=["/a"] * count),
        m.MoveFiles(pairs=[("/a", "/b")] * count),
    ):
        with pytest.raises(BadData, match="array"):
            m.read_request(m.as_line(request))


def test_the_longest_answers_fit_a_message() -> None:
    for reply in (
        m.SizesFound(sizes=[2**62] * b.PATHS_LIMIT),
        m.ChecksumsFound(checksums=[Checksum(sha256="f" * 64)] * b.PATHS_LIMIT, seen_bytes=2**62),
        m.ChecksumsFound(checksums=[Checksum(reason="x" * 100)] * b.PATHS_LIMIT, seen_bytes=0),
        m.FilesMoved(reasons=["x" * 100] * b.PATHS_LIMIT),
        m.StepEnded(
            status=-9, output="\x01" * m.STEP_OUTPUT_LIMIT, errors="\x01" * m.STEP_OUTPUT_LIMIT
        ),
    ):
        assert m.read_reply(m.as_line(reply)) == reply


def some_facts(**changes: object) -> dict[str, object]:
    """Facts as they are sent, with another list of interfaces."""
    facts = m.Facts(facts=a_host(), transports=["tcp"], interfaces=[])
    return json.loads(m.as_line(facts)) | changes


def an_interface(**changes: object) -> dict[str, object]:
    known = {"name": "eth1", "mtu_bytes": 9000, "link_bps": 1e10, "addresses": ["192.0.2.7"]}
    return known | changes


def test_the_most_interfaces_fit_a_message() -> None:
    address = "2001:0db8:0000:0000:0000:0000:192.168.100.100"[:45]
    most = an_interface(name="e" * 15, addresses=[address] * ADDRESSES_LIMIT)
    line = json.dumps(some_facts(interfaces=[most] * INTERFACES_LIMIT)).encode()
    facts = m.read_reply(line)
    assert isinstance(facts, m.Facts)
    assert m.read_reply(m.as_line(facts)) == facts


def test_an_older_agent_tells_no_interfaces() -> None:
    said = some_facts()
    del said["interfaces"]
    facts = m.read_reply(json.dumps(said).encode())
    assert isinstance(facts, m.Facts)
    assert facts.interfaces is None


@pytest.mark.parametrize(
    "interfaces",
    [
        [an_interface()] * (INTERFACES_LIMIT + 1),
        [an_interface(addresses=["192.0.2.7"] * (ADDRESSES_LIMIT + 1))],
        [an_interface(addresses=["dtn2"])],
        [an_interface(addresses=["192.0.2.7\n"])],
        [an_interface(addresses=[""])],
        [an_interface(name="-f")],
        [an_interface(name="eth0;reboot")],
        [an_interface(name="e" * 16)],
        [an_interface(mtu_bytes=-1)],
        [an_interface(link_bps=0)],
        "eth1",
    ],
)
def test_what_is_no_interface_is_refused(interfaces: object) -> None:
    with pytest.raises(BadData):
        m.read_reply(json.dumps(some_facts(interfaces=interfaces)).encode())


def test_probes_at_once_are_bounded() -> None:
    one = json.loads(TEXTS[4])
    for probes in ([], [one] * (m.PROBES_LIMIT + 1), [one | {"token": ""}], [{"do": "facts"}]):
        with pytest.raises(BadData):
            m.read_request(json.dumps({"do": "open_probes", "probes": probes}).encode())
    for number in (-1, m.PROBES_LIMIT):
        with pytest.raises(BadData):
            m.read_reply(
                json.dumps(
                    {"say": "of_probe", "number": number, "reply": {"say": "probe_ended"}}
                ).encode()
            )


def fuzzed(rng: random.Random, count: int) -> Iterator[bytes]:
    """Messages that are each broken in a way that leaves them no valid request."""
    for _ in range(count):
        text = bytearray(rng.choice(TEXTS))
        match rng.randrange(6):
            case 0:  # cut short: what is left of a JSON object is none
                yield bytes(text[: rng.randrange(len(text))])
            case 1:  # bytes that no JSON text holds unescaped
                for _ in range(rng.randrange(1, 8)):
                    text[rng.randrange(len(text))] = rng.choice([*range(0x80, 0xC0), *range(8)])
                yield bytes(text)
            case 2:  # noise
                yield rng.randbytes(rng.randrange(200))
            case 3:  # a field nobody knows
                message = json.loads(text)
                message[f"x{rng.randrange(10**6)}"] = rng.random()
                yield json.dumps(message).encode()
            case 4:  # a field of another type
                message = json.loads(text)
                key = rng.choice(sorted(message))
                message[key] = rng.choice([None, [], {"a": {}}, True, [message[key]]])
                yield json.dumps(message).encode()
            case _:  # two on one line, or one wrapped
                yield rng.choice([bytes(text + text), b"[" + text + b"]", b'"' + text])


def test_a_hundred_thousand_fuzzed_messages_are_all_refused() -> None:
    accepted = []
    for line in fuzzed(random.Random(20170405), 100_000):
        try:
            accepted.append((line, m.read_request(line)))
        except (msgspec.MsgspecError, ValueError):
            continue
    assert accepted == []
