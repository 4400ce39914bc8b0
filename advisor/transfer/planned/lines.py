"""The command lines of a plan, and the lists of files that they read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from advisor.api.tool import TransferOrder
from advisor.domain.advice import Command
from advisor.domain.plan import ClassPlan, Order
from advisor.domain.shell import quoted_line, shell_line
from advisor.models.file_classes import Size
from advisor.models.planning import SizedFiles
from advisor.models.slicing import Part
from advisor.transfer.engine.route import Route

SCRIPT: Final = "run.sh"


def write_lines(
    route: Route,
    plans: Sequence[ClassPlan],
    classes: Sequence[SizedFiles],
    order: Order,
    folder: Path,
) -> list[Command]:
    """A command line for each class, its list of files, and a script that runs all lines.

    Files that the tool cannot carry are in no list. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files_of = {one.size: one.files for one in classes}
    commands = []
    for plan in plans:
        list_file = folder / f"{plan.size}.files"
        files = [one for one in files_of[Size(plan.size)] if not route.tool.carries(one.name)]
        [step] = route.tool.steps(
            TransferOrder(
                setting={
                    "concurrency": plan.levels.concurrency,
                    "parallelism": plan.levels.parallelism,
                },
                pieces=tuple(route.places.piece(Part(one, 0, one.size_bytes)) for one in files),
                path=route.path,
                destination_host=route.login or route.places.destination_host,
                list_file=str(list_file),
                server_url=route.places.server_url,
                make_folders=True,
                for_user=True,
                follows_links=route.follows_links,
            )
        )
        list_file.write_text(step.list_text or "", encoding="utf-8")
        commands.append(
            Command(
                tool=route.tool.name,
                side="source",
                argv=step.argv,
                shell=shell_line(step.argv),
                note=f"{len(files)} {plan.size} file{'' if len(files) == 1 else 's'}",
            )
        )
    _write_script(commands, order, folder / SCRIPT)
    return commands


def _write_script(commands: Sequence[Command], order: Order, path: Path) -> None:
    """Write a script for any POSIX shell that runs the lines; its status is 0 if all succeed."""
    lines = ["#!/bin/sh", f"# Moves all classes of files, {order}.", ""]
    if order == "together":
        lines += ["status=0", "pids="]
        lines += [f'{quoted_line(one.argv)} & pids="$pids $!"' for one in commands]
        lines += ['for pid in $pids; do wait "$pid" || status=1; done', "exit $status"]
    else:
        lines += ["set -e", *(quoted_line(one.argv) for one in commands)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
