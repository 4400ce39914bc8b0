"""The kernel settings of advice as an Ansible playbook, which also takes them back.

Ansible evaluates `{{ }}` in whatever text a playbook has, so no text of the advice becomes part of
one but in comments: host names and settings have no characters that could mean anything.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from advisor.domain.advice import Advice, Side
from advisor.domain.endpoints import Endpoint
from advisor.domain.printable import HostName, fitting, printable
from advisor.models.kernel_settings import KernelSetting
from advisor.report.sysctl_d import BEFORE, PLACE

_NOT_NAMED: Final = {"source": "transfer_source", "destination": "transfer_destination"}
_PLAY: Final = """
- name: Kernel settings of the {side}
  hosts: "{host}"
  become: true
  gather_facts: false
  tasks:
    - name: Keep the values of before
      ansible.builtin.shell:
        cmd: "sysctl {names} >{before}"
        creates: "{before}"
    - name: Set them now and at each boot
      ansible.builtin.copy:
        dest: "{place}"
        mode: "0644"
        content: |
{content}
      notify: Load them
    - name: Take them back
      ansible.builtin.shell:
        cmd: "rm -f {place} && sysctl -p {before} && rm {before}"
        removes: "{before}"
      tags: [never, take_back]
  handlers:
    - name: Load them
      ansible.builtin.command:
        cmd: "sysctl -p {place}"
"""
_USAGE: Final = """\
# advisor applied nothing. To see what would change, to change it, and to take it back:
#   ansible-playbook -i INVENTORY FILE --check --diff
#   ansible-playbook -i INVENTORY FILE
#   ansible-playbook -i INVENTORY FILE --tags take_back
# Take an earlier one back before: the values of before are kept once.
"""


def ansible_text(advice: Advice, settings: Mapping[Side, Sequence[KernelSetting]]) -> str:
    """The playbook. Raises ValueError where no host lacks anything."""
    plays = [
        _play(side, _host(advice, side), missing) for side, missing in settings.items() if missing
    ]
    if not plays:
        raise ValueError("this advice asks for no kernel setting that the hosts do not have")
    head = (
        f"# Kernel settings for transfers of {printable(str(advice.pair))}\n"
        f"# By the advice of session {printable(advice.session)}\n"
    )
    return f"---\n{head}{_USAGE}{''.join(plays)}"


def _play(side: Side, host: str, settings: Sequence[KernelSetting]) -> str:
    lines = [
        line
        for one in settings
        for line in ([f"# was {one.present}"] if one.present else [])
        + [f"{one.name} = {one.wanted}"]
    ]
    return _PLAY.format(
        side=side,
        host=host,
        names=" ".join(one.name for one in settings),
        before=BEFORE,
        place=PLACE,
        content="\n".join(f"          {line}" for line in lines),
    )


def _host(advice: Advice, side: Side) -> str:
    """The host as a pattern of Ansible; a group to be filled in where it has no plain name."""
    label = advice.pair.source if side == "source" else advice.pair.destination
    try:
        name = fitting(Endpoint.parse(label).host, HostName)
    except ValueError:
        name = None
    # "all" and the like would be more than one host.
    return name if name and name not in ("all", "ungrouped") else _NOT_NAMED[side]
