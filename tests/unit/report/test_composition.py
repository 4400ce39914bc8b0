"""Disks, network and the transfer of files through all three, in words."""

from typing import Any

import msgspec
import pytest

from advisor.domain.advice import Advice, Composition, Estimate, Subsystem
from advisor.domain.endpoints import Pair
from advisor.domain.events import FilesPlanned, SessionStarted
from advisor.domain.file_io import Filesystem
from advisor.report.composition import composition_lines, composition_words, verdict
from advisor.report.lines import line_of
from advisor.report.markdown import markdown_text
from advisor.report.text import advice_text

COMPOSITION = Composition(
    subsystems=[
        Subsystem(
            what="network",
            throughput_bps=490e6,
            setting={"streams": 16, "buffer_bytes": 0},
            by_flows={16: 490e6, 1: 120e6},
        ),
        Subsystem(
            what="source disk",
            throughput_bps=8.2e9,
            setting={"threads": 4, "request_bytes": 2**20, "direct": 1},
        ),
        Subsystem(
            what="destination disk",
            throughput_bps=1.1e9,
            setting={"threads": 1, "request_bytes": 2**22, "direct": 0},
        ),
    ],
    predicted_bps=490e6,
    joint_bps=441e6,
)
DISK = Filesystem(
    folder="/scratch",
    kind="xfs",
    device="/dev/sda1",
    mount_point="/scratch",
    total_bytes=2**42,
    free_bytes=2**40,
    writable=True,
)
PLAN = FilesPlanned(
    at_s=0.1,
    tool="globus-url-copy",
    source_path="/scratch/run 42",
    destination_path="/data/run42",
    folder="/data/.advisor-1",
    most_bytes=2**33,
    keep=False,
    source=DISK,
    destination=msgspec.structs.replace(DISK, folder="/data", kind="nfs4"),
    source_io_bytes=2**32,
    destination_io_bytes=0,
    notes=["NFS goes over a network itself."],
)


def an_advice(**changes: Any) -> Advice:
    given: dict[str, Any] = {
        "pair": Pair("dtn1", "dtn2"),
        "subject": "globus-url-copy",
        "setting": {"concurrency": 8, "parallelism": 1},
        "expected_bps": 441e6,
        "interval_bps": (420e6, 460e6),
        "default_bps": None,
        "gain": None,
        "limits": [],
        "reasons": [],
        "commands": [],
        "contenders": [],
        "incomplete": False,
        "session": "20261121T074920Z-d28598",
        "transfer_s": Estimate(60.0, (50.0, 70.0)),
        "composition": COMPOSITION,
    }
    return Advice(**(given | changes))


def test_one_sentence_has_all_figures() -> None:
    assert composition_words(COMPOSITION) == (
        "alone, the network reaches 490 Mbit/s, the source disk 8.20 Gbit/s, the destination disk "
        "1.10 Gbit/s: together at most 490 Mbit/s; measured together 441 Mbit/s (90 %): the "
        "network is the bottleneck"
    )


def test_a_line_for_each_subsystem_with_its_setting_and_flows() -> None:
    assert composition_lines(COMPOSITION)[1:] == [
        "- network: 490 Mbit/s with 16 streams, the kernel's own buffers; by streams, "
        "1: 120 Mbit/s, 16: 490 Mbit/s",
        "- source disk: 8.20 Gbit/s with 4 threads, 1 MiB requests, direct I/O",
        "- destination disk: 1.10 Gbit/s with 1 thread, 4 MiB requests, buffered I/O",
    ]
    assert composition_lines(None) == []


@pytest.mark.parametrize(
    ("joint_bps", "said"),
    [
        (480e6, "the network is the bottleneck"),
        (245e6, "the network is the slowest, yet all together stay 50 % below it"),
        (600e6, "alone it was slower"),
    ],
)
def test_what_limits_follows_from_the_share_reached(joint_bps: float, said: str) -> None:
    assert said in verdict(msgspec.structs.replace(COMPOSITION, joint_bps=joint_bps))


def test_the_advice_as_text_has_it_and_no_doubt_about_disks() -> None:
    text = " ".join(advice_text(an_advice()).split())
    assert "use globus-url-copy, 8 files at a time, 1 stream each" in text
    assert "Composition alone, the network reaches 490 Mbit/s" in text
    assert "no disk limits it" not in text
    without = advice_text(an_advice(composition=None))
    assert "Composition" not in without
    assert "if no disk limits it" in without


def test_the_advice_as_markdown_has_it_too() -> None:
    text = markdown_text(an_advice(), 1.7e9)
    section = text.partition("## Composition\n\n")[2].partition("\n\n")[0]
    assert section.startswith("- alone, the network reaches 490 Mbit/s")
    assert section.count("\n- ") == 3
    assert "no disk limits it" not in text
    assert "Composition" not in markdown_text(an_advice(composition=None), 1.7e9)


def test_a_slow_tool_and_a_part_that_is_absent_are_named() -> None:
    tool = Subsystem(
        what="tool memory to memory",
        throughput_bps=460e6,
        setting={"concurrency": 8, "parallelism": 1},
        by_flows={8: 460e6},
    )
    composition = msgspec.structs.replace(
        COMPOSITION,
        subsystems=[msgspec.structs.replace(COMPOSITION.subsystems[0], throughput_bps=9e9), tool],
        predicted_bps=460e6,
        absent={"source disk": "fio is not installed here"},
    )
    sentence, *lines = composition_lines(composition)
    assert "the tool memory to memory 460 Mbit/s: together at most 460 Mbit/s" in sentence
    assert sentence.endswith("the tool itself is the bottleneck")
    assert lines[1:] == [
        "- tool memory to memory: 460 Mbit/s with 8 files at a time, 1 stream each",
        "- source disk: not measured: fio is not installed here",
    ]


def test_what_will_be_written_where_is_said_before_it_is() -> None:
    assert line_of(PLAN) == (
        "files: globus-url-copy copies parts of /scratch/run 42 to /data/.advisor-1 at the "
        "destination, at most 8 GiB at a time; they are removed again\n"
        "  source: /scratch (xfs, 1 TiB free): test files of at most 4 GiB are created there, read "
        "and removed\n"
        "  destination: /data (nfs4, 1 TiB free): the disk is not measured separately\n"
        "  NFS goes over a network itself."
    )
    kept = line_of(msgspec.structs.replace(PLAN, keep=True))
    assert kept
    assert "whole files that arrive stay in /data/run42, everything else is removed" in kept


def test_a_session_that_begins_promises_no_transport() -> None:
    line = line_of(
        SessionStarted(
            at_s=0, session="s", pair=Pair("a", "b"), method="bayes", seed=1, budget_s=60
        )
    )
    assert line == "a->b: session s begins, 1 min for all probes together (seed 1)"
