"""The reference of all keys of the configuration file, from its definition."""

from collections.abc import Iterator

import msgspec

from advisor.cli.config import configuration as c
from advisor.cli.config.command import option_of
from advisor.tui.settings import key_names
from tests.manual.markdown import code, page, plain, table

_ABOUT = (
    "After this page you know every key of the configuration file. What the file is for is in "
    "[configuration](../configuration.md); `advisor config init` writes it, and "
    "`advisor config validate` checks it.\n\nThe keys of a table are long options, with values as "
    'typed: `budget = "2min"`.'
)
OTHERS = {
    "store": "The folder or address of the history, for every command.",
    "theme": "A theme of Textual, as in `textual-light`.",
    "drawing": "What charts are drawn with: `braille`, `block` or `ascii`.",
}
"""Keys that are no options."""


def configuration_page() -> str:
    """A section for each table."""
    return page("All keys of the configuration", _ABOUT, _parts())


def _parts() -> Iterator[str]:
    yield "## Outside of tables"
    yield table(("key", "meaning"), [("`store`", OTHERS["store"])])
    for name, commands in c.TABLES.items():
        called = ", ".join(code(" ".join(["advisor", *words])) for words in commands)
        yield f"## [{name}]"
        yield f"Defaults of {called}."
        yield _options(name, type(getattr(c.Configuration(), name)))
    yield '## [hosts."NAME"]'
    yield "For sessions to one destination."
    yield _options("advise", c.HostTable)
    yield "## [screen]"
    screen = {field.name: field.default for field in msgspec.structs.fields(c.Screen)}
    yield table(
        ("key", "default", "meaning"),
        [(code(word), code(str(default)), OTHERS[word]) for word, default in screen.items()],
    )
    yield "## [keys]"
    yield "Keys of the terminal interface, by the name of what they do."
    yield table(("key", "meaning"), [(code(n), plain(what)) for n, what in key_names().items()])


def _options(name: str, kind: type[msgspec.Struct]) -> str:
    rows = [(code(word), plain(option_of(name, word).help or "")) for word in c.keys_of(kind)]
    return table(("key", "meaning"), rows)
