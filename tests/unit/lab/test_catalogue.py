from pathlib import Path

import pytest

from advisor.lab import catalogue
from advisor.lab.paths import BadPath, EmulatedPath


@pytest.fixture(autouse=True)
def user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's own paths, empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = catalogue.user_paths_folder()
    assert tmp_path in folder.parents
    folder.mkdir(parents=True)
    return folder


SHIPPED = sorted(p.stem for p in (Path(catalogue.__file__).parent / "presets").glob("*.toml"))


def test_there_are_presets() -> None:
    assert len(SHIPPED) >= 17
    assert catalogue.names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_every_preset_says_what_it_is_and_where_its_numbers_come_from(name: str) -> None:
    path = catalogue.find(name)
    assert path.title
    assert path.note
    assert 0 < path.rtt_s < 1
    assert path.forward.rate_bps <= 10e9


@pytest.mark.parametrize("rtt_ms", [0.4, 11.6, 22.6, 45.6, 93.6, 183, 366])
def test_the_names_of_the_seven_are_their_times(rtt_ms: float) -> None:
    assert catalogue.find(f"rtt-{rtt_ms:g}").rtt_s == pytest.approx(rtt_ms / 1000)


def test_the_users_own_comes_first(user_folder: Path) -> None:
    (user_folder / "kraken.toml").write_text('rtt = "7ms"')
    (user_folder / "mine.toml").write_text('rtt = "8ms"')
    assert catalogue.find("kraken").rtt_s == pytest.approx(0.007)
    assert catalogue.has("mine")
    assert catalogue.names() == sorted([*SHIPPED, "mine"])


def test_without_a_folder_of_the_users(user_folder: Path) -> None:
    user_folder.rmdir()
    assert catalogue.names() == SHIPPED
    assert not catalogue.has("mine")


def test_a_file_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own.toml"
    file.write_text('title = "T"\nrate = "2Gbit"\n[reverse]\nrate = "1Gbit"\nloss = 0.001\n')
    for name in ("own.toml", "./own.toml", str(file)):
        path = catalogue.find(name)
        assert path.title == "T"
        assert (path.forward.rate_bps, path.reverse.rate_bps) == (2e9, 1e9)
        assert (path.forward.loss, path.reverse.loss) == (0, 0.001)


def test_an_empty_file_is_the_default_path(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    assert catalogue.find(str(tmp_path / "empty.toml")) == EmulatedPath()


def test_a_near_name_is_named() -> None:
    with pytest.raises(BadPath, match="did you mean kraken") as caught:
        catalogue.find("kracken")
    assert "advisor lab paths" in str(caught.value)


def test_a_name_like_no_other() -> None:
    with pytest.raises(BadPath, match="no path 'zzzz': 'advisor lab paths'"):
        catalogue.find("zzzz")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rtt = \n", ["line 1"]),
        ('rtt = "soon"', ["rtt", "soon", "ms"]),
        ('rate = "10GB/s"', ["rate", "bits"]),
        ('speed = "1Gbit"', ["speed", "rtt, delay, rate"]),
        ("mtu = 9", ["mtu", "576"]),
        ("loss = 2", ["loss", "0.9"]),
        ('[reverse]\nrtt = "5ms"', ["rtt", "outside a direction"]),
        ("reverse = 5", ["reverse", "[reverse]"]),
        ('[backward]\nrate = "1Gbit"', ["backward"]),
        ("rtt = [1, 2]", ["rtt"]),
    ],
)
def test_errors_name_the_file_and_what_to_write(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(BadPath) as caught:
        catalogue.find(str(file))
    for word in [str(file), *words]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(BadPath, match=r"none\.toml: No such file"):
        catalogue.find(str(tmp_path / "none.toml"))
    with pytest.raises(BadPath, match="directory"):
        catalogue.find(str(tmp_path) + "/")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadPath, match=r"binary\.toml"):
        catalogue.find(str(tmp_path / "binary.toml"))


def test_a_folder_of_nobody_is_said() -> None:
    with pytest.raises(BadPath, match="no user"):
        catalogue.find("~nobody-of-that-name/x.toml")
