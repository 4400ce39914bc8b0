"""A pushed agent has its modules in an archive, in which there are no files."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = ("advisor/agent", "advisor/hosts", "advisor/probing", "plugins/tools")
# It sends the agent, and looks for the file to send.
NEAR_END = ROOT / "advisor/agent/pushing.py"


def test_a_table_beside_a_module_is_read_from_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        for file in (ROOT / "advisor").rglob("*"):
            if file.suffix in (".py", ".txt"):
                archive.write(file, file.relative_to(ROOT))
    asked = (
        "from advisor.hosts import packages; print(packages.__file__, packages.install_line('fio'))"
    )
    before = f"import sys; sys.path.insert(0, {str(tmp_path / 'modules.zip')!r}); "
    done = subprocess.run(
        [sys.executable, "-P", "-c", before + asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "modules.zip"))
    assert "fio" in done.stdout


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_of_an_agent_looks_for_files_beside_itself(folder: str) -> None:
    found = {file for file in (ROOT / folder).rglob("*.py") if "__file__" in file.read_text()}
    assert found <= {NEAR_END}
