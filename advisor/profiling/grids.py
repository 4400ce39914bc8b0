"""The grids of a profile, from what the user declared and the space of each subject."""

import itertools
from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.advising.context import Context
from advisor.advising.profiling import SearchStage
from advisor.domain.grid import Axis, Grid
from advisor.domain.space import AUTOMATIC, FLOW_NAMES, Parameter, SettingValue, Space
from advisor.methods.lattice import spread_values
from advisor.runtime.request import AxisValues, ProfileRequest

MOST_FLOWS: Final = 128
MOST_BYTES: Final = 2**31 - 1
"""The most that may be declared: what iperf3 and a socket option take."""


def grids_of(
    request: ProfileRequest, stages: Sequence[SearchStage], context: Context
) -> list[Grid]:
    """A grid for each stage. Raises ValueError for values that no subject has."""
    spaces = [(stage.subject, stage.space(context)) for stage in stages]
    for axis in request.axes:
        _require_used(axis, spaces)
    return [
        Grid(
            subject=subject,
            axes=tuple(_axis(parameter, subject, request) for parameter in space.parameters),
            fixed=space.fixed,
            most_flows=space.most_flows,
        )
        for subject, space in spaces
    ]


def _require_used(axis: AxisValues, spaces: Sequence[tuple[str, Space]]) -> None:
    """Raises ValueError if the parameter of an axis is searched nowhere."""
    for subject, space in spaces:
        if axis.subject in ("", subject) and any(p.name == axis.name for p in space.parameters):
            return
    known = {
        subject: ", ".join(parameter.name for parameter in space.parameters)
        for subject, space in spaces
    }
    words = "; ".join(f"{subject} has {names}" for subject, names in known.items())
    name = f"{axis.subject}.{axis.name}" if axis.subject else axis.name
    raise ValueError(f"--set {name}: nothing that is measured has this parameter: {words}")


def _axis(parameter: Parameter, subject: str, request: ProfileRequest) -> Axis:
    for axis in request.axes:
        if axis.name == parameter.name and axis.subject in ("", subject):
            return Axis(parameter.name, _declared(axis, parameter))
    return Axis(parameter.name, _default(parameter, request.points))


def _default(parameter: Parameter, points: int) -> tuple[SettingValue, ...]:
    """Counts of flows double, as in the papers; other parameters are spread over their range."""
    if parameter.name not in FLOW_NAMES:
        return spread_values(parameter, points)
    doublings = (parameter.lower << n for n in itertools.count())
    return (*itertools.takewhile(lambda value: value < parameter.upper, doublings), parameter.upper)


def _declared(axis: AxisValues, parameter: Parameter) -> tuple[SettingValue, ...]:
    """The user's values: also those that a search would leave out."""
    if axis.count:
        scale = msgspec.structs.replace(
            parameter,
            lower=_value(axis.low, parameter),
            upper=_value(axis.high, parameter),
            automatic=False,
        )
        return spread_values(scale, axis.count)
    automatic = parameter.automatic or len(axis.values) == 1
    # Named for several subjects, the automatic value is for those that have one.
    wanted = (one for one in axis.values if automatic or one != AUTOMATIC)
    return tuple(dict.fromkeys(_value(one, parameter) for one in wanted))


def _value(value: SettingValue, parameter: Parameter) -> int:
    """The nearest value that the parameter can have. Raises ValueError for what it never has."""
    if value == AUTOMATIC and parameter.automatic:
        return AUTOMATIC
    if value == AUTOMATIC and parameter.name not in FLOW_NAMES:
        raise ValueError(
            f"--set {parameter.name}: a transport or tool has no automatic value: "
            "write SUBJECT.PARAMETER=auto for the one that has"
        )
    most = MOST_FLOWS if parameter.name in FLOW_NAMES else MOST_BYTES
    if isinstance(value, str) or not 0 < value <= most:
        unit = f" {parameter.unit}" if parameter.unit else ""
        automatic = ", or auto" if parameter.automatic else ""
        raise ValueError(
            f"--set {parameter.name}: {value} is not from {parameter.quantum} to {most}{unit}"
            f"{automatic}"
        )
    return max(1, round(value / parameter.quantum)) * parameter.quantum
