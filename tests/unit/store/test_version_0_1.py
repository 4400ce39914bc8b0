"""What version 0.1 wrote must stay readable: a store, a conversation with an agent, saved searches.

The files in tests/data/version_0_1 were written by real sessions, before packages and names were
changed. They are never written again.
"""

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pytest

from advisor import registry
from advisor.agent import messages as m
from advisor.domain.records import Record
from advisor.store.event_log import kept_events
from advisor.store.history import Store
from advisor.testing.samples import measured
from tests.plugins import golden_trajectories as golden

WRITTEN: Final = Path(__file__).parents[2] / "data" / "version_0_1"
STATES: Final = json.loads((WRITTEN / "method_states.json").read_text())
CONVERSATION: Final = [
    json.loads(line) for line in (WRITTEN / "conversation.jsonl").read_text().splitlines()
]


RENAMED: Final = {"spsa": "spsa-probdata"}
"""What has another name now. The present `spsa` resumes such a state too, with other steps."""

REWRITTEN: Final = ("doubling",)
"""What searches in another way now, from other states: it begins again."""


def journal_lines() -> list[str]:
    return [
        line
        for journal in sorted(WRITTEN.glob("store/*/journal.jsonl"))
        for line in journal.read_text().splitlines()
    ]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Path(shutil.copytree(WRITTEN / "store", tmp_path / "store")))


@pytest.mark.parametrize("line", journal_lines())
def test_a_record_is_read_and_written_as_it_was(line: str) -> None:
    record = msgspec.json.decode(line, type=Record)
    assert json.loads(msgspec.json.encode(record)) == json.loads(line)


def test_there_is_a_record_of_every_kind_that_sessions_write() -> None:
    kinds = Counter(json.loads(line)["record"] for line in journal_lines())
    assert kinds == {"probe": 23, "share": 8, "transfer": 5, "session": 2, "advice": 2, "remark": 2}


def test_the_store_lists_its_pairs_and_sessions(store: Store) -> None:
    counts = {one.pair.destination: len(store.records(one.pair)) for one in store.pairs()}
    # Of mason there are only shares, which make no pair.
    assert counts == {"lab:fx:kraken": 29, "siteB": 1, "siteC": 8}


@pytest.mark.parametrize("log", sorted(WRITTEN.glob("store/*/raw/*/events.jsonl.gz")), ids=str)
def test_kept_events_are_read_and_written_as_they_were(log: Path) -> None:
    lines = gzip.decompress(log.read_bytes()).splitlines()
    events = list(kept_events(log.parent))
    assert len(events) == len(lines)
    for event, line in zip(events, lines, strict=True):
        assert_kept(json.loads(line), json.loads(msgspec.json.encode(event)))


@pytest.mark.parametrize("said", CONVERSATION, ids=lambda said: said["line"][:40])
def test_a_message_is_read_and_written_as_it_was(said: dict[str, str]) -> None:
    line = said["line"].encode()
    read: Any = m.read_request if said["kind"] == "request" else m.read_reply
    assert_kept(json.loads(line), json.loads(m.as_line(read(line))))


def assert_kept(stored: Any, written: Any) -> None:
    """All of it is there still. Fields that were added since have their defaults."""
    if isinstance(stored, dict):
        for name, value in stored.items():
            assert_kept(value, written[name])
    elif isinstance(stored, list):
        assert len(stored) == len(written)
        for one, other in zip(stored, written, strict=True):
            assert_kept(one, other)
    else:
        assert stored == written


def test_every_message_of_that_conversation_is_known() -> None:
    said = {
        json.loads(one["line"]).get("do") or json.loads(one["line"])["say"] for one in CONVERSATION
    }
    kinds = [*m.Request.__args__, *m.Reply.__args__]
    assert said <= {kind.__struct_config__.tag for kind in kinds}
    assert len(said) > 30


@pytest.mark.parametrize(
    ("name", "surface"),
    [(name, surface) for name in STATES if name not in REWRITTEN for surface in STATES[name]],
)
def test_a_saved_search_resumes_where_it_was(name: str, surface: str) -> None:
    kept = STATES[name][surface]
    space, throughput = golden.SURFACES[surface]
    rng = np.random.default_rng(0)
    method = registry.method(RENAMED.get(name, name)).create(space, rng, golden.KNOWLEDGE, {})
    method.restore(kept["state"])
    asked = []
    for number in range(kept["told"] + 1, kept["told"] + 1 + len(kept["asked_after"])):
        setting = method.ask()
        assert setting is not None
        asked.append(setting)
        method.tell(setting, measured(round(throughput(setting, number))))
    assert asked == kept["asked_after"]


def test_a_saved_search_is_resumed_by_the_present_method_of_its_name() -> None:
    for surface, kept in STATES["spsa"].items():
        space, _ = golden.SURFACES[surface]
        rng = np.random.default_rng(0)
        method = registry.method("spsa").create(space, rng, golden.KNOWLEDGE, {})
        method.restore(kept["state"])
        assert method.ask() == next(iter(kept["asked_after"]), None)
