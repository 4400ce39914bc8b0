"""Advice as one page of HTML that needs nothing else: no scripts, fonts, images, network."""

from collections.abc import Sequence
from html import escape
from typing import Final

from advisor.domain.advice import Advice
from advisor.domain.path import PathFacts
from advisor.domain.printable import printable
from advisor.domain.records import ProbeRecord
from advisor.report.markdown import markdown_text

_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: auto; padding: 1rem }}
pre {{ padding: .6rem; overflow-x: auto; background: #eee; color: #111 }}
table {{ border-collapse: collapse }}
th, td {{ padding: .2rem .6rem; border-bottom: 1px solid #999; text-align: left }}
</style>
</head>
<body>
{body}</body>
</html>
"""


def page_text(
    advice: Advice,
    recorded_s: float,
    probes: Sequence[ProbeRecord] = (),
    path: PathFacts | None = None,
) -> str:
    """What `markdown_text` has, as HTML; markup in the advice is text."""
    from markdown_it import MarkdownIt  # Imported late: the screens and the text need none of it.

    written = MarkdownIt("commonmark", {"html": False}).enable("table")
    return _PAGE.format(
        title=escape(printable(f"Advice for {advice.pair}")),
        body=written.render(markdown_text(advice, recorded_s, probes, path)),
    )
