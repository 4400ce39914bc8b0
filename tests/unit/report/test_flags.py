from collections.abc import Callable

import msgspec

from advisor.api.command_line import explain
from advisor.domain.advice import Advice
from advisor.report.flags import explained

Advised = Callable[..., Advice]


def test_the_parts_are_the_whole_line(advised: Advised) -> None:
    for command in advised().commands:
        assert [word for words, _ in explained(command) for word in words] == command.argv


def test_flags_are_with_their_values_and_operands_without_a_sentence(advised: Advised) -> None:
    globus, destination, _ = advised(source_path="/d/f").commands
    parts = dict(explained(globus))
    assert "TCP connections" in parts["-p", "4"]
    assert "maximum" in parts["-tcp-bs", "1048576"]
    assert parts[("file:///d/f",)] == ""
    parts = dict(explained(destination))
    assert "waits for the source" in parts["-e2e", "isdest"]
    assert "at this interval" in parts["-hb", "1"]
    assert "bytes moved" in parts["-hb", "bytes"]


def test_a_tool_that_is_gone_explains_nothing(advised: Advised) -> None:
    command = msgspec.structs.replace(advised().commands[0], tool="gone")
    assert {sentence for _, sentence in explained(command)} == {""}


def test_values_are_not_taken_for_flags() -> None:
    flags = {"-target FILE": "Moves it.", "-p": "Says so.", "-P": "Shouts."}
    assert explain(["-target", "-p", "-p", "-P"], flags) == [
        (("-target", "-p"), "Moves it."),
        (("-p",), "Says so."),
        (("-P",), "Shouts."),
    ]
    assert explain(["-p", "-target"], flags) == [(("-p",), "Says so."), (("-target",), "")]
