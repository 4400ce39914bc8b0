"""The models of several destinations and their predictions, as text."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

import msgspec

from advisor.domain.quantities import format_rate
from advisor.models.shares.features import Form, Load
from advisor.models.shares.fitting import ShareModel
from advisor.models.shares.marginal import Change
from advisor.models.shares.measured import range_words
from advisor.report.counting import counted
from advisor.report.share_names import shown

COLUMNS: Final = ("destination", "samples", "concurrency", "total", "training", "validation")
_NOT_MEASURED: Final = "–"
CHANGE_COLUMNS: Final = ("destination", "concurrency", "now", "one more file", "one more stream")

_WORDS: Final = {Form.LOG: "log", Form.LINEAR: "linear", Form.RATIO: "ratio"}


class Learnt(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one destination, with a `tool`.

    `samples`: their number, most with `parallelism` streams per file. `streams`, `concurrency`,
    `source_concurrency`: the measured minimum and maximum, None without samples. `model`: None
    where there are too few.
    """

    destination: str
    tool: str
    parallelism: int
    samples: int
    streams: tuple[int, int] | None
    concurrency: tuple[int, int] | None
    source_concurrency: tuple[int, int] | None
    model: ShareModel | None


def _range(levels: tuple[int, int] | None) -> str:
    return "none" if levels is None else range_words(levels)


def learnt_rows(learnt: Sequence[Learnt]) -> list[list[str]]:
    """The samples of each, their range, and the errors of its model; under COLUMNS."""
    names = shown(one.destination for one in learnt)
    return [
        [
            names[one.destination],
            f"{one.samples}",
            _range(one.concurrency),
            _range(one.source_concurrency),
            _error(one.model.training_error if one.model else None),
            _error(one.model.validation_error if one.model else None),
        ]
        for one in learnt
    ]


def formula_lines(learnt: Sequence[Learnt]) -> list[str]:
    """Each model as in table IV of the paper."""
    names = shown(one.destination for one in learnt)
    return [f"{names[one.destination]}: DT = {formula(one.model)}" for one in learnt if one.model]


def formula(model: ShareModel) -> str:
    """A formula of a throughput in Mbit/s, as `DC^0.868 × AEL1{0.028} × 2^9.996 / SC^0.283`."""
    return _product(model) if model.form is Form.LOG else _sum(model)


def _product(model: ShareModel) -> str:
    of_sc, of_dc, *of_streams = model.weights
    powers = [("DC", of_dc), ("SC", of_sc), *zip(("P", "(F/SC)"), of_streams, strict=False)]
    times = [f"{base}^{weight:.3f}" for base, weight in powers if weight >= 0]
    over = [f"{base}^{-weight:.3f}" for base, weight in powers if weight < 0]
    # EL3 is above 0, so an exponent is enough. The others are adjusted as in equation 11.
    if model.load is Load.EL3:
        times.append(f"EL3^{model.load_weight:.3f}")
    elif model.load is not Load.NONE:
        times.append(f"A{model.load}{{{model.load_weight:.3f}}}")
    times.append(f"2^{model.intercept:.3f}")
    return " / ".join([" × ".join(times), *over])


_FEATURES: Final[Mapping[Form, tuple[str, ...]]] = {
    Form.LINEAR: ("DC", "SC"),
    Form.RATIO: ("DC/SC",),
    Form.DC_ONLY: ("DC",),
    Form.SC_ONLY: ("SC",),
    Form.MEAN: (),
}


def _sum(model: ShareModel) -> str:
    terms = list(zip(model.weights, _FEATURES[model.form], strict=True))
    if model.load is not Load.NONE:
        terms.append((model.load_weight, model.load.value))
    said = [(weight, f"{abs(weight):.4g} {feature}") for weight, feature in terms]
    said.append((model.intercept, f"{abs(model.intercept):.4g}"))
    first, *others = said
    head = f"−{first[1]}" if first[0] < 0 else first[1]
    return head + "".join(f" {'−' if weight < 0 else '+'} {text}" for weight, text in others)


def streams_words(learnt: Sequence[Learnt]) -> str:
    """The streams that were measured."""
    known = {streams for one in learnt for streams in one.streams or ()}
    if len(known) > 1:
        return f"{range_words(sorted(known))} streams"
    return counted(min(known, default=learnt[0].parallelism), "stream")


def symbols_line(load: Load, *, has_streams: bool = False) -> str:
    """The meaning of the letters in a formula."""
    known = "DT: Mbit/s; DC: concurrent files to it; SC: to all"
    if has_streams:
        known += "; P: streams of each of its files; F: streams to all"
    return known if load is Load.NONE else f"{known}; {load.value}: the external load"


def compared_columns(models: Sequence[tuple[Form, Load]]) -> tuple[str, ...]:
    """The header of `compared_rows`."""
    return ("destination", *(_called(form, load) for form, load in models))


def _called(form: Form, load: Load) -> str:
    word = _WORDS.get(form, form.value)
    return word if load is Load.NONE else f"{word}, {load}"


def compared_rows(errors: Mapping[str, Sequence[float | None]]) -> list[list[str]]:
    """The validation errors of several models side by side, with their means in the last row.

    None where there were too few samples to fit a model.
    """
    names = shown(errors)
    rows = [[names[name], *(_error(one) for one in some)] for name, some in errors.items()]
    if len(errors) > 1:
        rows.append(["mean", *(_error(_mean(some)) for some in zip(*errors.values(), strict=True))])
    return rows


def _mean(errors: Sequence[float | None]) -> float | None:
    known = [one for one in errors if one is not None]
    return fmean(known) if known else None


def _error(error: float | None) -> str:
    return "too few" if error is None else f"{error:.1%}"


def change_rows(
    levels: Mapping[str, int], by_file: Sequence[Change], by_stream: Sequence[Change]
) -> list[list[str]]:
    """The present rate and the rates after either change, with their sum; under CHANGE_COLUMNS.

    `by_stream`: empty where streams were not varied.
    """
    names = shown(levels)
    by_streams = {one.destination: one.after_bps for one in by_stream}
    rows = [
        [
            names[file.destination],
            f"{levels[file.destination]}",
            format_rate(file.before_bps),
            format_rate(file.after_bps),
            format_rate(by_streams[file.destination]) if by_streams else _NOT_MEASURED,
        ]
        for file in by_file
    ]
    before_bps = sum(one.before_bps for one in by_file)
    after_bps = sum(one.after_bps for one in by_file)
    streams = format_rate(sum(by_streams.values())) if by_streams else _NOT_MEASURED
    total = f"{sum(levels.values())}"
    return [*rows, ["all", total, format_rate(before_bps), format_rate(after_bps), streams]]


def change_sentence(what: str, more: str, changes: Sequence[Change]) -> str:
    """What the change gains one destination, costs the others, and does to the total."""
    own_bps = sum(one.gain_bps for one in changes if one.destination == more)
    all_bps = sum(one.gain_bps for one in changes)
    said = f"{what} {_moves(own_bps)} {shown(one.destination for one in changes)[more]}"
    if len(changes) == 1:
        return f"{said} {_rate(own_bps)}."
    verb = "" if (own_bps < 0) == (all_bps - own_bps < 0) else f"{_moves(all_bps - own_bps)} "
    others = f"{verb}the others {_rate(all_bps - own_bps)}"
    less = "less" if all_bps < 0 else "more"
    return f"{said} {_rate(own_bps)} and {others}: all together get {_rate(all_bps)} {less}."


def _moves(gain_bps: float) -> str:
    return "costs" if gain_bps < 0 else "gains"


def _rate(bps: float) -> str:
    return format_rate(abs(bps))
