"""The main job across a lab, and what may happen to the path while it is done."""

import json
import os
import signal
import time
from typing import Any

import pytest

from .labs import MODEST, Lab, NewLab, need_labs
from .program import ADVISOR, Run, Start, wait_until


@pytest.fixture(autouse=True)
def _labs_can_be_made() -> None:
    need_labs()


def advise(start: Start, lab: Lab, budget_s: int, *words: str) -> Run:
    return start("advise", f"lab:{lab.name}", "--json", "--budget", str(budget_s), *words)


def ended(run: Run) -> list[dict[str, Any]]:
    return [event for event in run.events if event["event"] == "probe_ended"]


def assert_one_sentence(stderr: str) -> None:
    assert "Traceback" not in stderr, stderr
    assert "Error" not in stderr, stderr


def test_advice_across_the_path(start: Start, lab: Lab) -> None:
    run = advise(start, lab, 10)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    advice = run.events[-1]
    assert advice["event"] == "advice"
    assert advice["pair"]["destination"] == f"lab:{lab.name}"
    # How near this is to what the path carries is for the benchmarks.
    rates = [event["result"].get("throughput_bps", 0) for event in ended(run)]
    assert 0 < advice["expected_bps"] < 1.1 * max(rates), rates
    path = next(e for e in run.events if e["event"] == "path_found")["path"]
    assert (path["source_address"], path["destination_address"]) == ("10.77.0.1", "10.77.1.1")
    assert path["rtt_s"] >= 0.020
    assert path["mtu_bytes"] == 1500
    url = lab.status()["hosts"][0]["gridftp_url"]
    copies = [c for c in advice["commands"] if c["tool"] == "globus-url-copy"]
    if url is None:
        return
    # The line as it is printed copies a file across, with the words in capitals filled in.
    assert copies
    (lab.home / "data.bin").write_bytes(os.urandom(2_000_000))
    line = copies[0]["shell"].replace("/SOURCE_PATH", str(lab.home / "data.bin"))
    line = line.replace("/DESTINATION_PATH", f"{lab.folder}/files/far/data.bin")
    lab.do("exec", "--", "sh", "-c", line)
    came = lab.folder / "files" / "far" / "data.bin"
    assert came.read_bytes() == (lab.home / "data.bin").read_bytes()


def test_a_destination_among_several(start: Start, new_lab: NewLab) -> None:
    lab = new_lab().up("--hosts", "near,other", *MODEST)
    unsaid = start("advise", f"lab:{lab.name}").finish()
    assert unsaid.returncode == 3
    assert "say which of near, other" in unsaid.stderr
    wrong = start("advise", f"lab:{lab.name}:nowhere").finish()
    assert wrong.returncode == 3
    assert "no host 'nowhere': it has near, other" in wrong.stderr
    # From a shell in the lab, where the advisor is on the source already.
    inside = [*ADVISOR, "advise", f"lab:{lab.name}:other", "--budget", "24"]
    done = lab.run("exec", "--", *inside)
    assert done.returncode == 0, done.stderr
    assert f"advisor lab exec {lab.name} -- " in done.stderr
    near, other = lab.status()["hosts"]
    assert near["forward"]["packets"] == 0
    assert other["forward"]["bytes"] > 1_000_000


def test_two_sessions_from_one_source_take_turns(start: Start, new_lab: NewLab) -> None:
    """To different destinations, which know nothing of each other."""
    lab = new_lab().up("--hosts", "near,other", *MODEST)
    words = ("--json", "--budget", "20", "--measure", "--transports", "tcp")
    runs = [start("advise", f"lab:{lab.name}:{host}", *words) for host in ("near", "other")]
    for run in runs:
        done = run.finish()
        assert done.returncode == 0, done.stderr
    sides = [e["side"] for run in runs for e in run.events if e["event"] == "waiting"]
    assert set(sides) == {"source"}
    # On a busy machine a probe may fail for other reasons.
    for run in runs:
        assert "measured" in [one["result"]["outcome"] for one in ended(run)], ended(run)


def test_a_lab_that_is_not_up(start: Start) -> None:
    done = start("advise", "lab:nowhere").finish()
    assert done.returncode == 3
    assert "no lab 'nowhere' is up: 'advisor lab up nowhere' starts it" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert_one_sentence(done.stderr)


def test_the_agent_killed_before(start: Start, lab: Lab) -> None:
    os.kill(lab.process("advisor agent --listen"), signal.SIGKILL)
    done = advise(start, lab, 8).finish()
    assert done.returncode == 3
    assert "the agent on far cannot be reached" in done.stderr
    assert_one_sentence(done.stderr)


def test_the_agent_killed_in_the_middle(start: Start, lab: Lab) -> None:
    run = advise(start, lab, 60)
    run.wait_for("probe_ended")
    run.wait_for("interval")
    os.kill(lab.process("advisor agent --listen"), signal.SIGKILL)
    done = run.finish()
    assert_one_sentence(done.stderr)
    assert "cannot be reached again" in done.stderr
    assert run.events[-1]["event"] == "advice"
    assert run.events[-1]["incomplete"] is True


def test_the_path_cut_for_five_seconds(start: Start, lab: Lab) -> None:
    run = advise(start, lab, 40)
    run.wait_for("probe_ended")
    run.wait_for("probe_started")
    lab.do("cut")
    time.sleep(5)
    lab.do("restore")
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert_one_sentence(done.stderr)
    advice = run.events[-1]
    assert advice["event"] == "advice"
    assert advice["incomplete"] is False
    results = [event["result"] for event in ended(run)]
    outcomes = [result["outcome"] for result in results]
    # Where the cut came as the probe had all it needed, it only took longer to say so.
    assert "failed" in outcomes or any(result["elapsed_s"] > 4 for result in results), results
    assert outcomes[-1] == "measured", results
    stored = start("history", "export", "--format", "jsonl").finish().stdout
    kept = [json.loads(line) for line in stored.splitlines()]
    assert sum(record["record"] == "probe" for record in kept) == len(outcomes)


def test_loss_raised_in_the_middle(start: Start, lab: Lab) -> None:
    run = advise(start, lab, 60)
    run.wait_for("probe_ended")
    lab.do("set", "--loss", "2%")
    # What it does to the session ends it: on a busy machine a fixed time may pass before any loss.
    assert wait_until(lambda: lab.status()["hosts"][0]["forward"]["lost"] > 20)
    run.wait_for("probe_ended")
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert_one_sentence(done.stderr)
    # It may have ended by itself just before the signal, of which it then says so.
    assert [event for event in run.events[-2:] if event["event"] == "advice"], run.events[-2:]


def test_interrupted(start: Start, lab: Lab) -> None:
    run = advise(start, lab, 60)
    run.wait_for("probe_ended")
    run.wait_for("interval")
    began_s = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert time.monotonic() - began_s < 40, "of a budget of 60 s"
    assert_one_sentence(done.stderr)
    assert run.events[-1]["event"] == "advice"
    assert run.events[-1]["incomplete"] is True
    # Nothing of it stays on either host, and the lab is as it was.
    assert lab.status()["hosts"][0]["is_cut"] is False
    assert not [line for line in lab.processes().values() if "advise" in line.split()]


def test_the_lab_taken_down_in_the_middle(start: Start, lab: Lab) -> None:
    run = advise(start, lab, 60)
    run.wait_for("probe_ended")
    run.wait_for("interval")
    lab.do("down")
    done = run.finish(timeout_s=20)
    assert_one_sentence(done.stderr)
    assert done.returncode != 0 or run.events[-1]["event"] == "advice"
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert said


def test_resumed_after_the_lab_was_made_again(start: Start, lab: Lab) -> None:
    run = advise(start, lab, 12)
    run.wait_for("probe_ended")
    run.wait_for("probe_started")
    run.process.send_signal(signal.SIGKILL)
    run.process.wait(timeout=10)
    lab.do("down")
    not_up = start("resume", "--json").finish()
    assert not_up.returncode == 3
    assert f"'advisor lab up {lab.name}' starts it" in not_up.stderr
    lab.up(*MODEST)
    again = start("resume", "--json")
    done = again.finish()
    assert done.returncode == 0, done.stderr
    assert again.events[-1]["event"] == "advice"
    assert again.events[-1]["pair"]["destination"] == f"lab:{lab.name}"
