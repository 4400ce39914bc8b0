"""In place of a session at a source: prints lines that were prepared, and logs when it ran.

    python fleet_session.py FOLDER SOURCE DESTINATION SECONDS

FOLDER/before.SOURCE.DESTINATION is printed at once, FOLDER/after.… when that time is over, and
nothing more if its standard input is written to, or ends, before; then it is interrupted, unless
FOLDER/deaf exists. In both OWN_SESSION is another session each time. FOLDER/error.… is what it says
on standard error at its end, if it exists. FOLDER/log has a line for each begin and end. If it
cannot be distinguished from a session, neither can what a worker does with it.
"""

import os
import select
import sys
import time
from pathlib import Path


def main(folder: str, source: str, destination: str, seconds: str) -> int:
    place = Path(folder)
    name = f"{source}.{destination}"

    def log(what: str) -> None:
        line = f"{what} {source} {destination} {time.time()} {os.getpid()}\n".encode()
        number = os.open(place / "log", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        os.write(number, line)
        os.close(number)

    def say(what: str) -> None:
        lines = (place / f"{what}.{name}").read_text()
        sys.stdout.write(lines.replace("OWN_SESSION", session))

    session = f"of-{name}-{time.time_ns()}"
    log("began")
    try:
        say("before")
        sys.stdout.flush()
        heard = [] if (place / "deaf").exists() else [sys.stdin]
        stopped, _, _ = select.select(heard, [], [], float(seconds))
        if stopped:
            return 130
        say("after")
        error = place / f"error.{name}"
        if error.exists():
            sys.stderr.buffer.write(error.read_bytes())
        code = place / f"code.{name}"
        return int(code.read_text()) if code.exists() else 0
    finally:
        log("ended")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
