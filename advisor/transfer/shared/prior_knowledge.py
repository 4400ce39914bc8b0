"""What the history knows about the destinations of one source."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from statistics import median
from typing import Final, TypeVar

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.records import ShareRecord
from advisor.domain.shares import Served, Streams
from advisor.domain.shell import shell_line, shell_word
from advisor.domain.space import concurrency_of
from advisor.models.shares.features import Form
from advisor.models.shares.fitting import LEAST_SAMPLES, TooFew, usual_streams
from advisor.models.shares.forecast import Forecast, Modelling
from advisor.models.shares.from_transfers import Overlapping, samples_of_transfers
from advisor.store.history import Store
from advisor.traits import moving_tool, tool_traits

_T = TypeVar("_T", bound=Hashable)

_PARALLELISM: Final = 8
"""Streams per file: "held constant at eight streams for all destinations" in the paper."""

_STALLED: Final = 0.03
"""The fraction of the usual rate below which a sample is a stall: one file of twenty at a time
still gets more."""


class PriorKnowledge(msgspec.Struct, frozen=True, kw_only=True):
    """Samples by destination. `parallelism`: streams per file, of the plan or of most samples.

    `tool`: what moved the files, of the plan or of most samples. `from_logs`: destinations without
    samples of their own; theirs are derived from the times at which other transfers in the history
    overlapped.
    """

    samples: dict[str, list[Served]]
    parallelism: int
    tool: str
    from_logs: list[str]


class NothingKnown(ProblemError, ValueError):
    """Too little is known about some destinations; the message is one sentence with its remedy."""

    kind = ProblemKind.NO_DATA


def usual_parallelism(tool: str) -> int:
    """The streams per file of an experiment where none are asked for.

    Tools that move whole files have several at a time only with some servers.
    """
    return 1 if tool_traits(tool).whole_files else _PARALLELISM


def known_of(
    store: Store,
    source: str,
    destinations: Sequence[str],
    parallelism: int | None = None,
    tool: str | None = None,
) -> PriorKnowledge:
    """The samples of each destination, which may be none. Raises StoreError.

    `parallelism`, `tool` None: those most samples have. Samples with other streams count only where
    streams varied so much that the model has them as a variable; those of other tools never.
    """
    every = {name: _records(store, Pair(source, name)) for name in destinations}
    tool = tool or _usual(map(_tool_of, chain(*every.values()))) or moving_tool()
    records = {name: [one for one in some if _tool_of(one) == tool] for name, some in every.items()}
    usual = _usual(one.parallelism for one in chain(*records.values()))
    streams = parallelism or usual or usual_parallelism(tool)
    samples = {name: _usable(map(_served, some), streams) for name, some in records.items()}
    missing = [name for name, some in samples.items() if len(some) < LEAST_SAMPLES]
    logged = samples_of_transfers(list(_overlapping(store, source, tool))) if missing else {}
    from_logs = [name for name in missing if len(logged.get(name, ())) >= LEAST_SAMPLES]
    samples |= {name: logged[name] for name in from_logs}
    return PriorKnowledge(samples=samples, parallelism=streams, tool=tool, from_logs=from_logs)


def forecasts_of(known: PriorKnowledge, now_s: float, modelling: Modelling) -> dict[str, Forecast]:
    """The forecast of each destination. `now_s`: Unix time. Raises NothingKnown."""
    found: dict[str, Forecast] = {}
    unknown: list[str] = []
    for name, samples in known.samples.items():
        try:
            found[name] = Forecast(samples, now_s, modelling, parallelism=known.parallelism)
        except TooFew:
            unknown.append(name)
    if unknown:
        raise NothingKnown(
            f"too little is known about {', '.join(unknown)}", remedy=_how_to_learn(known)
        )
    return found


def _how_to_learn(known: PriorKnowledge) -> str:
    train = f"advisor share train {shell_line(known.samples)} --to FOLDER"
    if known.tool != moving_tool():
        return f"measure it first with `{train} --tool {shell_word(known.tool)}`"
    return (
        f"measure it first with `{train}`, or import a server's log with `advisor history import`"
    )


def trained_destinations(store: Store, source: str) -> list[str]:
    """The destinations that have samples of their own, by name. Raises StoreError."""
    pairs = [pair for pair in store.stored_pairs() if pair.source == source]
    return sorted(pair.destination for pair in pairs if _records(store, pair))


def _records(store: Store, pair: Pair) -> list[ShareRecord]:
    return [one for one in store.records(pair) if isinstance(one, ShareRecord)]


def _tool_of(record: ShareRecord) -> str:
    return record.tool or moving_tool()


def _usual(found: Iterable[_T]) -> _T | None:
    """The most frequent of them."""
    return next((one for one, _ in Counter(found).most_common(1)), None)


def _served(record: ShareRecord) -> Served:
    """Records of older versions have the streams outside, the same for all destinations."""
    served, streams = record.served, record.parallelism
    if served.parallelism:
        return served
    return msgspec.structs.replace(
        served, parallelism=streams, source_streams=streams * served.source_concurrency
    )


def _usable(samples: Iterable[Served], parallelism: int) -> list[Served]:
    every = _without_stalls(list(samples))
    if usual_streams(every, Form.LOG) is not None:
        return every
    uniform = Streams(parallelism, parallelism)
    return [one for one in every if one.streams == uniform]


def _without_stalls(samples: Sequence[Served]) -> list[Served]:
    """Without samples in which all clients stalled, or could not begin."""
    if not samples:
        return []
    least_bps = _STALLED * median(one.throughput_bps for one in samples)
    return [one for one in samples if one.throughput_bps >= least_bps]


def _overlapping(store: Store, source: str, tool: str) -> Iterator[Overlapping]:
    for pair in store.stored_pairs():
        for probe in store.prior(pair) if pair.source == source else ():
            result = probe.result
            if (
                probe.subject == tool
                and probe.files
                and isinstance(result, Measurement)
                and result.throughput_bps > 0
            ):
                yield Overlapping(
                    destination=pair.destination,
                    begin_s=probe.recorded_s - result.elapsed_s,
                    end_s=probe.recorded_s,
                    concurrency=concurrency_of(probe.setting),
                    throughput_bps=result.throughput_bps,
                )
