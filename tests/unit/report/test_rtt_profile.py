"""Curves over the round-trip time from probes, as tables, lines and figures."""

from pathlib import Path

import pytest

from advisor.domain.records import ProbeRecord
from advisor.models.rtt_profile import Crossover
from advisor.report.plotting import CannotPlot
from advisor.report.rtt_profile import (
    CurveName,
    RttProfile,
    rtt_boxes,
    rtt_columns,
    rtt_lines,
    rtt_profile,
    rtt_rows,
)
from advisor.report.rtt_profile_plot import write_rtt_plot
from tests.unit.store.conftest import make_a_probe

RTTS_S = [0.0004, 0.0116, 0.0226, 0.0456, 0.0916, 0.183, 0.366]


def probes(rtt_s: float) -> list[ProbeRecord]:
    """TCP as 1/RTT beyond 45.6 ms, later with more streams; UDT the same at each."""
    found = []
    for number in range(3):
        noise = 1 + number / 100
        for streams in (1, 4):
            for buffer_bytes, share in ((0, 1.0), (65536, 0.3)):
                setting = {"streams": streams, "buffer_bytes": buffer_bytes, "congestion": "cubic"}
                rate_bps = 1e9 * min(1.0, 0.0456 * streams / rtt_s) * noise * share
                found.append(make_a_probe(rate_bps, setting=setting))
        block = {"block_bytes": 1024, "buffer_bytes": 2**24}
        found.append(make_a_probe(6e8 * noise, subject="udt", setting=block))
        found.append(make_a_probe(9e9, subject="source disk", setting={"threads": 1}))
    return found


@pytest.fixture(scope="module")
def profile() -> RttProfile:
    return rtt_profile((rtt_s, probes(rtt_s)) for rtt_s in RTTS_S)


def test_a_curve_has_the_best_setting_of_each_number_of_flows(profile: RttProfile) -> None:
    curves = profile.curves
    assert [str(name) for name in curves] == [
        "TCP, cubic, 1 flow",
        "TCP, cubic, 4 flows",
        "TCP, best",
        "UDT, 1 flow",
        "UDT, best",
    ]
    one = curves[CurveName("tcp", "cubic", 1)]
    assert sorted(one) == RTTS_S
    assert min(one[0.0004]) == 1e9


def test_more_flows_turn_later_and_udt_passes_one_day(profile: RttProfile) -> None:
    found = profile.transitions
    first, second = (found[CurveName("tcp", "cubic", flows)].rtt_s for flows in (1, 4))
    assert 0.02 < first < 0.1 < second
    lines = list(rtt_lines(profile))
    assert any(line.startswith("UDT is above TCP beyond 3") for line in lines)


def test_a_crossover_that_few_samples_show_is_said_to_be_uncertain() -> None:
    crossovers = {"udt": Crossover(rtt_s=0.2, interval_s=(0.1, 0.3), share=0.64)}
    lines = list(rtt_lines(RttProfile(curves={}, transitions={}, crossovers=crossovers)))
    assert (
        "UDT may be above TCP beyond 200 ms (100 ms to 300 ms), each with its best setting; so in "
        "64% of the bootstrap samples." in lines
    )


def test_rows_fit_their_columns(profile: RttProfile) -> None:
    columns, rows = rtt_columns(profile), rtt_rows(profile)
    assert {len(row) for row in rows} == {len(columns)}
    assert columns[1] == "0.4 ms"
    assert rows[0][1] == "1.01 Gbit/s ±0%"
    assert len(rtt_boxes(profile)) == 5 * 7


def test_profiles_of_the_same_path_are_one_place() -> None:
    found = rtt_profile([(0.0450, probes(0.0456)), (0.0456, probes(0.0456))])
    assert found.rtts_s == [0.0450]
    assert len(found.curves[CurveName("tcp", "cubic", 1)][0.0450]) == 6


def test_a_hole_is_a_dash() -> None:
    alone = [make_a_probe(1e9, setting={"streams": 9, "buffer_bytes": 0})]
    found = rtt_profile([(0.01, probes(0.01)), (0.02, alone)])
    assert any("-" in row[1:3] for row in rtt_rows(found))


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_figure_is_the_same_each_time(profile: RttProfile, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    files = [tmp_path / f"{number}.{suffix}" for number in range(2)]
    for file in files:
        write_rtt_plot(file, profile)
    assert files[0].read_bytes() == files[1].read_bytes()
    if suffix == "svg":
        text = files[0].read_text()
        assert "round-trip time, ms" in text
        assert "TCP, cubic" in text


def test_a_folder_that_is_gone_is_said(profile: RttProfile, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    with pytest.raises(CannotPlot, match="cannot write"):
        write_rtt_plot(tmp_path / "no" / "it.svg", profile)
