"""What the stages of the tests came to: one line for each failure, and the count."""

import signal
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass, field

_LONGEST_LINE = 300
_PYTEST_FAILED = 1
_FAULT = ("Fatal Python error", "Timeout")


@dataclass(frozen=True)
class Failure:
    """`what`: a test's id, or the command."""

    stage: str
    what: str
    error: str

    def __str__(self) -> str:
        line = f"FAILED {self.stage}: {self.what}: {self.error}".rstrip(": ")
        return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"


@dataclass
class Outcome:
    """Of one stage, or of all."""

    passed: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def skip(self, what: str, why: str) -> None:
        """Something as large as a stage was left out: that has a line too."""
        self.skipped += 1
        self.notices.append(f"SKIPPED {what}: {why}")

    def add(self, other: "Outcome") -> None:
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures
        self.notices += other.notices

    def __str__(self) -> str:
        lines = [*self.notices, *(str(failure) for failure in self.failures)]
        failed = len({(failure.stage, failure.what) for failure in self.failures})
        return "\n".join([*lines, f"{self.passed} passed, {failed} failed, {self.skipped} skipped"])


def ending(status: int) -> str:
    """An exit status in words, a negative one being a signal's."""
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"


def of_command(stage: str, what: str, status: int, output: Iterable[str]) -> Outcome:
    """A command that is no pytest: it fails as a whole."""
    if status == 0:
        return Outcome()
    return Outcome(failures=[Failure(stage, what, f"{ending(status)}: {_telling(output)}")])


def of_pytest(stage: str, status: int, results: str | None, output: Iterable[str]) -> Outcome:
    """`results`: the text of its JUnit XML, if it wrote any. `output`: its last lines."""
    output = list(output)
    outcome = Outcome()
    try:
        cases = [] if results is None else list(ET.fromstring(results).iter("testcase"))
    except ET.ParseError:
        results, cases = None, []
    for case in cases:
        _count(stage, case, outcome)
    wrote_nothing = results is None or not cases
    unexplained = status != 0 and not outcome.failures
    if status not in (0, _PYTEST_FAILED) or wrote_nothing or unexplained:
        error = f"{ending(status)}: {_telling(output)}"
        outcome.failures.append(Failure(stage, "pytest", error))
    return outcome


def _count(stage: str, case: ET.Element, outcome: Outcome) -> None:
    trouble = [child for child in case if child.tag in ("failure", "error")]
    outcome.failures += [Failure(stage, _id(case), _error(child)) for child in trouble]
    if case.find("skipped") is not None:
        outcome.skipped += 1
    elif not trouble:
        outcome.passed += 1


def _id(case: ET.Element) -> str:
    name, file = case.get("name", "?"), case.get("file")
    if file is None:
        return "::".join(word for word in (case.get("classname"), name) if word)
    module = file.removesuffix(".py").replace("/", ".")
    inside = case.get("classname", "").removeprefix(module).strip(".")
    return "::".join(word for word in (file, inside.replace(".", "::"), name) if word)


def _error(trouble: ET.Element) -> str:
    """The first line of the exception; of a test in a namespace its own last words."""
    lines = [line for line in trouble.get("message", "").splitlines() if line.strip()]
    text = [line for line in (trouble.text or "").splitlines() if line.strip()]
    raised = [line[1:].strip() for line in text if line.startswith("E ")]
    if lines and not lines[0].startswith("==="):
        return lines[0].strip()
    return (raised or text or ["no error is shown"])[-1].strip()


def _telling(output: Iterable[str]) -> str:
    """The line that says most of how a program ended."""
    lines = [line.strip() for line in output if line.strip()]
    faults = [line for line in lines if any(fault in line for fault in _FAULT)]
    return (faults or lines or ["it printed nothing"])[-1]
