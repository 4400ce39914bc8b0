"""Finds the plugins: methods, transports and tools, all in the same way.

Four places are searched, and the first that offers a name wins: the folder that comes with the
program (beside the package in a checkout, inside it in a wheel), the folders of the environment
variable ADVISOR_PLUGINS, the user's own folder, and the entry points of installed distributions.
A plugin is a module with an object called `plugin`. One that cannot be loaded, or fails when it is
asked whether it can run, is left out: it is listed with the reason, which is told once.
"""

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import platformdirs

from advisor import faults
from advisor.api.tool import Tool, TransferTool
from advisor.api.transport import Transport
from advisor.domain.availability import Availability
from advisor.domain.printable import MOST_SHOWN, printable, shortened
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.traits import Traits
from advisor.hosts.changeable import changeable_by_all

if TYPE_CHECKING:
    from advisor.methods.api import MethodPlugin

Kind = Literal["methods", "transports", "tools"]
KINDS: Final[tuple[Kind, ...]] = ("methods", "transports", "tools")


class PluginMissing(ProblemError, LookupError):
    """No plugin of that name can be used; the message lists those that can."""

    kind = ProblemKind.MISSING


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list of plugins."""

    kind: Kind
    name: str
    origin: str
    summary: str
    availability: Availability


_FOREIGN: Final = (Exception, SystemExit)
"""What a third-party module may raise; Ctrl-C is the user's."""

_TO_MEND: Final = "fix the module or remove it"

_places: dict[int, str] = {}
"""Where each plugin that was loaded comes from, by its id."""


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    origin: str
    plugin: Any = None
    fault: str = ""


def bundled_folder() -> Path:
    """Where the plugins that come with the program are."""
    package = Path(__file__).parent
    inside = package / "plugins"
    return inside if inside.is_dir() else package.parent / "plugins"


def user_folder() -> Path:
    """The folder of the user's own plugins, in subfolders methods, transports and tools."""
    return platformdirs.user_data_path("advisor") / "plugins"


def _folders() -> list[tuple[str, Path]]:
    named = os.environ.get("ADVISOR_PLUGINS", "")
    extra = [(part, Path(part)) for part in named.split(os.pathsep) if part]
    return [("bundled", bundled_folder()), *extra, ("user", user_folder())]


def _load_file(kind: Kind, origin: str, path: Path) -> ModuleType:
    """Load a plugin's file, or its folder as a package, under a unique module name."""
    init = path / "__init__.py"
    name = re.sub(r"\W", "_", f"advisor_plugins_{origin}_{kind}_{path.stem}")
    spec = importlib.util.spec_from_file_location(
        name,
        init if path.is_dir() else path,
        submodule_search_locations=[str(path)] if path.is_dir() else None,
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _left_out(name: str, origin: str, fault: str) -> _Found:
    faults.tell(fault)
    return _Found(name=name, origin=origin, fault=fault)


def _failure_of(place: str, error: BaseException) -> str:
    """One line: who wrote the module also wrote the message."""
    words = shortened(printable(" ".join(str(error).split())), MOST_SHOWN)
    return f"{place}: {type(error).__name__}: {words}" if words else f"{place}: {error!r}"


def _interface(kind: Kind) -> Any:
    match kind:
        case "methods":
            # It needs numpy, which commands without a search do not load.
            from advisor.methods.api import MethodPlugin

            return MethodPlugin
        case "transports":
            return Transport
        case "tools":
            return Tool


def _checked(kind: Kind, fallback: str, origin: str, place: str, module: ModuleType) -> _Found:
    """The module's plugin, or why it is none. What its properties raise is raised."""
    plugin: Any = getattr(module, "plugin", None)
    fault = ""
    if isinstance(plugin, type):
        fault = f"`plugin` is a class: write `plugin = {plugin.__name__}()`"
    elif not isinstance(plugin, _interface(kind)):
        fault = f"has no object `plugin` with the interface of a plugin of the kind '{kind}'"
    elif not (isinstance(plugin.name, str) and isinstance(plugin.summary, str) and plugin.name):
        fault = "its `plugin` has a `name` or a `summary` that is no text"
    if fault:
        return _left_out(fallback, origin, f"{place}: {fault}")
    _places[id(plugin)] = place
    return _Found(name=plugin.name, origin=origin, plugin=plugin)


def _files(folder: Path) -> list[Path]:
    """Raises OSError for a folder that is there and cannot be read."""
    if not folder.is_dir():
        return []
    modules = [p for p in folder.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()]
    return sorted(p for p in modules if not p.name.startswith("_"))


def _changeable_by_all(plugin: Path) -> Path | None:
    files = plugin.rglob("*.py") if plugin.is_dir() else (plugin,)
    return next((place for file in files if (place := changeable_by_all(file))), None)


def _from_folders(kind: Kind) -> Iterator[_Found]:
    for origin, folder in _folders():
        try:
            files = _files(folder / kind)
        except OSError as error:
            fault = f"{folder / kind} cannot be read: {error.strerror}"
            yield _left_out(str(folder), origin, fault)
            continue
        for path in files:
            yield _from_file(kind, origin, path)


def _from_file(kind: Kind, origin: str, path: Path) -> _Found:
    try:
        if origin != "bundled" and (place := _changeable_by_all(path)):
            fault = f"{path} is not loaded, as every user may change {place}: run chmod o-w"
            return _left_out(path.stem, origin, fault)
        return _checked(kind, path.stem, origin, str(path), _load_file(kind, origin, path))
    except _FOREIGN as error:
        return _left_out(path.stem, origin, _failure_of(str(path), error))


def _from_entry_points(kind: Kind) -> Iterator[_Found]:
    # Imported late: it loads the e-mail parser, and most commands look for no plugin.
    import importlib.metadata

    for point in importlib.metadata.entry_points(group=f"advisor.{kind}"):
        origin = point.dist.name if point.dist else "entry point"
        place = f"{point.value} of {origin}"
        try:
            yield _checked(kind, point.name, origin, place, point.load())
        except _FOREIGN as error:
            yield _left_out(point.name, origin, _failure_of(place, error))


@cache
def _in_folders(kind: Kind) -> dict[str, _Found]:
    plugins: dict[str, _Found] = {}
    for one in _from_folders(kind):
        plugins.setdefault(one.name, one)
    return plugins


@cache
def _found(kind: Kind) -> dict[str, _Found]:
    plugins = dict(_in_folders(kind))
    for one in _from_entry_points(kind):
        plugins.setdefault(one.name, one)
    return plugins


@cache
def _former_names(kind: Kind) -> dict[str, str]:
    """The present name of each plugin, by former name."""
    known = {n: getattr(one.plugin, "traits", None) for n, one in _found(kind).items()}
    return {
        former: name
        for name, traits in known.items()
        if isinstance(traits, Traits)
        for former in traits.former_names
    }


def _one(kind: Kind, name: str) -> Any:
    # Folders take precedence, and a search for entry points takes as long again.
    found = _in_folders(kind)
    if name not in found:
        found = _found(kind)
    if name not in found:
        name = _former_names(kind).get(name, name)
    if name not in found:
        usable = ", ".join(n for n, one in sorted(found.items()) if one.plugin)
        raise PluginMissing(f"there is none called '{name}'", remedy=f"choose from {usable}")
    if found[name].fault:
        raise PluginMissing(f"'{name}' cannot be loaded: {found[name].fault}")
    return found[name].plugin


def method(name: str) -> "MethodPlugin":
    """The search method of that name. Raises PluginMissing."""
    plugin: MethodPlugin = _one("methods", name)
    return plugin


def usable_method(name: str) -> "MethodPlugin":
    """As `method`, of one that can run here. Raises PluginMissing, with what installs the rest."""
    plugin = method(name)
    lacking = availability(plugin)
    if not lacking.ok:
        raise PluginMissing(f"{name} cannot run here: {lacking.reason}", remedy=lacking.remedy)
    return plugin


def availability(plugin: "MethodPlugin | Transport | Tool") -> Availability:
    """Whether a plugin can run here. One that fails to say so cannot, for that reason."""
    place = _places.get(id(plugin), plugin.name)
    try:
        found: object = plugin.available()
    except _FOREIGN as error:
        fault = _failure_of(place, error)
    else:
        if isinstance(found, Availability):
            return found
        fault = f"{place}: available() returns no Availability"
    faults.tell(fault)
    return Availability(fault, _TO_MEND)


def methods() -> "list[MethodPlugin]":
    """All methods, those that come with the program first."""
    return [one.plugin for one in _found("methods").values() if one.plugin]


def installed_tools() -> list[str]:
    """The names of the tools whose programs are on this host."""
    return [tool.name for tool in tools() if availability(tool).ok]


def load_transports_of_folders() -> None:
    """Load the transports in folders now, so that `transport` returns at once."""
    _in_folders("transports")


def transport(name: str) -> Transport:
    """The transport of that name. Raises PluginMissing."""
    plugin: Transport = _one("transports", name)
    return plugin


def transports() -> list[Transport]:
    """All transports, those that come with the program first."""
    return [one.plugin for one in _found("transports").values() if one.plugin]


def tool(name: str) -> Tool:
    """The tool of that name. Raises PluginMissing."""
    plugin: Tool = _one("tools", name)
    return plugin


def is_transfer_tool(name: str) -> bool:
    """Whether the tool of that name can be profiled. Raises PluginMissing."""
    return isinstance(tool(name), TransferTool)


def transfer_tool(name: str) -> TransferTool:
    """The tool of that name, which can be profiled. Raises PluginMissing."""
    found = tool(name)
    if isinstance(found, TransferTool):
        return found
    usable = ", ".join(t.name for t in tools() if isinstance(t, TransferTool))
    raise PluginMissing(
        f"'{name}' writes command lines but cannot be profiled", remedy=f"choose {usable}"
    )


def tools() -> list[Tool]:
    """All tools, those that come with the program first."""
    return [one.plugin for one in _found("tools").values() if one.plugin]


def listing() -> list[Listed]:
    """Every plugin of every kind; for those that cannot run, what is missing."""
    lines = []
    for kind in KINDS:
        for one in _found(kind).values():
            state = availability(one.plugin) if one.plugin else Availability(one.fault, _TO_MEND)
            summary = one.plugin.summary if one.plugin else ""
            lines.append(
                Listed(
                    kind=kind,
                    name=one.name,
                    origin=one.origin,
                    summary=summary,
                    availability=state,
                )
            )
    return lines
