"""Usage errors as one sentence: the option, the value, the remedy."""

import click
from click.core import ParameterSource

from advisor.cli.config import configuration


def one_sentence(error: click.ClickException) -> str:
    """What click found wrong, without its usage lines."""
    hint = ""
    if isinstance(error, click.BadParameter) and error.ctx and error.param and error.param.name:
        source = error.ctx.get_parameter_source(error.param.name)
        if source is ParameterSource.DEFAULT_MAP:
            return f"advisor: {configuration.path()}: {' '.join(error.format_message().split())}"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see '{error.ctx.command_path} --help')"
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"advisor: {text}{hint}"
