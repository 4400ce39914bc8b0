"""The kernel settings of advice as a file for /etc/sysctl.d, with what takes them back."""

from collections.abc import Iterable, Sequence
from typing import Final

from advisor.domain.advice import Advice, Side
from advisor.domain.printable import printable
from advisor.domain.shell import shell_line
from advisor.models.kernel_settings import KernelSetting

NAME: Final = "90-advisor.conf"
PLACE: Final = f"/etc/sysctl.d/{NAME}"
BEFORE: Final = "/root/advisor-sysctl-before.conf"


def sysctl_d_text(advice: Advice, side: Side, settings: Sequence[KernelSetting]) -> str:
    """The file. `settings`: what the host does not have yet; a file without any says so."""
    head = [
        f"{NAME}: kernel settings for transfers of {printable(str(advice.pair))}",
        f"By the advice of session {printable(advice.session)}, for the {side}.",
        "advisor applied nothing.",
    ]
    if not settings:
        return _comments([*head, f"The {side} has all that the advice asks for: nothing to set."])
    usage = [
        "",
        f"To apply it now and at each boot, as root on the {side}:",
        *(f"  {line}" for line in applying(settings)),
        "To take it back, as root:",
        *(f"  {line}" for line in taking_back(settings)),
    ]
    return _comments([*head, *usage]) + "".join(f"\n{block}" for block in map(_block, settings))


def applying(settings: Iterable[KernelSetting]) -> list[str]:
    """The lines that put the file in place; where values are not known, they are saved before."""
    unknown = [one.name for one in settings if not one.present]
    save = [f"{shell_line(['sysctl', *unknown])} >{BEFORE}"] if unknown else []
    return [*save, f"install -m 644 {NAME} {PLACE}", f"sysctl -p {PLACE}"]


def taking_back(settings: Iterable[KernelSetting]) -> list[str]:
    """The lines that remove it and set the present values again."""
    settings = list(settings)
    known = [f"{one.name}={one.present}" for one in settings if one.present]
    lines = [f"rm {PLACE}"]
    if known:
        lines.append(shell_line(["sysctl", "-w", *known]))
    if len(known) < len(settings):
        lines.append(f"sysctl -p {BEFORE}")
    return lines


def _block(setting: KernelSetting) -> str:
    now = f"now {setting.present}" if setting.present else "present value not known here"
    return f"# {now}\n{setting.name} = {setting.wanted}\n"


def _comments(lines: Iterable[str]) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
