from typing import Final

from advisor.domain import events as events
from advisor.notebook.advising import Advising as Advising
from advisor.notebook.advising import advise as advise
from advisor.notebook.errors import AdvisorError as AdvisorError
from advisor.notebook.tables import history as history

__version__: Final[str]
__all__ = ["Advising", "AdvisorError", "advise", "events", "history"]
