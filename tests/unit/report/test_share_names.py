"""What destinations are called where there is little room."""

import pytest

from advisor.report.share_names import shown


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["lab:five:kraken", "lab:five:mason"], ["kraken", "mason"]),
        (["lab:five:kraken", "lab:six:mason"], ["lab:five:kraken", "lab:six:mason"]),
        (["lab:five:kraken", "dtn02"], ["lab:five:kraken", "dtn02"]),
        (["lab:wan"], ["lab:wan"]),
        (["a.example.org", "::1"], ["a.example.org", "::1"]),
        ([], []),
    ],
)
def test_hosts_of_one_lab_go_by_their_own_names(names: list[str], words: list[str]) -> None:
    assert shown(names) == dict(zip(names, words, strict=True))
