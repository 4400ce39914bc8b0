"""What every tool must keep to."""

import shlex
from typing import ClassVar

from advisor.domain.dataset import Dataset
from advisor.testing.samples import a_path
from advisor.tools import CommandRequest, Tool, explain, is_value

_TCP = {"streams": 8, "buffer_bytes": 4 * 2**20, "congestion": "cubic"}
_DEFAULT = {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}
_UDT = {"block_bytes": 8956 * 4, "buffer_bytes": 64 * 2**20, "mss_bytes": 9000}
_FILE = Dataset(
    total_bytes=10**9, path="/scratch/run 42/it's.h5", files=1, largest="", largest_bytes=10**9
)
_FOLDER = Dataset(
    total_bytes=10**12,
    path="/scratch/run42",
    files=1000,
    largest="deep/big.h5",
    largest_bytes=10**10,
)


def a_command_request(**changes: object) -> CommandRequest:
    """For the best TCP setting of 8 streams and 4 MiB, nothing said of what to move."""
    given: dict[str, object] = {
        "transport": "tcp",
        "settings": {"tcp": _TCP},
        "path": a_path(),
        "destination_host": "dtn.example.org",
    }
    return CommandRequest(**(given | changes))  # type: ignore[arg-type]  # merged by name


class ToolContract:
    """The contract. Inherit, set `plugin`, and let pytest collect it."""

    plugin: ClassVar[Tool]
    requests: ClassVar[tuple[CommandRequest, ...]] = (
        a_command_request(),
        a_command_request(settings={"tcp": _DEFAULT}),
        a_command_request(transport="udt", settings={"udt": _UDT, "tcp": _TCP}),
        a_command_request(transport="udt", settings={"udt": _UDT}),
        a_command_request(dataset=Dataset(total_bytes=10**13)),
        a_command_request(
            dataset=_FILE, source_path=_FILE.path, destination_path="/data/it's here"
        ),
        a_command_request(
            dataset=_FOLDER, source_path=_FOLDER.path, destination_path="/data/run42"
        ),
        a_command_request(server_url="gsiftp://dtn.example.org:2811"),
        a_command_request(
            path=a_path(destination_address="2001:db8::2", source_address="2001:db8::1")
        ),
    )

    def test_it_can_be_listed(self) -> None:
        assert self.plugin.name
        assert self.plugin.summary
        availability = self.plugin.available()
        assert availability.ok or availability.remedy

    def test_the_shell_line_is_the_argv(self) -> None:
        for request in self.requests:
            for command in self.plugin.commands(request):
                assert command.tool == self.plugin.name
                assert shlex.split(command.shell) == command.argv
                assert all(isinstance(word, str) and word for word in command.argv)
                assert "\n" not in command.shell + command.note

    def test_writing_lines_changes_nothing(self) -> None:
        for request in self.requests:
            assert self.plugin.commands(request) == self.plugin.commands(request)

    def test_tcp_always_has_a_line(self) -> None:
        for request in self.requests:
            if "tcp" in request.settings:
                assert self.plugin.commands(request)

    def test_every_flag_is_explained(self) -> None:
        for request in self.requests:
            for command in self.plugin.commands(request):
                parts = explain(command.argv, self.plugin.flags)
                silent = [words[0] for words, sentence in parts if not sentence]
                assert not [word for word in silent if word.startswith("-")]

    def test_an_explanation_is_one_sentence(self) -> None:
        for usage, sentence in self.plugin.flags.items():
            assert not is_value(usage.split()[0])
            assert sentence[0].isupper()
            assert sentence.endswith(".")
            assert "\n" not in sentence
            assert ". " not in sentence
