"""What past transfers say, in lines."""

import msgspec

from advisor.domain.evidence import Evidence, GroupLeftOut, SimilarGroup
from advisor.domain.transfers import Conditions, Levels
from advisor.report.evidence import evidence_lines, group_words

WAN = Conditions(file_bytes=2e9, network="a -> b")
LEVELS = Levels(concurrency=4, parallelism=2)


def group(share: float) -> SimilarGroup:
    return SimilarGroup(
        conditions=WAN,
        began_s=1763683200.0,
        transfers=216,
        likeness=0.987,
        share=share,
        degree=2,
        training_r2=0.9,
        validation_r2=0.8,
        sample_bps=1e9,
        answer_bps=3e9,
        best=LEVELS,
        best_bps=4e9,
        slices=[],
    )


def evidence(groups: list[SimilarGroup], left_out: list[GroupLeftOut]) -> Evidence:
    return Evidence(
        wanted=WAN,
        known=1000,
        similar=432,
        threshold=0.96,
        sample=None,
        levels=LEVELS,
        throughput_bps=3e9,
        groups=groups,
        left_out=left_out,
        worth="",
    )


def test_what_is_not_the_regression_is_named() -> None:
    smooth = msgspec.structs.replace(group(1.0), surface="smooth")
    assert group_words(smooth).endswith("expected, by a smooth surface with a prior")
    flat = msgspec.structs.replace(group(1.0), surface="flat")
    assert group_words(flat).endswith("expected, the same for all levels")


def test_each_group_is_a_line_with_its_say_and_what_it_expects() -> None:
    lines = evidence_lines(evidence([group(0.75), group(0.25)], []))
    assert lines[0] == "432 of 1000 past transfers are similar (similarity 0.96 or more)"
    assert lines[1] == (
        "  a -> b, 1.86 GiB files, 2025-11-21: 216 transfers, similarity 0.99, weight 75%: "
        "3 Gbit/s expected"
    )
    assert len(lines) == 3


def test_many_groups_are_summed_up_and_those_left_out_have_their_reason() -> None:
    out = GroupLeftOut(conditions=WAN, began_s=None, transfers=7, reason="it has one setting")
    lines = evidence_lines(evidence([group(0.1)] * 10, [out] * 6))
    assert lines[5] == "  6 more groups, weight 60%"
    assert lines[6] == "  a -> b, 1.86 GiB files: 7 transfers left out: it has one setting"
    assert lines[-1] == "  2 more groups left out"
