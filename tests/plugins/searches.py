"""What the tests of search methods have in common."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from advisor import registry
from advisor.domain.space import Parameter, Setting, Space
from advisor.methods.api import Knowledge, Method
from advisor.testing.samples import measured


class InOrder(np.random.Generator):
    """A generator that shuffles nothing, so that a search can be followed by hand."""

    def permutation(self, x: Any, axis: int = 0) -> Any:
        assert axis == 0
        return np.arange(x)


def counts(**bounds: tuple[int, int]) -> Space:
    """A space of whole numbers on linear scales, the first the dearest."""
    return Space(
        parameters=tuple(
            Parameter(name=name, unit="", lower=lower, upper=upper)
            for name, (lower, upper) in bounds.items()
        ),
        cost_order=tuple(bounds),
    )


def make(name: str, space: Space, knowledge: Knowledge | None = None, **constants: float) -> Method:
    rng = InOrder(np.random.PCG64(1))
    return registry.method(name).create(space, rng, knowledge or Knowledge(), constants)


def asked(method: Method) -> tuple[Any, ...]:
    """The setting asked, its values alone."""
    setting = method.ask()
    assert setting is not None
    return tuple(setting.values())


def tell(method: Method, *gbps: float) -> list[Any]:
    """Tell these throughputs one after the other; the settings asked for them."""
    settings = []
    for one in gbps:
        setting = method.ask()
        assert setting is not None, method.stop_reason
        settings.append(tuple(setting.values()))
        method.tell(setting, measured(one * 1e9))
    return [values[0] if len(values) == 1 else values for values in settings]


def follow(method: Method, gbps_of: Callable[[Setting], float], probes: int) -> Sequence[Any]:
    """This many probes on a surface, fewer where it stops; the settings asked."""
    settings: list[Any] = []
    while len(settings) < probes and (setting := method.ask()) is not None:
        settings += tell(method, gbps_of(setting))
    return settings
