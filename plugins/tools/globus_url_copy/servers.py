"""How to run the server that a line needs, where none was named."""

import posixpath
from typing import Final

from advisor.api.command_line import shell_line
from advisor.api.tool import NOWHERE, CommandRequest

from .urls import GRIDFTP_PORT

_SERVER: Final = "globus-gridftp-server"
_DATA_PORTS: Final = (50000, 50100)
_LIST_SIGNS: Final = frozenset(",*?[]{}\\~")
"""What `-restrict-paths` takes for more than a letter of a name."""


def ssh_server_note(request: CommandRequest) -> list[str]:
    """sshftp:// needs no server that listens; what it needs, and what to run instead."""
    if request.server_url:
        return []
    return [
        "ssh starts the server there, as the account that logs in. Once, on the destination: "
        "`globus-gridftp-server-enable-sshftp -nonroot` (package globus-gridftp-server-progs). The "
        "data itself is not encrypted, and its TCP ports must be open to the source. Where ssh "
        f"cannot be used, put gsiftp:// with a host certificate, or ftp://{_place(request)} in "
        "place of sshftp:// and its host.",
        *anonymous_server_note(request),
    ]


def anonymous_server_note(request: CommandRequest) -> list[str]:
    """A server without any login, its risk in words, and the firewall that it needs."""
    if request.server_url:
        return []
    return [
        "An anonymous server asks nobody for a password: whoever reaches its ports may read, "
        f"replace and delete everything below {_folder(request)}. So first, on the destination as "
        f"root: `{_firewall(request)}`, which admits {request.path.source_address} alone, and "
        f"then `{shell_line(anonymous_server(request))}` (nobody must be able to write there)."
    ]


def gsi_server_note(request: CommandRequest, *options: str) -> list[str]:
    """A server with a host certificate, for gsiftp://."""
    if request.server_url:
        return []
    argv = [*_common(request), *options]
    return [f"A server for it, on the destination with a host certificate: `{shell_line(argv)}`."]


def anonymous_server(request: CommandRequest) -> list[str]:
    """The command of an anonymous server that keeps to the target's folder.

    It has no `-allow-from`, which compares only the beginning of an address: 192.0.2.1 would admit
    192.0.2.10 too.
    """
    first, last = _DATA_PORTS
    environment = ["env", f"GLOBUS_TCP_PORT_RANGE={first},{last}"]
    return [*environment, *_common(request), "-aa", "-anonymous-user", "nobody"]


def _common(request: CommandRequest) -> list[str]:
    argv = [_SERVER, "-p", str(GRIDFTP_PORT), "-hostname", request.path.destination_address]
    # What arrives in NOWHERE is dropped: the client can be measured without files.
    return [*argv, "-restrict-paths", f"RW{_folder(request)},RW{NOWHERE}"]


def _folder(request: CommandRequest) -> str:
    """The folder that the line writes in; a word to replace where it cannot be named."""
    path = request.destination_path or ""
    folder = path.rstrip("/") if request.is_directory else posixpath.dirname(path)
    if not folder.startswith("/") or folder == "/" or _LIST_SIGNS & set(folder):
        return "/DESTINATION_FOLDER"
    return folder


def _place(request: CommandRequest) -> str:
    host = request.destination_host
    return f"[{host}]:{GRIDFTP_PORT}" if ":" in host else f"{host}:{GRIDFTP_PORT}"


def _firewall(request: CommandRequest) -> str:
    first, last = _DATA_PORTS
    source = request.path.source_address
    program = "ip6tables" if ":" in source else "iptables"
    ports = ["--match", "multiport", "--dports", f"{GRIDFTP_PORT},{first}:{last}"]
    rule = ["--protocol", "tcp", "!", "--source", source, *ports, "--jump", "REJECT"]
    return shell_line([program, "--insert", "INPUT", *rule])
