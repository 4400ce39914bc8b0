"""Writes the generated pages into docs/reference. A test tells when they are not current."""

from tests.manual.pages import FOLDER, generated

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in generated().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
