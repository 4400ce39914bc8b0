"""How long a transfer tool takes for a set of files: a cost model, fitted to what it has moved.

The papers give its parts. A file costs round trips and time of the hosts whatever its size, which
pipelining and concurrency hide (Yildirim, Arslan, Kim, Kosar: "Application-Level Optimization of
Big Data Transfers through Pipelining, Parallelism and Concurrency", 2016); a stream has
a rate of its own, set by its window or by losses; and all share the path. With c files at a time
over p streams each:

    work     = files × overhead(p) + bytes ÷ min(p × stream rate, path's rate)    in worker seconds
    moving   = soft maximum of (work ÷ c, bytes ÷ path's rate, files × turn) + end
               + (min(c, c that fill the path) − 1) × session(p)
    seconds  = start + soft maximum of (moving, (c − 1) × session(p))

Sessions begin one after another, and the first ones move files meanwhile. Those that begin on a
full path delay nothing, but the transfer is not over before the last one has begun.

`turn` is what a file costs while no other one may begin, however many are under way: a lock of the
tool, or the rate at which the destination makes files. So no more than work ÷ (files × turn) files
are under way at a time, and a tool that opens a connection only when a file finds none free opens
no more sessions than that.

`end` is what is lost at the end, when fewer than c files are left: the mean residual life of the
files under way, at most the longest file, times the share of the rate that one worker alone lacks.

The model is not used as it is. A probe of a slice took `t`; the whole takes `t` times the model's
time for the whole over its time for the slice. What the model gets wrong for both cancels, and the
nearer the slice is to the whole the less it matters. Its parameters are the most probable ones
(normal priors on their logarithms, least squares), and their covariance gives the error of
that ratio. The noise of the probes is what the model leaves unexplained, over the degrees of
freedom that its parameters do not use up (MacKay, "Bayesian Interpolation", 1992: N − γ).
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from advisor.domain.dataset import Work
from advisor.domain.measurement import Measurement
from advisor.domain.space import SettingValue, concurrency_of
from advisor.domain.traits import KnownCosts
from advisor.models.comparison import AssumedSpread

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Array: TypeAlias = NDArray[np.float64]
_Group: TypeAlias = tuple[tuple[str, SettingValue], ...]

_SHARPNESS: Final = 4.0
"""Exponent of the soft maximum: a path that is just filled by its workers reaches 84 % of each."""

_NOISE: Final = AssumedSpread(0.04, 4)
"""Relative standard deviation of one probe's time around the model, as supposed before any."""

_NOISE_ROUNDS: Final = 3
"""The most probable parameters depend on the noise, and the noise on them."""

_SAME_NOISE: Final = 0.15
"""A noise that changes by a smaller fraction needs no further round."""

_USUAL_BPS: Final = 1e9
_UNFILLED: Final = 0.5
_FIRST_WINDOW_BYTES: Final = 10 * 1448
_SMALL: Final = 1e-3
_UNKNOWN: Final = KnownCosts()
_START: Final = 2
_TURN: Final = 7
_OWN: Final = 8
"""Parameters of every model; those of groups follow."""

_FLOWS: Final = frozenset({"concurrency", "parallelism", "streams"})


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """One probe: what was moved at a setting in `seconds`.

    `idle_s`: of these, before the first byte and after the last.
    """

    setting: Mapping[str, SettingValue]
    work: Work
    seconds: float
    idle_s: float

    @classmethod
    def of(cls, setting: Mapping[str, SettingValue], measured: Measurement) -> "Moved":
        """Of a measurement that has `work`."""
        flowed_s = measured.intervals[-1].end_s if measured.intervals else measured.elapsed_s
        assert isinstance(measured.work, Work)  # See above.
        return cls(
            setting=setting,
            work=measured.work,
            seconds=measured.elapsed_s,
            idle_s=max(0.0, measured.elapsed_s - flowed_s),
        )


class _Parameter(msgspec.Struct, frozen=True):
    """The prior of a parameter's logarithm: exp(mean) in its unit, and the standard deviation."""

    usual: float
    spread: float


class _Rows(msgspec.Struct, frozen=True):
    """Settings and what is moved at them as columns, a row each.

    `groups`: a column for each of the model's, 1 where the row belongs to it. `opens_late`: whether
    a connection is opened only when a file finds none free.
    """

    workers: Array
    streams: Array
    groups: Array
    files: Array
    total_bytes: Array
    largest_bytes: Array
    square_bytes: Array
    is_whole: Array
    opens_late: bool

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[Mapping[str, SettingValue], Work]],
        groups: Sequence[_Group],
        *,
        opens_late: bool,
    ) -> "_Rows":
        works = [work for _, work in rows]
        files = np.array([max(work.files, 1e-3) for work in works])
        workers = np.array([float(concurrency_of(setting)) for setting, _ in rows])
        return cls(
            workers=np.maximum(1.0, np.minimum(workers, files)),
            streams=np.array([float(_streams(setting)) for setting, _ in rows]),
            groups=np.array(
                [[_group(s) == group for group in groups] for s, _ in rows], dtype=float
            ),
            files=files,
            total_bytes=np.array([max(1.0, work.total_bytes) for work in works]),
            largest_bytes=np.array([float(work.largest_bytes) for work in works]),
            square_bytes=np.array([float(work.square_bytes) for work in works]),
            is_whole=np.array([not work.is_cut for work in works], dtype=float),
            opens_late=opens_late,
        )


class _Problem(msgspec.Struct, frozen=True, kw_only=True):
    """The most probable values after probes. `log_seconds`: the logarithms of their times; `noise`:
    their standard deviation; `usual`, `spread`: the priors."""

    rows: _Rows
    log_seconds: Array
    noise: float
    usual: Array
    spread: Array

    def residuals(self, values: Array) -> Array:
        """In standard deviations: of each probe, and of each value from its prior."""
        off = (_log_seconds(self.rows, values) - self.log_seconds) / self.noise
        return np.concatenate([off, (values - self.usual) / self.spread])

    def slopes(self, values: Array) -> Array:
        """The derivatives of the residuals, a column for each value."""
        return np.vstack([_slopes(self.rows, values) / self.noise, np.diag(1 / self.spread)])

    def solved(self) -> "OptimizeResult":
        """The least squares."""
        from scipy.optimize import least_squares  # Imported late: it takes a while.

        # While turns are short beside the rest, their slope is zero: look from the other end too.
        longest_turn = self.usual.copy()
        longest_turn[_TURN] = float(np.min(self.log_seconds - np.log(self.rows.files)))
        found = [
            least_squares(self.residuals, start, self.slopes, method="lm")
            for start in (self.usual, longest_turn)
        ]
        return min(found, key=lambda one: float(one.cost))

    def noise_around(self, solved: "OptimizeResult", covariance: Array) -> AssumedSpread:
        """The noise that the probes show around a solution, with what was supposed of it.

        `covariance`: of the values. Its degrees of freedom are the probes less the parameters that
        they determine.
        """
        count = self.log_seconds.size
        slopes, off = solved.jac[:count], solved.fun[:count] * self.noise
        free = count - float(np.sum((slopes @ covariance) * slopes))
        degrees = _NOISE.degrees + free
        squares = _NOISE.degrees * _NOISE.value**2 + float(off @ off)
        return AssumedSpread(math.sqrt(squares / degrees), degrees)


class CostModel:
    """The model of one path and tool.

    `network`: rates from memory to memory by the number of streams, in bit/s. If they do not show
    the path's rate, `most_bps` may. `known`: what is known of the tool. `noise`: how much the time
    of one probe differs from the model.
    """

    def __init__(
        self,
        rtt_s: float,
        network: Mapping[int, float],
        most_bps: float | None = None,
        known: KnownCosts = _UNKNOWN,
    ) -> None:
        usual_bps, spread = _link(network, most_bps)
        window_bps = known.window_bytes * 8 / rtt_s
        stream = _stream(network.get(1), usual_bps, window_bps)
        self._login_s = known.start * rtt_s
        self._opens_late = known.connection > 0
        self.noise = _NOISE
        # Logarithm of the usual value, and its standard deviation, in the order of `_log_seconds`.
        self._priors = [
            (usual_bps, spread),
            stream,
            (0.3 + (known.start or 16) * rtt_s, 0.4),
            (_slow_start_s(rtt_s, min(network.get(1, usual_bps), window_bps or math.inf)), 0.6),
            (known.connection * rtt_s or 0.01, 0.7 if known.connection else 1.2),
            (_file_s(rtt_s, known), 0.7),
            (0.15, 0.7),
            (known.turn * rtt_s or 1e-3, 0.7 if known.turn else 1.5),
        ]
        self._groups: list[_Group] = []
        self._values: Array = np.log([usual for usual, _ in self._priors])
        self._covariance: Array = np.diag([spread**2 for _, spread in self._priors])

    def fit(self, probes: Sequence[Moved]) -> "CostModel":
        """Make it the most probable model after these probes; returns itself."""
        if not probes:
            return self
        idle_s = float(np.median([probe.idle_s for probe in probes]))
        # A login has bytes of its own, so the time before the first byte is not all of it.
        start_s = max(1e-3, 0.85 * idle_s) + self._login_s
        self._priors[_START] = (start_s, 0.5 if self._login_s else 0.3)
        # Options beside the flows change what a file costs: each combination has its own factor.
        self._groups = sorted({_group(probe.setting) for probe in probes}, key=str)
        priors = [*self._priors, *((1.0, 0.7) for _ in self._groups)]
        rows = self._rows([(probe.setting, probe.work) for probe in probes])
        problem = _Problem(
            rows=rows,
            log_seconds=np.log([probe.seconds for probe in probes]),
            noise=_NOISE.value,
            usual=np.log([value for value, _ in priors]),
            spread=np.array([spread for _, spread in priors]),
        )
        for _ in range(_NOISE_ROUNDS):
            best = problem.solved()
            self._covariance = np.linalg.inv(best.jac.T @ best.jac)
            self.noise = problem.noise_around(best, self._covariance)
            if abs(self.noise.value / problem.noise - 1) < _SAME_NOISE:
                break
            problem = msgspec.structs.replace(problem, noise=self.noise.value)
        self._values = best.x
        return self

    @property
    def turn_s(self) -> tuple[float, float]:
        """What a file costs while no other one may begin, and the standard deviation of its
        logarithm."""
        return math.exp(self._values[_TURN]), math.sqrt(self._covariance[_TURN, _TURN])

    def seconds(self, settings: Sequence[Mapping[str, SettingValue]], work: Work) -> list[float]:
        """The time that the model expects at each setting, in seconds."""
        rows = self._rows([(setting, work) for setting in settings])
        return [float(value) for value in np.exp(_log_seconds(rows, self._values))]

    def log_ratios(
        self, whole: Work, probes: Sequence[tuple[Mapping[str, SettingValue], Work]]
    ) -> list[tuple[float, float]]:
        """For each setting and part of the whole moved at it: log of the whole's time over that of
        the part, and the standard deviation of its error.
        """
        parts = self._rows(probes)
        wholes = self._rows([(setting, whole) for setting, _ in probes])
        ratios = _log_seconds(wholes, self._values) - _log_seconds(parts, self._values)
        slopes = _slopes(wholes, self._values) - _slopes(parts, self._values)
        errors = np.sqrt(np.einsum("ij,jk,ik->i", slopes, self._covariance, slopes))
        return list(zip(ratios.tolist(), errors.tolist(), strict=True))

    def _rows(self, rows: Sequence[tuple[Mapping[str, SettingValue], Work]]) -> _Rows:
        return _Rows.of(rows, self._groups, opens_late=self._opens_late)


def _stream(alone_bps: float | None, link_bps: float, window_bps: float) -> tuple[float, float]:
    """The rate of one stream of the tool in bit/s, and the standard deviation of its logarithm.

    `alone_bps`: that of a long one from memory to memory. One that starts with every file does not
    reach it. `window_bps`: the most that the tool's own window allows, 0 without one.
    """
    usual_bps = 0.7 * (alone_bps or link_bps)
    if 0 < window_bps < usual_bps:
        return window_bps, 0.2
    return usual_bps, 0.5 if alone_bps else 1.0


def _file_s(rtt_s: float, known: KnownCosts) -> float:
    """About what a file costs whatever its size: its round trips, and the time of both hosts, which
    is less where files follow each other in one stream."""
    return known.file * rtt_s + (0.005 if known.file else 0.001)


def _slow_start_s(rtt_s: float, stream_bps: float) -> float:
    """About what a stream loses until it has its rate: a round trip for each doubling but the last.

    From ten packets (RFC 6928), without losses.
    """
    doublings = math.log2(max(2.0, stream_bps / 8 * rtt_s / _FIRST_WINDOW_BYTES))
    return 0.01 + rtt_s * max(1.0, doublings - 1)


def _link(network: Mapping[int, float], most_bps: float | None) -> tuple[float, float]:
    """The path's rate in bit/s, and the standard deviation of its logarithm.

    Many streams that reach half of what as many single ones would may still be limited each by its
    window or by losses; then theirs is a lower bound.
    """
    flows, best_bps = max(network.items(), key=lambda pair: pair[1], default=(1, 0.0))
    if not best_bps:
        return most_bps or _USUAL_BPS, 1.0
    if 1 in network and flows > 1 and best_bps > _UNFILLED * flows * network[1]:
        return min(2 * best_bps, most_bps or math.inf), 0.7
    return best_bps, 0.08


def _log_seconds(rows: _Rows, values: Array) -> Array:
    """See the module's text; one value per row. `values`: several, for a line of rows each."""
    own_values = np.exp(values.T[:_OWN])[..., None]
    link, stream, start, ramp, session, file, by_streams, turn = own_values
    own = np.exp(values[..., _OWN:] @ rows.groups.T)
    more_streams = 1 + by_streams * np.log2(rows.streams)
    file_s, session_s = own * file * more_streams, session * more_streams
    byte_s = 8 * _soft_maximum(1 / (rows.streams * stream), 1 / link)
    busy_s = rows.files * file_s + rows.total_bytes * byte_s
    longest_s = file_s + rows.largest_bytes * byte_s
    squares = rows.files * file_s**2 + rows.square_bytes * byte_s**2
    squares += 2 * file_s * rows.total_bytes * byte_s
    residual_s = 1 / _soft_maximum(1 / longest_s, 2 * busy_s / (rows.workers * squares))
    # What one worker moves meanwhile, as a share of what all together would.
    alone = np.maximum(1 / rows.workers, np.minimum(1.0, 8 / (byte_s * link)))
    end_s = rows.is_whole * (1 - alone) * residual_s
    flowing_s = _soft_maximum(busy_s / rows.workers, rows.total_bytes * 8 / link)
    flowing_s = _soft_maximum(flowing_s, rows.files * turn) + end_s
    opened = rows.workers
    if rows.opens_late:
        under_way = busy_s / (rows.files * turn)
        opened = np.maximum(1.0, 1 / _soft_maximum(1 / opened, 1 / under_way))
    filling = np.minimum(opened, np.maximum(1.0, busy_s * link / (8 * rows.total_bytes)))
    moving_s = flowing_s + session_s * (filling - 1)
    moving_s = _soft_maximum(moving_s, session_s * (opened - 1))
    logs: Array = np.log(start + ramp + moving_s)
    return logs


def _slopes(rows: _Rows, values: Array) -> Array:
    """The derivatives of `_log_seconds`, a column for each parameter."""
    moved = _log_seconds(rows, values + _SMALL * np.eye(values.size))
    slopes: Array = (moved - _log_seconds(rows, values)).T / _SMALL
    return slopes


def _streams(setting: Mapping[str, SettingValue]) -> int:
    """Streams for each file."""
    return max(1, int(setting.get("parallelism", setting.get("streams", 1))))


def _group(setting: Mapping[str, SettingValue]) -> _Group:
    """What a setting has beside its flows."""
    return tuple(sorted((k, v) for k, v in setting.items() if k not in _FLOWS))


def _soft_maximum(one: Array, other: Array) -> Array:
    top = np.maximum(one, other)
    sum_: Array = ((one / top) ** _SHARPNESS + (other / top) ** _SHARPNESS) ** (1 / _SHARPNESS)
    return top * sum_
