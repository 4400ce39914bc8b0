from collections.abc import Callable

import msgspec
from rich.console import Console
from rich.markdown import Markdown

from advisor.domain.advice import Advice
from advisor.domain.records import ProbeRecord
from advisor.report.markdown import markdown_text
from advisor.testing.samples import a_path, measured

Advised = Callable[..., Advice]
WHEN_S = 1795247360.0  # date -u -d @1795247360: 2026-11-21 07:49:20


def rendered(text: str) -> str:
    """As a reader of Markdown sees it."""
    console = Console(width=200, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(Markdown(text))
    return capture.get()


def probe(advice: Advice, **changes: object) -> ProbeRecord:
    record = ProbeRecord(
        pair=advice.pair,
        subject="tcp",
        setting=advice.setting,
        result=measured(1e9),
        recorded_s=WHEN_S,
        purpose="search",
        method="spsa",
        seed=7,
    )
    return msgspec.structs.replace(record, **changes)


def test_headline_and_table(advised: Advised) -> None:
    text = markdown_text(advised(), WHEN_S)
    assert text.startswith("# dtn1-\\>dtn2: TCP, 4 streams, 1 MiB buffers, cubic\n")
    assert "- Expected: 9 Gbit/s (90 %: 8.50 to 9.50 Gbit/s)" in text
    assert "gain × 9.00 (90 %: 8.00 to 10.00)" in text
    row = "| best | TCP, 4 streams, 1 MiB buffers, cubic | 9 Gbit/s | 8.50 to 9.50 Gbit/s | 5 |"
    assert row in text
    assert "Incomplete" not in text


def test_what_was_cut_short_says_so(advised: Advised) -> None:
    advice = msgspec.structs.replace(advised(), incomplete=True)
    assert "**Incomplete" in markdown_text(advice, WHEN_S)


def test_no_text_is_taken_for_markup(advised: Advised) -> None:
    reason = "`ticks` *stars* <b>tags</b> a|b _c_ [d](e)\n# f"
    advice = msgspec.structs.replace(advised(), reasons=[reason])
    seen = rendered(markdown_text(advice, WHEN_S))
    assert "`ticks` *stars* <b>tags</b> a|b _c_ [d](e) # f" in seen
    assert "a small | buffer (source)" in seen
    assert "sysctl -w a=`b`" in seen


def test_command_lines_can_be_copied_from_their_fences(advised: Advised) -> None:
    advice = advised(source_path="/d/```x", destination_path="/s/f")
    text = markdown_text(advice, WHEN_S)
    for command in advice.commands:
        ticks = "````" if "```" in command.shell else "```"
        assert f"\n{ticks}sh\n{command.shell}\n{ticks}\n" in text


def test_what_a_note_says_to_type_is_code(advised: Advised) -> None:
    globus = advised().commands[0]
    typed = globus.note.split("`")[1]
    assert typed.startswith("globus-gridftp-server-enable-sshftp")
    assert f"`{typed}` (" in markdown_text(advised(), WHEN_S)
    odd = msgspec.structs.replace(globus, note="one ` tick, two_words")
    advice = msgspec.structs.replace(advised(), commands=[odd])
    assert "one \\` tick, two\\_words" in markdown_text(advice, WHEN_S)


def test_how_it_was_measured(advised: Advised) -> None:
    advice = advised()
    probes = [
        probe(advice, purpose="baseline"),
        probe(advice),
        probe(advice),
        probe(advice, subject="udt"),
    ]
    text = markdown_text(advice, WHEN_S, probes, a_path())
    assert "- Session 20261121T074920Z-d28598, 2026-11-21 07:49 UTC, measured" in text
    assert "- Path: RTT 45.6 ms (icmp), MTU 9000 (echoed packets)" in text
    assert "- TCP: 1 probe (baseline)" in text
    assert "- TCP: 2 probes (search)" in text
    assert "- UDT: 1 probe (search)" in text
    assert "- Settings chosen by spsa, seed 7" in text


def test_advice_from_history_claims_no_measurement(advised: Advised) -> None:
    advice = msgspec.structs.replace(advised(), basis="history", contenders=[])
    text = markdown_text(advice, WHEN_S)
    assert "from history, nothing measured" in text
    assert "Compared" not in text
