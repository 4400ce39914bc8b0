"""Pairs of interfaces as users write them."""

import pytest

from advisor.domain.addresses import MOST_PAIRS, parse_interfaces


def test_interfaces_and_addresses_of_both_families() -> None:
    assert parse_interfaces("eth1=ens4, 10.0.1.1=2001:db8::7") == [
        ("eth1", "ens4"),
        ("10.0.1.1", "2001:db8::7"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "write HERE=THERE"),
        ("eth1", "write HERE=THERE"),
        ("eth1=,eth2=eth2", "write HERE=THERE"),
        ("eth1=eth1,", "write HERE=THERE"),
        ("eth1=eth1", "two to 8"),
        ("eth1=eth1,eth1=eth1", "different pairs"),
        (",".join(f"e{n}=e{n}" for n in range(MOST_PAIRS + 1)), "two to 8"),
        ("eth1=eth1,-f=eth2", "'-f' is neither an interface nor an IP address"),
        ("eth1=eth1,eth2=a=b", "'a=b' is neither"),
        ("eth1=eth1,eth2=a/b", "'a/b' is neither"),
        ("eth1=eth1,eth2=" + "x" * 16, "is neither"),
    ],
)
def test_what_is_no_pair_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_interfaces(text)
