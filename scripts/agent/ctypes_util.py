"""In place of the standard library's, which runs compilers to find a library on disk."""


def find_library(name: str) -> None:
    """The libraries that are carried along are known to the loader by name."""
