from pathlib import Path

from advisor.hosts.ssh_config import host_aliases


def test_names_without_patterns_in_their_order(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "# Host commented\n"
        "Host dtn02 dtn03 *.example.org !bad\n"
        "    HostName dtn02.example.org\n"
        "host=equals\n"
        'Host "quoted name" last # dtn04\n'
        'Host "open\n'
        "Host dtn02\n"
        "Host *\n"
    )
    assert host_aliases(config) == ["dtn02", "dtn03", "equals", "quoted name", "last"]


def test_included_files_count_and_a_circle_ends(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a").write_text("Host inner\nInclude config\n")
    (tmp_path / "config").write_text(f"Include more/*\nInclude {tmp_path}/none\nHost outer\n")
    assert host_aliases(tmp_path / "config") == ["inner", "outer"]


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert host_aliases(tmp_path / "config") == []
