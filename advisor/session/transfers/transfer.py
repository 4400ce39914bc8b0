"""Moves a dataset at settings that a method changes while it runs."""

import asyncio
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from advisor import registry
from advisor.agent.client import PeerError
from advisor.agent.connect import Reached
from advisor.agent.secret import BadSecret
from advisor.domain import events as ev
from advisor.domain.dataset import Dataset
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord, TransferRecord
from advisor.domain.space import Setting
from advisor.hosts.datasets import regular_files
from advisor.methods.tuning import Tuner
from advisor.models.past_transfers import completed
from advisor.models.slicing import FileEntry
from advisor.models.transfer_heuristics import buffer_of
from advisor.session.control import Control
from advisor.session.moving.mover import Mover
from advisor.session.moving.portion import Places, Portion
from advisor.session.moving.settling import MovingFailed
from advisor.session.plans.running import until_stopped
from advisor.session.reaching import look_at_path, pair_of, reach
from advisor.session.request import AdviceRequest
from advisor.session.transfers.ending import EXIT_NOT_ALL, ending_of
from advisor.session.transfers.epochs import Epoch, Epochs
from advisor.session.transfers.progress import look_on
from advisor.session.transfers.tuners import HARP, Bounds, TunerWanted, tuner_of
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.tools import CommandRequest, TransferTool

EXIT_USAGE: Final = 2
EXIT_PEER: Final = 3

EPOCH_S: Final = 30.0
"""The control epoch of Balaprakash et al. (2016), section IV."""

_TOOL: Final = "globus-url-copy"
_SUPPOSED_CAPACITY_BPS: Final = 10e9
_PIECE_S: Final = 5.0
_PIECES_IN_EPOCH: Final = 4
"""At least: a change is in effect about a piece later, well before the half of the epoch."""

Publish = Callable[[ev.AnyEvent], None]


class TransferOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted beside the request, whose method tunes. `start` None: the method's own."""

    epoch_s: float = EPOCH_S
    start: Setting | None = None
    most_flows: int | None = None


async def transfer_tuned(
    request: AdviceRequest,
    options: TransferOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Move everything; returns the exit code.

    The last event is `transfer_ended`, or `gave_up` where it did not begin.
    """
    session = _Tuned(request, options, store, publish, control)
    try:
        return await session.run()
    except PeerError as error:
        return session.give_up(str(error), EXIT_PEER)
    except BadSecret as error:
        return session.give_up(f"--secret-file {request.secret_file} {error}", EXIT_USAGE)
    except StoreError as error:
        return session.give_up(str(error), EXIT_NOT_ALL)
    except OSError as error:
        return session.give_up(f"{error.filename}: {error.strerror}", EXIT_NOT_ALL)
    except ValueError as error:
        return session.give_up(str(error), EXIT_USAGE)
    finally:
        await asyncio.shield(session.close())


class _Tuned:
    def __init__(
        self,
        request: AdviceRequest,
        options: TransferOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        self._request = request
        self._options = options
        self._store = store
        self._publish = publish
        self._control = control
        self._session = secrets.token_hex(8)
        self._pair = pair_of(request)
        self._clock = asyncio.get_running_loop().time
        self._began_s = self._clock()
        self._reached: Reached | None = None

    def _tell(self, event: type[ev.Event], **fields: Any) -> None:
        made: Any = event(at_s=self._clock() - self._began_s, **fields)
        self._publish(made)

    def give_up(self, message: str, exit_code: int) -> int:
        self._tell(ev.GaveUp, message=message, exit_code=exit_code)
        return exit_code

    async def close(self) -> None:
        if self._reached:
            await self._reached.link.close()

    async def run(self) -> int:
        dataset = self._dataset
        tool = registry.transfer_tool(_TOOL)
        if not (availability := tool.available()).ok:
            raise ValueError(f"{availability.reason} ({availability.remedy})")
        files = await asyncio.to_thread(_files_of, Path(dataset.path or ""))
        self._reached = await reach(self._request)
        path = await look_at_path(self._reached, self._request)
        self._tell(ev.PathFound, path=path, limits=[])
        tuner = await asyncio.to_thread(self._tuner, dataset, path)
        return await self._move(tool, path, tuner, Portion("all", files))

    async def _move(
        self, tool: TransferTool, path: PathFacts, tuner: Tuner, portion: Portion
    ) -> int:
        assert self._reached is not None  # `run` has reached it.
        concurrency = int(tuner.setting.get("concurrency", 1))
        mover = Mover(
            self._reached.link,
            tool,
            path,
            self._places(tool, path),
            [portion],
            expected_bps=(path.capacity_bps or _SUPPOSED_CAPACITY_BPS) / concurrency,
            tell=lambda message: self._tell(ev.Notice, message=message),
            piece_s=min(_PIECE_S, self._options.epoch_s / _PIECES_IN_EPOCH),
        )
        epochs = Epochs(
            tuner,
            portion,
            self._options.epoch_s,
            tell=self._tell,
            keep=lambda epoch: self._store.append(self._probe(tool, path, epoch)),
            clock=self._clock,
        )
        began_s, failure = self._clock(), ""
        looking = asyncio.create_task(look_on(portion, self._tell))
        try:
            async with mover:
                is_over = await until_stopped(epochs.run(mover), self._control.stop)
        except MovingFailed as error:
            failure, is_over = str(error), False
        finally:
            looking.cancel()
            await asyncio.wait([looking])
        return self._end(ending_of(portion, self._clock() - began_s, failure, is_over=is_over))

    def _end(self, ending: dict[str, Any]) -> int:
        if ending["complete"]:
            self._store.append(
                TransferRecord(
                    pair=self._pair,
                    recorded_s=time.time(),
                    session=self._session,
                    total_bytes=ending["moved_bytes"],
                    elapsed_s=ending["elapsed_s"],
                    note=f"advisor transfer, {self._request.method}",
                )
            )
        self._tell(ev.TransferEnded, **ending)
        exit_code: int = ending["exit_code"]
        return exit_code

    @property
    def _dataset(self) -> Dataset:
        dataset = self._request.dataset
        if dataset is None or dataset.path is None or self._request.destination_path is None:
            raise ValueError("a transfer needs files and --to: what to move, and where it goes")
        return dataset

    def _tuner(self, dataset: Dataset, path: PathFacts) -> Tuner:
        request = self._request
        wanted = TunerWanted(
            method=request.method,
            bounds=Bounds(
                concurrency=request.max_concurrency,
                parallelism=request.max_streams,
                flows=self._options.most_flows,
            ),
            start=self._options.start,
            seed=request.seed,
        )
        known = self._store.transfers() if request.method == HARP else []
        return tuner_of(wanted, dataset, path, list(completed(known, self._pair, path)))

    def _places(self, tool: TransferTool, path: PathFacts) -> Places:
        request, dataset = self._request, self._dataset
        asked = CommandRequest(
            transport=tool.name,
            settings={},
            path=path,
            destination_host=request.destination_host,
            dataset=dataset,
            source_path=dataset.path,
            destination_path=request.destination_path,
        )
        return Places(
            source=asked.source,
            target=asked.target,
            destination_host=request.destination_host,
            server_url=request.server_url,
        )

    def _probe(self, tool: TransferTool, path: PathFacts, epoch: Epoch) -> ProbeRecord:
        """An epoch as it is stored: for the next transfer to learn from."""
        dataset = self._dataset
        files = dataset.files or 1
        return ProbeRecord(
            pair=self._pair,
            subject=tool.name,
            setting={"concurrency": 1, "parallelism": 1} | epoch.setting,
            result=epoch.outcome,
            recorded_s=time.time(),
            session=self._session,
            stage="transfer",
            label="epoch",
            method=self._request.method,
            seed=self._request.seed,
            rtt_s=path.rtt_s,
            mtu_bytes=path.mtu_bytes,
            bandwidth_bps=path.bandwidth_bps,
            buffer_bytes=buffer_of(path),
            file_bytes=dataset.total_bytes / files,
            files=files,
        )


def _files_of(path: Path) -> list[FileEntry]:
    """All of them, by name. Raises OSError."""
    found = regular_files(path)
    entries = (FileEntry(name, status.st_size, status.st_mtime_ns) for name, status in found)
    return sorted(entries, key=lambda one: one.name)
