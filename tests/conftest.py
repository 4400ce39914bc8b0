"""What holds for all tests."""

import gc
import signal
from collections.abc import Generator

import pytest

# What is started in the background of a script inherits that Ctrl-C is ignored, and so would every
# program that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, object, object]:
    """Collect no garbage while a failure is put into words.

    For that pytest parses the test's source. Before Python 3.12 a finalizer may run in the middle
    of it, and one that parses too, as a traceback does, makes the outer one fail with "AST
    constructor recursion depth mismatch" (python/cpython#106905): pytest itself then crashes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        if was_enabled:
            gc.enable()
