"""Builds a lab in this process's namespaces: networks, paths, addresses, servers."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final

from advisor.hosts.processes import output_of
from advisor.lab.backend import Backend
from advisor.lab.backend_select import chosen
from advisor.lab.networks import Network, require_empty_network, set_up_host
from advisor.lab.paths import EmulatedPath, own_queue_bytes
from advisor.lab.running import SOURCE_ADDRESS, SOURCE_NAME, Lab, LabOrder, address_of
from advisor.lab.services import (
    NO_GRIDFTP,
    gridftp_program,
    start_agent,
    start_gridftp,
)
from advisor.lab.state import Host, LabFolder, StoredLab

_LOG: Final = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def built(
    order: LabOrder, place: LabFolder
) -> AsyncIterator[tuple[Lab, Callable[[], Coroutine[Any, Any, None]]]]:
    """The lab, and a function that returns only when an essential part of it has ended.

    Raises LabError, NetworkError, OSError.
    """
    require_empty_network(order.outside)
    async with contextlib.AsyncExitStack() as stack:
        networks = [Network() for _ in range(len(order.hosts) + 1)]
        for network in networks:
            stack.callback(network.close)
        await _name_hosts(order, place)
        backend = await chosen(order)
        stack.push_async_callback(backend.close)
        await _join(order, backend, networks)
        lab = Lab(order, backend, networks)
        stack.push_async_callback(lab.close)
        await _serve_far_hosts(order, place, networks, lab, stack)
        place.write(_state(order, lab, networks, backend.name))
        yield lab, backend.wait


async def _name_hosts(order: LabOrder, place: LabFolder) -> None:
    """Write names for the addresses to /etc/hosts, only in this mount namespace."""
    lines = ["127.0.0.1 localhost", f"{SOURCE_ADDRESS} {SOURCE_NAME} {os.uname().nodename}"]
    lines += [f"{address_of(i)} {name}" for i, name in enumerate(order.hosts, 1)]
    place.names.write_text("\n".join(lines) + "\n")
    status, _ = await output_of(["mount", "--bind", str(place.names), "/etc/hosts"], 5.0)
    if status:
        _LOG.warning("hosts have no names in this lab: /etc/hosts cannot be covered")


async def _join(order: LabOrder, backend: Backend, networks: list[Network]) -> None:
    paths = list(order.hosts.values())
    addresses = [address_of(i) for i in range(1, len(paths) + 1)]
    mtus = [path.mtu_bytes for path in paths]
    await backend.add_host(networks[0], SOURCE_ADDRESS, max(mtus))
    for network, address, mtu in zip(networks[1:], addresses, mtus, strict=True):
        await backend.add_host(network, address, mtu)
    if order.own is not None:
        await backend.set_own(order.own, own_queue_bytes(order.own, paths))
    for number, path in enumerate(paths, 1):
        await backend.set_path(number, path)
    buffer_bytes = max(path.tcp_buffer_bytes for path in paths)
    await set_up_host(
        networks[0], SOURCE_ADDRESS, dict(zip(addresses, mtus, strict=True)), buffer_bytes
    )
    reached = dict(zip(addresses, mtus, strict=True)) if order.mesh else {}

    async def set_up_far(network: Network, address: str, path: EmulatedPath) -> None:
        others = {to: min(mtu, path.mtu_bytes) for to, mtu in reached.items() if to != address}
        routes = {SOURCE_ADDRESS: path.mtu_bytes} | others
        await set_up_host(network, address, routes, path.tcp_buffer_bytes)

    await asyncio.gather(*map(set_up_far, networks[1:], addresses, paths))
    await backend.carry()


async def _serve_far_hosts(
    order: LabOrder,
    place: LabFolder,
    networks: list[Network],
    lab: Lab,
    stack: contextlib.AsyncExitStack,
) -> None:
    gridftp = gridftp_program()
    if gridftp is None:
        lab.without.append(NO_GRIDFTP)

    async def serve(number: int, name: str) -> None:
        network, address = networks[number], address_of(number)
        agent = await start_agent(network, address, place.secret)
        stack.push_async_callback(agent.end)
        if gridftp is not None:
            folder = place.files(name)
            folder.mkdir(parents=True, exist_ok=True)
            server, lab.urls[number - 1] = await start_gridftp(
                network, gridftp, address, folder, as_root=os.geteuid() == 0
            )
            stack.push_async_callback(server.end)

    await asyncio.gather(*(serve(number, name) for number, name in enumerate(order.hosts, 1)))


def _state(order: LabOrder, lab: Lab, networks: list[Network], backend: str) -> StoredLab:
    hosts = [Host(name=SOURCE_NAME, address=SOURCE_ADDRESS, network=networks[0].path)]
    hosts += [
        Host(
            name=name,
            address=address_of(number),
            network=networks[number].path,
            gridftp_url=lab.urls[number - 1],
        )
        for number, name in enumerate(order.hosts, 1)
    ]
    return StoredLab(
        name=order.name,
        mark=order.mark,
        user_namespace=order.user_namespace,
        backend=backend,
        hosts=hosts,
        mesh=order.mesh,
    )
