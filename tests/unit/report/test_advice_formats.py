"""Each format of advice, read by what it is for."""

import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
import yaml

from advisor.domain.advice import Advice, Estimate, Limit
from advisor.domain.endpoints import Pair
from advisor.models.host_tuning import RMEM_MAX, TCP_RMEM, TCP_WMEM, WMEM_MAX, sysctl_line
from advisor.models.kernel_settings import KernelSetting, advised_settings, differing
from advisor.report.advice_formats import FORMATS, Exported, encoded
from advisor.report.sysctl_d import PLACE
from tests.unit.store.conftest import make_a_probe

Advised = Callable[..., Advice]
LIMITS = [
    Limit(what="small", side="source", remedy=sysctl_line(WMEM_MAX, 67108864)),
    Limit(what="small", side="source", remedy=sysctl_line(TCP_WMEM, 4096, 65536, 33554432)),
    Limit(what="small", side="destination", remedy=sysctl_line(RMEM_MAX, 67108864)),
    Limit(what="stalls", side=None, remedy=sysctl_line("net.ipv4.tcp_mtu_probing", 1) + " on both"),
    Limit(what="narrow", side="source", remedy="ip link set dev eth0 mtu 9000"),
]
PRESENT = {WMEM_MAX: "212992", TCP_WMEM: "4096\t16384\t4194304", "net.ipv4.tcp_mtu_probing": "1"}


@pytest.fixture
def advice(advised: Advised) -> Advice:
    made = advised(source_path="/data/run", destination_path="/store/run")
    return msgspec.structs.replace(
        made, limits=LIMITS, setting={"streams": 4}, transfer_s=Estimate(3000, (2700, 3600))
    )


def as_text(name: str, advice: Advice, **known: object) -> str:
    return FORMATS[name].text(Exported(advice=advice, recorded_s=1.8e9, **known))  # type: ignore[arg-type]


def loaded(text: str, folder: Path) -> dict[str, str]:
    """What sysctl would set, by the rules of sysctl.d(5)."""
    lines = [line.strip() for line in text.splitlines()]
    return dict(
        tuple(part.strip() for part in line.split("=", 1))  # type: ignore[misc]
        for line in lines
        if line and line[0] not in "#;"
    )


def test_the_settings_of_each_host_are_those_that_lift_its_limits(advice: Advice) -> None:
    assert advised_settings(advice, "source") == {
        WMEM_MAX: "67108864",
        TCP_WMEM: "4096 65536 33554432",
        "net.ipv4.tcp_mtu_probing": "1",
    }
    assert advised_settings(advice, "destination") == {
        RMEM_MAX: "67108864",
        "net.ipv4.tcp_mtu_probing": "1",
    }
    bbr = msgspec.structs.replace(advice, setting={"congestion": "bbr"})
    assert advised_settings(bbr, "source")["net.ipv4.tcp_congestion_control"] == "bbr"
    assert "net.ipv4.tcp_congestion_control" not in advised_settings(bbr, "destination")


def test_only_what_differs_is_left() -> None:
    wanted = {WMEM_MAX: "67108864", TCP_RMEM: "4096 87380 67108864", RMEM_MAX: "1000"}
    present = {WMEM_MAX: "67108864", TCP_RMEM: "4096\t131072\t6291456", RMEM_MAX: "2000"}
    assert differing(wanted, present) == [
        KernelSetting(name=TCP_RMEM, wanted="4096 87380 67108864", present="4096 131072 6291456")
    ]
    assert [one.present for one in differing(wanted, {})] == ["", "", ""]


def test_a_sysctl_file_has_what_differs_the_present_values_and_the_way_back(
    advice: Advice, tmp_path: Path
) -> None:
    text = as_text("sysctl.d", advice, present={"source": PRESENT})
    assert loaded(text, tmp_path) == {WMEM_MAX: "67108864", TCP_WMEM: "4096 65536 33554432"}
    assert "# now 212992\nnet.core.wmem_max = 67108864\n" in text
    assert f"#   sysctl -p {PLACE}\n" in text
    assert (
        f"#   rm {PLACE}\n"
        "#   sysctl -w net.core.wmem_max=212992 'net.ipv4.tcp_wmem=4096 16384 4194304'\n"
    ) in text


def test_of_another_host_the_present_values_are_saved_before(
    advice: Advice, tmp_path: Path
) -> None:
    text = as_text("sysctl.d", advice, side="destination")
    assert loaded(text, tmp_path) == {RMEM_MAX: "67108864", "net.ipv4.tcp_mtu_probing": "1"}
    saved = "/root/advisor-sysctl-before.conf"
    assert f"#   sysctl net.core.rmem_max net.ipv4.tcp_mtu_probing >{saved}\n" in text
    assert f"#   rm {PLACE}\n#   sysctl -p {saved}\n" in text
    assert "# present value not known here\nnet.core.rmem_max = 67108864\n" in text


def test_a_host_that_has_it_all_gets_a_file_that_sets_nothing(
    advice: Advice, tmp_path: Path
) -> None:
    has = {WMEM_MAX: "1000000000", TCP_WMEM: "4096 16384 1000000000"}
    text = as_text("sysctl.d", advice, present={"source": PRESENT | has})
    assert loaded(text, tmp_path) == {}
    assert "has all that the advice asks for" in text


def test_a_job_of_slurm_is_the_script_behind_numbers(advice: Advice, tmp_path: Path) -> None:
    text = as_text("slurm", advice)
    path = tmp_path / "job"
    path.write_bytes(encoded(text))
    assert subprocess.run(["sh", "-n", path], check=True, capture_output=True).stderr == b""
    assert directives(text) == [
        "--job-name=transfer",
        "--nodes=1",
        "--ntasks=1",
        "--cpus-per-task=1",
        # An hour at most, half as much again, and ten minutes.
        "--time=0-01:40:00",
        "--output=transfer-%j.log",
    ]
    assert text.endswith(as_text("shell", advice).removeprefix("#!/bin/sh\n"))


def directives(text: str) -> list[str]:
    """What sbatch takes: of the lines up to the first that is neither empty nor a comment."""
    found = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        if line.startswith("#SBATCH"):
            found.append(line.removeprefix("#SBATCH").strip())
    return found


def test_without_a_dataset_the_time_is_the_partitions(advice: Advice) -> None:
    text = as_text("slurm", msgspec.structs.replace(advice, transfer_s=None))
    assert "--time" not in " ".join(directives(text))


def test_a_line_that_needs_both_hosts_is_no_job(advised: Advised) -> None:
    with pytest.raises(ValueError, match="one job on the source"):
        as_text("slurm", advised(tools=("xdd",)))


def test_a_playbook_sets_what_each_host_lacks_and_takes_it_back(advice: Advice) -> None:
    text = as_text("ansible", advice, present={"source": PRESENT})
    plays = yaml.safe_load(text)
    assert [play["hosts"] for play in plays] == ["dtn1", "dtn2"]
    written = [play["tasks"][1]["ansible.builtin.copy"]["content"] for play in plays]
    assert written[0] == (
        "# was 212992\nnet.core.wmem_max = 67108864\n"
        "# was 4096 16384 4194304\nnet.ipv4.tcp_wmem = 4096 65536 33554432\n"
    )
    assert written[1] == "net.core.rmem_max = 67108864\nnet.ipv4.tcp_mtu_probing = 1\n"
    assert [task.get("tags") for task in plays[0]["tasks"]] == [None, None, ["never", "take_back"]]


@pytest.mark.parametrize("name", ["all", "ungrouped"])
def test_a_name_that_means_more_than_one_host_is_none(advice: Advice, name: str) -> None:
    for pair, hosts in (
        (Pair("dtn1", name), ["dtn1", "transfer_destination"]),
        (Pair(name, "dtn2"), ["transfer_source", "dtn2"]),
    ):
        text = as_text("ansible", msgspec.structs.replace(advice, pair=pair))
        assert [play["hosts"] for play in yaml.safe_load(text)] == hosts


def test_a_playbook_for_nothing_is_refused(advice: Advice) -> None:
    with pytest.raises(ValueError, match="no kernel setting"):
        as_text("ansible", msgspec.structs.replace(advice, limits=[]))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_has_the_whole_advice_and_no_active_part(advice: Advice) -> None:
    page = Tags()
    page.feed(as_text("html", advice))
    assert {"h1", "h2", "table", "pre"} <= page.seen
    assert not page.seen & {"script", "a", "img", "iframe", "link", "form"}
    assert page.attributes <= {"lang", "charset", "http-equiv", "content", "name", "style", "class"}
    for command in advice.commands:
        assert command.shell in page.text


HOSTILE = [
    "x\n#SBATCH --uid=0\nkernel.core_pattern=|/tmp/x",
    "x\r\nkernel.modprobe = /tmp/x",
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))![b](http://evil/)<img src=x onerror=alert(1)>",
    "```\n<script>alert(1)</script>\n```",
    "{{ lookup('pipe', 'touch /tmp/x') }}",
    '"\n- hosts: all\n  tasks: [{shell: touch /tmp/x}]\n#',
    "$(touch /tmp/x)`touch /tmp/x`'; touch /tmp/x; '",
    "\x1b]0;x\x07\u2028kernel.modprobe=/tmp/x\u202e\x85a: b",
]


@pytest.fixture(params=HOSTILE, ids=range(len(HOSTILE)))
def attack(request: pytest.FixtureRequest, advice: Advice, tmp_path: Path) -> Advice:
    """Advice with hostile text wherever a stored one can have it."""
    text = request.param
    commands = [
        msgspec.structs.replace(
            command, tool=text, note=text, argv=["touch", text], shell=text or "x"
        )
        for command in advice.commands[:1]
    ]
    limits = [
        Limit(what=text, side="source", remedy=text),
        Limit(what=text, side="source", remedy=f"sysctl -w {WMEM_MAX}='{text}'"),
        Limit(what=text, side="source", remedy=f"sysctl -w '{text}'=1"),
        Limit(what=text, side="source", remedy="sysctl -w kernel.core_pattern='|/tmp/x'"),
        Limit(what=text, side="destination", remedy=f"sysctl -w {RMEM_MAX}=1; {text}"),
        *LIMITS[:1],
    ]
    return msgspec.structs.replace(
        advice,
        pair=Pair(text, text),
        session=text,
        reasons=[text],
        limits=limits,
        commands=commands,
        subject=text,
        setting={"congestion": text, text: text},
    )


def test_hostile_text_sets_nothing_in_a_sysctl_file(attack: Advice, tmp_path: Path) -> None:
    hostile = {"source": {WMEM_MAX: "1\nkernel.modprobe=/tmp/x"}}
    for present in ({}, hostile):
        text = as_text("sysctl.d", attack, present=present)
        assert loaded(text, tmp_path) == {WMEM_MAX: "67108864"}
        assert text.isprintable() is False
        assert all(line.isprintable() for line in text.split("\n"))


def test_hostile_text_is_no_directive_of_slurm_and_no_command(
    attack: Advice, tmp_path: Path
) -> None:
    text = as_text("slurm", attack)
    assert all(line.split("=")[0] in KNOWN for line in directives(text))
    (tmp_path / "bin").mkdir()
    for name in ("touch", "lookup", "alert"):
        (tmp_path / "bin" / name).write_text('#!/bin/sh\necho "$#" >>"$ASKED"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    job = tmp_path / "job"
    job.write_bytes(encoded(text))
    asked = tmp_path / "asked"
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "ASKED": str(asked)}
    subprocess.run(["sh", job], env=environment, capture_output=True, timeout=20, check=True)
    # The one line of the advice, with the text as its one argument.
    assert asked.read_text() == "1\n"


KNOWN = {"--job-name", "--nodes", "--ntasks", "--cpus-per-task", "--time", "--output"}


def test_hostile_text_is_no_part_of_a_playbook(attack: Advice) -> None:
    plays = yaml.safe_load(as_text("ansible", attack))
    assert [play["hosts"] for play in plays] == ["transfer_source"]
    said = str(plays)
    assert "{{" not in said
    assert "/tmp/x" not in said
    assert plays[0]["tasks"][1]["ansible.builtin.copy"]["content"] == (
        "net.core.wmem_max = 67108864\n"
    )


def test_hostile_text_is_text_of_a_page(attack: Advice) -> None:
    page = Tags()
    page.feed(as_text("html", attack))
    assert not page.seen & {"script", "a", "img", "iframe", "link", "form"}
    assert page.attributes <= {"lang", "charset", "http-equiv", "content", "name", "style", "class"}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_of_probes_is_text_too(advice: Advice, text: str) -> None:
    probe = make_a_probe(subject=text, method=text, label=text, stage=text)
    page = Tags()
    page.feed(as_text("html", advice, probes=[probe]))
    assert not page.seen & {"script", "a", "img", "iframe", "link", "form"}
    written = as_text("markdown", advice, probes=[probe])
    [line] = [line for line in written.splitlines() if line.endswith(": 1 probe (search)")]
    assert line.startswith("- ")
    assert line.isprintable()
    assert not re.search(r"(?<!\\)[<>`\[\]]", line)


def test_importing_the_formats_loads_no_screen() -> None:
    program = (
        "import sys, advisor.report.advice_formats\n"
        "print({'textual', 'rich', 'markdown_it', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
