"""Which probes the advice compares, and the throughput each represents. Pure.

A session that profiles transports compares all probes of the path as it is now, as they are. One
that profiles a tool also measures the network and the disks, but compares only settings of the
tool; and a slice represents the throughput of the whole dataset, from the start of its transfer to
its end.
"""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.advising.path_changes import on_the_path_now
from advisor.domain.dataset import Work
from advisor.domain.file_io import NETWORK
from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, flows_of, setting_key
from advisor.models.path_losses import in_the_long_run
from advisor.models.slicing import whole_bps
from advisor.models.transfer_cost import CostModel, Moved
from advisor.runtime.request import AdviceRequest
from advisor.traits import flow_names, tool_traits

_USUAL_RTT_S: Final = 0.05

_UNSEEN_ERROR: Final = 0.06
"""Relative error of the prediction for what no slice has moved, beside that of the cost model's
parameters: the order of the files, and what the model leaves out."""


def comparable_outcome(
    request: AdviceRequest,
    probes: Sequence[ProbeRecord],
    subject: str,
    setting: Setting,
    outcome: Outcome,
) -> Outcome | None:
    """The outcome in the form that is compared; None if it is not compared.

    `probes`: the others of the session, from which the cost of files is known.
    """
    if request.tool is None:
        return outcome
    if subject != request.tool:
        return None
    if not isinstance(outcome, Measurement) or request.dataset is None:
        return outcome
    own = [Moved.of(setting, outcome)] if isinstance(outcome.work, Work) else []
    return _whole(request, cost_model(request, probes, own), setting, outcome)


def comparable(
    request: AdviceRequest, probes: Sequence[ProbeRecord], model: CostModel | None = None
) -> list[ProbeRecord]:
    """The probes that are compared, with the outcome that each represents.

    `model`: the tool's, if it was fitted to these probes already.
    """
    if request.tool is None:
        return in_the_long_run(on_the_path_now(probes))
    model = model or cost_model(request, probes)
    return [
        msgspec.structs.replace(probe, result=_whole(request, model, probe.setting, probe.result))
        for probe in probes
        if probe.subject == request.tool
    ]


def _whole(request: AdviceRequest, model: CostModel, setting: Setting, outcome: Outcome) -> Outcome:
    """The outcome with the rate of the whole dataset, start and end included."""
    if not isinstance(outcome, Measurement) or request.dataset is None:
        return outcome
    total_bytes = request.dataset.total_bytes
    if isinstance(outcome.work, Work):
        whole = Work.of_dataset(request.dataset)
        [(ratio, error)] = model.log_ratios(whole, [(setting, outcome.work)])
        bps = total_bytes * 8 / (outcome.elapsed_s * math.exp(ratio))
        stderr_bps = bps * error
    else:
        # Of a version that did not record what was moved.
        bps = whole_bps(outcome.throughput_bps, outcome.overhead_s or 0.0, total_bytes)
        stderr_bps = outcome.stderr_bps * bps / outcome.throughput_bps
    return msgspec.structs.replace(outcome, throughput_bps=bps, stderr_bps=stderr_bps)


def cost_model(
    request: AdviceRequest, probes: Sequence[ProbeRecord], more: Sequence[Moved] = ()
) -> CostModel:
    """What the tool's transfers cost, by all that it has moved in this session."""
    network: dict[int, float] = {}
    for probe in probes:
        if probe.stage == NETWORK and isinstance(probe.result, Measurement):
            flows = flows_of(probe.setting, flow_names())
            network[flows] = max(network.get(flows, 0.0), probe.result.throughput_bps)
    rtts_s = [probe.rtt_s for probe in probes if probe.rtt_s]
    limits = [probe.bandwidth_bps for probe in probes if probe.bandwidth_bps]
    model = CostModel(
        rtts_s[-1] if rtts_s else _USUAL_RTT_S,
        network,
        limits[-1] if limits else None,
        tool_traits(request.tool or "").known_costs(request.server_url),
    )
    moved = [
        Moved.of(probe.setting, probe.result)
        for probe in probes
        if probe.subject == request.tool
        and isinstance(probe.result, Measurement)
        and isinstance(probe.result.work, Work)
    ]
    return model.fit([*moved, *more])


def whole_error(
    request: AdviceRequest, compared: Sequence[ProbeRecord], subject: str, setting: Setting
) -> float:
    """The relative error of what a setting's slices say of the whole; 0 without slices.

    All slices of a setting share it, so repeats do not show it. `compared`: as from `comparable`.
    """
    found = _measured(compared, subject, setting)
    if not request.tool or request.dataset is None or not found:
        return 0.0
    errors = [one.stderr_bps / one.throughput_bps for one in found]
    left = 1 - moved_share(request, compared, subject, setting)
    return math.hypot(min(errors), _UNSEEN_ERROR * left)


def moved_share(
    request: AdviceRequest, probes: Sequence[ProbeRecord], subject: str, setting: Setting
) -> float:
    """The largest part of the dataset that a probe of a setting moved, 0 to 1; 0 without one."""
    found = _measured(probes, subject, setting)
    moved = [one.work.total_bytes for one in found if isinstance(one.work, Work)]
    total_bytes = request.dataset.total_bytes if request.dataset else math.inf
    return min(1.0, max(moved, default=0.0) / total_bytes)


def _measured(compared: Sequence[ProbeRecord], subject: str, setting: Setting) -> list[Measurement]:
    key = setting_key(setting)
    return [
        probe.result
        for probe in compared
        if probe.subject == subject
        and setting_key(probe.setting) == key
        and isinstance(probe.result, Measurement)
    ]
