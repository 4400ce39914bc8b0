"""HARP's answer with its evidence for display: each group, its weight and its prediction."""

import math
from typing import Final, get_args

import numpy as np

from advisor.domain.evidence import (
    Evidence,
    GroupLeftOut,
    Level,
    RateAt,
    SampleSeen,
    SimilarGroup,
    SurfaceSlice,
)
from advisor.domain.transfers import Conditions, Levels
from advisor.models.harp.entries import Floats, History, Indices
from advisor.models.harp.optimiser import FittedGroup, HarpAnswer, SampleTransfer
from advisor.models.harp.optimum import levels_of_row, row_of

_SHOWN: Final = 6
"""Further groups are counted, but have no slices."""

_CURVE_POINTS: Final = 24
_AXES: Final[tuple[Level, ...]] = get_args(Level)


def evidence_of(
    wanted: Conditions, sample: SampleTransfer | None, history: History, answer: HarpAnswer
) -> Evidence:
    """What `optimise` found in this history for these conditions."""
    total = math.fsum(one.weight for one in answer.groups)
    return Evidence(
        wanted=wanted,
        known=len(history),
        similar=len(answer.similar.rows),
        threshold=answer.similar.threshold,
        sample=(
            SampleSeen(levels=sample.levels, throughput_bps=sample.throughput_bps)
            if sample
            else None
        ),
        levels=answer.levels,
        throughput_bps=answer.throughput_bps,
        groups=[
            _group(history, one, one.weight / total, answer, sliced=place < _SHOWN)
            for place, one in enumerate(answer.groups)
        ],
        left_out=[
            GroupLeftOut(
                conditions=_conditions(history, one.rows),
                began_s=_began_s(history, one.rows),
                transfers=len(one.rows),
                reason=one.reason,
            )
            for one in answer.left_out
        ],
        worth=answer.worth,
    )


def _group(
    history: History, one: FittedGroup, share: float, answer: HarpAnswer, *, sliced: bool
) -> SimilarGroup:
    return SimilarGroup(
        conditions=_conditions(history, one.rows),
        began_s=_began_s(history, one.rows),
        transfers=len(one.rows),
        likeness=one.likeness,
        share=share,
        degree=one.surface.degree,
        training_r2=one.surface.training_r2,
        validation_r2=one.surface.validation_r2,
        sample_bps=one.expected_bps,
        answer_bps=float(one.surface.plausible(row_of(answer.levels), answer.carried_bps)[0]),
        best=one.top,
        best_bps=one.top_bps,
        slices=_slices(history, one, answer.levels) if sliced else [],
        surface=one.surface.kind,
    )


def _conditions(history: History, rows: Indices) -> Conditions:
    """The conditions of the first row, which the others resemble."""
    row = int(rows[0])

    def known(column: Floats) -> float | None:
        return None if np.isnan(column[row]) else float(column[row])

    count = known(history.file_count)
    return Conditions(
        file_bytes=float(history.file_bytes[row]),
        file_count=None if count is None else int(count),
        bandwidth_bps=known(history.bandwidth_bps),
        rtt_s=known(history.rtt_s),
        buffer_bytes=known(history.buffer_bytes),
        network=history.networks[history.network[row]],
    )


def _began_s(history: History, rows: Indices) -> float | None:
    known = history.when_s[rows]
    known = known[~np.isnan(known)]
    return float(known.min()) if len(known) else None


def _slices(history: History, one: FittedGroup, answer: Levels) -> list[SurfaceSlice]:
    """One slice for each level that the group varied."""
    measured = history.levels[one.rows]
    rates_bps = history.throughput_bps[one.rows]
    found = []
    for axis in np.flatnonzero(one.surface.varied):
        others = [i for i in range(3) if i != axis]
        apart = np.abs(np.log2(measured[:, others]) - np.log2(row_of(answer)[others])).sum(axis=1)
        held = measured[int(apart.argmin())].copy()
        on_line = (measured[:, others] == held[others]).all(axis=1)
        values = np.geomspace(one.surface.lower[axis], one.surface.upper[axis], _CURVE_POINTS)
        line = np.repeat(held[None, :], len(values), axis=0)
        line[:, axis] = values
        held[axis] = row_of(answer)[axis]
        found.append(
            SurfaceSlice(
                level=_AXES[axis],
                held=levels_of_row(held),
                fitted=_pairs(values, one.surface.at(line)),
                measured=_pairs(measured[on_line, axis], rates_bps[on_line]),
            )
        )
    return found


def _pairs(values: Floats, rates_bps: Floats) -> list[RateAt]:
    return sorted(
        (float(value), float(rate)) for value, rate in zip(values, rates_bps, strict=True)
    )
