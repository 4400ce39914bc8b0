"""What holds for all tests."""

import contextlib
import functools
import gc
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from _pytest.reports import TestReport

from advisor.store.postgres.own_server import OwnServer, programs
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

# Servers and tc lie where an ordinary user of Debian has no PATH to.
for _folder in ("/usr/sbin", "/sbin"):
    if _folder not in os.environ["PATH"].split(":"):
        os.environ["PATH"] += f":{_folder}"

_AS_ROOT_OF_ITS_OWN = [
    *("unshare", "--user", "--map-root-user", "--net", "--mount"),
    *("sh", "-c", 'ip link set lo up && exec "$@"', "sh"),
]


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Locks, labs, keys and history of the tests are not where those of the user are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime") / "advisor"))
        patched.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        for kind in ("DATA", "STATE", "CONFIG", "CACHE"):
            patched.delenv(f"XDG_{kind}_HOME", raising=False)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[OwnServer]:
    """A server of PostgreSQL, started where the first test wants it."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with temporary_server() as server:
        yield server


@pytest.fixture
def shared_database(postgres: OwnServer) -> SharedDatabase:
    """An empty shared history."""
    return new_database(postgres)


@functools.cache
def _why_no_user_namespaces() -> str | None:
    try:
        done = subprocess.run(
            [*_AS_ROOT_OF_ITS_OWN, "true"], capture_output=True, text=True, timeout=30, check=False
        )
    except OSError as error:
        return str(error)
    return done.stderr.strip() if done.returncode else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Of an ordinary user, tests marked `namespaces` run in a user namespace of their own."""
    if os.geteuid() == 0 or item.get_closest_marker("namespaces") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _reports(item: pytest.Item) -> list[TestReport]:
    skipped, failed, duration_s = _outcome(item)
    told: list[TestReport] = []
    for when in ("setup", "call", "teardown"):
        outcome, words = "passed", None
        if when == "setup" and skipped:
            outcome, words = "skipped", (str(item.path), item.location[1] or 0, skipped)
        elif when == "call" and failed:
            outcome, words = "failed", failed
        elif when == "call" and skipped:
            continue
        took_s = duration_s if when == "call" else 0.0
        keywords = dict.fromkeys(item.keywords, 1)
        told.append(
            TestReport(item.nodeid, item.location, keywords, outcome, words, when, duration=took_s)
        )
    return told


def _outcome(item: pytest.Item) -> tuple[str, str, float]:
    """Why it was skipped, why it failed, and the time it took."""
    if why := _why_no_user_namespaces():
        return f"needs root, or user namespaces: {why}", "", 0.0
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "junit.xml")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
        done = subprocess.run(
            [*_AS_ROOT_OF_ITS_OWN, *command, f"--junitxml={results}", item.nodeid],
            cwd=item.config.rootpath,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        duration_s, skipped = 0.0, ""
        with contextlib.suppress(OSError, ET.ParseError):
            for case in ET.parse(results).iter("testcase"):
                duration_s += float(case.get("time", 0))
                if (skip := case.find("skipped")) is not None:
                    skipped = skip.get("message", "")
        return skipped, done.stdout if done.returncode else "", duration_s


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
