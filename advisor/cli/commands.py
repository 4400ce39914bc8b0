"""Commands and groups as Typer builds them: their options, defaults and when they are loaded.

The one module that knows more of Typer than its documentation: lazy groups and former names of
options have no public hook.
"""

import copy
import functools
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, get_args, get_type_hints

import msgspec
import typer
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from advisor.cli.config.values import Value, as_option
from advisor.cli.manual.pages import manual_line
from advisor.cli.overview import overview

_FORMER_NAMES: Final = {
    "--tool": "--profile-tool",
    "--tools": "--for-tool",
    "--patience": "--retry-time",
    "--anew": "--restart",
}
"""Accepted, and hidden from the help."""

_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Options that commands take together: each field an option, annotated as Typer has it."""


class _WithManual:
    """Help that ends with the page of the manual."""

    epilog: str | None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help, and where the manual says more."""
        self.epilog = manual_line(command_words(ctx.info_name, ctx.parent))
        super().format_help(ctx, formatter)  # type: ignore[misc] # Typer's, beside it


class ConfiguredCommand(_WithManual, TyperCommand):
    """A command with defaults of the configuration, which knows options by former names too."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Parse the arguments. Raises BadConfiguration."""
        from advisor.cli.config import configuration

        if not extra.get("resilient_parsing"):
            words = command_words(info_name, extra.get("parent"))
            said = configuration.of_command(words, list(options_by_word(self)))
            extra.setdefault("default_map", default_map(self, said))
        return super().make_context(info_name, args, *rest, **extra)

    def make_parser(self, ctx: Any) -> Any:
        """The parser of the arguments."""
        parser = super().make_parser(ctx)
        options = parser._long_opt
        for former, name in _FORMER_NAMES.items():
            if name in options:
                options.setdefault(former, options[name])
        return parser


def command_words(name: str | None, parent: Any) -> tuple[str, ...]:
    """What is typed after `advisor` to call a command: its name after those of its groups.

    `parent`: the context of its group, None for a command that stands alone.
    """
    words = [name or ""]
    while parent is not None and parent.parent is not None:
        words.insert(0, parent.info_name or "")
        parent = parent.parent
    return tuple(words)


def options_by_word(called: TyperCommand) -> dict[str, TyperOption]:
    """A command's options by their long names, without the dashes."""
    return {
        name.removeprefix("--"): one
        for one in called.params
        if isinstance(one, TyperOption)
        for name in one.opts
        if name.startswith("--")
    }


def present_name(word: str) -> str:
    """The long name of an option, without the dashes, by this or by a former one."""
    return _FORMER_NAMES.get(f"--{word}", word).removeprefix("--")


def default_map(called: TyperCommand, said: Mapping[str, Value]) -> dict[str, Any]:
    """Configured values as typed on the command line, by parameter, for a context of the command.

    Values of options that the command does not have are left out.
    """
    options = options_by_word(called)
    found = {}
    for word, value in said.items():
        current = present_name(word)
        if option := options.get(current):
            typed = as_option(current, value)
            found[option.name or ""] = typed.split(",") if option.multiple else typed
    return found


class DocumentedGroup(_WithManual, TyperGroup):
    """A group whose help ends with its page."""


class LazyGroup(TyperGroup):
    """Imports a command's module when that command is called, and no other's."""

    modules: ClassVar[Mapping[str, tuple[str, str]]]
    """Of each command its module below `advisor.cli`, and its line in the help."""

    def __init__(self, **settings: Any) -> None:
        lines = {name: TyperCommand(name, help=line) for name, (_, line) in self.modules.items()}
        super().__init__(**settings | {"commands": lines})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, which is an attribute of its module; None if there is none."""
        if cmd_name not in self.modules:
            return None
        module = importlib.import_module(f"advisor.cli.{self.modules[cmd_name][0]}")
        return getattr(module, cmd_name.replace("-", "_"))

    def _main_shell_completion(self, *arguments: Any, **named: Any) -> None:
        completion_init()  # Typer knows no shell before, and the applications do this for others.
        super()._main_shell_completion(*arguments, **named)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help with the lines of the commands, none of which is loaded for it."""
        records = (one.get_help_record(ctx) for one in self.get_params(ctx))
        panels = (
            ("Options", [record for record in records if record]),
            ("Commands", [(name, line) for name, (_, line) in self.modules.items()]),
        )
        usage = " ".join([ctx.command_path, *self.collect_usage_pieces(ctx)])
        text = "\n\n".join([self.help or "", manual_line(())])
        formatter.write(overview(f"Usage: {usage}", text, panels))


def command(
    name: str | None = None, **settings: Any
) -> Callable[[Callable[..., Any]], TyperCommand]:
    """Make a command of a function; its docstring is the help."""

    def build(function: Callable[..., Any]) -> TyperCommand:
        app = _app()
        context = _CONTEXT | settings.pop("context_settings", {})
        app.command(
            name,
            cls=ConfiguredCommand,
            context_settings=context,
            help=_paragraphs(function),
            **settings,
        )(_flat(function))
        built = get_command(app)
        assert isinstance(built, TyperCommand)
        _hide_types(built.params)
        return built

    return build


def group(
    cls: type[TyperGroup] = DocumentedGroup, **settings: Any
) -> Callable[[Callable[..., Any]], TyperGroup]:
    """Make a group of a function, which is run before its command; `add_command` fills it."""

    def build(function: Callable[..., Any]) -> TyperGroup:
        app = _app()
        app.callback(cls=cls, context_settings=_CONTEXT, help=_paragraphs(function), **settings)(
            _flat(function)
        )
        built = get_command(app)
        assert isinstance(built, TyperGroup)
        _hide_types(built.params)
        built.name = function.__name__
        return built

    return build


def _app() -> typer.Typer:
    return typer.Typer(
        add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False
    )


def _paragraphs(function: Callable[..., Any]) -> str:
    """The docstring with a line for each paragraph; those after \\b keep their lines."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(
        text.removeprefix("\b\n") if text.startswith("\b") else " ".join(text.split())
        for text in paragraphs
    )


def _hide_types(parameters: Iterable[Any]) -> None:
    """Leave Python's types of arguments out of the help: they mean nothing to a user."""
    for one in parameters:
        if isinstance(one, TyperArgument):
            one.type = copy.copy(one.type)
            vars(one.type)["get_metavar"] = _no_type


def _no_type(param: object, ctx: object) -> str:
    return ""


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the fields of each `Options` among its parameters in their place."""
    hints = get_type_hints(function, include_extras=True)
    groups = {
        name: kind
        for name, kind in hints.items()
        if name != "return" and isinstance(kind, type) and issubclass(kind, Options)
    }
    parameters: dict[str, inspect.Parameter] = {}
    for name, own in inspect.signature(function).parameters.items():
        if name in groups:
            parameters |= _fields(groups[name])
        else:
            parameters[name] = own.replace(kind=own.KEYWORD_ONLY, annotation=hints[name])

    @functools.wraps(function)
    def run(**values: Any) -> Any:
        for name, kind in groups.items():
            taken = {field: values.pop(field) for field in kind.__struct_fields__}
            values[name] = kind(**taken)
        return function(**values)

    flat: Any = run
    flat.__signature__ = inspect.Signature(list(parameters.values()))
    flat.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return run


def _fields(kind: type[Options]) -> dict[str, inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.name: inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(field),
            annotation=hints[field.name],
        )
        for field in msgspec.structs.fields(kind)
    }


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.required:
        return inspect.Parameter.empty
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def completion_script(shell: str) -> str:
    """What a shell reads to complete `advisor`."""
    return get_completion_script(prog_name="advisor", complete_var="_ADVISOR_COMPLETE", shell=shell)


def option_of(kind: type[Options], name: str) -> Any:
    """The option of one field, for a command that takes some of them only."""
    _, option = get_args(get_type_hints(kind, include_extras=True)[name])
    return option


def is_typed(context: typer.Context, name: str) -> bool:
    """Whether a parameter's value comes from the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
