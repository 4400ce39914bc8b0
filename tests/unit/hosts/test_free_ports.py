"""Free ports in a row."""

import contextlib
import socket

import pytest

from advisor.hosts.free_ports import free_run


def test_ports_in_a_row_are_all_free() -> None:
    with contextlib.ExitStack() as taken:
        for port in (19131, 19136):
            taken.enter_context(socket.create_server(("127.0.0.1", port)))
        assert free_run(1, (19130, 19140), socket.AF_INET) == 19130
        assert free_run(4, (19130, 19140), socket.AF_INET) == 19132
        assert free_run(4, (19130, 19140), socket.AF_INET) == 19132
        with pytest.raises(OSError, match="19130 to 19140, no 5 in a row"):
            free_run(5, (19130, 19140), socket.AF_INET)
        assert free_run(1024, (0, 0), socket.AF_INET) > 1024


def test_a_port_that_is_taken_at_another_address_is_free_at_this_one() -> None:
    with socket.create_server(("127.0.0.1", 19141)):
        assert free_run(1, (19141, 19142), socket.AF_INET) == 19142
        assert free_run(1, (19141, 19142), socket.AF_INET, "127.0.0.2") == 19141
