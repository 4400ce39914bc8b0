"""Dask in trouble: workers and schedulers that go, strangers, Ctrl-C. Run by `make soak`."""

import signal
import socket
from pathlib import Path

import pytest
from distributed import Client
from distributed.security import Security

from advisor.runtime.dask_local import local_cluster
from tests.dask_cluster import (
    BACKTEST,
    LIMIT_S,
    LONG,
    address_of,
    begin,
    cluster,
    is_computing,
    wait_until,
    without_dask,
)

# Each test begins several programs that load numpy and Dask.
pytestmark = pytest.mark.timeout(400)


def test_workers_may_all_be_gone_for_a_while(tmp_path: Path) -> None:
    with cluster(tmp_path, workers=0) as made, begin(BACKTEST, made.address) as process:
        assert process.stderr is not None
        assert any("no worker yet" in line for line in process.stderr)
        made.add_worker("first")
        with made.client() as client:
            client.wait_for_workers(1, timeout=LIMIT_S)
            lost = address_of(client, "first")
            wait_until(lambda: is_computing(client, lost))
            made.workers["first"].kill()
        made.add_worker("second")
        out, _ = process.communicate()
    assert (process.returncode, out) == (0, without_dask())


def test_ctrl_c_ends_it_and_leaves_no_work_behind(tmp_path: Path) -> None:
    with cluster(tmp_path) as made, made.client() as client:
        worker = address_of(client, "w0")
        with begin(LONG, made.address) as process:
            wait_until(lambda: is_computing(client, worker))
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
        assert process.returncode == 130
        assert err.splitlines()[-1] == "advisor: interrupted: 0 of 1 methods were finished"
        # What had begun runs to its end; nothing waits.
        wait_until(lambda: not any(client.processing().values()))


def test_a_scheduler_that_ends_is_one_sentence(tmp_path: Path) -> None:
    with cluster(tmp_path, workers=1) as made, begin(LONG, made.address) as process:
        with made.client() as client:
            worker = address_of(client, "w0")
            wait_until(lambda: is_computing(client, worker))
        made.scheduler.kill()
        _, err = process.communicate()
    assert process.returncode == 1
    assert "the connection to the Dask scheduler was lost" in err.splitlines()[-1]
    assert "Traceback" not in err


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n"])
def test_what_is_no_scheduler_is_one_sentence(greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with begin(BACKTEST, address) as process:
            stranger, _ = server.accept()
            with stranger:
                stranger.sendall(greeting)
                _, err = process.communicate()
    assert process.returncode == 1
    assert f"--dask: no Dask scheduler answers at {address}" in err.splitlines()[-1]
    assert "Traceback" not in err


def test_nobody_else_can_use_the_workers_of_this_host() -> None:
    own, other = Security.temporary(), Security.temporary()
    with local_cluster(own.tls_client_cert, own.tls_client_key) as address:
        for place, security in ((address, other), (address.replace("tls", "tcp"), Security())):
            with pytest.raises((OSError, TimeoutError)):
                Client(place, security=security, timeout=3, set_as_default=False)
        with Client(address, security=own, set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result() == 3
