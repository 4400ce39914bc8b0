"""`advisor share models` and `advisor share more`: what was learned, and what it says."""

import json
import re

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.records import ShareRecord
from advisor.domain.shares import Served
from advisor.store.history import Store
from advisor.transfer.shared.session import source_name

from .conftest import Run
from .learned import learn, learn_streams


def test_models_of_another_tool(run: Run, store: Store) -> None:
    learn(store, "kraken", times=2)
    learn(store, "kraken", streams=1, tool="rclone")
    assert "kraken       30 " in run("models").stdout
    done = run("models", "--tool", "rclone")
    assert done.stdout.startswith("Models: log with EL1, 1 stream for each file, by rclone;")
    assert "kraken       15 " in done.stdout
    more = run("more", "kraken", "--tool", "rclone")
    assert more.stdout.startswith("1 stream for each file, by rclone\n")


def test_models_are_shown_as_formulas(run: Run, store: Store) -> None:
    learn(store, "kraken", "mason")
    lines = run("models").stdout.splitlines()
    assert lines[0] == "Models: log with EL1, 8 streams for each file; errors are means"
    assert re.split(r"\s{2,}", lines[2])[:4] == ["kraken", "15", "1 to 6", "2 to 10"]
    assert re.fullmatch(r"kraken: DT = DC\^0\.\d+ × AEL1\{.*\} × 2\^.* / SC\^0\.\d+", lines[-3])
    only = run("models", "mason", "--model", "linear", "--load", "none").stdout
    assert re.search(r"mason: DT = .* DC − .* SC \+ .*", only)
    assert "kraken" not in only


def test_models_without_any(run: Run) -> None:
    done = run("models")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "advisor share train" in done.stderr
    assert json.loads(run("models", "--json").stdout) == []
    assert "too few" in run("models", "kraken").stdout


def test_models_as_json(run: Run, store: Store) -> None:
    learn(store, "kraken")
    [one] = json.loads(run("models", "--json").stdout)
    assert (one["destination"], one["samples"], one["concurrency"]) == ("kraken", 15, [1, 6])
    assert one["model"]["form"] == "log"


def test_models_of_other_streams(run: Run, store: Store) -> None:
    learn(store, "kraken", times=2)
    learn(store, "kraken", streams=2)
    assert "kraken       30 " in run("models").stdout
    assert "kraken       15 " in run("models", "--streams", "2").stdout


def test_simpler_models_do_worse(run: Run, store: Store) -> None:
    learn(store, "kraken", "mason")
    head, kraken, mason, mean, *_ = run("models", "--compare").stdout.splitlines()
    assert re.split(r"\s{2,}", head) == [
        *("destination", "log, EL1", "log", "DC only", "SC only", "mean only"),
    ]
    assert [line.split()[0] for line in (kraken, mason, mean)] == ["kraken", "mason", "mean"]
    log, only_dc, only_mean = (float(mean.split()[i].rstrip("%")) for i in (2, 3, 5))
    assert log < only_dc < only_mean
    compared = json.loads(run("models", "--compare", "--json").stdout)
    assert [one["model"] for one in compared[:5]] == [
        *("log", "log", "DC only", "SC only", "mean only"),
    ]
    assert compared[1]["validation_error"] * 100 == pytest.approx(
        float(kraken.split()[2][:-1]), abs=0.06
    )


def test_more_says_what_it_brings_and_costs(run: Run, store: Store) -> None:
    learn(store, "kraken", "mason", "gordon")
    streams, head, kraken, gordon, total, *sentences = run(
        "more", "kraken=3", "mason=0"
    ).stdout.splitlines()
    assert streams == "8 streams for each file"
    assert [line.split()[:2] for line in (kraken, gordon, total)] == [
        *(["kraken", "3"], ["gordon", "2"], ["all", "5"]),
    ]
    assert re.split(r"\s{2,}", head)[-2:] == ["one more file", "one more stream"]
    text = " ".join(" ".join(sentences).split())
    assert re.match(
        r"One more file at a time gains kraken \S+ Mbit/s and costs the others \S+ Mbit/s", text
    )
    assert "What one more stream does was not measured: vary them" in text
    assert "Beyond" not in text


def test_more_says_what_a_stream_does_where_streams_were_varied(run: Run, store: Store) -> None:
    learn_streams(store, "kraken", "gordon")
    *_, last = run("more", "kraken=3").stdout.split("One more stream ")
    assert last.startswith("for each of its 3 files gains kraken")


def test_more_beyond_what_was_measured_says_so(run: Run, store: Store) -> None:
    learn(store, "kraken")
    assert "Beyond what was measured: kraken 7 (1 to 6 measured)" in run("more", "kraken=6").stdout


def test_more_as_json_is_in_figures(run: Run, store: Store) -> None:
    learn_streams(store, "kraken", "mason")
    found = json.loads(run("more", "kraken", "--json").stdout)
    assert (found["destination"], found["levels"]) == ("kraken", {"kraken": 2, "mason": 2})
    streams, file, stream = found["parallelism"], found["by_file"][0], found["by_stream"][0]
    assert file["before_bps"] == pytest.approx(stream["before_bps"])
    grown = stream["after_bps"] / stream["before_bps"]
    assert grown == pytest.approx(((streams + 1) / streams) ** 0.5, rel=0.02)


def test_more_as_json_has_no_figures_of_streams_that_were_not_varied(
    run: Run, store: Store
) -> None:
    learn(store, "kraken", "mason")
    assert json.loads(run("more", "kraken", "--json").stdout)["by_stream"] == []


def test_more_leaves_out_what_too_little_is_known_of(run: Run, store: Store) -> None:
    learn(store, "kraken")
    served = Served(concurrency=1, source_concurrency=2, throughput_bps=1e8)
    store.append(
        ShareRecord(
            pair=Pair(source_name(), "thin"),
            recorded_s=1.0,
            session="feedcafe",
            served=served,
            parallelism=8,
            others={},
            purpose="run",
        )
    )
    assert "thin" not in run("more", "kraken").stdout
    assert "too little is known about thin" in run("more", "kraken", "thin=1").stderr
