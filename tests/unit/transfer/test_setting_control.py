"""The setting of a file group, and the return to one that worked."""

from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.setting_control import SettingControl


def setting_of(group: FileGroup) -> tuple[int, int]:
    return group.concurrency, group.parallelism


def test_what_a_setting_does_not_say_is_1() -> None:
    group = FileGroup("all", [], concurrency=4, parallelism=4)
    SettingControl().apply(group, {"concurrency": 3})
    assert setting_of(group) == (3, 1)


def test_it_falls_back_once_and_says_why() -> None:
    control, group = SettingControl(), FileGroup("all", [])
    control.apply(group, {"concurrency": 8}, {"concurrency": 2, "parallelism": 3})
    assert control.refusal == ""
    assert control.fall_back("too many connections")
    assert setting_of(group) == (2, 3)
    assert control.refusal == "too many connections"
    assert not control.fall_back("too many connections")


def test_another_setting_begins_again() -> None:
    control, group = SettingControl(), FileGroup("all", [])
    control.apply(group, {"concurrency": 8}, {"concurrency": 2})
    control.fall_back("refused")
    control.apply(group, {"concurrency": 4}, {"concurrency": 2})
    assert control.refusal == ""
    assert control.fall_back("refused")


def test_without_a_fallback_nothing_changes() -> None:
    control, group = SettingControl(), FileGroup("all", [])
    control.apply(group, {"concurrency": 8})
    assert not control.fall_back("refused")
    assert (setting_of(group), control.refusal) == ((8, 1), "")
