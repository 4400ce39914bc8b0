"""Texts of the program with marks for their style."""

from textual.content import Content


def marked(text: str) -> Content:
    """A text in Textual's markup, as `[b]words[/b]`: of the program's own words and numbers alone.

    In names, notes and messages brackets would be read as marks: they are put together as Content.
    """
    return Content.from_markup(text)


def titled(title: str, text: str) -> Content:
    """A text below its title, as help has it. Neither is markup: plugins may have said it."""
    return Content.assemble((title, "bold"), f"\n{text}")
