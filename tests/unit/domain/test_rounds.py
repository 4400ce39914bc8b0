"""Which measurements of a profile are over, and which an interrupted one makes up."""

from collections.abc import Iterable

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import FailureKind, Outcome
from advisor.domain.records import ProbeRecord
from advisor.domain.rounds import FAILURES_IN_A_ROW, rounds_over
from advisor.testing.samples import failed, measured

CELLS = [("tcp", (("streams", number),)) for number in range(1, 2 * FAILURES_IN_A_ROW)]
MANY = range(1, FAILURES_IN_A_ROW + 1)


def a_probe(streams: int, result: Outcome, number: int = 1, subject: str = "tcp") -> ProbeRecord:
    return ProbeRecord(
        pair=Pair("here", "far"),
        subject=subject,
        setting={"streams": streams},
        result=result,
        recorded_s=1.0,
        rtt_s=0.01,
        label=f"round {number}",
    )


def over(probes: Iterable[ProbeRecord], repeats: int = 1) -> list[int]:
    found = rounds_over(CELLS, repeats, probes)
    return [streams for streams, cell in enumerate(CELLS, 1) if len(found[cell]) >= repeats]


def crashed(streams: int) -> ProbeRecord:
    return a_probe(streams, failed(FailureKind.CRASHED))


@pytest.mark.parametrize("kind", ["PEER_GONE", "NO_ACCESS", "DISK_FULL"])
def test_what_another_cause_failed_is_made_up(kind: str) -> None:
    lost = a_probe(2, failed(FailureKind[kind]))
    probes = [a_probe(1, measured(1e9)), lost, lost, a_probe(3, measured(1e9))]
    assert over(probes) == [1, 3]
    assert over([*probes, a_probe(2, measured(1e9))]) == [1, 2, 3]


def test_a_setting_that_fails_by_itself_is_over() -> None:
    lost = a_probe(1, failed(FailureKind.PEER_GONE))
    assert over([lost, crashed(1), a_probe(2, measured(1e9))]) == [1, 2]


def test_a_round_that_was_lost_is_made_up_and_no_other() -> None:
    probes = [
        a_probe(1, failed(FailureKind.PEER_GONE), 1),
        a_probe(2, measured(1e9), 1),
        a_probe(1, measured(1e9), 2),
    ]
    assert rounds_over(CELLS[:1], 2, probes) == {CELLS[0]: {"round 2"}}


def test_a_tool_whose_server_was_down_is_made_up_and_a_transport_without_ports_is_not() -> None:
    refused = failed(FailureKind.REFUSED)
    probes = [a_probe(1, refused, subject=subject) for subject in ("tcp", "rclone")]
    cells = [(subject, (("streams", 1),)) for subject in ("tcp", "rclone")]
    assert rounds_over(cells, 1, probes, "rclone") == {cells[0]: {"round 1"}, cells[1]: set()}


def test_the_failures_in_a_row_that_ended_it_are_made_up() -> None:
    row = [crashed(streams) for streams in MANY]
    assert over(row[1:]) == list(MANY[1:])
    assert over(row) == []
    assert over([*row, a_probe(1, measured(1e9))]) == [1]


def test_tries_of_one_measurement_are_no_row() -> None:
    assert over([crashed(1)] * FAILURES_IN_A_ROW) == [1]


def test_settings_that_never_work_do_not_keep_it_from_its_end() -> None:
    row = [crashed(streams) for streams in MANY]
    assert over(row + row) == list(MANY)


def test_what_was_refused_in_a_row_is_over() -> None:
    row = [a_probe(streams, failed(FailureKind.REJECTED_SETTING)) for streams in MANY]
    assert over(row, repeats=3) == list(MANY)
