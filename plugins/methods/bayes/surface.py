"""The shape of throughput over a space: φ, and what is believed of its coefficients."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.api.method import PastSurface
from advisor.api.values import AUTOMATIC, Parameter, Space

from .candidates import is_count
from .prior import BY_ITSELF, row_of, ships

Array: TypeAlias = NDArray[np.float64]

OCTAVES: Final = 5.0
REMAINDER: Final = 0.1  # standard deviation of the smooth remainder, with the table
OWN: Final = 0.09  # of a setting's own deviation from its neighbours
FLOOR: Final = 2.5  # nats below the best
_TYPICAL_FILE_BYTES: Final = 2.0**25
_SAME_PAIR: Final = 0.25  # variance between two times on one pair, over that between pairs


class Surface:
    """φ of a space, and what is believed of w: normal with `mean` and `covariance`.

    A parameter that may be left to the kernel has a further column in u: 1 where it is, else 0. Its
    place is then that of the upper bound, and φ also holds the column and its products with the t
    of the others: how much faster or slower, and how it changes what the others do.
    """

    def __init__(self, space: Space, file_bytes: float | None, shipped: bool) -> None:
        self._parameters = space.parameters
        names = [p.name for p in space.parameters]
        self._automatic = [i for i, p in enumerate(space.parameters) if p.automatic]
        self.size = math.log2((file_bytes or _TYPICAL_FILE_BYTES) / _TYPICAL_FILE_BYTES) / OCTAVES
        terms = [(n,) for n in names] + list(combinations_with_replacement(names, 2))
        for i in self._automatic:
            terms += [(BY_ITSELF,), *((BY_ITSELF, n) for n in _others(names, i))]
        rows = [row_of(term, shipped) for term in terms]
        self.known = shipped and ships(names)
        d = len(terms)
        self._between = np.diag([row[2] ** 2 for row in rows])
        means = np.array([row[0] for row in rows] + [row[1] for row in rows])
        # The shipped means rest on four records; without them nearly any shape is possible.
        doubt = (0.5 if self.known else 1.5) ** 2
        precision = np.linalg.inv(np.kron(np.eye(2), self._between) * doubt)
        self._precision: Array = precision
        self._shift: Array = precision @ means
        self._d = d
        self._own: list[tuple[Array, Array]] = []

    def places(self, settings: Sequence[Mapping[str, Any]]) -> Array:
        """u of settings, one row each, with the columns of the automatic parameters at the end."""
        columns = [
            [_place(p, float(setting[p.name])) for setting in settings] for p in self._parameters
        ]
        for parameter in (self._parameters[i] for i in self._automatic):
            columns.append([float(s[parameter.name] == AUTOMATIC) for s in settings])
        return np.array(columns, dtype=float).T.reshape(len(settings), len(columns))

    def features(self, u: Array) -> Array:
        """φ(u), one row each."""
        sized = len(self._parameters)
        t, flags = 2 * u.T[:sized] - 1, u.T[sized:]
        second = [
            1.5 * t[i] ** 2 - 0.5 if i == j else t[i] * t[j]
            for i, j in combinations_with_replacement(range(len(t)), 2)
        ]
        for i, flag in zip(self._automatic, flags, strict=True):
            second += [flag, *(flag * other for other in _others(list(t), i))]
        columns: Array = np.stack([*t, *second], axis=1).astype(np.float64)
        return columns

    def learn(self, past: PastSurface, noise: float) -> None:
        """Learn from another condition; its level is not used, only its shape."""
        usable = [
            (s, math.log(rate), n)
            for s, rate, n in zip(past.settings, past.rates_bps, past.repeats, strict=True)
            if rate > 0 and all(_is_near(p, s.get(p.name)) for p in self._parameters)
        ]
        if len(usable) < 2:
            return
        phi = self.features(self.places([s for s, _, _ in usable]))
        y = np.array([value for _, value, _ in usable])
        y = np.maximum(y, y.max() - FLOOR)
        weight = 1 / (REMAINDER**2 + OWN**2 + noise**2 / np.array([n for _, _, n in usable]))
        phi, y = phi - np.average(phi, 0, weight), y - np.average(y, None, weight)
        information = phi.T @ (phi * weight[:, None])
        shift = phi.T @ (y * weight)
        # w of that condition is w of this one plus the difference between conditions.
        share = _SAME_PAIR if past.same_pair else 1.0
        blur = np.linalg.inv(np.eye(self._d) + share * information @ self._between)
        if past.same_pair:
            self._own.append((blur @ information, blur @ shift))
            return
        size = math.log2((past.file_bytes or _TYPICAL_FILE_BYTES) / _TYPICAL_FILE_BYTES) / OCTAVES
        self._precision += np.kron([[1, size], [size, size**2]], blur @ information)
        self._shift += np.kron([1, size], blur @ shift)

    def belief(self) -> tuple[Array, Array]:
        """Mean and covariance of this condition's w."""
        at = np.kron(np.array([[1.0, self.size]]), np.eye(self._d))
        shared = np.linalg.inv(self._precision)
        mean, covariance = at @ shared @ self._shift, at @ shared @ at.T + self._between
        for information, shift in self._own:
            precision = np.linalg.inv(covariance)
            covariance = np.linalg.inv(precision + information)
            mean = covariance @ (precision @ mean + shift)
        return mean, (covariance + covariance.T) / 2


def _others(values: list[Any], index: int) -> list[Any]:
    return values[:index] + values[index + 1 :]


def _is_near(parameter: Parameter, value: object) -> bool:
    """Within an octave of the bounds, or the automatic value where the space has one."""
    if not isinstance(value, int | float):
        return False
    return parameter.contains(value) or parameter.lower / 2 <= value <= parameter.upper * 2


def _place(parameter: Parameter, value: float) -> float:
    if parameter.automatic and value == AUTOMATIC:
        value = parameter.upper
    if is_count(parameter):
        return math.log2(max(value, 1.0)) / OCTAVES
    if parameter.upper == parameter.lower:
        return 0.0
    # No scale of sizes holds on every path, so the space's own bounds are used.
    return math.log2(max(value, 1.0) / parameter.lower) / math.log2(
        parameter.upper / parameter.lower
    )
