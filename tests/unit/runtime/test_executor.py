import operator
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from advisor.runtime.executor import (
    Answer,
    CannotCompute,
    Computation,
    InThisProcess,
    parse_dask,
    read_answer,
    run_batch,
    versions,
)
from advisor.runtime.open_executor import open_executor

NEGATE = Computation(operator.neg, int)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("local", "local"),
        ("tcp://head.example.org:8786", "tcp://head.example.org:8786"),
        ("tls://10.0.0.1:8786", "tls://10.0.0.1:8786"),
        ("tls://[2001:db8::1]:8786", "tls://[2001:db8::1]:8786"),
    ],
)
def test_addresses(text: str, address: str) -> None:
    assert parse_dask(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "head.example.org:8786",
        "ucx://head:8786",
        "inproc://x",
        "http://head:8787",
        "tcp://head",
        "tcp://head:0",
        "tcp://head:70000",
        "tcp://:8786",
        "tcp://head:8786/x",
        "tcp://a b:8786",
        "LOCAL",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_dask(text)


def test_without_dask_a_task_runs_when_its_result_is_asked_for() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in (3, 1, 2):
            taken.append(number)
            yield number

    with open_executor(None) as executor:
        assert isinstance(executor, InThisProcess)
        results = executor.results(NEGATE, tasks(), batch=2)
        assert next(results) == (3, -3)
        assert taken == [3]
        assert list(results) == [(1, -1), (2, -2)]


def test_a_batch_comes_back_as_it_was() -> None:
    sent = run_batch(float, ["0.1", "nan"], versions())
    first, second = read_answer(sent, float, 2)
    assert first == 0.1
    assert second != second


def test_a_worker_with_other_versions_computes_nothing() -> None:
    calls: list[int] = []
    sent = run_batch(calls.append, [1], versions() | {"numpy": "1.0"})
    assert calls == []
    with pytest.raises(CannotCompute, match=r"a worker has numpy [\d.]+, not 1\.0: install"):
        read_answer(sent, int, 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([1], "is a list"),
        (None, "is a NoneType"),
        (b"\xc1", "cannot be used"),
        (msgspec.msgpack.encode([1]), "cannot be used"),
        (msgspec.msgpack.encode(Answer([msgspec.Raw(msgspec.msgpack.encode("one"))])), "str"),
        (msgspec.msgpack.encode(Answer([])), "0 results for 1 task"),
        (msgspec.msgpack.encode(Answer([msgspec.Raw(b"\x01")] * 2)), "2 results for 1 task"),
    ],
)
def test_an_answer_that_is_none_is_refused(answer: object, said: str) -> None:
    with pytest.raises(CannotCompute, match=said):
        read_answer(answer, int, 1)


def test_dask_is_read_only_where_it_is_asked_for() -> None:
    program = (
        "import sys\n"
        "if 'without' in sys.argv: sys.modules['distributed'] = sys.modules['dask'] = None\n"
        "from advisor.cli.main import main\n"
        "sys.argv = [one for one in sys.argv if one != 'without']\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "finally:\n"
        "    print(sorted(one for one in ('dask', 'distributed') if sys.modules.get(one)))\n"
    )
    words = ["backtest", "synthetic", "--method", "globus-default", "--seeds", "1"]
    for given, status, said in (
        ([], 0, ""),
        (["without"], 0, ""),
        (["without", "--dask", "local"], 2, "'data-transfer-advisor[dask]'"),
    ):
        argv = [sys.executable, "-c", program, *words, *given]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert (done.returncode, said in done.stderr) == (status, True)
        assert done.stdout.splitlines()[-1] == "[]"
