"""What holds for all tests."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from advisor.agent import turn
from advisor.store.postgres.own_server import OwnServer, programs
from tests import user_namespaces
from tests.postgres_server import SharedDatabase, temporary_server
from tests.postgres_server import shared_database as new_database

# What is started in the background of a script inherits that Ctrl-C is ignored, and so would every
# program that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says more of what else runs on this machine.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

# As in the program: BLAS's own threads would spin on the cores that other tests need. It is loaded
# later, with numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Servers and tc lie where an ordinary user of Debian has no PATH to.
for _folder in ("/usr/sbin", "/sbin"):
    if _folder not in os.environ["PATH"].split(":"):
        os.environ["PATH"] += f":{_folder}"


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Locks, labs, keys and history of the tests are not where those of the user are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime") / "advisor"))
        patched.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        for kind in ("DATA", "STATE", "CONFIG", "CACHE"):
            patched.delenv(f"XDG_{kind}_HOME", raising=False)
        yield


@pytest.fixture
def own_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A turn to measure of this test alone: no other one is waited for, or disturbed. Its name."""
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "run"))
    name = f"advisor-test-{os.getpid()}-{tmp_path.name}"
    monkeypatch.setattr(turn, "_NAME", name)
    return name


@pytest.fixture(scope="session")
def postgres() -> Iterator[OwnServer]:
    """A server of PostgreSQL, started where the first test wants it."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with temporary_server() as server:
        yield server


@pytest.fixture
def shared_database(postgres: OwnServer) -> Iterator[SharedDatabase]:
    """An empty shared history."""
    made = new_database(postgres)
    yield made
    # At the end a busy disk takes minutes over the files of a hundred databases.
    postgres.execute("postgres", f"DROP DATABASE {made.name} WITH (FORCE)")


def pytest_configure(config: pytest.Config) -> None:
    user_namespaces.write_reports(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in filter(user_namespaces.is_for_one, items):
        # The first runs all of its file; in there each has its own limit.
        item.add_marker(pytest.mark.timeout(0))


def pytest_collection_finish() -> None:
    # Thousands of tests stay to the end: each collection of garbage would look through them.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Of an ordinary user, tests marked `namespaces` run in a user namespace of their own."""
    if not user_namespaces.is_for_one(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in user_namespaces.reports_of(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, object, object]:
    """Collect no garbage while a failure is put into words.

    For that pytest parses the test's source. Before Python 3.12 a finalizer may run in the middle
    of it, and one that parses too, as a traceback does, makes the outer one fail with "AST
    constructor recursion depth mismatch" (python/cpython#106905): pytest itself then crashes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        if was_enabled:
            gc.enable()
