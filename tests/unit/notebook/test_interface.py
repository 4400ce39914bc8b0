"""What `import advisor` offers, and that nothing is loaded before it is used."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import advisor
from advisor.cli.advise.command import advise
from advisor.cli.commands import options_by_word

ROOT = Path(__file__).parents[3]


def test_the_import_loads_next_to_nothing() -> None:
    program = "old = set(sys.modules); import advisor; dir(advisor); print(*set(sys.modules) - old)"
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"sys = __import__('sys'); sys.path.insert(0, '{ROOT}')\n{program}",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert {name for name in done.stdout.split() if name.startswith("advisor")} == {"advisor"}
    assert not {"numpy", "pandas", "msgspec", "asyncio", "typer"} & set(done.stdout.split())


def test_type_checkers_see_the_same_names() -> None:
    stub = ast.parse((ROOT / "advisor/__init__.pyi").read_text())
    named = {
        alias.asname or alias.name
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    assert named == set(advisor.__all__) == {*advisor._MODULES, "events"}
    assert (ROOT / "advisor/py.typed").exists()
    for name in advisor.__all__:
        assert inspect.getdoc(getattr(advisor, name))
    with pytest.raises(AttributeError, match="nothing"):
        _ = advisor.nothing


def test_every_argument_is_an_option() -> None:
    """Whatever is given reaches the command, under a name that it knows."""
    values = {
        "budget_s": 0.1,
        "size_bytes": 10**13,
        "data": Path("/data"),
        "to": "/to",
        "profile_tool": "xdd",
        "transports": ["tcp", "udt"],
        "congestion": ["bbr"],
        "method": "bayes",
        "max_streams": 8,
        "bandwidth_bps": 1e10,
        "rtt_s": 0.00001,
        "seed": 0,
        "accept_history": True,
        "store": Path("/store"),
        "options": {"keep": True, "verify": False, "constant": {"a": 1, "b": 2e-5}},
    }
    assert set(values) == set(inspect.signature(advisor.advise).parameters) - {"destination"}
    words = advisor.advise("-h", **values)._words
    assert words[-2:] == ["--", "-h"]
    options = [word.partition("=") for word in words[1:-2]]
    assert {name.removeprefix("--") for name, _, _ in options} <= set(options_by_word(advise))
    assert [value for name, _, value in options if name == "--constant"] == ["a=1", "b=2e-05"]
    context = advise.make_context(
        "advise", ["--store=-", *words[1:-4], "localhost"], resilient_parsing=True
    )
    assert context.params["budget"] == 0.1
    assert context.params["bandwidth"] == 1e10
    assert context.params["rtt"] == 0.00001
    assert context.params["seed"] == 0


def test_numbers_of_numpy_are_numbers() -> None:
    """As they come from a table, or from a loop over `numpy.arange`."""
    plain = advisor.advise(
        "dtn02",
        budget_s=30.5,
        size_bytes=10**12,
        max_streams=8,
        bandwidth_bps=1e10,
        rtt_s=0.5,
        seed=3,
        accept_history=True,
        options={"gain-ratio": 0.5, "impeded": 4, "verify": False, "constant": {"a": 15}},
    )
    same = advisor.advise(
        "dtn02",
        budget_s=np.float32(30.5),
        size_bytes=np.int64(10**12),
        max_streams=np.uint8(8),
        bandwidth_bps=np.float32(1e10),
        rtt_s=np.float16(0.5),
        seed=np.int64(3),
        accept_history=np.True_,  # type: ignore[arg-type] # a bool of numpy
        options={
            "gain-ratio": np.float32(0.5),
            "impeded": np.int32(4),
            "verify": np.False_,
            "constant": {"a": np.int64(15)},
        },
    )
    assert same._words == plain._words
