"""Runs an ordinary user's tests as root of a user namespace, those of one file in one process."""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from _pytest.reports import TestReport

_REPORTS = "ADVISOR_TEST_REPORTS"
_AS_ROOT_OF_ITS_OWN = [
    *("unshare", "--user", "--map-root-user", "--net", "--mount"),
    *("sh", "-c", 'ip link set lo up && exec "$@"', "sh"),
]
_found: dict[str, dict[str, list[TestReport]]] = {}


def is_for_one(item: pytest.Item) -> bool:
    """Whether this account runs it that way."""
    return os.geteuid() != 0 and item.get_closest_marker("namespaces") is not None


def reports_of(item: pytest.Item) -> list[TestReport]:
    """What became of it. The first of a file runs all of that file."""
    if why := _why_none():
        return [_skipped(item, f"needs root, or user namespaces: {why}")]
    file = str(item.path)
    if item.nodeid not in _found.get(file, {}):
        wanted = [i for i in item.session.items if str(i.path) == file and is_for_one(i)]
        _found[file] = _run(wanted)
    return _found[file][item.nodeid]


def write_reports(config: pytest.Config) -> None:
    """In the process that runs them: hand their reports over."""
    if file := os.environ.pop(_REPORTS, None):
        config.pluginmanager.register(_Writer(config, Path(file)))


class _Writer:
    def __init__(self, config: pytest.Config, file: Path) -> None:
        self._config = config
        self._file = file

    def pytest_runtest_logreport(self, report: TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        with self._file.open("a") as written:
            written.write(json.dumps(data) + "\n")


@functools.cache
def _why_none() -> str | None:
    try:
        done = subprocess.run(
            [*_AS_ROOT_OF_ITS_OWN, "true"], capture_output=True, text=True, timeout=30, check=False
        )
    except OSError as error:
        return str(error)
    return done.stderr.strip() if done.returncode else None


def _run(items: list[pytest.Item]) -> dict[str, list[TestReport]]:
    """Their reports by node id; a failure for those without any."""
    config = items[0].config
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reports")
        file.touch()
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += ["-m", ""]  # These were chosen.
        done = subprocess.run(
            [*_AS_ROOT_OF_ITS_OWN, *command, *(item.nodeid for item in items)],
            cwd=config.rootpath,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
            | {_REPORTS: str(file)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        found = defaultdict(list)
        for line in file.read_text().splitlines():
            report = _decoded(config, json.loads(line))
            found[report.nodeid].append(report)
    return {item.nodeid: found[item.nodeid] or [_failed(item, done.stdout)] for item in items}


def _decoded(config: pytest.Config, data: dict[str, Any]) -> TestReport:
    report = config.hook.pytest_report_from_serializable(config=config, data=data)
    assert isinstance(report, TestReport)
    return report


def _skipped(item: pytest.Item, why: str) -> TestReport:
    words = (str(item.path), item.location[1] or 0, why)
    return TestReport(item.nodeid, item.location, dict(item.keywords), "skipped", words, "setup")


def _failed(item: pytest.Item, printed: str) -> TestReport:
    return TestReport(item.nodeid, item.location, dict(item.keywords), "failed", printed, "call")
