"""Numbers with their nouns."""


def counted(count: int, what: str, plural: str = "s") -> str:
    """`1 table`, `2 tables`."""
    return f"{count} {what}{'' if count == 1 else plural}"
