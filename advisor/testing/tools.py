"""The contract tests of every tool."""

import random
import shlex
from collections.abc import Iterator
from typing import ClassVar, Final

from advisor.api.command_line import explain, is_value
from advisor.api.tool import (
    CommandRequest,
    Kept,
    Piece,
    Tool,
    ToolLimits,
    TransferOrder,
    TransferTool,
)
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting, Space, flows_of
from advisor.domain.traits import ToolTraits
from advisor.testing.samples import a_path

_TCP = {"streams": 8, "buffer_bytes": 4 * 2**20, "congestion": "cubic"}
_DEFAULT = {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}
_UDT = {"block_bytes": 8956 * 4, "buffer_bytes": 64 * 2**20, "mss_bytes": 9000}
_FILE = Dataset(
    total_bytes=10**9, path="/scratch/run 42/it's.h5", files=1, largest="", largest_bytes=10**9
)
_FOLDER = Dataset(
    total_bytes=10**12,
    path="/scratch/run42",
    files=1000,
    largest="deep/big.h5",
    largest_bytes=10**10,
)


def a_command_request(**changes: object) -> CommandRequest:
    """For the best TCP setting of 8 streams and 4 MiB, without a dataset."""
    given: dict[str, object] = {
        "subject": "tcp",
        "settings": {"tcp": _TCP},
        "labels": {"tcp": "TCP", "udt": "UDT"},
        "path": a_path(),
        "destination_host": "dtn.example.org",
    }
    return CommandRequest(**(given | changes))  # type: ignore[arg-type]  # merged by name


def _check_shell(tool: Tool, command: Command) -> None:
    assert command.tool == tool.name
    assert shlex.split(command.shell) == command.argv
    assert all(isinstance(word, str) and word for word in command.argv)
    assert "\n" not in command.shell + command.note


def _check_flags(tool: Tool, command: Command) -> None:
    parts = explain(command.argv, tool.flags)
    silent = [words[0] for words, sentence in parts if not sentence]
    assert not [word for word in silent if word.startswith("-")]


class ToolContract:
    """The contract. Inherit, set `plugin`, and let pytest collect it."""

    plugin: ClassVar[Tool]
    requests: ClassVar[tuple[CommandRequest, ...]] = (
        a_command_request(),
        a_command_request(settings={"tcp": _DEFAULT}),
        a_command_request(subject="udt", settings={"udt": _UDT, "tcp": _TCP}),
        a_command_request(subject="udt", settings={"udt": _UDT}),
        a_command_request(dataset=Dataset(total_bytes=10**13)),
        a_command_request(
            dataset=_FILE, source_path=_FILE.path, destination_path="/data/it's here"
        ),
        a_command_request(
            dataset=_FOLDER, source_path=_FOLDER.path, destination_path="/data/run42"
        ),
        a_command_request(server_url="gsiftp://dtn.example.org:2811"),
        a_command_request(
            path=a_path(destination_address="2001:db8::2", source_address="2001:db8::1")
        ),
    )

    def test_it_can_be_listed(self) -> None:
        assert self.plugin.name
        assert self.plugin.summary
        availability = self.plugin.available()
        assert availability.ok or availability.remedy

    def test_its_traits_are_of_its_kind(self) -> None:
        assert isinstance(getattr(self.plugin, "traits", ToolTraits()), ToolTraits)

    def test_the_shell_line_is_the_argv(self) -> None:
        for request in self.requests:
            for command in self.plugin.commands(request):
                _check_shell(self.plugin, command)

    def test_writing_lines_changes_nothing(self) -> None:
        for request in self.requests:
            assert self.plugin.commands(request) == self.plugin.commands(request)

    def test_tcp_always_has_a_line(self) -> None:
        for request in self.requests:
            if "tcp" in request.settings:
                assert self.plugin.commands(request)

    def test_every_flag_is_explained(self) -> None:
        for request in self.requests:
            for command in self.plugin.commands(request):
                _check_flags(self.plugin, command)

    def test_an_explanation_is_one_sentence(self) -> None:
        for usage, sentence in self.plugin.flags.items():
            assert not is_value(usage.split()[0])
            assert sentence[0].isupper()
            assert sentence.endswith(".")
            assert "\n" not in sentence
            assert ". " not in sentence


_TINY: Final = Dataset(
    total_bytes=10**7, path="/scratch/tiny", files=10_000, largest="0", largest_bytes=1000
)
_PAIR: Final = Dataset(
    total_bytes=2 * 10**9, path="/scratch/pair", files=2, largest="a", largest_bytes=10**9
)
_UNKNOWN: Final = Dataset(total_bytes=10**13)

_WHOLE: Final = (
    Piece(source="/scratch/run 42/a", target="/data/run 42/a", size_bytes=10**6),
    Piece(source="/scratch/run 42/deep/it's", target="/data/run 42/deep/it's", size_bytes=1),
)
_RANGE: Final = (
    Piece(
        source="/scratch/big.h5",
        target="/data/big.h5",
        size_bytes=2**28,
        offset_bytes=2**30,
        is_whole=False,
    ),
)
_SCRAPS: Final = (" ", "1", "12345 bytes", "MB/sec", "->", "Source:", "Dest:", ",", "COMBINED", "%")
_GARBAGE_LINES: Final = 2000


def _garbage(chance: random.Random) -> str:
    """Anything a program might print, with words of real output in between."""
    letters = "".join(chr(chance.randrange(0x2FF)) for _ in range(chance.randrange(8)))
    words = [*chance.choices(_SCRAPS, k=chance.randrange(5)), letters]
    return " ".join(chance.sample(words, k=len(words)))


def _ends(space: Space) -> list[Setting]:
    """The cheapest and the most expensive setting."""
    return [space.setting_at({p.name: end for p in space.parameters}) for end in (0.0, 1.0)]


class TransferToolContract(ToolContract):
    """The further contract of a tool that can be profiled."""

    plugin: ClassVar[TransferTool]
    datasets: ClassVar[tuple[Dataset, ...]] = (_FILE, _PAIR, _FOLDER, _TINY, _UNKNOWN)
    limits: ClassVar[tuple[ToolLimits, ...]] = (
        ToolLimits(),
        ToolLimits(max_concurrency=12, max_streams=6),
        ToolLimits(max_concurrency=64, max_streams=1),
        ToolLimits(max_concurrency=1, max_streams=64),
        ToolLimits(direct_io=True),
    )

    def _spaces(self) -> Iterator[tuple[Dataset, ToolLimits, Space]]:
        for dataset in self.datasets:
            for limits in self.limits:
                yield dataset, limits, self.plugin.space(a_path(), dataset, limits)

    def _settings(self) -> list[Setting]:
        """Both ends of a space, and the baselines."""
        dataset = _FOLDER if self.plugin.moves_several else _FILE
        space = self.plugin.space(a_path(), dataset, ToolLimits(direct_io=True))
        baselines = self.plugin.baselines(a_path(), dataset)
        return [*_ends(space), *(baseline.setting for baseline in baselines)]

    def _pieces(self) -> list[tuple[Piece, ...]]:
        traits = getattr(self.plugin, "traits", ToolTraits())
        whole = _WHOLE if self.plugin.moves_several else _WHOLE[:1]
        return [whole] if traits.whole_files else [whole, _RANGE]

    def _orders(self) -> Iterator[TransferOrder]:
        for setting in self._settings():
            for pieces in self._pieces():
                for verify in (False, True):
                    yield TransferOrder(
                        setting=setting,
                        pieces=pieces,
                        path=a_path(),
                        destination_host="dtn.example.org",
                        list_file="/home/me/a list",
                        verify=verify,
                        base_port=40000,
                    )

    def test_it_can_be_profiled(self) -> None:
        assert isinstance(self.plugin, TransferTool)

    def test_a_space_is_worth_searching(self) -> None:
        for _, _, space in self._spaces():
            names = {p.name for p in space.parameters}
            assert all(p.lower < p.upper or p.is_choice for p in space.parameters)
            assert set(space.cost_order) <= names
            assert not names & set(space.fixed)
            assert space.note

    def test_the_streams_of_a_file_are_a_parameter(self) -> None:
        streams = getattr(self.plugin, "traits", ToolTraits()).stream_parameter
        for _, _, space in self._spaces():
            assert streams in space.names

    def test_a_space_keeps_to_the_limits(self) -> None:
        for _, limits, space in self._spaces():
            _, dearest = _ends(space)
            assert flows_of(dearest) <= limits.max_concurrency * limits.max_streams
            assert int(dearest.get("concurrency", 1)) <= limits.max_concurrency
            assert int(dearest.get("parallelism", 1)) <= limits.max_streams

    def test_no_more_files_at_a_time_than_there_are(self) -> None:
        for dataset, _, space in self._spaces():
            _, dearest = _ends(space)
            if dataset.files is not None:
                assert int(dearest.get("concurrency", 1)) <= dataset.files

    def test_baselines_begin_with_the_default(self) -> None:
        for dataset, _, space in self._spaces():
            baselines = self.plugin.baselines(a_path(), dataset)
            assert baselines[0].role == "default"
            assert len({baseline.role for baseline in baselines}) == len(baselines)
            named = space.names
            assert all(named <= set(baseline.setting) for baseline in baselines)

    def test_steps_are_programs_to_start(self) -> None:
        for order in self._orders():
            steps = self.plugin.steps(order)
            assert steps == self.plugin.steps(order)
            assert steps
            for step in steps:
                assert step.side in {"source", "destination"}
                assert all(isinstance(word, str) and word for word in step.argv)
                assert "\0" not in "".join(step.argv)
                assert (step.list_text is None) or (order.list_file in step.argv)

    def test_a_list_has_a_line_for_each_piece(self) -> None:
        for order in self._orders():
            for step in self.plugin.steps(order):
                if step.list_text is not None:
                    assert len(step.list_text.splitlines()) == len(order.pieces)

    def test_its_own_settings_make_lines(self) -> None:
        for setting in self._settings():
            for changes in ({}, {"verify": True}, {"kept": Kept(first_bytes=2**20)}):
                request = a_command_request(
                    subject=self.plugin.name,
                    settings={self.plugin.name: setting},
                    dataset=_FILE,
                    destination_path="/data/it's here",
                    **changes,
                )
                assert self.plugin.commands(request)
                for command in self.plugin.commands(request):
                    _check_shell(self.plugin, command)
                    _check_flags(self.plugin, command)

    def test_an_ordinary_name_is_carried(self) -> None:
        assert self.plugin.carries("plain.dat") == ""
        assert self.plugin.carries("deep/plain.dat") == ""

    def test_a_reader_survives_garbage(self) -> None:
        chance, reader = random.Random(1), self.plugin.reader()
        moved, begun = 0, 0
        for _ in range(_GARBAGE_LINES):
            progress = reader.feed(_garbage(chance))
            if progress is not None:
                assert (progress.moved_bytes or 0) >= moved
                assert (progress.files_begun or 0) >= begun
                moved, begun = progress.moved_bytes or moved, progress.files_begun or begun

    def test_a_reader_knows_nothing_of_another_transfer(self) -> None:
        used, chance = self.plugin.reader(), random.Random(2)
        for _ in range(_GARBAGE_LINES):
            used.feed(_garbage(chance))
        assert self.plugin.reader().feed("") is None

    def test_success_is_no_trouble(self) -> None:
        assert self.plugin.trouble(0, "", "") is None

    def test_trouble_is_one_sentence(self) -> None:
        chance = random.Random(3)
        texts = ["", *("\n".join(_garbage(chance) for _ in range(4)) for _ in range(200))]
        for status in (1, 2, 130, -9, -11):
            for text in texts:
                trouble = self.plugin.trouble(status, text, text)
                assert trouble is not None
                assert trouble.message[:1].strip()
                assert trouble.message.endswith(".")
                assert "\n" not in trouble.message
