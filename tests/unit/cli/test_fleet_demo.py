"""`advisor fleet demo` where it cannot run, and the network that it shows."""

from itertools import permutations
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.fleet.configuration.reading import decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.demo.network import fleet_toml, host_names, lab_plan
from advisor.store.errors import StoreError
from advisor.store.postgres import own_server


def output_of(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(["fleet", "demo", "--plain", *words])
    return ended.value.code, capsys.readouterr().err


def test_without_postgresql_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_server, "programs", lambda: None)
    code, words = output_of(capsys)
    assert code == 1
    assert words.splitlines()[-1] == (
        "advisor: PostgreSQL is not installed: apt-get install postgresql"
    )


def test_a_folder_too_deep_for_a_socket_is_said_so(tmp_path: Path) -> None:
    if own_server.programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with pytest.raises(StoreError, match="too long a path"):
        own_server.OwnServer(tmp_path / ("x" * 100))


def test_no_time_is_no_demonstration(capsys: pytest.CaptureFixture[str]) -> None:
    code, words = output_of(capsys, "--duration", "0s")
    assert (code, "--duration" in words) == (2, True)


@pytest.mark.parametrize("number", [2, 8, 16])
def test_what_is_measured_is_what_the_lab_has(number: int) -> None:
    hosts = host_names(number)
    plan = lab_plan(hosts)
    assert (list(plan.hosts), plan.mesh) == (hosts, True)
    fleet = resolved(decoded(fleet_toml("x", hosts, every="1h", budget="8s", retry="30s").encode()))
    assert [host.reach for host in fleet.hosts] == [f"lab:x:{host}" for host in hosts]
    rates = [path.forward.rate_bps for path in plan.hosts.values()]
    assert [host.bandwidth_bps for host in fleet.hosts] == rates
    [task] = fleet.tasks
    assert set(task.pairs()) == set(permutations(range(number), 2))
