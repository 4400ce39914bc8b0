"""The bench of the length of probes, on made-up traces and recordings."""

import gzip
from pathlib import Path

import msgspec
import pytest

from advisor.domain.measurement import Interval
from advisor.domain.sending import SenderReport
from advisor.models.steadiness import ErrorModel
from tests.benchmarks.probes.document import lab_text, played
from tests.benchmarks.probes.recordings import Order, Recording, orders, recorded
from tests.benchmarks.probes.traces import FILE, after, before, fitted, present, stopped, traces

HEAD = "id,route,streams,rtt_us,intervals\n"


def row(route: str, rates: list[float], last_s: float = 1.0) -> str:
    words = [f"1.000:{rate:.0f}" for rate in rates[:-1]] + [f"{last_s}:{rates[-1]:.0f}"]
    return f"x,{route},1,100000,{' '.join(words)}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [
        row("r0", [1e7, 9e7, *[1e8] * 9, 9e9], last_s=0.1),
        row("r1", [1e7, 9e7, 1e8, 9e7, *[1e8] * 8]),
        row("r1", [1e7, 9e7, 1e8]),
        row("r2", [1e8] * 6 + [0.0] * 6),
    ]
    with gzip.open(tmp_path / FILE, "wt") as file:
        file.write(HEAD + "".join(lines))
    return tmp_path


def test_what_a_trace_is_steady_at_leaves_out_the_emptying_of_buffers(folder: Path) -> None:
    known = traces(folder)
    assert [trace.route for trace in known] == ["r0", "r1"], "one is too short, one falls silent"
    assert [trace.true_bps for trace in known] == pytest.approx([1e8, 1e8])


def test_both_rules_are_played_until_they_stop(folder: Path) -> None:
    trace = traces(folder)[0]
    for rule in (before, present(ErrorModel())):
        done = stopped(trace, rule)
        assert 3 <= done.seconds <= 5
        assert abs(done.error) < 0.05
    assert after(trace, before, 1).error == pytest.approx(-0.9)


def test_no_route_is_among_those_its_constant_is_fitted_to(folder: Path) -> None:
    known = traces(folder)
    models = dict(fitted(known))
    assert set(models) == {"", "r0", "r1"}
    assert models["r1"] == dict(fitted([known[0]]))[""]


def test_a_recording_is_kept_and_played(tmp_path: Path) -> None:
    order = Order(rtt_ms=20.0, loss="0", control="cubic", streams=1, lasts_s=12.0)
    intervals = [Interval(n / 10, (n + 1) / 10, 1_250_000 if n else 10_000) for n in range(60)]
    reports = [SenderReport(t_s=n / 10, retransmits=0, rtt_s=0.02) for n in range(60)]
    recording = Recording(order=order, rtt_s=0.02, intervals=intervals, reports=reports)
    path = tmp_path / "kept.jsonl.gz"
    path.write_bytes(gzip.compress(msgspec.json.encode(recording) + b"\n"))
    assert recorded(path) == [recording]
    assert recorded(tmp_path / "none") == []
    seconds, error, stderr = played(recording, False, 1e8)
    assert seconds < 2
    assert abs(error) < 0.01 < stderr
    assert "| 20 ms | 0 | cubic | 1 | 100 |" in lab_text([recording])


def test_half_of_the_settings_are_run_unless_all_are_wanted() -> None:
    half, every = ([order.key for path in orders(all_) for order in path] for all_ in (False, True))
    assert len(half) * 2 == len(every) == len(set(every)) == 108
    assert set(half) < set(every)
