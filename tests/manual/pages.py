"""The generated pages by their file names."""

from functools import cache
from pathlib import Path

from tests.manual.commands import commands_page
from tests.manual.configuration import configuration_page
from tests.manual.events import events_page
from tests.manual.methods import methods_page
from tests.manual.plugin_api import plugin_api_page

FOLDER = Path(__file__).parents[2] / "docs/reference"


@cache
def generated() -> dict[str, str]:
    """The text of each page, the same with every version of Python and every terminal."""
    return {
        "commands.md": commands_page(),
        "event-fields.md": events_page(),
        "configuration-keys.md": configuration_page(),
        "plugin-api.md": plugin_api_page(),
        "equations.md": methods_page(),
    }
