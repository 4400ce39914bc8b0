"""Usage errors as one sentence: the option, the value, the remedy."""

import click


def one_sentence(error: click.ClickException) -> str:
    """What click found wrong, without its usage lines."""
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see '{error.ctx.command_path} --help')"
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"advisor: {text}{hint}"
