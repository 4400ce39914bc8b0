"""`advisor fleet metrics` with a real database."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from advisor.cli.main import main
from advisor.fleet.work.claiming import Ending
from advisor.report.fleet_metrics import dashboard_text
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase
from tests.unit.fleet.test_claiming import Desk

Samples = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture
def desk(shared_database: SharedDatabase) -> Iterator[Desk]:
    """One pair measured, another one being measured."""
    one = Desk(shared_database)
    one.describe(described("a", "b", "c", "d"))
    measured = one.taken()
    one.end(measured, Ending(outcome="done", moved_bytes=1e6, rate_bps=5e8, rtt_s=0.01))
    one.taken()
    yield one
    one.close()


def printed(*words: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["fleet", "metrics", *words])
    assert ended.value.code == code
    return capsys.readouterr().out


def samples(text: str) -> Samples:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_figures_are_those_of_the_database(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    found = samples(printed("--once", "--store", desk.database.address("rita"), capsys=capsys))
    assert found["advisor_fleet_up", ()] == 1
    assert found["advisor_fleet_pairs", ("mesh",)] == 12
    assert found["advisor_fleet_pairs_measured", ("mesh",)] == 1
    assert found["advisor_fleet_running", ()] == 1
    assert found["advisor_fleet_workers", ()] == 1
    assert found["advisor_fleet_attempts_total", ("done",)] == 1
    rates = [v for (name, _), v in found.items() if name == "advisor_fleet_pair_throughput_bps"]
    assert rates == [5e8]
    traffic = [v for (name, _), v in found.items() if name == "advisor_fleet_host_traffic_bytes"]
    # The one that runs counts with all that it may move.
    most = 30 * 1e9 / 8 + 2**20
    assert sum(traffic) == pytest.approx(2 * 1e6 + 2 * most)


def test_every_query_of_the_dashboard_names_metrics_that_are_there(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.end(desk.taken(), Ending(outcome="failed", moved_bytes=0.0, message="no"))
    there = samples(printed("--once", "--store", desk.database.address("rita"), capsys=capsys))
    names = {name for name, _ in there}
    dashboard = json.loads(dashboard_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [one["query"] for one in dashboard["templating"]["list"]]
    used = {name for query in queries for name in re.findall(r"advisor_\w+", query)}
    assert len(used) > 10
    assert used <= names
    labels = {"measure", "source", "destination", "host", "outcome"}
    for query in queries:
        assert set(re.findall(r"(\w+)=~", query)) <= labels
    assert json.loads(printed("--dashboard", capsys=capsys)) == dashboard


def test_a_database_that_does_not_answer_is_said(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"postgresql://rita@/none?host={tmp_path}"
    found = samples(printed("--once", "--store", address, capsys=capsys, code=1))
    assert found == {("advisor_fleet_up", ()): 0.0}


def test_they_are_served_on_this_host(desk: Desk) -> None:
    words = ["--listen", "127.0.0.1:0", "--store", desk.database.address("rita")]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "advisor", "fleet", "metrics", *words],
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stderr
            address = server.stderr.readline().split()[-1]
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert samples(answer.read().decode())["advisor_fleet_up", ()] == 1
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=60) == 0
        finally:
            server.kill()
