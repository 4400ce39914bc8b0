"""What the core takes from the traits of a transport that it does not know."""

from collections.abc import Iterator
from typing import get_args

import pytest

from advisor import traits
from advisor.api.command_line import only_note
from advisor.domain.space import flows_of
from advisor.domain.traits import TransportTraits, Use
from advisor.testing.tools import a_command_request


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One transport alone, whose flows are called lanes."""
    of_lanes = TransportTraits(label="Lanes/2", flow_parameter="lanes")
    with monkeypatch.context() as changed:
        changed.setattr(traits, "transports", lambda: ["lanes"])
        changed.setattr(traits, "transport_traits", lambda name: of_lanes)
        traits.flow_names.cache_clear()
        yield
    traits.flow_names.cache_clear()


@pytest.mark.usefixtures("lanes")
def test_the_flows_of_an_added_transport_are_counted() -> None:
    setting = {"lanes": 4, "block_bytes": 65536}
    assert flows_of(setting, traits.flow_names()) == 4
    assert flows_of({"concurrency": 2, "parallelism": 8}, traits.flow_names()) == 16


@pytest.mark.usefixtures("lanes")
def test_a_note_has_the_label_of_an_added_transport() -> None:
    request = a_command_request(subject="lanes", labels=traits.transport_labels() | {"tcp": "TCP"})
    [note] = only_note(request, "carrier", "tcp")
    assert note == "Lanes/2 was faster, but carrier has TCP only: this is the best TCP setting."


def test_each_use_has_a_method_by_default() -> None:
    found = {use: traits.default_method(use) for use in get_args(Use)}
    assert found == {
        "network": "bayes",
        "tool": "bayes",
        "transfer": "doubling",
        "priced transfer": "nelder-mead",
    }
