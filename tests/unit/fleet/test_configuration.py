"""`fleet.toml`: what is in it, and one clear sentence for whatever is wrong with it."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.configuration.example import EXAMPLE
from advisor.fleet.configuration.reading import BadFleet, decoded, read_file
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.fleet import Fleet

GOOD = """
[hosts.a]
bandwidth = "10Gbit"
tags = ["x"]
[hosts.b]
bandwidth = "1Gbit"
[groups.both]
hosts = ["a", "b"]
[resources.up]
hosts = ["tag:x"]
at-once = 2
[measure.m]
what = "advice"
between = "mesh"
every = "7d"
budget = "30s"
"""


def fleet_of(text: str) -> Fleet:
    return resolved(decoded(text.encode()))


def with_line(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_the_example_is_valid_as_it_stands() -> None:
    fleet = fleet_of(EXAMPLE)
    assert [host.name for host in fleet.hosts] == ["dtn01", "dtn02", "remote"]
    assert sorted(fleet.tasks[1].pairs()) == [(0, 2), (1, 2), (2, 0), (2, 1)]


def test_everything_that_the_example_mentions_is_a_key() -> None:
    uncommented = re.sub(r"^# (?=\[|[a-z-]+ = )", "", EXAMPLE, flags=re.MULTILINE)
    uncommented = uncommented.replace('agent-command = "~/advisor"', "")
    fleet = fleet_of(uncommented)
    assert fleet.limits.at_once == 8
    assert fleet.resources[0].inside
    assert len(fleet.planned) == 1


@pytest.mark.parametrize(
    ("between", "pairs"),
    [
        ('between = "mesh"', [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]),
        ('between = "mesh"\nhosts = ["tag:x"]', [(0, 2), (2, 0)]),
        (
            'between = "hub-and-spokes"\nhubs = ["a"]\nspokes = ["all"]',
            [(0, 1), (0, 2), (1, 0), (2, 0)],
        ),
        (
            'between = "hub-and-spokes"\nhubs = ["a"]\nspokes = ["b"]\ndirection = "to-hubs"',
            [(1, 0)],
        ),
        ('between = "pairs"\nsources = ["g"]\ndestinations = ["tag:x"]', [(0, 2), (1, 0), (1, 2)]),
    ],
)
def test_between_which(between: str, pairs: list[tuple[int, int]]) -> None:
    text = f"""
        [hosts.a]
        bandwidth = "1G"
        tags = ["x"]
        [hosts.b]
        bandwidth = "1G"
        [hosts.c]
        bandwidth = "1G"
        tags = ["x"]
        [groups.g]
        hosts = ["a", "b"]
        [measure.m]
        what = "advice"
        {between}
        every = "1d"
        budget = "10s"
        """
    assert sorted(fleet_of(text).tasks[0].pairs()) == pairs


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            with_line('tags = ["x"]', 'tag = ["x"]'),
            "hosts.a.tag: there is no such key: did you mean 'tags'?",
        ),
        (with_line("at-once = 2", ""), "resources.up.at-once: it is missing: write how many"),
        (with_line("at-once = 2", "at-once = 0"), "resources.up.at-once: '0' cannot be"),
        (with_line("at-once = 2", "at-once = true"), "resources.up.at-once: 'True' cannot be"),
        (with_line('"10Gbit"', '"fast"'), "hosts.a.bandwidth: 'fast': not a rate: write a number"),
        (
            with_line('"10Gbit"', "10"),
            "hosts.a.bandwidth: '10' is not text: write it between quotes",
        ),
        (
            with_line('["a", "b"]', '["a", "c"]'),
            "groups.both.hosts[2]: there is no host or group 'c'",
        ),
        (with_line('["a", "b"]', "[]"), "groups.both.hosts: it is empty"),
        (with_line('["a", "b"]', '"a"'), "groups.both.hosts: 'a' is not a list"),
        (with_line("tag:x", "tag:y"), "resources.up.hosts[1]: there is no host with the tag 'y'"),
        (with_line("[groups.both]", "[groups.a]"), "groups.a: a host has this name"),
        (with_line("[hosts.b]", "[hosts.a]"), "a name is given twice"),
        (with_line('"mesh"', '"ring"'), "measure.m.between: there is no 'ring': write"),
        (with_line('"mesh"', '"pairs"'), "measure.m.sources: it is empty"),
        (with_line('"mesh"', '"mesh"\nhubs = ["a"]'), "measure.m.hubs: 'mesh' has no hubs"),
        (with_line('"7d"', '"soon"'), "measure.m.every: 'soon': not a duration"),
        (with_line('"7d"', '"1s"'), "measure.m.every: '1s' is out of range"),
        (with_line('"30s"', '"20h"'), "measure.m.budget: '20h' is out of range"),
        (with_line('"30s"', '"1h"'), "measure.m.budget: at full rate it moves more than limits"),
        (with_line('"advice"', '"profile"'), "measure.m.set: it is missing"),
        (
            with_line('"advice"', '"disk-to-disk"\ntool = "xdd"\ndata = "/etc"\nto = "run42"'),
            "measure.m.to: 'run42': not absolute: write it as in /home/you/run42",
        ),
        (with_line('"advice"', '"advice"\ndata = "/x"'), "measure.m.data: 'advice' has no data"),
        (
            with_line("[measure.m]", '[limits]\nshare-per-day = "0%"\n[measure.m]'),
            "limits.share-per-day: '0%'",
        ),
        (with_line("[measure.m]", '[limits]\nretry = "2d"\n[measure.m]'), "limits.retry: '2d'"),
        (with_line("[hosts.b]", '[hosts.b]\nreach = "a"'), "hosts.b.reach: 'a' is hosts.a already"),
        (with_line("[hosts.b]", '[hosts.b]\nreach = "-oX"'), "hosts.b.reach: '-oX': "),
        (with_line("[hosts.b]", '[hosts."../b"]'), 'hosts."../b": this cannot be a name'),
        (with_line("[hosts.b]", '[hosts."b\\u202e"]'), "this cannot be a name"),
        (
            with_line("[hosts.b]", '[hosts.b]\ntime-zone = "../../etc"'),
            "hosts.b.time-zone: there is no",
        ),
        (
            with_line("[hosts.b]", '[hosts.b]\nquiet-hours = ["8-18"]'),
            "hosts.b.quiet-hours[1]: '8-18'",
        ),
        (
            with_line("[hosts.b]", '[hosts.b]\nquiet-hours = ["25:00-26:00"]'),
            "is not a time of day",
        ),
        (with_line("[hosts.b]", '[hosts.b]\nquiet-hours = ["Foo 08:00-09:00"]'), "names no day"),
        (
            with_line("[hosts.b]", '[hosts.b]\nquiet-hours = ["00:00-12:00", "12:00-24:00"]'),
            "hosts.b.quiet-hours: no time of the week is left",
        ),
        (
            with_line("[hosts.b]", '[hosts.b]\nquiet-hours = ["00:01-24:00"]'),
            "does not fit between the quiet hours of hosts.b",
        ),
        (
            with_line("[hosts.b]", '[hosts.b]\ninterfaces = ["e th"]'),
            "hosts.b.interfaces[1]: 'e th'",
        ),
        (with_line("[hosts.b]", '[hosts.b]\nagent = "b"'), "hosts.b.agent: 'b': "),
        (
            GOOD + '[[planned]]\nsource = "a"\ndestination = "b"\nat = 2027-01-01T00:00:00\n',
            "planned[1].at: '2027-01-01 00:00:00' is not a time with its zone",
        ),
        (
            GOOD + '[[planned]]\nsource = "z"\ndestination = "b"\nat = 2027-01-01T00:00:00Z\n',
            "planned[1].source: there is no host 'z'",
        ),
        ("[hosts.a]\nbandwidth = '1G'\n[measure]\n", "hosts: there are fewer than two hosts"),
        ("hosts = 3\nmeasure = 4", "hosts: '3' is not a table: write [hosts]"),
        ("", "hosts: it is missing"),
        ("a = [", "not TOML"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_key_and_the_remedy(
    text: str, sentence: str
) -> None:
    with pytest.raises(BadFleet) as wrong:
        fleet_of(text)
    assert sentence in str(wrong.value)
    assert "\n" not in str(wrong.value)
    assert wrong.value.problem.remedy


HOSTILE = {
    "deep lists": b"a = " + b"[" * 100_000,
    "deep tables": b"a = " + b"{a = " * 50_000,
    "a key of many parts": b"a." * 200_000 + b"a = 1",
    "spaced parts": b"a . " * 200_000 + b"a = 1",
    "a header of many parts": b"[" + b"a." * 200_000 + b"a]",
    "a long word": b"a" * 2_000_000,
    "too long": b"#" * 3_000_000,
    "not UTF-8": b"\xff\xfe",
    "zeros": b"\x00" * 1000,
    "a large number": b"a = 1" + b"0" * 100_000,
    "a large date": b"a = 9999-99-99T00:00:00Z",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused(data: bytes) -> None:
    with pytest.raises(BadFleet):
        decoded(data)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode()))
def test_nothing_but_a_sentence_comes_of_any_text(data: bytes) -> None:
    with pytest.raises(BadFleet):
        resolved(decoded(data))


LINES = GOOD.strip().splitlines()


@given(
    st.lists(
        st.sampled_from([*LINES, "a = 1", 'reach = "x"', "[[planned]]", "x = [[1]]"]), max_size=20
    )
)
def test_shuffled_lines_are_a_fleet_or_a_sentence(lines: list[str]) -> None:
    try:
        fleet = fleet_of("\n".join(lines))
    except BadFleet:
        return
    assert len(fleet.hosts) == 2


def test_a_file_that_is_not_there_is_reported_with_the_command_that_writes_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadFleet, match="there is no") as wrong:
        read_file(tmp_path / "fleet.toml")
    assert wrong.value.problem.command == "advisor fleet init"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadFleet, match="directory"):
        read_file(tmp_path)
