"""Lines for a shell, built from arguments: quoted, and printable where somebody reads them."""

import shlex
from collections.abc import Iterable
from typing import Final

from advisor.domain.printable import is_printable

_QUOTED: Final = frozenset(b"'\\")
_DELETE: Final = 0x7F


def shell_word(argument: str) -> str:
    r"""One argument for a shell.

    If it contains control characters or others that cannot be seen, it is written as `$'…'` with
    escapes, which bash, zsh, ksh and POSIX.1-2024 understand: so a line can be shown and copied
    without anything in it reaching the terminal. Raises UnicodeEncodeError for surrogates that no
    argument of a program can contain.

    >>> shell_word("a b"), shell_word("a\x1b")
    ("'a b'", "$'a\\033'")
    """
    if is_printable(argument):
        return shlex.quote(argument)
    return f"$'{''.join(map(_escape, argument.encode('utf-8', 'surrogateescape')))}'"


def shell_line(argv: Iterable[str]) -> str:
    """The arguments as one line to copy into a shell."""
    return " ".join(map(shell_word, argv))


def quoted_line(argv: Iterable[str]) -> str:
    """The arguments as one line for a program to read, and for nobody else: in a script, or a list.

    Words that cannot be shown are in it as they are: not every shell, nor whatever else knows the
    quotes of one, knows the `$'…'` of `shell_line`.

    >>> quoted_line(["a b", "c"])
    "'a b' c"
    """
    return shlex.join(argv)


def _escape(byte: int) -> str:
    if byte in _QUOTED:
        return f"\\{byte:c}"
    # Three octal digits end by themselves; hexadecimal ones would swallow a digit that follows.
    return f"{byte:c}" if 0x20 <= byte < _DELETE else f"\\{byte:03o}"
