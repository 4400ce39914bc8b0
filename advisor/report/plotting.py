"""Figures in files: what can be drawn where, and the style they share."""

import contextlib
import importlib.util
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from advisor.domain.problem import ProblemError
from advisor.store.files import replace_file

COLOURS: Final = ("#0b6e99", "#d9822b", "#7b4fa3", "#2e8b57", "#b22222", "#6b6b6b", "#c71585")
GRID_COLOUR: Final = "#dddddd"
_FORMATS: Final = (".svg", ".png", ".pdf")
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "advisor",
    "font.size": 9,
    "font.family": "sans-serif",
}


class CannotPlot(ProblemError):
    """The figure cannot be written; the message says why, and the remedy."""


def check_plot(path: Path) -> None:
    """Raise CannotPlot if no figure could be written there, before anything is run."""
    if path.suffix.lower() not in _FORMATS:
        raise CannotPlot(
            f"'{path}' is none of the formats that are drawn",
            remedy=f"give a name that ends in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}",
        )
    try:
        # From Python 3.14 on is_dir() returns False instead of raising an error.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
        is_folder, has_folder = path.is_dir(), path.parent.is_dir()
    except OSError as error:
        raise CannotPlot(_cannot_write(path, error)) from error
    if is_folder:
        raise CannotPlot(f"'{path}' is a directory", remedy="give the name of a file")
    if not has_folder:
        raise CannotPlot(f"there is no directory '{path.parent}'", remedy="make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise CannotPlot(
            f"nothing may be written into '{path.parent}'", remedy="name a file elsewhere"
        )
    if importlib.util.find_spec("matplotlib") is None:
        raise CannotPlot(
            "matplotlib is not installed", command="pip install 'data-transfer-advisor[plot]'"
        )


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Figures made inside the block have the common style."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


def write_figure(path: Path, figure: Any) -> None:
    """Write a matplotlib figure; the file is the old one or the whole new one.

    Raises CannotPlot.
    """
    file_format = path.suffix.lower().removeprefix(".")
    drawn = io.BytesIO()
    # Without the date the same figures give the same file; PNG has none.
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(
        drawn, format=file_format, dpi=150, bbox_inches="tight", metadata=dated.get(file_format)
    )
    try:
        replace_file(path, drawn.getvalue(), public=True)
    except OSError as error:
        raise CannotPlot(_cannot_write(path, error)) from error


def _cannot_write(path: Path, error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"cannot write '{path}': {reason}; name another file"
