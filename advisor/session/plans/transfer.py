"""Plans a dataset's transfer, and runs the plan: samples, the scheduler, all classes (HARP 3.1)."""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from advisor import registry
from advisor.agent.client import PeerError
from advisor.agent.connect import Reached
from advisor.agent.secret import BadSecret
from advisor.domain import events as ev
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.plan import TransferPlan
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.records import ProbeRecord, TransferRecord
from advisor.hosts.datasets import regular_files
from advisor.models.past_transfers import completed
from advisor.models.piecework import Done
from advisor.models.planning import LevelLimits, Rule
from advisor.models.slicing import FileEntry
from advisor.models.transfer_heuristics import buffer_of
from advisor.session.control import Control
from advisor.session.moving.going_on import going_on_words, still_there
from advisor.session.moving.journal import JournalStuck, TransferJournal, TransferRuns
from advisor.session.moving.mover import Mover
from advisor.session.moving.portion import Places, Portion
from advisor.session.moving.settling import MovingFailed
from advisor.session.plans.lines import Way, write_lines
from advisor.session.plans.planner import SUPPOSED_CAPACITY_BPS, Planner
from advisor.session.plans.running import Alone, PlanRun, until_stopped
from advisor.session.reaching import look_at_path, pair_of, reach
from advisor.session.request import AdviceRequest
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.tools import CommandRequest

EXIT_DONE: Final = 0
EXIT_NOT_ALL: Final = 1
EXIT_USAGE: Final = 2
EXIT_PEER: Final = 3
EXIT_INTERRUPTED: Final = 130

_TOOL: Final = "globus-url-copy"
_NAMED: Final = 100

_WORTH_TRYING: Final = 0.3
"""The gain over the rules of thumb that a sample is trusted to bring under a load that is not
known beforehand: the paper has 10 to 80 %, 36 and 48 % where there is other traffic."""

Publish = Callable[[ev.AnyEvent], None]


class PlanOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted beside the request. `lists`: the folder for lists of files and the script.

    `sample` None: where it can be expected to pay off. `relaxation`: see `Planner`.
    `journals`: the folder for what has arrived of transfers that are not complete. `anew`: move all
    of it, whatever has arrived before.
    """

    rule: Rule
    lists: Path
    journals: Path
    run: bool = False
    sample: bool | None = None
    relaxation: float = 1.0
    anew: bool = False


async def plan_transfer(
    request: AdviceRequest,
    options: PlanOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Plan, and run it if that is wanted; returns the exit code.

    The last event is `plan_made`, with --run `transfer_ended`; `gave_up` where it came to neither.
    """
    session = _Planned(request, options, store, publish, control)
    try:
        return await session.run()
    except PeerError as error:
        return session.give_up(str(error), EXIT_PEER)
    except BadSecret as error:
        return session.give_up(f"--secret-file {request.secret_file} {error}", EXIT_USAGE)
    except (StoreError, TransferRuns, JournalStuck) as error:
        return session.give_up(str(error), EXIT_NOT_ALL)
    except OSError as error:
        return session.give_up(f"{error.filename}: {error.strerror}", EXIT_NOT_ALL)
    except ValueError as error:
        return session.give_up(str(error), EXIT_USAGE)
    finally:
        await asyncio.shield(session.close())


class _Moving:
    """All classes on their way. `earlier_bytes`: what was there before."""

    def __init__(self, planner: Planner, journal: TransferJournal, done: Done) -> None:
        self.journal = journal
        self.portions = {
            one.size: Portion(one.size, one.files, done=done) for one in planner.classes
        }
        self.earlier_bytes = self.arrived_bytes

    @property
    def arrived_bytes(self) -> int:
        """Of all of it, what was there before too."""
        return sum(portion.arrived_bytes for portion in self.portions.values())

    @property
    def remedy(self) -> str:
        """What to do where it is not complete."""
        if self.journal.is_kept:
            return "the same command goes on from there"
        return "the same command moves again what could not be kept in a journal"

    def words(self, elapsed_s: float) -> str:
        """How much it is, and how fast it was."""
        if not self.earlier_bytes:
            return _moved_words(self.arrived_bytes, elapsed_s)
        now_bytes = self.arrived_bytes - self.earlier_bytes
        moved = _moved_words(now_bytes, elapsed_s) if now_bytes else "nothing"
        return f"{format_bytes(self.arrived_bytes)}; of it now {moved}"


class _Planned:
    def __init__(
        self,
        request: AdviceRequest,
        options: PlanOptions,
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

    def _notice(self, message: str) -> None:
        self._tell(ev.Notice, message=message)

    def give_up(self, message: str, exit_code: int) -> int:
        self._tell(ev.GaveUp, message=message, exit_code=exit_code)
        return exit_code

    async def close(self) -> None:
        if self._reached:
            await self._reached.link.close()

    async def run(self) -> int:
        files = await asyncio.to_thread(_files_of, Path(self._source))
        self._reached = await reach(self._request)
        path = await look_at_path(self._reached, self._request)
        self._tell(ev.PathFound, path=path, limits=[])
        planner = await asyncio.to_thread(self._planner, path, files)
        for one in planner.classes:
            await asyncio.to_thread(planner.look, one)
        way = self._way(path)
        if not self._options.run:
            await self._tell_plan(planner, way, final=True)
            return EXIT_DONE
        with TransferJournal(self._options.journals, way.places, self._notice) as journal:
            sampling = self._samples_pay(planner)
            plan = await self._tell_plan(planner, way, final=not sampling)
            done = await self._done(journal, way, files)
            return await self._move(planner, way, plan, _Moving(planner, journal, done), sampling)

    async def _done(self, journal: TransferJournal, way: Way, files: Sequence[FileEntry]) -> Done:
        """What need not be moved again; it is told."""
        assert self._reached is not None  # `run` has reached it.
        if self._options.anew:
            journal.forget()
        carried = [file for file in files if not way.tool.carries(file.name)]
        done = await still_there(journal, self._reached.link, way.places, carried)
        if words := going_on_words(files, done):
            self._notice(words)
        return done

    async def _move(
        self, planner: Planner, way: Way, plan: TransferPlan, moving: _Moving, sampling: bool
    ) -> int:
        """Run the plan to its end; the exit code."""
        assert self._reached is not None  # `run` has reached it.
        portions = moving.portions
        running = PlanRun(planner, portions, self._tell, lambda alone: self._keep_alone(way, alone))
        mover = Mover(
            self._reached.link,
            way.tool,
            way.path,
            way.places,
            list(portions.values()),
            expected_bps=_first_client_bps(way.path, plan),
            tell=self._notice,
            note=moving.journal.note,
        )
        began_s = self._clock()

        async def work() -> None:
            if sampling:
                await running.sample(mover)
                await self._tell_plan(planner, way, final=True)
            await running.move(mover)

        failure, looking = "", asyncio.create_task(running.look_on())
        try:
            async with mover:
                is_over = await until_stopped(work(), self._control.stop)
        except MovingFailed as error:
            failure, is_over = str(error), False
        finally:
            looking.cancel()
            await asyncio.wait([looking])
        return self._end(moving, self._clock() - began_s, failure, is_over=is_over)

    def _end(self, moving: _Moving, elapsed_s: float, failure: str, *, is_over: bool) -> int:
        """Tell what is there and what is not; the exit code."""
        troubles = [one for portion in moving.portions.values() for one in portion.troubles]
        files = sum(portion.arrived_files for portion in moving.portions.values())
        total_files = sum(portion.total_files for portion in moving.portions.values())
        complete = is_over and not troubles
        exit_code = EXIT_DONE if complete else EXIT_NOT_ALL
        if complete:
            message = f"all {files} files are there, {moving.words(elapsed_s)}"
            self._complete(moving, elapsed_s)
        else:
            message = f"{files} of {total_files} files are there whole"
            if failure:
                message = f"{failure}; {message}; {moving.remedy}"
            elif not is_over:
                message = f"stopped: {message}; {moving.remedy}"
                exit_code = EXIT_INTERRUPTED
            else:
                message += f", {len(troubles)} could not be moved"
        self._tell(
            ev.TransferEnded,
            complete=complete,
            files=files,
            moved_bytes=moving.arrived_bytes,
            elapsed_s=elapsed_s,
            message=message,
            missing=[f"{one.file.name}: {one.message}" for one in troubles[:_NAMED]],
            missing_files=len(troubles),
            exit_code=exit_code,
        )
        return exit_code

    def _complete(self, moving: _Moving, elapsed_s: float) -> None:
        """Keep what it gave, and forget how it went. Raises StoreError."""
        try:
            moving.journal.forget()
        except JournalStuck as error:
            self._notice(str(error))
        if moved_bytes := moving.arrived_bytes - moving.earlier_bytes:
            self._store.append(self._transfer(moved_bytes, elapsed_s))

    @property
    def _source(self) -> str:
        dataset = self._request.dataset
        if dataset is None or dataset.path is None or self._request.destination_path is None:
            raise ValueError("a plan needs files and --to: what to move, and where it goes")
        return dataset.path

    def _planner(self, path: PathFacts, files: Sequence[FileEntry]) -> Planner:
        request = self._request
        is_harp = self._options.rule is Rule.HARP
        limits = LevelLimits(channels=request.max_concurrency, streams=request.max_streams)
        return Planner(
            self._options.rule,
            path,
            files,
            list(completed(self._store.transfers(), self._pair, path)) if is_harp else (),
            limits,
            request.seed,
            self._options.relaxation,
        )

    def _way(self, path: PathFacts) -> Way:
        request = self._request
        tool = registry.transfer_tool(_TOOL)
        availability = tool.available()
        if self._options.run and not availability.ok:
            raise ValueError(f"--run: {availability.reason} ({availability.remedy})")
        places = CommandRequest(
            transport=tool.name,
            settings={},
            path=path,
            destination_host=request.destination_host,
            dataset=request.dataset,
            source_path=self._source,
            destination_path=request.destination_path,
        )
        return Way(
            tool=tool,
            path=path,
            places=Places(
                source=places.source,
                target=places.target,
                destination_host=request.destination_host,
                server_url=request.server_url,
            ),
        )

    def _samples_pay(self, planner: Planner) -> bool:
        if planner.rule is not Rule.HARP or self._options.sample is not None:
            return planner.rule is Rule.HARP and bool(self._options.sample)
        pay_off = planner.pay_off()
        return bool(pay_off and pay_off.least_gain(planner.total_bytes) <= _WORTH_TRYING)

    async def _tell_plan(self, planner: Planner, way: Way, *, final: bool) -> TransferPlan:
        classes = planner.class_plans()
        commands = await asyncio.to_thread(
            write_lines, way, classes, planner.classes, planner.rule.order, self._options.lists
        )
        pay_off = planner.pay_off()
        plan = TransferPlan(
            method=planner.rule,
            order=planner.rule.order,
            classes=classes,
            commands=commands,
            pay_off=pay_off.sentence(planner.total_bytes) if pay_off else "",
            notes=_notes(planner, way),
        )
        self._tell(ev.PlanMade, plan=plan, final=final)
        return plan

    def _keep_alone(self, way: Way, alone: Alone) -> None:
        """Store what a class gave by itself, for the next plan to learn from."""
        moved_bytes = round(alone.bps * alone.elapsed_s / 8)
        levels, files = alone.levels, alone.files
        self._store.append(
            ProbeRecord(
                pair=self._pair,
                subject=way.tool.name,
                setting={"concurrency": levels.concurrency, "parallelism": levels.parallelism},
                result=Measurement(
                    throughput_bps=alone.bps,
                    stderr_bps=0.0,
                    intervals=[Interval(0.0, alone.elapsed_s, moved_bytes)],
                    steady_from=0,
                    settled=True,
                    elapsed_s=alone.elapsed_s,
                ),
                recorded_s=time.time(),
                session=self._session,
                stage=f"{alone.label}/{files.size}",
                label=alone.label,
                method=self._options.rule,
                rtt_s=way.path.rtt_s,
                mtu_bytes=way.path.mtu_bytes,
                bandwidth_bps=way.path.bandwidth_bps,
                buffer_bytes=buffer_of(way.path),
                file_bytes=files.total_bytes / len(files.files),
                files=len(files.files),
            )
        )

    def _transfer(self, moved_bytes: int, elapsed_s: float) -> TransferRecord:
        return TransferRecord(
            pair=self._pair,
            recorded_s=time.time(),
            session=self._session,
            total_bytes=moved_bytes,
            elapsed_s=elapsed_s,
            note=f"advisor plan, {self._options.rule}",
        )


def _files_of(path: Path) -> list[FileEntry]:
    """All of them, by name. Raises OSError."""
    return sorted(
        (
            FileEntry(name, status.st_size, status.st_mtime_ns)
            for name, status in regular_files(path)
        ),
        key=lambda one: one.name,
    )


def _first_client_bps(path: PathFacts, plan: TransferPlan) -> float:
    """What one client is thought to move, until it is seen."""
    clients = max(one.levels.concurrency for one in plan.classes)
    return (path.capacity_bps or SUPPOSED_CAPACITY_BPS) / clients


def _notes(planner: Planner, way: Way) -> list[str]:
    notes = []
    if planner.rule is Rule.HARP and not planner.knows_transfers:
        notes.append(
            "No past transfer of files is stored: profile this one with `advisor advise --tool`, "
            "or bring the logs of your GridFTP server with `advisor history import`."
        )
    if way.path.capacity_bps is None:
        notes.append(
            f"The rate of the path is not known and taken to be "
            f"{format_rate(SUPPOSED_CAPACITY_BPS)}: give it with --bandwidth."
        )
    refused = [
        why for one in planner.classes for f in one.files if (why := way.tool.carries(f.name))
    ]
    if refused:
        notes.append(f"{len(refused)} files cannot be carried, the first one: {refused[0]}.")
    return notes


def _moved_words(moved_bytes: int, elapsed_s: float) -> str:
    rate = format_rate(moved_bytes * 8 / max(1e-3, elapsed_s))
    return f"{format_bytes(moved_bytes)} in {format_duration(elapsed_s)}, {rate}"
