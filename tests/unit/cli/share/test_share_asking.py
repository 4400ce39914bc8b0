"""What is typed and configured for several destinations, as a request for each."""

from pathlib import Path
from typing import Any

import pytest

from advisor.cli.config import configuration
from advisor.cli.errors import UsageError
from advisor.cli.share.requests import (
    AllReachOptions,
    Wanted,
    of_each,
    parse_place,
    parse_wanted,
    requests_for,
    with_datasets,
)
from advisor.domain.endpoints import Endpoint
from advisor.domain.manifest import ListingRules
from advisor.domain.shares import BASE, Asked
from advisor.runtime.request import AdviceRequest


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration file, which is not there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = configuration.path()
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def requests(*texts: str, **options: Any) -> list[AdviceRequest]:
    wanted = [parse_wanted(text) for text in texts]
    to = options.pop("to", ())
    return requests_for(wanted, to, AllReachOptions(**options))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("me@kraken=4", Asked(share=4)),
        ("me@kraken=400Mbit", Asked(rate_bps=4e8)),
        ("me@kraken=x1.5", Asked(factor=1.5)),
        ("me@kraken=@3", Asked(held=3)),
        ("me@kraken", Asked(held=BASE)),
    ],
)
def test_what_is_asked_stands_behind_the_destination(text: str, asked: Asked) -> None:
    assert parse_wanted(text) == Wanted(endpoint=Endpoint("kraken", "me"), asked=asked)


def test_a_url_says_where_it_goes_too() -> None:
    place = parse_place("gsiftp://kraken:2812/run=42/x")
    assert (place.name, place.server, place.path) == ("kraken", "gsiftp://kraken:2812", "/run=42/x")
    assert parse_wanted("gsiftp://kraken:2812/run=42/x") == place
    asked = parse_wanted("gsiftp://kraken:2812/run=42/x=400Mbit")
    assert (asked.path, asked.asked) == ("/run=42/x", Asked(rate_bps=4e8))


@pytest.mark.parametrize("text", ["kraken=many", "=4", "-x=4", "gsiftp://kraken=4", "http://x/y"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_wanted(text)


def test_a_value_is_of_all_or_of_one() -> None:
    wanted = [parse_wanted(text) for text in ("me@kraken", "lab:five:mason")]
    texts = ["/all", "kraken=/a=b", "me@kraken=/c", "lab:five:mason=/d", "mason=/e", "/x=y"]
    assert of_each("--to", texts, wanted) == {
        "kraken": ["/all", "/x=y", "/a=b", "/c"],
        "lab:five:mason": ["/all", "/x=y", "/d", "/e"],
    }


def test_a_value_of_nobody_is_refused() -> None:
    with pytest.raises(UsageError, match="'masn' is none of kraken"):
        of_each("--to", ["masn=/x"], [parse_wanted("kraken")])


def test_each_destination_has_its_request() -> None:
    kraken, mason = requests(
        *("me@kraken=4", "gsiftp://mason:2812/own=2"),
        to=("/store/%h", "kraken=/scratch/%h"),
        bandwidth=1e10,
        ports=(50000, 50100),
        agent_command="advisor agent --stdio",
    )
    assert (kraken.destination, kraken.destination_path) == (
        Endpoint("kraken", "me"),
        "/scratch/kraken",
    )
    assert (mason.destination_path, mason.server_url) == ("/own", "gsiftp://mason:2812")
    for one in (kraken, mason):
        assert (one.bandwidth_bps, one.ports) == (1e10, (50000, 50100))
        assert one.agent_command == "advisor agent --stdio"


def test_a_host_of_a_lab_is_called_by_its_own_name() -> None:
    [one] = requests("lab:nowhere:kraken", to=("/x/%h",))
    assert one.destination_path == "/x/kraken"


def test_what_is_configured_for_a_host_counts_for_it_alone(config: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    config.write_text(
        f"""
        [hosts.kraken]
        agent = "dtn7:5199"
        secret-file = "{tmp_path / "secret"}"
        bandwidth = "1Gbit"
        to = "/scratch/%h"
        server = "gsiftp://dtn7:2811"
        [hosts.mason]
        bandwidth = "2Gbit"
        """
    )
    kraken, mason = requests("kraken", "mason")
    assert (kraken.agent, kraken.destination_host) == (("dtn7", 5199), "dtn7")
    assert (kraken.destination_path, kraken.server_url) == ("/scratch/kraken", "gsiftp://dtn7:2811")
    assert (kraken.bandwidth_bps, mason.bandwidth_bps) == (1e9, 2e9)
    assert (mason.agent, mason.destination_path, mason.server_url) == (None, None, None)
    kraken, mason = requests("kraken", "mason", bandwidth=5e9, to=("/typed",))
    assert (kraken.bandwidth_bps, mason.bandwidth_bps) == (5e9, 5e9)
    assert kraken.destination_path == "/typed"


def test_two_names_of_one_agent_are_one_destination(config: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    agent = f'agent = "dtn7:5199"\nsecret-file = "{tmp_path / "secret"}"\n'
    config.write_text(f"[hosts.kraken]\n{agent}[hosts.mason]\n{agent}")
    with pytest.raises(UsageError, match="dtn7 is named twice"):
        requests("kraken", "mason")


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (("kraken=1", "me@kraken=2"), "kraken is named twice"),
        (("lab:five:a", "lab:six:b"), "no source in common"),
        (("lab:five:a", "kraken"), "no source in common"),
    ],
)
def test_destinations_that_cannot_be_served_together(texts: tuple[str, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        requests(*texts)


def test_a_path_for_one_whose_url_has_another_contradicts_it() -> None:
    url = "ftp://kraken:2811/there"
    kraken, mason = requests(url, "mason", to=("/for/all", "mason=/for/mason"))
    assert (kraken.destination_path, mason.destination_path) == ("/there", "/for/mason")
    with pytest.raises(UsageError, match="--to kraken=/x: the URL of kraken says /there"):
        requests(url, "mason", to=("kraken=/x",))


def test_data_is_of_all_or_of_one(tmp_path: Path) -> None:
    for name, size in (("small", 10), ("large", 1000)):
        (tmp_path / name).write_bytes(b"x" * size)
    wanted = [parse_wanted(text) for text in ("kraken", "mason")]
    asked = requests("kraken", "mason")
    texts = [f"file://{tmp_path}/small", f"mason={tmp_path}/large"]
    kraken, mason = with_datasets(asked, wanted, texts, ListingRules())
    assert kraken.dataset is not None
    assert mason.dataset is not None
    assert (kraken.dataset.total_bytes, mason.dataset.total_bytes) == (10, 1000)
    kraken, mason = with_datasets(asked, wanted, texts[1:], ListingRules())
    assert kraken.dataset is None


@pytest.mark.parametrize("text", ["/nonexistent", "https://x/y"])
def test_data_that_is_not_there(text: str) -> None:
    with pytest.raises(UsageError, match=f"--data {text}: "):
        with_datasets(requests("kraken"), [parse_wanted("kraken")], [text], ListingRules())
