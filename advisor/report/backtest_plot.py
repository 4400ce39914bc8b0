"""Regret over time, as a figure."""

import contextlib
import importlib.util
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from advisor.backtest.running import Finished
from advisor.domain.problem import ProblemError
from advisor.store.files import replace_file

_FORMATS: Final = (".svg", ".png", ".pdf")
_LINES: Final = ("-", "--", ":")
_COLOURS: Final = ("#0b6e99", "#d9822b", "#7b4fa3", "#2e8b57", "#b22222", "#6b6b6b", "#c71585")
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "advisor backtest",
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
        # From Python 3.14 on is_dir() says no instead of why it cannot tell.
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


def write_plot(path: Path, ranking: Sequence[Finished]) -> None:
    """Draw a line per method; the file is the old one or the whole new one.

    Raises CannotPlot.
    """
    figure = _drawn(ranking, path.suffix.lower().removeprefix("."))
    try:
        replace_file(path, figure, public=True)
    except OSError as error:
        raise CannotPlot(_cannot_write(path, error)) from error


def _cannot_write(path: Path, error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"cannot write '{path}': {reason}; name another file"


def _drawn(ranking: Sequence[Finished], file_format: str) -> bytes:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 4.2))
        axes = figure.subplots()
        for place, one in enumerate(ranking):
            times_s, regrets = zip(*one.regret, strict=True)
            line, colour = divmod(place, len(_COLOURS))
            axes.plot(
                times_s,
                regrets,
                _LINES[line % len(_LINES)],
                color=_COLOURS[colour],
                linewidth=1.3,
                drawstyle="steps-post",
                label=one.method,
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlim(*_span_s(ranking))
        axes.set_ylim(0, 1)
        axes.set_xlabel("seconds of probing")
        axes.set_ylabel("mean regret: 1 - share of the best")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
        drawn = io.BytesIO()
        # Without the date the same searches give the same file; PNG has none.
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(
            drawn,
            format=file_format,
            dpi=150,
            bbox_inches="tight",
            metadata=dated.get(file_format),
        )
    return drawn.getvalue()


def _span_s(ranking: Sequence[Finished]) -> tuple[float, float]:
    """From the first known value to the last change."""
    times_s = [time_s for time_s, _ in ranking[0].regret]
    values = [tuple(regret for _, regret in one.regret) for one in ranking]
    at_each = list(zip(*values, strict=True))
    changes = [i for i in range(1, len(times_s)) if at_each[i] != at_each[i - 1]]
    if not changes:
        return times_s[0], times_s[-1]
    return times_s[changes[0] - 1], times_s[min(changes[-1] + 1, len(times_s) - 1)]
