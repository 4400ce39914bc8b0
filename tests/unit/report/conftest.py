from collections.abc import Callable, Sequence
from typing import Any

import pytest

from advisor import registry
from advisor.api.tool import CommandRequest
from advisor.domain.advice import Advice, Contender, Estimate, Limit
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Pair
from advisor.testing.samples import a_path

TCP = {"streams": 4, "buffer_bytes": 2**20, "congestion": "cubic"}


@pytest.fixture
def advised() -> Callable[..., Advice]:
    """Makes advice whose lines the tools wrote for a request with these changes."""

    def make(
        dataset: Dataset | None = None,
        tools: Sequence[str] = ("globus-url-copy", "xdd"),
        **changes: Any,
    ) -> Advice:
        given: dict[str, Any] = {
            "subject": "tcp",
            "settings": {"tcp": TCP},
            "path": a_path(),
            "destination_host": "dtn2.example.org",
            "dataset": dataset,
        }
        request = CommandRequest(**(given | changes))
        return Advice(
            pair=Pair("dtn1", "dtn2"),
            subject="tcp",
            setting=TCP,
            expected_bps=9.0e9,
            interval_bps=(8.5e9, 9.5e9),
            default_bps=1.0e9,
            gain=Estimate(9.0, (8.0, 10.0)),
            limits=[Limit(what="a small | buffer", side="source", remedy="sysctl -w a=`b`")],
            reasons=["against default: × 9.00"],
            commands=[c for name in tools for c in registry.tool(name).commands(request)],
            contenders=[
                Contender(
                    role="best",
                    subject="tcp",
                    setting=TCP,
                    throughput=Estimate(9.0e9, (8.5e9, 9.5e9)),
                    probes=5,
                )
            ],
            incomplete=False,
            session="20261121T074920Z-d28598",
        )

    return make
