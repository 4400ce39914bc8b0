"""The programs of the external traffic."""

import ctypes

import pytest

from advisor.lab.external_load import receiver, sender


@pytest.mark.parametrize("is_sender", [False, True])
def test_traffic_of_a_day_collects_no_reports(is_sender: bool) -> None:
    end = sender("10.77.1.1", 5198, 64) if is_sender else receiver(5198)
    for kind in ("stats", "reporter"):
        interval = getattr(end.lib, f"iperf_get_test_{kind}_interval")
        interval.restype = ctypes.c_double
        assert interval(ctypes.c_void_p(end._test)) == 0.0
