"""What the lines have in common that put the TCP setting into other programs' options."""

import re
import shlex
from urllib.parse import unquote

import msgspec
import pytest

from advisor import registry
from advisor.api.command_line import explain
from advisor.api.tool import Tool
from advisor.domain.dataset import Dataset
from advisor.testing.samples import a_host, a_path
from advisor.testing.tools import a_command_request

PACKAGES = {
    "aria2c": "aria2",
    "bbcp": "eeertekin/bbcp",
    "gfal-copy": "gfal2-util-scripts",
    "globus": "globus-cli",
    "rclone": "rclone",
    "xrdcp": "xrootd-client",
}
NAMES = tuple(PACKAGES)
PLUGINS = {tool.name: tool for tool in registry.tools() if tool.name in NAMES}
UDT = {"block_bytes": 8956 * 4, "buffer_bytes": 64 * 2**20, "mss_bytes": 9000}
TCP = {"streams": 8, "buffer_bytes": 4 * 2**20, "congestion": "cubic"}
MANY = Dataset(total_bytes=10**6, path="/d/run", files=1000, largest="big", largest_bytes=10**4)

# Of those that are profiled themselves.
OWN: dict[str, list[dict[str, int]]] = {
    "rclone": [
        {"concurrency": 4, "parallelism": 4, "outstanding": 128},
        {"concurrency": 4, "parallelism": 4, "chunk_bytes": 16 * 2**20},
    ],
    "xrdcp": [{"concurrency": 1, "parallelism": 1}, {"concurrency": 4, "parallelism": 1}],
}

each = pytest.mark.parametrize("name", NAMES)


def notes(name: str, **changes: object) -> str:
    return " ".join(c.note for c in PLUGINS[name].commands(a_command_request(**changes)))


@each
def test_it_is_a_tool_that_says_what_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = PLUGINS[name]
    assert isinstance(plugin, Tool)
    monkeypatch.setenv("PATH", "")
    assert not plugin.available().ok
    assert PACKAGES[name] in plugin.available().remedy


@each
@pytest.mark.parametrize("path", ["/a b/it's $HOME", '/q"x`y`', "/*?[1];&|", "/back\\n"])
@pytest.mark.parametrize("address", ["192.0.2.2", "2001:db8::1"])
def test_argv_and_shell_are_the_same_line(name: str, path: str, address: str) -> None:
    request = a_command_request(
        source_path=path,
        destination_path=f"{path}.new",
        destination_host=address,
        path=a_path(source_address=address, destination_address=address),
    )
    for command in PLUGINS[name].commands(request):
        assert shlex.split(command.shell) == command.argv
        assert not re.search(r"\s(rm|sysctl)\s", command.shell)


@each
def test_udt_is_reported_and_the_line_is_that_of_tcp(name: str) -> None:
    tcp = PLUGINS[name].commands(a_command_request())
    both = PLUGINS[name].commands(
        a_command_request(subject="udt", settings={"udt": UDT, "tcp": TCP})
    )
    assert [c.argv for c in both] == [c.argv for c in tcp]
    assert "UDT was faster" in " ".join(c.note for c in both)
    assert "UDT was faster" not in " ".join(c.note for c in tcp)


@each
def test_without_a_tcp_setting_there_is_no_line(name: str) -> None:
    assert PLUGINS[name].commands(a_command_request(subject="udt", settings={"udt": UDT})) == []


@each
def test_another_congestion_control_is_a_remedy(name: str) -> None:
    assert "sysctl" not in notes(name)
    path = a_path(source=a_host(congestion="reno"))
    assert "sysctl -w net.ipv4.tcp_congestion_control=cubic" in notes(name, path=path)


@each
def test_placeholders_only_for_what_was_not_said(name: str) -> None:
    bare = PLUGINS[name].commands(a_command_request())
    words = [word for command in bare for word in command.argv]
    assert any("/SOURCE_PATH" in word for word in words)
    assert any("/DESTINATION_PATH" in word for word in words)
    assert "Replace SOURCE_PATH and DESTINATION_PATH with the real paths." in notes(name)
    said = {"source_path": "/d/f", "destination_path": "/s/f"}
    for command in PLUGINS[name].commands(a_command_request(**said)):
        assert "_PATH" not in command.shell
    assert "Replace" not in notes(name, **said)
    assert "absolute" in notes(name, source_path="d/f", destination_path="/s/f")


# What follows the name of the tool is a word of its line.
LOGINS = {
    "aria2c": "me@dtn.example.org",
    "bbcp": "me@dtn.example.org:/data/run",
    "globus-url-copy": "sshftp://me@dtn.example.org/data/run/",
    "rclone": (":sftp,host=dtn.example.org,user=me,known_hosts_file=~/.ssh/known_hosts:/data/run"),
    "rsync": "me@dtn.example.org:/data/run/",
}


@pytest.mark.parametrize("name", LOGINS)
def test_ssh_logs_in_as_the_user_who_was_named(name: str) -> None:
    request = a_command_request(
        user="me", source_path="/d/old", destination_path="/data/run", dataset=MANY
    )
    [command] = registry.tool(name).commands(request)
    assert LOGINS[name] in command.argv
    [nobody] = registry.tool(name).commands(msgspec.structs.replace(request, user=""))
    assert LOGINS[name].replace("me@", "").replace("user=me,", "") in nobody.argv


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("bbcp", r"CERN\me@[2001:db8::1]:/f"),
        ("globus-url-copy", "sshftp://CERN%5Cme@[2001:db8::1]/f"),
        ("rsync", r"CERN\me@[2001:db8::1]:/f"),
    ],
)
def test_an_ipv6_address_is_in_brackets_behind_the_user(name: str, word: str) -> None:
    request = a_command_request(
        user=r"CERN\me", destination_host="2001:db8::1", destination_path="/f"
    )
    [command] = registry.tool(name).commands(request)
    assert command.argv[-1] == word


@each
def test_a_file_into_a_directory_keeps_its_name(name: str) -> None:
    request = a_command_request(source_path="/d/f 1", destination_path="/s/")
    *_, last = PLUGINS[name].commands(request)
    assert any(unquote(word).endswith("/s/f 1") for word in last.argv)


@pytest.mark.parametrize("name", ["globus", "rclone", "xrdcp"])
def test_a_measured_buffer_that_the_program_cannot_ask_for_is_reported(name: str) -> None:
    assert "Measured with 4 MiB per socket" in notes(name)
    assert ("may grow them to 32 MiB" in notes(name)) == (name != "globus")
    kernels_own = {"tcp": TCP | {"buffer_bytes": 0}}
    assert "per socket" not in notes(name, settings=kernels_own)


@each
def test_no_flag_is_explained_that_no_line_has(name: str) -> None:
    requests = [
        a_command_request(),
        a_command_request(source_path="/d/run", dataset=MANY),
        a_command_request(dataset=Dataset(total_bytes=10**13, path="/d/f", files=1)),
        a_command_request(path=a_path(chose_source=True)),
        *(
            a_command_request(
                settings={name: setting},
                source_path="/d/run",
                destination_path="/data/run",
                dataset=MANY,
            )
            for setting in OWN.get(name, [])
        ),
    ]
    used = {
        sentence
        for request in requests
        for command in PLUGINS[name].commands(request)
        for _, sentence in explain(command.argv, PLUGINS[name].flags)
    }
    assert set(PLUGINS[name].flags.values()) <= used


ADDRESSES = [
    ("192.0.2.1", "192.0.2.2"),
    ("192.0.2.1", "192.0.2.10"),
    ("92.0.2.1", "192.0.2.1"),
    ("2001:db8::1", "2001:db8::10"),
    ("2001:db8::1", "2001:db8::1:2"),
    ("db8::1", "2001:db8::1"),
]


@each
@pytest.mark.parametrize(("source", "destination"), ADDRESSES)
def test_a_line_sends_from_the_chosen_address_or_says_that_it_does_not(
    name: str, source: str, destination: str
) -> None:
    path = a_path(chose_source=True, source_address=source, destination_address=destination)
    request = a_command_request(path=path, destination_host=destination)
    commands = PLUGINS[name].commands(request)
    # The destination's is no sign of the source's, whose letters it may have.
    words = [word.replace(destination, "") for one in commands for word in one.argv]
    is_bound = any(source in word for word in words)
    assert is_bound != any("no option to send from" in one.note for one in commands)
    assert "no option to send from" not in notes(name)
