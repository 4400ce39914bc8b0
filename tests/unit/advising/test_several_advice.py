"""What is advised of several connections: all of them, one, or that it is not clear."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from advisor.advising.advice import AdviceInputs
from advisor.advising.contenders import contenders, rank_contenders
from advisor.advising.context import Context
from advisor.advising.several_advice import Searched, advice_for_several
from advisor.domain.advice import Advice
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.models.at_once import compare_at_once
from advisor.report.markdown import markdown_text
from advisor.report.text import advice_text
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_host, a_path, measured

PAIR = Pair("here", "there")
FAST, SLOW = 4, 2


class Probed:
    """As much of a context as advice is made from."""

    def __init__(self, path: PathFacts, probes: list[ProbeRecord]) -> None:
        self.path = path
        self.probes = probes


def searched(number: int, streams: int, bps: float) -> Searched:
    setting: Setting = {"streams": streams, "buffer_bytes": 2**22, "congestion": "cubic"}
    path = a_path(
        source_address=f"10.0.{number}.1",
        destination_address=f"10.0.{number}.2",
        chose_source=True,
        bandwidth_bps=None,
        source=a_host(interface=f"eth{number}"),
        destination=a_host(interface=f"ens{number}"),
    )
    probes = [
        ProbeRecord(
            pair=PAIR,
            subject="tcp",
            setting=setting,
            result=measured(bps * factor),
            recorded_s=0.0,
            purpose=purpose,
            label="best",
        )
        for purpose, factor in (("search", 1.0), ("confirm", 0.99), ("confirm", 1.01))
    ]
    ranking = rank_contenders(contenders(probes, (), {}), {})
    assert ranking is not None
    return Searched(cast(Context, Probed(path, probes)), ranking)


BOTH = [searched(1, FAST, 9e9), searched(2, SLOW, 5e9)]


def advice(at_once_gbps: Sequence[Sequence[float]], **changes: Any) -> Advice:
    fields: dict[str, Any] = {
        "destination": Endpoint("there"),
        "dataset": Dataset(total_bytes=10**13, path="/data/f", largest="", largest_bytes=10**13),
        "destination_path": "/store/f",
        "tools": ["xdd", "rclone", "globus-url-copy"],
    }
    request = AdviceRequest(**(fields | changes))
    inputs = AdviceInputs(session="s", request=request, pair=PAIR, path=BOTH[0].context.path)
    rates = [[gbps * 1e9 for gbps in one] for one in at_once_gbps]
    alone = [[9.0e9, 9.05e9, 8.95e9], [5.0e9, 5.02e9, 4.99e9]]
    together = compare_at_once(alone, rates) if rates else None
    return advice_for_several(inputs, BOTH, together, len(rates), incomplete=False)


def test_all_connections_are_used_where_that_adds() -> None:
    found = advice([(9.0, 4.9), (8.9, 5.0), (9.0, 5.0)])
    assert found.at_once
    assert found.at_once.adds
    assert found.expected_bps == pytest.approx(9e9, rel=0.01)
    assert found.overall_bps.value == pytest.approx(13.9e9, rel=0.01)
    assert found.transfer_s is not None
    assert found.transfer_s.value == pytest.approx(8e13 / 13.9e9, rel=0.01)
    text = advice_text(found, columns=200)
    assert "use      2 connections at once, each at its setting below" in text
    assert "eth2 to ens2: alone 5.00 Gbit/s, beside the others 4.97 Gbit/s (99%)" in text
    assert "All at once" in markdown_text(found, 0.0)


def test_a_tool_that_can_has_one_pair_of_lines_and_others_a_line_for_each() -> None:
    found = advice([(9.0, 5.0)] * 3, server_url="gsiftp://there:2811")
    xdd = [line for line in found.commands if line.tool == "xdd"]
    assert [line.side for line in xdd] == ["destination", "source"]
    assert "10.0.1.2:40010,4" in xdd[1].argv
    assert "10.0.2.2:40014,2" in xdd[1].argv
    rclone = [line for line in found.commands if line.tool == "rclone"]
    assert [line.argv[line.argv.index("--bind") + 1] for line in rclone] == ["10.0.1.1", "10.0.2.1"]
    assert rclone[0].note.startswith("Over eth1 to ens1, while the lines for the other")
    assert "give it 64% of the bytes" in rclone[0].note
    assert "give it 36% of the bytes" in rclone[1].note
    copies = [line.argv[-1] for line in found.commands if line.tool == "globus-url-copy"]
    assert ["10.0.1.2:2811" in copies[0], "10.0.2.2:2811" in copies[1]] == [True, True]


def test_a_shared_bottleneck_is_one_connection() -> None:
    found = advice([(4.5, 4.5), (6.0, 3.05), (4.0, 4.95)])
    assert found.at_once
    assert not found.at_once.adds
    assert "they share what limits them, so use one" in found.reasons[0]
    assert "use      eth1 to ens1 alone, TCP, 4 streams" in advice_text(found)
    assert not any("10.0.2." in word for line in found.commands for word in line.argv)


def test_too_few_measurements_prove_no_shared_bottleneck() -> None:
    found = advice([(6.5, 3.3)])
    assert found.at_once
    assert not found.at_once.adds
    assert "give a larger --budget" in found.reasons[0]
    assert "use one" not in found.reasons[0]


def test_a_connection_that_loses_beside_the_others_is_named() -> None:
    found = advice([(8.9, 2.0), (9.0, 2.0), (8.95, 2.0)])
    assert found.at_once
    assert found.at_once.adds
    assert any("eth2 to ens2 carries 2.00 Gbit/s beside the others" in r for r in found.reasons)


def test_without_all_at_once_the_best_is_advised_and_that_is_said() -> None:
    found = advice([])
    assert not found.at_once
    assert found.incomplete
    assert "all at once was not measured" in found.reasons[0]
    assert found.setting["streams"] == FAST


def words_of(tool: str, **changes: Any) -> list[list[str]]:
    """The lines of a tool where all connections are used."""
    found = advice([(9.0, 5.0)] * 3, tools=[tool], **changes)
    return [command.argv for command in found.commands]


@pytest.mark.parametrize(
    ("tool", "changes", "ends"),
    [
        ("rsync", {"server_url": "ssh://me@there:2222"}, "me@{}:/store/f"),
        ("rsync", {"destination": Endpoint("there", "me")}, "me@{}:/store/f"),
        ("bbcp", {"destination": Endpoint("there", "me")}, "me@{}:/store/f"),
        ("globus-url-copy", {"server_url": "ftp://me@there:2811"}, "ftp://me@{}:2811/store/f"),
    ],
)
def test_each_connection_has_a_line_for_the_same_user(
    tool: str, changes: dict[str, Any], ends: str
) -> None:
    lasts = [argv[-1] for argv in words_of(tool, **changes)]
    assert lasts == [ends.format("10.0.1.2"), ends.format("10.0.2.2")]


@pytest.mark.parametrize(
    ("tool", "url", "word"),
    [
        ("s5cmd", "s3://bucket/x", "s3://bucket/x"),
        ("s5cmd", "https://store.example.org:9000/bucket/x", "https://store.example.org:9000"),
        # The server of the source.
        ("aria2c", "http://here:8080/f", "http://here:8080/f"),
    ],
)
def test_what_is_no_host_of_the_destination_keeps_its_name(tool: str, url: str, word: str) -> None:
    for argv in words_of(tool, server_url=url):
        assert word in argv
