"""A real terminal to run `advisor` in: tmux on a socket of its own."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .program import own_environment

ADVISOR = f"{sys.executable} -P -m advisor"


class Terminal:
    """One window. `run` starts a command in its shell; what it shows is read as text."""

    def __init__(self, home: Path, columns: int = 120, lines: int = 40) -> None:
        # The name of a socket is limited to 107 bytes: pytest's own folder may be too long.
        self._sockets = tempfile.TemporaryDirectory(prefix="tmux-")
        environment = own_environment(home) | {
            "TERM": "xterm-256color",
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "LANG": "C.UTF-8",
            "TMUX_TMPDIR": self._sockets.name,
        }
        self._environment = environment
        size = ["-x", str(columns), "-y", str(lines)]
        prompt = home / "prompt"
        prompt.write_text("PS1='ready> '\n")
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, f"bash --rcfile {prompt} -i")
        try:
            self.wait_for("ready>")
        except AssertionError:
            self.close()
            raise

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", *arguments],
            capture_output=True,
            text=True,
            env=self._environment,
            timeout=60,
            check=False,
        )
        return done.stdout

    def run(self, command: str) -> None:
        """Type a command line and Enter."""
        self._tmux("send-keys", "-l", command)
        self._tmux("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        for key in keys:
            self._tmux("send-keys", key)
            time.sleep(0.05)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._tmux("send-keys", "-l", text)

    def resize(self, columns: int, lines: int) -> None:
        """As the user does with the window."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    @property
    def text(self) -> str:
        """What is on the screen."""
        return self._tmux("capture-pane", "-p")

    @property
    def is_alternate(self) -> bool:
        """Whether a program has the whole screen."""
        return self._tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def wait_for(self, text: str, timeout_s: float = 90) -> str:
        """The screen, as soon as this text is on it."""
        ends_s = time.monotonic() + timeout_s
        while time.monotonic() < ends_s:
            if text in (shown := self.text):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"'{text}' did not appear within {timeout_s} s:\n{self.text}")

    def signal(self, number: int) -> None:
        """To the program in the foreground."""
        pid = int(self._tmux("display-message", "-p", "#{pane_pid}"))
        foreground = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[5])
        os.kill(foreground, number)

    def close(self) -> None:
        """Close the window; what runs in it is hung up."""
        self._tmux("kill-server")
        self._sockets.cleanup()
