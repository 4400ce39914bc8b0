"""`advisor share more`: what one more file gains one destination, and costs the others."""

import re
import textwrap
import time
from collections.abc import Mapping
from typing import Annotated, Final, NewType

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.cli.share.requests import (
    DESTINATIONS,
    EstimateOption,
    MeasuredToolOption,
    ModelOptions,
    StreamsOption,
    modelling_of,
)
from advisor.cli.terminal import stdout_columns
from advisor.domain.endpoints import Endpoint
from advisor.domain.shares import BASE
from advisor.models.shares.fitting import LEAST_SAMPLES
from advisor.models.shares.forecast import DEFAULT
from advisor.models.shares.marginal import Change, changes, stream_changes
from advisor.models.shares.measured import beyond_words
from advisor.report.counting import counted
from advisor.report.output import say, say_json
from advisor.report.share_models import (
    CHANGE_COLUMNS,
    change_rows,
    change_sentence,
)
from advisor.report.share_names import by_tool, shown
from advisor.report.tables import print_table
from advisor.store.history import Store
from advisor.transfer.shared.prior_knowledge import (
    NothingKnown,
    PriorKnowledge,
    forecasts_of,
    known_of,
    trained_destinations,
)
from advisor.transfer.shared.session import source_name

_WITHOUT: Final = 0
_UNKNOWN: Final = (
    "What one more stream does was not measured: vary them, as with "
    "`advisor share train --streams 2-8`."
)


class More(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints. `levels`: present concurrency, `parallelism`: streams per file.

    `by_stream`: empty where streams were not varied.
    """

    destination: str
    levels: dict[str, int]
    parallelism: int
    by_file: list[Change]
    by_stream: list[Change]


_Level = NewType("_Level", tuple[str, int])


def _level(text: str) -> tuple[str, int]:
    """`DESTINATION` or `DESTINATION=N`. Raises ValueError."""
    name, equals, level = text.rpartition("=")
    if not equals:
        return Endpoint.parse(text).host, BASE
    if not re.fullmatch(r"\d{1,3}", level):
        raise ValueError("write the concurrent files after =, as in kraken=3")
    return Endpoint.parse(name).host, int(level)


@command()
def more(
    options: ModelOptions,
    *,
    store: StoreOption,
    wanted: Annotated[
        list[_Level],
        typer.Argument(
            parser=p.parsed(_level),
            metavar="DESTINATION[=N]…",
            help="The destinations, with the concurrent files that each has now.",
            **DESTINATIONS,
        ),
    ],
    estimate: EstimateOption = DEFAULT.estimate,
    streams: StreamsOption = None,
    tool: MeasuredToolOption = None,
    as_json: ResultAsJson = False,
) -> int:
    """Show what one more concurrent file gains the first DESTINATION, and costs the others.

    \b
    advisor share more kraken
    advisor share more kraken=3 mason=1 blacklight=0

    N is the number of concurrent files to a destination now; 2 without N, also for
    the others that are known. 0 leaves one out. Shown beside it: one more stream for each file of
    the first, where an experiment varied the streams (`advisor share train --streams 2-8`).
    """
    typed = dict(wanted)
    first = wanted[0][0]
    if typed[first] == _WITHOUT:
        raise UsageError(f"{first}=0: nothing goes to it", remedy="give 1 at least")
    with store_errors():
        known = _known(store, typed, streams, tool)
    levels = {name: typed.get(name, BASE) for name in known.samples}
    try:
        forecasts = forecasts_of(known, time.time(), modelling_of(options, estimate))
    except NothingKnown as error:
        raise UsageError.about("", error) from None
    found = More(
        destination=first,
        levels=levels,
        parallelism=known.parallelism,
        by_file=changes(forecasts, levels, first),
        by_stream=stream_changes(forecasts, levels, first, known.parallelism),
    )
    if as_json:
        say_json(msgspec.json.encode(found))
    else:
        _print(found, known)
    return 0


def _known(
    store: Store, typed: Mapping[str, int], streams: int | None, tool: str | None
) -> PriorKnowledge:
    """Of all that were named but for 0, and of the others of which there is enough."""
    names = list(dict.fromkeys([*typed, *trained_destinations(store, source_name())]))
    wanted = [name for name in names if typed.get(name) != _WITHOUT]
    known = known_of(store, source_name(), wanted, streams, tool)
    samples = {
        name: some
        for name, some in known.samples.items()
        if name in typed or len(some) >= LEAST_SAMPLES
    }
    return msgspec.structs.replace(known, samples=samples)


def _print(found: More, known: PriorKnowledge) -> None:
    level = found.levels[found.destination]
    rows = change_rows(found.levels, found.by_file, found.by_stream)
    say(f"{counted(found.parallelism, 'stream')} for each file{by_tool(known.tool)}")
    print_table(CHANGE_COLUMNS, rows)
    each = f"each of its {level} files" if level > 1 else "its file"
    said = []
    for what, some in (
        ("One more file at a time", found.by_file),
        (f"One more stream for {each}", found.by_stream),
    ):
        said.append(change_sentence(what, found.destination, some) if some else _UNKNOWN)
    after = found.levels | {found.destination: level + 1}
    said.append(beyond_words(after, known.samples, shown(after)))
    for sentence in said:
        if sentence:
            say(textwrap.fill(sentence, stdout_columns(), subsequent_indent="  "))
