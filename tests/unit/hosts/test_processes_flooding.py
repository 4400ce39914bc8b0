"""A child that writes more than anybody reads is ended all the same."""

import asyncio

import pytest

from advisor.hosts.processes import running


@pytest.mark.asyncio
@pytest.mark.parametrize("read", [0, 1, 10**6])
async def test_ended_in_the_middle_of_its_output(read: int) -> None:
    async with asyncio.timeout(20):
        async with running(["sh", "-c", "yes"]) as child:
            while read > 0:
                read -= len(await child.stdout.read(min(read, 2**16)))
            await asyncio.sleep(0.2)
        with pytest.raises(ProcessLookupError):
            child.send(0)
