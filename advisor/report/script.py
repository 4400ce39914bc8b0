"""Advice as a shell script: its command lines ready to run, with the evidence above them.

The script runs in any POSIX shell. A word in capitals in a command line becomes a variable of that
name; the script refuses to run while the variable is empty.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.api.tool import DESTINATION_PATH, SOURCE_PATH
from advisor.domain.advice import Advice, Command
from advisor.report.text import advice_text

_COLUMNS: Final = 94
_PATHS: Final = (SOURCE_PATH, DESTINATION_PATH)
_PATH: Final = re.compile(
    rf"(?P<before>(?:[a-z]+://[^/]*/??|.*:)?)/(?P<name>{'|'.join(_PATHS)})(?P<after>(?:/.*)?)"
)
_SIZE: Final = "SIZE_IN_BYTES"
_WORDS: Final = (_SIZE, "ENDPOINT_ID")
_COLLECTIONS: Final = ("SOURCE_COLLECTION_ID", "DESTINATION_COLLECTION_ID")
_VARIABLES: Final = (*_PATHS, *_WORDS, *_COLLECTIONS)

_REFUSE: Final = """\
refuse() {
    printf '%s\\n' "$0: $1" >&2
    exit 2
}
"""
_URL_PATH: Final = """\
# Encode a path for a URL: all bytes except letters, digits and -./_~.
url_path() {
    printf '%s' "$1" | od -An -v -tu1 | LC_ALL=C awk '{
        for (i = 1; i <= NF; i++) {
            plain = $i >= 45 && $i <= 57 || $i >= 65 && $i <= 90 || $i >= 97 && $i <= 122
            form = (plain || $i == 95 || $i == 126) ? "%c" : "%%%02X"
            printf form, $i
        }
    }'
}
"""


def script_text(advice: Advice) -> str:
    """The whole script. Without an argument it runs the first line meant for the source alone.

    Commands in pairs, one line per host, run by name: `sh SCRIPT xdd-destination` there, then
    `sh SCRIPT xdd-source` here. Write it with errors="surrogateescape", for paths that are not
    UTF-8. Raises ValueError when the advice has no command line.
    """
    if not advice.commands:
        raise ValueError("there is no command line in this advice: ask for advice with TCP again")
    named = _named(advice.commands)
    words = {token: _word(token) for command in advice.commands for token in command.argv}
    needed = [
        name
        for name in _VARIABLES
        if any(f"${name}" in w or f"${{{name}" in w for w in words.values())
    ]
    blocks = [
        "#!/bin/sh\n" + _comment(_evidence(advice)) + _usage(named),
        "set -eu\n",
        _variables(needed),
        _REFUSE,
        _URL_PATH if any("url_path" in word for word in words.values()) else "",
        *(_function(name, command) for name, command in named.items()),
        _dispatch(named),
    ]
    return "\n".join(block for block in blocks if block)


def _evidence(advice: Advice) -> str:
    return advice_text(msgspec.structs.replace(advice, commands=[]), _COLUMNS)


def _comment(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())


def _named(commands: list[Command]) -> dict[str, Command]:
    """Each command by its name on the script's command line, the default first."""
    paired = {command.tool for command in commands if command.side == "destination"}
    ordered = sorted(commands, key=lambda command: command.tool in paired)
    named: dict[str, Command] = {}
    for command in ordered:
        base = f"{command.tool}-{command.side}" if command.tool in paired else command.tool
        name = re.sub(r"[^A-Za-z0-9.-]", "-", base)
        again = sum(one == name or one.startswith(f"{name}-again") for one in named)
        named[name + "-again" * again] = command
    return named


def _usage(named: dict[str, Command]) -> str:
    default = next(iter(named))
    lines = [
        "",
        "Run it as",
        *(f"  sh SCRIPT {name}, on the {c.side}" for name, c in named.items()),
    ]
    return _comment("\n".join([*lines, f"without a name: {default}. Nothing else is changed."]))


def _variables(needed: list[str]) -> str:
    if not needed:
        return ""
    lines = [f"{name}=${{{name}:-}}" for name in needed]
    return "\n".join(["# Fill these in after the =, or set them in the environment.", *lines, ""])


def _word(token: str) -> str:
    """The word for the shell: a placeholder becomes its variable, anything else is quoted.

    In a URL the path is encoded, and a directory does not get a second slash.
    """
    if token in _WORDS:
        return f'"${token}"'
    collection, colon, path = token.partition(":")
    if colon and collection in _COLLECTIONS:
        return f'"${collection}":' + _word(path)
    found = _PATH.fullmatch(token)
    if not found:
        return shlex.quote(token)
    name, after = found["name"], found["after"]
    value = f"${{{name}%/}}" if after else f"${name}"
    path = f'"$(url_path "{value}")"' if _is_encoded(found["before"]) else f'"{value}"'
    return _quoted(found["before"]) + path + _quoted(after)


def _is_encoded(before: str) -> bool:
    """Whether the following path is part of a URL. XRootD's paths are not encoded."""
    return "://" in before and not before.startswith("root://")


def _quoted(text: str) -> str:
    return shlex.quote(text) if text else ""


def _function(name: str, command: Command) -> str:
    words = [_word(token) for token in command.argv]
    note = textwrap.wrap(
        f"{command.tool}, on the {command.side}. {command.note}",
        _COLUMNS,
        break_long_words=False,
        break_on_hyphens=False,
    )
    body = [*dict.fromkeys(_checks(command)), " ".join(words)]
    return "\n".join(
        [
            _comment("\n".join(note)) + f"{_identifier(name)}() {{",
            *(f"    {x}" for x in body),
            "}",
            "",
        ]
    )


def _identifier(name: str) -> str:
    return "run_" + re.sub(r"[^A-Za-z0-9]", "_", name)


def _checks(command: Command) -> Iterator[str]:
    """The conditions of the line, each reported in one sentence."""
    where = "set it at the top of this script or in the environment"
    for token in command.argv:
        found = _PATH.fullmatch(token)
        collection = token.partition(":")[0]
        if not found and (inside := [name for name in _PATHS if name in token]):
            # A command of another shell, which would split or run what it is filled in with.
            yield (
                f'refuse "{inside[0]} cannot be filled in here: ask for advice with both paths '
                '(--data and --to)"'
            )
        if token == _SIZE:
            yield (
                f"case ${_SIZE} in '' | *[!0-9]*) "
                f'refuse "{_SIZE} is not filled in: {where}, in digits" ;; esac'
            )
        elif token in _WORDS:
            yield f'[ -n "${token}" ] || refuse "{token} is not filled in: {where}"'
        if collection in _COLLECTIONS:
            yield f'[ -n "${collection}" ] || refuse "{collection} is not filled in: {where}"'
        if found:
            name = found["name"]
            yield (
                f"case ${name} in /*) ;; *) "
                f'refuse "{name} is not an absolute path: {where}" ;; esac'
            )
            if name == SOURCE_PATH and not found["after"] and command.side == "source":
                yield (
                    f'[ ! -d "${name}" ] || refuse "{name} is a directory: '
                    'ask for advice with --data DIRECTORY, whose line takes one"'
                )


def _dispatch(named: dict[str, Command]) -> str:
    cases = [f"    {name}) {_identifier(name)} ;;" for name in named]
    choices = ", ".join(named)
    return "\n".join(
        [
            f"case ${{1:-{next(iter(named))}}} in",
            *cases,
            f"    *) refuse \"there is no line called '$1': choose from {choices}\" ;;",
            "esac",
            "",
        ]
    )
