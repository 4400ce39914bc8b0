"""`--set`: the values of one parameter, as they are typed."""

import re
from typing import Final

from advisor.domain.quantities import parse_size
from advisor.domain.space import AUTOMATIC, SettingValue
from advisor.runtime.request import AxisValues

_FORM: Final = re.compile(r"(?:([A-Za-z0-9_-]+)\.)?([A-Za-z_]+)=(\S+)")
_RANGE: Final = re.compile(r"([^.,:]+)\.\.([^.,:]+):(\d{1,3})")
_BYTES: Final = "_bytes"
_SIZES: Final = frozenset({"buffer", "block", "request"})
_AUTOMATIC: Final = "auto"
_MOST: Final = 256
_HOW: Final = "write [SUBJECT.]PARAMETER=VALUE,VALUE,… or PARAMETER=LOW..HIGH:COUNT"


def parse_axis(text: str) -> AxisValues:
    """`streams=1,4,16`, `buffer=256KiB..16MiB:5`, `udt.block=auto,64KiB`.

    Raises ValueError with a sentence.
    """
    match = _FORM.fullmatch(text.strip())
    if not match:
        raise ValueError(_HOW)
    subject, name, values = match.groups()
    name = name + _BYTES if name in _SIZES else name
    if spread := _RANGE.fullmatch(values):
        low, high = (_whole(name, one) for one in spread.group(1, 2))
        count = int(spread.group(3))
        if not 2 <= count <= _MOST or low >= high:
            raise ValueError(f"a range goes from low to high, in 2 to {_MOST} values: {_HOW}")
        return AxisValues(name=name, subject=subject or "", low=low, high=high, count=count)
    listed = tuple(_value(name, one) for one in values.split(","))
    if len(listed) > _MOST:
        raise ValueError(f"give at most {_MOST} values")
    return AxisValues(name=name, subject=subject or "", values=listed)


def _value(name: str, text: str) -> SettingValue:
    return AUTOMATIC if text == _AUTOMATIC else _whole(name, text)


def _whole(name: str, text: str) -> int:
    if name.endswith(_BYTES):
        return parse_size(text)
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text} is not a whole number: {_HOW}") from None
