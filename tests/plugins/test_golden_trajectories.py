import pytest

from tests.plugins.golden_trajectories import FOLDER, bundled, read, trajectories


@pytest.mark.parametrize("name", bundled())
def test_the_trajectory_is_pinned(name: str) -> None:
    """Recorded, see golden_trajectories: what a method does may not change unnoticed."""
    assert trajectories(name) == read(name)


def test_there_is_none_of_a_method_that_is_gone() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(bundled())
