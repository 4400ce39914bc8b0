"""What past transfers indicate, in lines."""

from datetime import UTC, datetime
from typing import Final

from advisor.domain.evidence import Evidence, GroupLeftOut, SimilarGroup, SurfaceKind
from advisor.domain.quantities import format_bytes, format_rate

_LISTED: Final = 4
_SURFACES: Final[dict[SurfaceKind, str]] = {
    "polynomial": "",
    "flat": ", the same for all levels",
    "smooth": ", by a smooth surface with a prior",
}


def evidence_lines(evidence: Evidence) -> list[str]:
    """A headline, the groups with the highest weight, and those left out."""
    lines = [
        f"{evidence.similar} of {evidence.known} past transfers are similar "
        f"(similarity {evidence.threshold:.2f} or more)"
    ]
    lines += [f"  {group_words(group)}" for group in evidence.groups[:_LISTED]]
    if more := evidence.groups[_LISTED:]:
        weight = sum(group.share for group in more)
        lines.append(f"  {len(more)} more groups, weight {weight:.0%}")
    lines += [f"  {left_out_words(group)}" for group in evidence.left_out[:_LISTED]]
    if rest := evidence.left_out[_LISTED:]:
        lines.append(f"  {len(rest)} more groups left out")
    return lines


def group_words(group: SimilarGroup) -> str:
    """`a -> b, 2 GB files, 2026-11-20: 216 transfers, similarity 0.99, weight 57%: …`."""
    return (
        f"{_place(group)}: {group.transfers} transfers, similarity {group.likeness:.2f}, "
        f"weight {group.share:.0%}: {format_rate(group.answer_bps)} expected"
        f"{_SURFACES[group.surface]}"
    )


def left_out_words(group: GroupLeftOut) -> str:
    """The same for a group without a surface."""
    return f"{_place(group)}: {group.transfers} transfers left out: {group.reason}"


def _place(group: SimilarGroup | GroupLeftOut) -> str:
    conditions = group.conditions
    parts = [conditions.network] if conditions.network else []
    parts.append(f"{format_bytes(conditions.file_bytes)} files")
    if group.began_s is not None:
        parts.append(datetime.fromtimestamp(group.began_s, UTC).date().isoformat())
    return ", ".join(parts)
