"""Makes the advice from what was measured or stored."""

from collections.abc import Mapping, Sequence

import msgspec

from advisor import registry
from advisor.advising.contenders import Ranking
from advisor.advising.host_reasons import (
    full_cores,
    hosts_words,
    network_words,
    processes_words,
)
from advisor.advising.judging import comparable
from advisor.advising.path_changes import on_the_path_now, path_change
from advisor.advising.tool_lines import tool_lines
from advisor.advising.turns import turns_words
from advisor.api.tool import DESTINATION_PATH, CommandRequest, Kept, Tool
from advisor.domain.advice import (
    NINE_OF_TEN,
    Advice,
    Command,
    Composition,
    Estimate,
    role_words,
)
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Pair
from advisor.domain.events import PastResult
from advisor.domain.file_io import STRIPES, tool_setting
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, flows_of
from advisor.models.ceiling import capacity_of, held, link_ceiling
from advisor.models.comparison import TYPICAL_SPREAD
from advisor.models.composition import compose, limit_words
from advisor.models.filesystems import setstripe_line
from advisor.models.limits import binding_limits, holding, measured_limits
from advisor.models.steadiness import CLOSE_ENOUGH
from advisor.runtime.request import AdviceRequest
from advisor.store.ranking import newest_measurement
from advisor.traits import describe, flow_names, subject_name, transport_labels


class AdviceInputs(msgspec.Struct, frozen=True, kw_only=True):
    """What advice is based on.

    `absent`: see `Composition`. `folder`: where a profiled tool's files go at the destination.
    `stopped`: why the session ended before its time. `tool`: the profiled tool, which knows what
    was looked up for it. `refused`: what its server said to more connections than it accepts, by
    the number of them.
    """

    session: str
    request: AdviceRequest
    pair: Pair
    path: PathFacts
    past: Sequence[PastResult] = ()
    probes: Sequence[ProbeRecord] = ()
    kept: Kept | None = None
    absent: Mapping[str, str] = {}
    folder: str = ""
    stopped: Sequence[str] = ()
    tool: Tool | None = None
    refused: Mapping[int, str] = {}


def advice_from_ranking(inputs: AdviceInputs, ranking: Ranking, incomplete: bool) -> Advice:
    """The advice of a session that measured."""
    comparison, index = ranking.comparison, ranking.chosen
    chosen = ranking.candidates[index]
    expected, gain, default = ranking.expected, ranking.gain, ranking.default
    limits = holding(binding_limits(inputs.path), _fastest_flow_bps(ranking))
    measured = newest_measurement(inputs.probes, chosen.subject, chosen.setting)
    capacity_bps = capacity_of(inputs.path, measured.throughput_bps if measured else 0.0)
    if measured:
        limits += measured_limits(measured, capacity_bps, inputs.path.mtu_bytes)
    settings = best_settings(ranking)
    commands = _commands(inputs, chosen.subject, settings)
    composition = _composed(inputs, chosen.setting, expected.value)
    # A tool's own threads are not watched, only those of a transport.
    full = "" if inputs.request.tool else full_cores(measured, capacity_bps)
    reasons = _reasons(inputs, ranking, gain, full)
    if composition:
        reasons.insert(0, limit_words(composition))
        reasons += filter(None, [network_words(inputs.probes)])
    transfer_s = transfer_time(inputs.request.dataset, expected)
    if turns := turns_words(
        inputs.request, inputs.probes, transfer_s.value if transfer_s else None
    ):
        reasons.append(turns)
    if stripes := _stripes(inputs, chosen.setting):
        reasons.append(stripes)
    if edge := _at_the_edge(inputs.request, chosen.setting):
        reasons.append(edge)
    return Advice(
        pair=inputs.pair,
        subject=chosen.subject,
        setting=chosen.setting,
        expected_bps=expected.value,
        interval_bps=expected.interval,
        default_bps=None if default is None else ranking.mean(default).value,
        gain=gain,
        limits=limits,
        reasons=reasons,
        commands=_after_striping(inputs, chosen.setting, commands),
        contenders=[ranking.contender(i) for i in comparison.order()],
        incomplete=incomplete,
        session=inputs.session,
        transfer_s=transfer_s,
        composition=composition,
    )


def advice_from_history(inputs: AdviceInputs) -> Advice:
    """The advice from stored results alone, of which there is at least one."""
    best = max(inputs.past, key=lambda p: p.throughput_bps)
    spread = best.spread if best.spread is not None else TYPICAL_SPREAD
    # The stored spread is over days, not seconds.
    half_bps = NINE_OF_TEN * spread * best.throughput_bps
    expected = held(
        link_ceiling(inputs.path, best.throughput_bps),
        Estimate(
            best.throughput_bps,
            (max(0.0, best.throughput_bps - half_bps), best.throughput_bps + half_bps),
        ),
    )
    settings = {p.subject: p.setting for p in inputs.past}
    reasons = [
        f"the best stored result of this pair is {describe(best.subject, best.setting)}: "
        f"{format_rate(best.throughput_bps)} over {best.probes} "
        f"{'probe' if best.probes == 1 else 'probes'}",
        "nothing was measured now, so the default was not compared",
    ]
    reasons += _of_lines(inputs)
    if processes := processes_words(best.subject, best.setting, inputs.probes):
        reasons.append(processes)
    if best.caution:
        reasons.append(best.caution)
    return Advice(
        pair=inputs.pair,
        subject=best.subject,
        setting=best.setting,
        expected_bps=expected.value,
        interval_bps=expected.interval,
        default_bps=None,
        gain=None,
        limits=binding_limits(inputs.path),
        reasons=reasons,
        commands=_after_striping(inputs, best.setting, _commands(inputs, best.subject, settings)),
        contenders=[],
        incomplete=False,
        session=inputs.session,
        basis="history",
        transfer_s=transfer_time(inputs.request.dataset, expected),
    )


def _composed(inputs: AdviceInputs, setting: Setting, joint_bps: float) -> Composition | None:
    """What the disks and the network alone allow; None where no tool was profiled."""
    if not inputs.request.tool:
        return None
    return compose(inputs.probes, joint_bps, setting, flow_names(), inputs.absent)


def _fastest_flow_bps(ranking: Ranking) -> float:
    """Of the compared settings."""
    return max(
        ranking.comparison.mean(index).value / flows_of(candidate.setting, flow_names())
        for index, candidate in enumerate(ranking.candidates)
    )


def best_settings(ranking: Ranking) -> dict[str, Setting]:
    """The chosen setting, and the best one of every other subject."""
    settings: dict[str, Setting] = {}
    for index in [ranking.chosen, *ranking.comparison.order()]:
        candidate = ranking.candidates[index]
        settings.setdefault(candidate.subject, candidate.setting)
    return settings


def _reasons(inputs: AdviceInputs, ranking: Ranking, gain: Estimate | None, full: str) -> list[str]:
    """`full`: which cores were full, so that the hosts set the rate."""
    comparison, chosen = ranking.comparison, ranking.chosen
    advised = ranking.candidates[chosen]
    reasons = []
    for index in comparison.order():
        if index != chosen:
            reasons.append(_against(ranking, index))
    if ranking.candidates[chosen].role == "default":
        reasons.insert(0, "no setting gains much over the default: tuning does not help here")
    elif gain and gain.interval[0] <= 1:
        reasons.append("the gain over the default is not certain: its interval reaches 1")
    spread = processes_words(advised.subject, advised.setting, inputs.probes)
    reasons = [*([hosts_words(full)] if full else []), *([spread] if spread else []), *reasons]
    reasons += inputs.stopped
    reasons += _refused(inputs)
    compared = comparable(inputs.request, inputs.probes)
    reasons += _left_out(compared, ranking)
    if inputs.request.tool is None:
        reasons += _held_down(on_the_path_now(inputs.probes), compared)
        if change := path_change(inputs.probes):
            reasons.insert(0, change.words)
    # The reason for the stop says the same.
    if inputs.request.tool is None and not inputs.stopped and (plateau := _plateau(ranking, full)):
        reasons.append(plateau)
    if best := max(inputs.past, key=lambda p: p.throughput_bps, default=None):
        reasons.append(
            f"history's best of this pair was {format_rate(best.throughput_bps)} with "
            f"{describe(best.subject, best.setting)}"
        )
    return reasons + _open_port(inputs) + _of_lines(inputs)


def _of_lines(inputs: AdviceInputs) -> list[str]:
    """A sentence if the usual tools are not installed."""
    reason = tool_lines(inputs.request.tools, inputs.path).reason
    return [reason] if reason else []


def _open_port(inputs: AdviceInputs) -> list[str]:
    """A sentence if strangers could connect to the port of a TCP probe."""
    host = inputs.path.destination
    if host.filters_tcp is not False:
        return []
    return [
        f"while a TCP probe began, strangers could connect to its port on {host.hostname} (they "
        "were disconnected): its kernel keeps the filter from the account of the agent; a firewall "
        f"that lets only {inputs.path.source_address} in prevents it"
    ]


def _stripes(inputs: AdviceInputs, setting: Setting) -> str:
    """A sentence on the best of the stripe counts; "" where none is advised."""
    if STRIPES not in setting:
        return ""
    best: dict[int, float] = {}
    for probe in comparable(inputs.request, inputs.probes):
        if isinstance(probe.result, Measurement):
            count = int(probe.setting.get(STRIPES, 0))
            best[count] = max(best.get(count, 0.0), probe.result.throughput_bps)
    ranked = sorted(best.items(), key=lambda one: -one[1])
    rates = ", ".join(
        f"{format_rate(bps)} with {f'{count} stripes' if count else 'those of the folder now'}"
        for count, bps in ranked
    )
    advised = int(setting[STRIPES])
    is_first = bool(ranked) and ranked[0][0] == advised
    return (
        f"new files at the destination over {advised} stripes "
        f"{'did best' if is_first else 'are as fast as over others, and cost less'} "
        f"(`{_setstripe(inputs, setting)}`, done only for advisor's own files); the best single "
        f"probes: {rates}"
    )


def _setstripe(inputs: AdviceInputs, setting: Setting) -> str:
    """The line that sets the advised stripes, for the folder that the files go to."""
    folder = inputs.folder or inputs.request.destination_path or DESTINATION_PATH
    return setstripe_line(folder, int(setting[STRIPES]))


def _after_striping(
    inputs: AdviceInputs, setting: Setting, commands: Sequence[Command]
) -> list[Command]:
    """The lines, the first with what to do before, where a stripe count is advised."""
    if STRIPES not in setting or not commands:
        return list(commands)
    first, *others = commands
    before = f"Before it, at the destination: `{_setstripe(inputs, setting)}`."
    return [msgspec.structs.replace(first, note=f"{before} {first.note}".strip()), *others]


def _at_the_edge(request: AdviceRequest, setting: Setting) -> str:
    """A sentence if more files at a time might be faster, but were not allowed."""
    at_once = setting.get("concurrency")
    files = request.dataset.files if request.dataset else None
    if request.tool is None or at_once != request.max_concurrency or (files or 0) <= at_once:
        return ""
    return (
        f"{at_once} files at a time is the allowed maximum: more may be faster "
        f"(--max-concurrency {2 * at_once})"
    )


def _left_out(probes: Sequence[ProbeRecord], ranking: Ranking) -> list[str]:
    """A sentence for each subject that was measured but is not in the comparison."""
    compared = {candidate.subject for candidate in ranking.candidates}
    best: dict[str, float] = {}
    failures: dict[str, str] = {}
    for probe in probes:
        if probe.subject in compared:
            continue
        if isinstance(probe.result, Measurement):
            best[probe.subject] = max(best.get(probe.subject, 0.0), probe.result.throughput_bps)
        else:
            failures[probe.subject] = probe.result.message
    sentences = [
        f"{subject_name(name)} reached {format_rate(bps)} at best: too far behind to be compared "
        "again"
        for name, bps in best.items()
    ]
    silent = [name for name in failures if name not in best]
    return sentences + [f"{subject_name(n)} gave no throughput: {failures[n]}" for n in silent]


def _held_down(probes: Sequence[ProbeRecord], compared: Sequence[ProbeRecord]) -> list[str]:
    """A sentence if a short probe was much faster than losses allow in the long run."""
    rates = [
        (probe.result.throughput_bps, expected.result.throughput_bps, probe)
        for probe, expected in zip(probes, compared, strict=True)
        if isinstance(probe.result, Measurement) and isinstance(expected.result, Measurement)
    ]
    lowered = [one for one in rates if one[1] < (1 - CLOSE_ENOUGH) * one[0]]
    if not lowered:
        return []
    short_bps, long_bps, probe = max(lowered, key=lambda one: one[0] - one[1])
    return [
        f"{describe(probe.subject, probe.setting)} reached {format_rate(short_bps)} in a short "
        f"probe, but {format_rate(long_bps)} are expected of it in the long run: losses that are "
        "rarer than a short probe shows, by what all probes met, may shrink its windows"
    ]


def _refused(inputs: AdviceInputs) -> list[str]:
    """A sentence if the server of the tool accepts fewer connections than the search wanted."""
    if not inputs.refused:
        return []
    least = min(inputs.refused)
    return [
        f"the server refused connections at {least} at a time, so only fewer were tried: "
        f"{inputs.refused[least]}"
    ]


def _plateau(ranking: Ranking, full: str) -> str:
    """A sentence if settings with very different numbers of streams reach about the same rate.

    Of the chosen transport alone: another one counts its flows differently. `full`: the full cores.
    """
    candidates = ranking.candidates
    equals = (candidates[i] for i in ranking.comparison.same_as_best())
    subject = candidates[ranking.chosen].subject
    counts = sorted({flows_of(c.setting, flow_names()) for c in equals if c.subject == subject})
    if len(counts) < 2 or counts[-1] < 2 * counts[0]:
        return ""
    rate = format_rate(ranking.mean(ranking.chosen).value)
    limit = "the hosts" if full else "the path or the hosts"
    return (
        f"{counts[0]} and {counts[-1]} streams reach about the same rate: {limit}, "
        f"not the settings, limit it to about {rate}"
    )


def _against(ranking: Ranking, index: int) -> str:
    """The chosen contender compared with another one, and whether the difference is significant."""
    other = ranking.candidates[index]
    name = f"{role_words(other.role)} ({describe(other.subject, other.setting)})"
    ratio = ranking.ratio(ranking.chosen, index)
    lower, upper = ratio.interval
    figures = f"× {ratio.value:.2f} (90 %: {lower:.2f} to {upper:.2f})"
    costs_more = ranking.costs[index] > ranking.costs[ranking.chosen]
    if lower <= 1 <= upper:
        if ratio.value < 1 and costs_more:
            return f"the {name} shows no clear difference ({figures}), and costs more"
        return f"against the {name}: {figures}, no clear difference"
    if ratio.value > 1:
        return f"against the {name}: {figures}, a significant difference"
    most = ranking.comparison.same.practically
    if 1 - ratio.value <= most and costs_more:
        return f"the {name} is faster by less than {most:.0%} ({figures}), and costs more"
    return f"the {name} was faster in its own probes ({figures}), but not by all probes together"


def command_request(
    inputs: AdviceInputs, subject: str, settings: dict[str, Setting]
) -> CommandRequest:
    """What tools write their lines for."""
    request = inputs.request
    return CommandRequest(
        subject=subject,
        settings={name: tool_setting(setting) for name, setting in settings.items()},
        labels=transport_labels(),
        path=inputs.path,
        destination_host=request.destination_host,
        user=request.user,
        dataset=request.dataset,
        source_path=request.dataset.path if request.dataset else None,
        destination_path=request.destination_path,
        server_url=request.server_url,
        verify=request.verify,
        kept=inputs.kept,
    )


def _commands(inputs: AdviceInputs, subject: str, settings: dict[str, Setting]) -> list[Command]:
    wanted = command_request(inputs, subject, settings)
    # A tool may have been removed since the session began, when it is resumed.
    known = {tool.name: tool for tool in registry.tools()}
    if inputs.tool:
        known[inputs.tool.name] = inputs.tool
    wanted_names = tool_lines(inputs.request.tools, inputs.path).names
    tools = [known[name] for name in wanted_names if name in known]
    return [command for tool in tools for command in tool.commands(wanted)]


def transfer_time(dataset: Dataset | None, expected: Estimate) -> Estimate | None:
    """The time to move the dataset, in seconds, if the network is the limit."""
    if dataset is None:
        return None
    bits = dataset.total_bytes * 8
    slow_bps, fast_bps = max(expected.interval[0], 1.0), expected.interval[1]
    return Estimate(bits / expected.value, (bits / fast_bps, bits / slow_bps))
