"""The path at the destination, as users write it."""


def parse_target_path(text: str) -> str:
    """A path from the root directory at the destination; "" for none. Raises ValueError.

    scp and rsync read other paths from the home folder, but the servers of most tools know none.
    """
    if "://" in text:
        raise ValueError(
            "not a path: write it as in /home/you/run42, and name the server with --server"
        )
    if text and not text.startswith("/"):
        raise ValueError("not absolute: write it as in /home/you/run42")
    return text
