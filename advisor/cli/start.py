"""The start of the program, before any of it is read."""

import signal


def main() -> None:
    """Run the command. Until it is read, Ctrl-C just ends the process, as it ends any other."""
    # In the background of a script it is ignored, and stays so.
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from advisor.cli.main import main as run

    if raises:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
