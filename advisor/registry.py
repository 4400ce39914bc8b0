"""Finds the plugins: methods, transports and tools, all in the same way.

Four places are searched, and the first that offers a name wins: the folder that comes with the
program (beside the package in a checkout, inside it in a wheel), the folders of the environment
variable ADVISOR_PLUGINS, the user's own folder, and the entry points of installed distributions.
A plugin is a module with an object called `plugin`. One that cannot be loaded is listed with the
reason; the others still work.
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

from advisor.api.tool import Tool, TransferTool
from advisor.api.transport import Transport
from advisor.domain.availability import Availability
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


def _checked(kind: Kind, fallback: str, origin: str, module: ModuleType) -> _Found:
    plugin = getattr(module, "plugin", None)
    if not isinstance(plugin, _interface(kind)):
        fault = f"has no object `plugin` with the interface of a plugin of the kind '{kind}'"
        return _Found(name=fallback, origin=origin, fault=fault)
    return _Found(name=plugin.name, origin=origin, plugin=plugin)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    modules = [p for p in folder.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()]
    return sorted(p for p in modules if not p.name.startswith("_"))


def _changeable_by_all(plugin: Path) -> Path | None:
    files = plugin.rglob("*.py") if plugin.is_dir() else (plugin,)
    return next((place for file in files if (place := changeable_by_all(file))), None)


def _from_folders(kind: Kind) -> Iterator[_Found]:
    for origin, folder in _folders():
        for path in _files(folder / kind):
            if origin != "bundled" and (place := _changeable_by_all(path)):
                fault = f"{path} is not loaded, as every user may change {place}: run chmod o-w"
                yield _Found(name=path.stem, origin=origin, fault=fault)
                continue
            try:
                yield _checked(kind, path.stem, origin, _load_file(kind, origin, path))
            except Exception as error:  # noqa: BLE001 — a third-party module may raise anything
                yield _Found(name=path.stem, origin=origin, fault=f"{path}: {error}")


def _from_entry_points(kind: Kind) -> Iterator[_Found]:
    # Imported late: it loads the e-mail parser, and most commands look for no plugin.
    import importlib.metadata

    for point in importlib.metadata.entry_points(group=f"advisor.{kind}"):
        origin = point.dist.name if point.dist else "entry point"
        try:
            yield _checked(kind, point.name, origin, point.load())
        except Exception as error:  # noqa: BLE001 — a third-party module may raise anything
            yield _Found(name=point.name, origin=origin, fault=str(error))


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
    plugins = (one for one in _found(kind).values() if one.plugin)
    return {
        former: one.name
        for one in plugins
        for former in getattr(one.plugin, "traits", Traits()).former_names
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
    lacking = plugin.available()
    if not lacking.ok:
        raise PluginMissing(f"{name} cannot run here: {lacking.reason}", remedy=lacking.remedy)
    return plugin


def methods() -> "list[MethodPlugin]":
    """All methods, those that come with the program first."""
    return [one.plugin for one in _found("methods").values() if one.plugin]


def installed_tools() -> list[str]:
    """The names of the tools whose programs are on this host."""
    return [tool.name for tool in tools() if tool.available().ok]


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
            availability = (
                one.plugin.available()
                if one.plugin
                else Availability(one.fault, "fix the module or remove it")
            )
            summary = one.plugin.summary if one.plugin else ""
            lines.append(
                Listed(
                    kind=kind,
                    name=one.name,
                    origin=one.origin,
                    summary=summary,
                    availability=availability,
                )
            )
    return lines
