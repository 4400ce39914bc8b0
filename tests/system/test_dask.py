"""`--dask` with real schedulers and workers; `make soak` runs more (test_dask_trouble)."""

import socket
from pathlib import Path

import pytest

from tests.dask_cluster import (
    BACKTEST,
    address_of,
    begin,
    cluster,
    is_computing,
    run_advisor,
    wait_until,
    without_dask,
)

# Each test begins several programs that load numpy and Dask.
pytestmark = pytest.mark.timeout(400)


@pytest.mark.soak
def test_a_killed_worker_costs_time_and_nothing_else(tmp_path: Path) -> None:
    with cluster(tmp_path) as made, made.client() as client:
        lost = address_of(client, "w0")
        with begin(BACKTEST, made.address) as process:
            wait_until(lambda: is_computing(client, lost))
            made.workers["w0"].kill()
            out, err = process.communicate()
        assert len(client.nthreads()) == 1
    assert (process.returncode, out) == (0, without_dask()), err


def test_workers_of_this_host() -> None:
    status, out, err = run_advisor(BACKTEST, "local")
    assert (status, out) == (0, without_dask()), err


def test_nobody_listens_or_certificates_are_missing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for scheme, said in (("tcp", "no Dask scheduler answers"), ("tls", "the certificates")):
        status, _, err = run_advisor(BACKTEST, f"{scheme}://127.0.0.1:{port}")
        assert (status, said in err.splitlines()[-1], "Traceback" in err) == (1, True, False)


def test_fleets_are_simulated_on_workers_as_without_them(tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    hosts = "".join(f'[hosts.h{n}]\nbandwidth = "1Gbit"\n' for n in range(6))
    measured = 'what = "advice"\nbetween = "mesh"\nevery = "2d"\nbudget = "40s"\n'
    file.write_text(f"{hosts}[measure.m]\n{measured}")
    words = ["fleet", "simulate", str(file), "--duration", "60d", "--runs", "4", "--json"]
    alone = run_advisor(words, None)
    assert alone[0] == 0, alone[2]
    with cluster(tmp_path) as made:
        status, out, err = run_advisor(words, made.address)
        assert (status, out) == alone[:2], err
