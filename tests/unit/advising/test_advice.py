"""What the advice says."""

from typing import Any

import msgspec
import pytest

from advisor.advising.advice import AdviceInputs, advice_from_history, advice_from_ranking
from advisor.advising.contenders import contenders, rank_contenders
from advisor.advising.judging import comparable
from advisor.domain.advice import Advice
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.events import PastResult, Purpose
from advisor.domain.measurement import EndLoad
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Parameter, Setting, Space, setting_key
from advisor.models.ceiling import link_ceiling
from advisor.report.text import advice_text
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_host, a_path, measured
from tests.unit.models.lossy_probe import lossy_probe

PAIR = Pair("here", "there")
DEFAULT: Setting = {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}
TUNED: Setting = {"streams": 8, "buffer_bytes": 2**22, "congestion": "cubic"}
UDT: Setting = {"block_bytes": 35824, "buffer_bytes": 2**26, "mss_bytes": 9000}


def confirmed(role: str, subject: str, setting: Setting, *gbps: float) -> list[ProbeRecord]:
    """A setting that was found, or was a default, and then met the others."""

    def record(bps: float, purpose: Purpose, stage: str) -> ProbeRecord:
        return ProbeRecord(
            pair=PAIR,
            subject=subject,
            setting=setting,
            result=measured(bps),
            recorded_s=0,
            stage=stage,
            purpose=purpose,
            label=role,
        )

    first = record(gbps[0] * 1e9, "baseline" if role == "default" else "search", subject)
    return [first, *(record(g * 1e9, "confirm", "confirm") for g in gbps)]


def inputs(probes: list[ProbeRecord], **changes: object) -> AdviceInputs:
    request = AdviceRequest(
        destination=Endpoint("there"), dataset=Dataset(total_bytes=10**13), method="spsa"
    )
    given = {"session": "s", "request": request, "pair": PAIR, "path": a_path(), "probes": probes}
    return AdviceInputs(**(given | changes))  # type: ignore[arg-type]  # merged by name


def advise(probes: list[ProbeRecord], incomplete: bool = False) -> Advice:
    ranking = rank_contenders(contenders(probes, [], {}), {})
    assert ranking is not None
    return advice_from_ranking(inputs(probes), ranking, incomplete)


@pytest.mark.parametrize(
    ("changes", "user"),
    [
        ({"destination": Endpoint("there", "me")}, "me@"),
        ({"destination": Endpoint("there")}, ""),
        # Over TLS nobody logs in by ssh: the host is another name.
        ({"destination": Endpoint("there", "me"), "agent": ("there", 5000)}, ""),
    ],
)
def test_lines_log_in_as_the_user_who_was_named(changes: dict[str, Any], user: str) -> None:
    request = AdviceRequest(tools=["rsync"], destination_path="/f", **changes)
    probes = confirmed("default", "tcp", DEFAULT, 1.0, 1.02, 0.98)
    ranking = rank_contenders(contenders(probes, [], {}), {})
    assert ranking is not None
    [command] = advice_from_ranking(inputs(probes, request=request), ranking, False).commands
    assert command.argv[-1] == f"{user}there:/f"


def test_a_gain_with_its_interval_and_lines_to_run() -> None:
    probes = [
        *confirmed("default", "tcp", DEFAULT, 1.0, 1.02, 0.98),
        *confirmed("best", "tcp", TUNED, 4.0, 4.1, 3.9),
        *confirmed("rival", "udt", UDT, 2.0, 2.1, 1.9),
    ]
    advice = advise(probes)
    assert advice.setting == TUNED
    assert advice.gain is not None
    assert advice.transfer_s is not None
    assert 3.7 < advice.gain.value < 4.3
    assert advice.gain.interval[0] > 3.5
    assert {c.tool for c in advice.commands} == {"globus-url-copy", "xdd"}
    assert abs(advice.transfer_s.value - 10**13 * 8 / advice.expected_bps) < 1
    assert advice.transfer_s.interval[0] < advice.transfer_s.value < advice.transfer_s.interval[1]
    text = advice_text(advice)
    for word in ("8 streams", "gain × 4.0", "5 h", "significant difference", "globus-url-copy -vb"):
        assert word in text


def test_lines_are_written_for_the_tools_that_were_asked_for_in_their_order() -> None:
    probes = [
        *confirmed("default", "tcp", DEFAULT, 1.0, 1.02, 0.98),
        *confirmed("best", "tcp", TUNED, 4.0, 4.1, 3.9),
    ]
    ranking = rank_contenders(contenders(probes, [], {}), {})
    assert ranking is not None

    def tools_of(request: AdviceRequest) -> list[str]:
        advice = advice_from_ranking(inputs(probes, request=request), ranking, False)
        return list(dict.fromkeys(c.tool for c in advice.commands))

    asked = AdviceRequest(destination=Endpoint("there"), tools=["xrdcp", "bbcp", "xdd"])
    assert tools_of(asked) == ["xrdcp", "bbcp", "xdd"]
    assert tools_of(msgspec.structs.replace(asked, tools=[])) == ["globus-url-copy", "xdd"]
    one_is_gone = msgspec.structs.replace(asked, tools=["no-longer-here", "rclone"])
    assert tools_of(one_is_gone) == ["rclone"]


def test_a_session_begun_before_tools_could_be_chosen_is_resumed_with_both() -> None:
    stored = msgspec.to_builtins(AdviceRequest(destination=Endpoint("there"), tools=["rclone"]))
    assert msgspec.convert(stored, AdviceRequest).tools == ["rclone"]
    del stored["tools"]
    assert msgspec.convert(stored, AdviceRequest).tools == ["globus-url-copy", "xdd"]


def test_a_transport_that_was_not_compared_is_named() -> None:
    slow = confirmed("y+", "udt", UDT, 0.3)[:1]
    advice = advise([*confirmed("default", "tcp", DEFAULT, 1.0, 1.0), *slow])
    assert "UDT reached 300 Mbit/s at best: too far behind to be compared again" in advice.reasons


def test_where_tuning_does_not_help_it_says_so() -> None:
    probes = [
        *confirmed("default", "tcp", DEFAULT, 1.0, 1.01, 0.99),
        *confirmed("best", "tcp", TUNED, 1.0, 1.01, 0.99),
    ]
    advice = advise(probes)
    assert advice.setting == DEFAULT
    assert advice.gain is not None
    assert advice.gain.value == 1.0
    assert "tuning does not help" in advice.reasons[0]
    assert any("1 and 8 streams reach about the same rate" in r for r in advice.reasons)


@pytest.mark.parametrize(("gbps", "is_certain"), [(1.15, False), (1.2, True)])
def test_a_gain_whose_interval_reaches_one_is_not_certain(gbps: float, is_certain: bool) -> None:
    probes = [
        *confirmed("default", "tcp", DEFAULT, 1.0, 1.05, 0.95),
        *confirmed("best", "tcp", TUNED, gbps, 1.05 * gbps, 0.95 * gbps),
    ]
    advice = advise(probes)
    assert advice.setting == TUNED
    assert advice.gain is not None
    assert (advice.gain.interval[0] > 1) == is_certain
    said = any("the gain over the default is not certain" in one for one in advice.reasons)
    assert said != is_certain


@pytest.mark.parametrize("slower", [DEFAULT, TUNED])
def test_only_what_costs_more_is_said_to_cost_more(slower: Setting) -> None:
    """The choice of `slower` is made elsewhere, by all probes together."""
    rates = {setting["streams"]: (1.3, 0.9, 1.2) for setting in (DEFAULT, TUNED)}
    rates[slower["streams"]] = (1.2, 0.8, 1.1)
    probes = [
        *confirmed("default", "tcp", DEFAULT, *rates[1]),
        *confirmed("best", "tcp", TUNED, *rates[8]),
    ]
    streams = Parameter(name="streams", unit="", lower=1, upper=8)
    spaces = {"tcp": Space(parameters=(streams,), cost_order=("streams",))}
    chosen = ("tcp", setting_key(slower))
    ranking = rank_contenders(contenders(probes, [], {}), spaces, chosen=chosen)
    assert ranking is not None
    reasons = advice_from_ranking(inputs(probes), ranking, False).reasons
    [against] = [reason for reason in reasons if "no clear difference" in reason]
    assert ("costs more" in against) is (slower == DEFAULT)


def test_streams_of_one_transport_are_not_compared_with_the_flows_of_another() -> None:
    advice = advise(
        [
            *confirmed("default", "tcp", DEFAULT, 0.85, 0.86, 0.85),
            *confirmed("best", "tcp", TUNED, 0.975, 0.98, 0.97),
            *confirmed("rival", "udt", UDT, 0.975, 0.97, 0.98),
        ]
    )
    assert any("TCP, 1 stream" in r and "a significant difference" in r for r in advice.reasons)
    assert not any("the same rate" in reason for reason in advice.reasons)


@pytest.mark.parametrize(
    ("one_stream_gbps", "is_named"),
    [(0.852, False), (0.74, False), (0.5, True), (0.2, True), (0.1, False)],
)
def test_a_ceiling_of_one_stream_is_named_where_a_stream_came_near_it(
    one_stream_gbps: float, is_named: bool
) -> None:
    # 4 MiB × 45.6 ms: 736 Mbit/s. What exceeds it disproves it; far below, something else limits.
    path = a_path(destination=a_host(receive_max_bytes=2**22))
    one_stream: Setting = {"streams": 1, "buffer_bytes": 2**22, "congestion": "cubic"}
    probes = [
        *confirmed("best", "tcp", TUNED, 0.975, 0.98, 0.97),
        *confirmed("frugal", "tcp", one_stream, *[one_stream_gbps] * 3),
    ]
    ranking = rank_contenders(contenders(probes, [], {}), {})
    assert ranking is not None
    advice = advice_from_ranking(inputs(probes, path=path), ranking, incomplete=False)
    named = any("one stream carries about 736 Mbit/s" in limit.what for limit in advice.limits)
    assert named is is_named


def test_each_contender_has_its_ratio_to_the_advised_one() -> None:
    advice = advise(
        [
            *confirmed("default", "tcp", DEFAULT, 1.0, 1.02, 0.98),
            *confirmed("best", "tcp", TUNED, 4.0, 4.1, 3.9),
        ]
    )
    ratios = {contender.role: contender.ratio for contender in advice.contenders}
    assert ratios["best"] is None
    assert ratios["default"] is not None
    assert ratios["default"].value == pytest.approx(0.25, rel=0.01)
    assert ratios["default"].interval[1] < 0.3


def test_a_duration_from_memory_to_memory_is_without_start_up() -> None:
    advice = advise(confirmed("best", "tcp", TUNED, 4.0, 4.1, 3.9))
    assert "plus start-up, if no disk limits it" in advice_text(advice)


@pytest.mark.parametrize(("filters", "says"), [(False, True), (True, False), (None, False)])
def test_an_open_port_is_named(filters: bool | None, says: bool) -> None:
    probes = confirmed("default", "tcp", DEFAULT, 2.0, 2.1, 2.05)
    path = a_path()
    far = msgspec.structs.replace(path.destination, filters_tcp=filters)
    given = inputs(probes, path=msgspec.structs.replace(path, destination=far))
    ranking = rank_contenders(contenders(probes, [], {}), {})
    assert ranking
    advice = advice_from_ranking(given, ranking, incomplete=False)
    assert any("strangers could connect" in reason for reason in advice.reasons) is says


def test_incomplete_advice_says_so() -> None:
    advice = advise(confirmed("best", "tcp", TUNED, 1.0), incomplete=True)
    assert advice.incomplete
    assert advice.gain is None
    assert "incomplete" in advice_text(advice)


def test_udt_that_won_is_written_for_gsiftp() -> None:
    probes = [
        *confirmed("default", "tcp", DEFAULT, 1.0, 1.0),
        *confirmed("best", "udt", UDT, 3.0, 3.1, 2.9),
    ]
    advice = advise(probes)
    assert advice.subject == "udt"
    line = next(c for c in advice.commands if c.tool == "globus-url-copy")
    assert any(word.startswith("gsiftp://") for word in line.argv)
    assert "-dcstack" in line.argv
    assert "-dc-whitelist" in line.note


def test_advice_from_history_alone() -> None:
    past = [
        PastResult(
            subject="tcp",
            setting=TUNED,
            throughput_bps=4e9,
            spread=0.1,
            probes=9,
            age_s=86400,
        )
    ]
    advice = advice_from_history(inputs([], past=past))
    assert advice.basis == "history"
    assert advice.setting == TUNED
    assert advice.gain is None
    assert advice.interval_bps[0] < 4e9 < advice.interval_bps[1]
    assert any("nothing was measured now" in r for r in advice.reasons)
    assert "from history" in advice_text(advice)


@pytest.mark.parametrize("link_bps", [1e10, 1e9])
def test_advice_from_history_has_no_interval_beyond_the_link(link_bps: float) -> None:
    past = PastResult(
        subject="tcp", setting=TUNED, throughput_bps=9e8, spread=0.1, probes=9, age_s=1.0
    )
    path = a_path(bandwidth_bps=link_bps)
    low_bps, high_bps = advice_from_history(inputs([], past=[past], path=path)).interval_bps
    assert low_bps == pytest.approx(9e8 * (1 - 0.1645), rel=1e-3)
    if link_bps > 1e9:
        assert high_bps == pytest.approx(9e8 * (1 + 0.1645), rel=1e-3)
    else:
        ceiling = link_ceiling(path)
        assert ceiling is not None
        assert 9e8 < high_bps <= ceiling.bps < link_bps


def test_advice_from_history_says_how_many_processes_it_takes() -> None:
    past = PastResult(
        subject="tcp",
        setting=TUNED | {"processes": 4},
        throughput_bps=4e9,
        spread=0.1,
        probes=9,
        age_s=86400,
    )
    advice = advice_from_history(inputs([], past=[past]))
    assert any("needs 4 transfers at a time" in reason for reason in advice.reasons)


def test_of_a_tool_its_own_line_and_what_the_subsystems_let_pass() -> None:
    tool = "globus-url-copy"
    plain: Setting = {"concurrency": 1, "parallelism": 1, "pipelining": 1, "options": "none"}
    probes = [
        *confirmed("default", tool, plain, 0.1, 0.11, 0.1),
        *confirmed("best", tool, {"concurrency": 64, "parallelism": 2}, 0.7, 0.71, 0.7),
    ]
    network = confirmed("alone", "tcp", TUNED, 1.0)[0]
    probes.append(msgspec.structs.replace(network, stage="network"))
    request = AdviceRequest(
        destination=Endpoint("there"),
        dataset=Dataset(total_bytes=10**13, path="/data/run", files=1000, largest="a"),
        destination_path="/store/run",
        tool=tool,
        tools=[tool],
    )
    compared = comparable(request, probes)
    ranking = rank_contenders(contenders(compared, [], {}), {})
    assert ranking is not None
    advice = advice_from_ranking(inputs(probes, request=request), ranking, incomplete=False)
    assert advice.composition is not None
    assert advice.composition.limiting == "network"
    [command] = advice.commands
    assert "-cc 64" in command.shell
    assert "-p 2" in command.shell
    assert any("--max-concurrency 128" in reason for reason in advice.reasons)
    assert not any("TCP" in reason for reason in advice.reasons)


def test_the_best_stripe_count_has_the_line_that_sets_it() -> None:
    tool = "globus-url-copy"
    plain: Setting = {"concurrency": 2, "parallelism": 8, "pipelining": 1}
    best: Setting = {"concurrency": 16, "parallelism": 2}
    probes = [
        *confirmed("default", tool, plain, 0.1, 0.11, 0.1),
        *confirmed("rival", tool, best | {"stripes": 2}, 0.4, 0.41, 0.4),
        *confirmed("best", tool, best | {"stripes": 8}, 0.7, 0.71, 0.7),
    ]
    request = AdviceRequest(
        destination=Endpoint("there"),
        dataset=Dataset(total_bytes=10**13, path="/data/run", files=1000, largest="a"),
        destination_path="/lustre/run",
        tool=tool,
        tools=[tool],
    )
    ranking = rank_contenders(contenders(comparable(request, probes), [], {}), {})
    assert ranking is not None
    given = msgspec.structs.replace(inputs(probes, request=request), folder="/lustre/run")
    advice = advice_from_ranking(given, ranking, incomplete=False)
    assert advice.setting["stripes"] == 8
    [reason] = [one for one in advice.reasons if "setstripe" in one]
    assert "`mkdir -p /lustre/run && lfs setstripe -c 8 /lustre/run`" in reason
    assert reason.endswith(
        "710 Mbit/s with 8 stripes, 410 Mbit/s with 2 stripes, 110 Mbit/s with those of the folder "
        "now"
    )
    [command] = advice.commands
    assert "stripe" not in command.shell
    assert "lfs setstripe -c 8 /lustre/run" in command.note


def with_full_core(probes: list[ProbeRecord], process_cores: float = 0.99) -> list[ProbeRecord]:
    """The same, each with a sender whose one thread filled its core."""
    full = EndLoad(process_cores=process_cores, host_share=0.4, thread_cores=0.99)
    return [
        msgspec.structs.replace(
            probe,
            result=msgspec.structs.replace(probe.result, sender=full),
        )
        for probe in probes
    ]


def test_a_full_core_is_never_called_the_path() -> None:
    probes = [
        *confirmed("default", "tcp", DEFAULT, 1.0, 1.01, 0.99),
        *confirmed("best", "tcp", TUNED, 1.0, 1.01, 0.99),
    ]
    advice = advise(with_full_core(probes))
    assert "what the hosts can do, not the path" in advice.reasons[0]
    assert "a core of the source was full" in advice.reasons[0]
    assert not any("the path or the hosts" in reason for reason in advice.reasons)
    [limit] = [limit for limit in advice.limits if limit.side == "source"]
    assert "filled its core (99%)" in limit.what
    assert "several transfers in parallel" in limit.remedy


def test_a_full_core_that_fills_the_path_all_the_same_is_no_limit() -> None:
    probes = confirmed("default", "tcp", DEFAULT, 9.8, 9.8, 9.8)
    advice = advise(with_full_core(probes))
    assert not any("not the path" in reason for reason in advice.reasons)
    assert [limit.side for limit in advice.limits if "full" in limit.what] == [None]


def test_several_processes_say_what_one_reached_and_what_a_tool_needs() -> None:
    spread = TUNED | {"processes": 2}
    advice = advise(
        [
            *confirmed("default", "tcp", DEFAULT, 2.0, 2.0, 2.0),
            *confirmed("best", "tcp", TUNED, 2.1, 2.1, 2.1),
            *confirmed("best", "tcp", spread, 4.0, 4.1, 3.9),
        ]
    )
    assert advice.setting == spread
    [reason] = [reason for reason in advice.reasons if "spread over" in reason]
    assert "2 processes (one process reached 2.10 Gbit/s at best)" in reason
    assert "2 transfers at a time" in reason
    assert "8 streams, 2 processes, 4 MiB buffers" in advice_text(advice)


def test_a_short_probe_that_losses_will_hold_down_is_named() -> None:
    def probe(streams: int, bps: float, cuts: int, segments: int) -> ProbeRecord:
        result = lossy_probe(bps, streams=streams, cuts=cuts, segments=segments)
        setting: Setting = {**DEFAULT, "streams": streams}
        return ProbeRecord(
            pair=PAIR, subject="tcp", setting=setting, result=result, recorded_s=0, rtt_s=0.05
        )

    few, many = probe(2, 9.2e8, 0, 50_000), probe(25, 9.4e8, 20, 950_000)
    for probes, says in (([few, many], True), ([many], False)):
        request = inputs(probes).request
        ranking = rank_contenders(contenders(comparable(request, probes), [], {}), {})
        assert ranking is not None
        assert ranking.candidates[ranking.chosen].setting["streams"] == 25
        reasons = advice_from_ranking(inputs(probes), ranking, False).reasons
        found = [reason for reason in reasons if "in the long run" in reason]
        assert bool(found) == says
        if says:
            assert found[0].startswith("TCP, 2 streams")
            assert "920 Mbit/s" in found[0]


def test_a_link_that_carries_more_than_it_reports_bounds_nothing() -> None:
    """As an interface of a virtual machine, which reports 10 Gbit/s."""
    host = a_host(link_bps=10e9)
    path = a_path(source=host, destination=host, bandwidth_bps=None)
    past = PastResult(
        subject="tcp", setting=TUNED, throughput_bps=20e9, spread=0.1, probes=9, age_s=1.0
    )
    assert advice_from_history(inputs([], past=[past], path=path)).expected_bps == 20e9
    probes = confirmed("default", "tcp", DEFAULT, 20.0, 20.1, 19.9)
    ranking = rank_contenders(contenders(probes, [], {}), {})
    assert ranking is not None
    advice = advice_from_ranking(inputs(probes, path=path), ranking, incomplete=False)
    assert not any("the path is full" in limit.what for limit in advice.limits)
