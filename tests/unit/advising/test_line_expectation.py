"""The expectation of advice belongs to the line that it prints."""

import pytest

from advisor.advising.line_expectation import expected_of_line, known_ceilings
from advisor.domain.advice import Advice, Command, Estimate
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Pair
from advisor.domain.file_io import NETWORK, TOOL_IN_MEMORY
from advisor.domain.records import ProbeRecord
from advisor.report.markdown import markdown_text
from advisor.report.text import advice_text
from advisor.testing.samples import an_advice, failed, measured

PAIR = Pair("here", "there")
TOOL = "globus-url-copy"
LINE = Command(tool=TOOL, side="source", argv=["globus-url-copy"], shell="globus-url-copy")
DATASET = Dataset(total_bytes=10**13)


def probe(
    subject: str, gbps: float, session: str = "1", stage: str = "", flows: int = 2
) -> ProbeRecord:
    return ProbeRecord(
        pair=PAIR,
        subject=subject,
        setting={"concurrency": flows},
        result=measured(gbps * 1e9) if gbps else failed(),
        recorded_s=0,
        session=session,
        stage=stage or subject,
    )


def from_disk_to_disk(
    memory: float, network: float, session: str = "1", tool: str = TOOL
) -> list[ProbeRecord]:
    """The probes of a session; rates in Gbit/s, 0 for a failure."""
    return [
        probe("tcp", network / 2, session, NETWORK),
        probe("tcp", network, session, NETWORK),
        probe(tool, 1.0, session),
        probe(TOOL_IN_MEMORY, memory, session),
    ]


def advice(gbps: float, default: float | None = None, **changes: object) -> Advice:
    """What the network gives, with a margin of 10 %; rates in Gbit/s."""
    gain = None if default is None else Estimate(gbps / default, (0.9 * gbps / default, 9.0))
    given: dict[str, object] = {
        "expected_bps": gbps * 1e9,
        "interval_bps": (0.9e9 * gbps, 1.1e9 * gbps),
        "default_bps": None if default is None else default * 1e9,
        "gain": gain,
        "commands": [LINE],
        "transfer_s": Estimate(1.0, (1.0, 1.0)),
    }
    return an_advice(PAIR, **(given | changes))


def test_a_tool_that_is_slower_than_the_network_has_a_ceiling() -> None:
    assert known_ceilings(from_disk_to_disk(12, 40), [TOOL]) == {TOOL: 12e9}


@pytest.mark.parametrize(
    "probes",
    [
        from_disk_to_disk(38, 40),
        from_disk_to_disk(0, 40),
        from_disk_to_disk(12, 0),
        from_disk_to_disk(12, 40, tool="unheard-of"),
        [probe("tcp", 40.0)],
        [],
    ],
    ids=["as fast", "tool failed", "network failed", "unknown tool", "no tool", "nothing"],
)
def test_otherwise_no_ceiling_is_known(probes: list[ProbeRecord]) -> None:
    assert known_ceilings(probes, [TOOL]) == {}


def test_the_best_setting_of_a_tool_counts() -> None:
    probes = [*from_disk_to_disk(12, 40, "1"), *from_disk_to_disk(20, 40, "2")]
    assert known_ceilings(probes, [TOOL]) == {TOOL: 20e9}
    # At another setting it reached all that the network gave.
    assert known_ceilings([*probes, *from_disk_to_disk(39, 40, "3")], [TOOL]) == {}


@pytest.mark.parametrize(("of_one_flow", "known"), [(2.5, {}), (6.0, {TOOL: 2.5e9})])
def test_a_tool_is_compared_with_as_many_flows(of_one_flow: float, known: dict[str, float]) -> None:
    """That eight flows of the network give more says nothing of a tool that had one."""
    probes = [
        probe("tcp", of_one_flow, stage=NETWORK, flows=1),
        probe("tcp", 9.0, stage=NETWORK, flows=8),
        probe(TOOL, 1.0, flows=1),
        probe(TOOL_IN_MEMORY, 2.5, flows=1),
    ]
    assert known_ceilings(probes, [TOOL]) == known


def test_expectation_gain_and_duration_are_those_of_the_tool() -> None:
    given = expected_of_line(advice(40, 20), {TOOL: 10e9}, DATASET)
    assert given.expected_bps == 10e9
    lower, upper = given.interval_bps
    assert lower < 10e9 < upper < 36e9
    assert given.transfer_s is not None
    assert given.transfer_s.value == pytest.approx(8e13 / 10e9)
    # The default reaches no more either, so nothing is gained.
    assert given.default_bps == 10e9
    assert given.gain is not None
    assert given.gain.value == 1.0
    assert given.gain.interval[0] <= 1.0 <= given.gain.interval[1]
    assert given.tool_ceiling
    assert given.tool_ceiling.network == Estimate(40e9, (36e9, 44e9))


def test_the_gain_over_a_slow_default_ends_at_the_ceiling() -> None:
    given = expected_of_line(advice(40, 5), {TOOL: 10e9}, DATASET)
    assert given.default_bps == 5e9
    assert given.gain is not None
    assert given.gain.value == pytest.approx(2.0)
    assert given.gain.interval[0] <= 2.0 <= given.gain.interval[1]


def test_both_numbers_are_shown() -> None:
    given = expected_of_line(advice(40, 20), {TOOL: 10e9}, DATASET)
    text = advice_text(given)
    assert "expect   10 Gbit/s" in text
    assert "all that globus-url-copy reaches on these hosts" in text
    assert "network  40 Gbit/s (90 %: 36 to 44 Gbit/s)" in text
    markdown = markdown_text(given, 0.0)
    assert "Expected: 10 Gbit/s" in markdown
    assert "The network: 40 Gbit/s" in markdown


@pytest.mark.parametrize(
    ("ceilings", "changes"),
    [
        ({}, {}),
        ({TOOL: 50e9}, {}),
        ({"xdd": 10e9}, {}),
        ({TOOL: 10e9}, {"commands": []}),
    ],
    ids=["not known", "above the network", "another tool's", "no line"],
)
def test_otherwise_the_expectation_is_that_of_the_network(
    ceilings: dict[str, float], changes: dict[str, object]
) -> None:
    before = advice(40, 20, **changes)
    assert expected_of_line(before, ceilings, DATASET) is before
