import asyncio
import re
import shutil

import pytest

from advisor import registry
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.hosts.processes import running
from advisor.testing.tools import a_command_request

PLUGIN = registry.tool("globus")
LINE_S = 60.0
SMALL = Dataset(total_bytes=10**6, files=1000, largest="a", largest_bytes=10**3)
LARGE = Dataset(total_bytes=10**13, files=5, largest="a", largest_bytes=10**13 // 5)


def the_pair(**changes: object) -> tuple[Command, Command]:
    endpoint, transfer = PLUGIN.commands(a_command_request(**changes))
    return endpoint, transfer


def test_one_file() -> None:
    endpoint, transfer = the_pair(source_path="/data/it's", destination_path="/store/run 7.h5")
    assert endpoint.shell == (
        "globus gcs endpoint update --network-use custom --preferred-concurrency 1 "
        "--max-concurrency 1 --preferred-parallelism 8 --max-parallelism 8 ENDPOINT_ID"
    )
    assert transfer.argv == [
        "globus",
        "transfer",
        "SOURCE_COLLECTION_ID:/data/it's",
        "DESTINATION_COLLECTION_ID:/store/run 7.h5",
    ]
    assert "administrator" in endpoint.note
    assert "globus-connect-server endpoint update" in endpoint.note


@pytest.mark.parametrize(("dataset", "shares"), [(SMALL, (8, 1)), (LARGE, (1, 8))])
def test_a_directory(dataset: Dataset, shares: tuple[int, int]) -> None:
    endpoint, transfer = the_pair(
        source_path="/data/run42", destination_path="/store/run42", dataset=dataset
    )
    concurrency, parallelism = (
        int(endpoint.argv[endpoint.argv.index(f"--preferred-{word}") + 1])
        for word in ("concurrency", "parallelism")
    )
    assert (concurrency, parallelism) == shares
    assert transfer.argv[2:] == [
        "--recursive",
        "SOURCE_COLLECTION_ID:/data/run42/",
        "DESTINATION_COLLECTION_ID:/store/run42/",
    ]


def test_globus_has_a_udt_of_its_own() -> None:
    udt = {"mss_bytes": 9000}
    tcp = {"streams": 8, "buffer_bytes": 0, "congestion": "cubic"}
    endpoint, _ = the_pair(subject="udt", settings={"udt": udt, "tcp": tcp})
    assert "--allow-udt true" in endpoint.note


def test_every_flag_explained_is_one_the_program_knows() -> None:
    if shutil.which("globus") is None:
        pytest.skip("globus is absent: pipx install globus-cli")

    async def printed(*command: str) -> str:
        async with asyncio.timeout(LINE_S), running(["globus", *command, "--help"]) as child:
            output = await child.stdout.read()
            assert await child.wait() == 0, child.stderr.decode()
            return output.decode()

    async def both() -> str:
        return await printed("gcs", "endpoint", "update") + await printed("transfer")

    known = set(re.findall(r"--[\w-]+", asyncio.run(both())))
    assert {usage.split()[0] for usage in PLUGIN.flags if usage.startswith("-")} <= known
