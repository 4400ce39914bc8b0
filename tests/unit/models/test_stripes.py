"""The stripe counts of Lustre as a parameter of the files that advisor creates."""

from typing import Any

import msgspec
import numpy as np
import pytest

from advisor import registry
from advisor.domain.file_io import (
    STRIPES,
    Filesystem,
    Stripes,
    tool_setting,
)
from advisor.domain.space import Parameter, Scale, Space
from advisor.methods.api import Knowledge
from advisor.methods.lattice import step_values
from advisor.models.file_io import full_jobs, quick_jobs
from advisor.models.filesystems import can_stripe, setstripe_line, with_stripes
from advisor.testing.samples import measured

LUSTRE = Filesystem(
    folder="/lustre/run 42",
    kind="lustre",
    device="mgs@tcp:/scratch",
    mount_point="/lustre",
    total_bytes=2**50,
    free_bytes=2**49,
    writable=True,
    stripes=Stripes(count=1, size_bytes=2**20),
)
FLOWS = Space(
    parameters=(Parameter(name="streams", unit="", lower=1, upper=16, scale=Scale.LOG2),),
    cost_order=("streams",),
    note="up to 16 streams",
)


@pytest.mark.parametrize(
    ("changes", "can"), [({}, True), ({"stripes": None}, False), ({"kind": "xfs"}, False)]
)
def test_stripes_are_set_on_lustre_where_lfs_answers(changes: dict[str, Any], can: bool) -> None:
    filesystem = msgspec.structs.replace(LUSTRE, **changes)
    assert can_stripe(filesystem) is can
    counts = {job.stripes for job in full_jobs("write", filesystem)}
    assert counts == ({0, 2, 8} if can else {0})


def test_jobs_begin_with_the_layout_of_the_folder_and_name_others_in_their_setting() -> None:
    jobs = quick_jobs("read", LUSTRE)
    assert [job.stripes for job in jobs] == [0, 0, 0, 2, 2, 2, 8, 8, 8]
    assert STRIPES not in jobs[0].setting
    assert jobs[-1].setting[STRIPES] == 8


def test_the_line_does_not_create_a_file_of_that_name() -> None:
    assert setstripe_line("/lustre/run 42", 8) == (
        "mkdir -p '/lustre/run 42' && lfs setstripe -c 8 '/lustre/run 42'"
    )


def test_nothing_between_both_counts_is_a_value() -> None:
    [_, stripes] = with_stripes(FLOWS).parameters
    assert step_values(stripes) == (2, 8)
    assert {stripes.value_at(n / 20) for n in range(21)} == {2, 8}
    assert [stripes.nearest(value) for value in (1, 3, 4, 5, 8, 16)] == [2, 2, 8, 8, 8, 8]
    assert [stripes.contains(value) for value in (0, 2, 4, 8)] == [False, True, False, True]
    assert (stripes.doubled(2), stripes.halved(8)) == (8, 2)


@pytest.mark.parametrize("method", ["bayes", "depth-width", "compass", "spsa", "nelder-mead"])
@pytest.mark.parametrize("faster", [2, 8])
def test_a_search_finds_the_better_count(method: str, faster: int) -> None:
    noise = np.random.default_rng(5)
    search = registry.method(method).create(
        with_stripes(FLOWS), np.random.default_rng(1), Knowledge(), {}
    )
    for _ in range(60):
        if (setting := search.ask()) is None:
            break
        assert setting[STRIPES] in (2, 8)
        rate_bps = 1e9 * min(1.0, int(setting["streams"]) / 6)
        layout = 1.0 if setting[STRIPES] == faster else 0.7
        search.tell(setting, measured(rate_bps * layout * noise.lognormal(0, 0.03)))
    found = search.recommended()
    assert found is not None
    assert found[0][STRIPES] == faster


def test_the_tool_is_not_given_what_is_a_property_of_the_folder() -> None:
    assert tool_setting({"streams": 4, STRIPES: 8}) == {"streams": 4}
