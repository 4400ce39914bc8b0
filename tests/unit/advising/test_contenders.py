"""Who meets in the closing comparison, and who wins it."""

import math

import msgspec
import pytest

from advisor import registry
from advisor.advising.contenders import candidates_of, contenders, rank_contenders, select
from advisor.api.transport import SpaceOptions
from advisor.domain.endpoints import Pair
from advisor.domain.events import PastResult, Purpose
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.models.ceiling import Ceiling
from advisor.testing.samples import a_path, failed, measured

PAIR = Pair("a", "b")
SPACES = {
    t.name: t.space(a_path(), t.variants(a_path(), [])[0], SpaceOptions())
    for t in registry.transports()
}
DEFAULT: Setting = {"streams": 1, "buffer_bytes": 0}


def tcp(streams: int, buffer_bytes: int = 2**22) -> Setting:
    return {"streams": streams, "buffer_bytes": buffer_bytes}


def udt(buffer_bytes: int) -> Setting:
    return {"block_bytes": 8956, "buffer_bytes": buffer_bytes, "mss_bytes": 9000}


def probe(
    subject: str,
    setting: Setting,
    gbps: float,
    purpose: Purpose = "search",
    label: str = "y+",
    stage: str = "",
) -> ProbeRecord:
    return ProbeRecord(
        pair=PAIR,
        subject=subject,
        setting=setting,
        result=measured(gbps * 1e9) if gbps else failed(),
        recorded_s=0,
        stage=stage or subject,
        purpose=purpose,
        label=label,
    )


BASELINE = probe("tcp", DEFAULT, 0.5, "baseline", "default")


def roles(probes: list[ProbeRecord], past: list[PastResult] | None = None) -> dict[str, Setting]:
    return {c.role: c.setting for c in select(candidates_of(probes), past or [], SPACES)}


def test_best_rival_frugal_and_default_meet() -> None:
    probes = [
        BASELINE,
        probe("tcp", tcp(16), 2.0),
        probe("tcp", tcp(4), 1.95),
        probe("tcp", tcp(8), 1.99),
        probe("tcp", tcp(2), 1.2),
        probe("udt", udt(2**24), 1.8),
        probe("udt", udt(2**20), 0.4),
    ]
    assert roles(probes) == {
        "best": tcp(16),
        "rival": udt(2**24),
        "frugal": tcp(4),
        "default": DEFAULT,
    }


def test_another_transport_far_behind_is_no_rival() -> None:
    probes = [BASELINE, probe("tcp", tcp(16), 2.0), probe("tcp", tcp(9), 1.0)]
    probes.append(probe("udt", udt(2**24), 0.3))
    assert roles(probes)["rival"] == tcp(9)


def test_history_may_be_the_rival() -> None:
    stored = PastResult(
        subject="tcp",
        setting=tcp(12),
        throughput_bps=1.9e9,
        spread=0.05,
        probes=5,
        age_s=100,
    )
    probes = [BASELINE, probe("tcp", tcp(16), 2.0), probe("tcp", tcp(9), 1.0)]
    assert roles(probes, [stored])["rival"] == tcp(12)


def test_failures_do_not_meet() -> None:
    assert roles([probe("tcp", tcp(4), 0)]) == {}
    assert rank_contenders([], SPACES) is None


def test_a_default_that_is_best_keeps_its_name() -> None:
    found = roles([probe("tcp", DEFAULT, 3.0, "baseline", "default"), probe("tcp", tcp(4), 1.0)])
    assert found == {"default": DEFAULT, "rival": tcp(4)}


def confirmed(setting: Setting, role: str, *gbps: float) -> list[ProbeRecord]:
    return [probe("tcp", setting, g, "confirm", role, "confirm") for g in gbps]


def test_those_who_met_keep_their_roles() -> None:
    probes = [
        BASELINE,
        probe("tcp", tcp(16), 2.0),
        probe("tcp", tcp(8), 1.9),
        *confirmed(tcp(16), "best", 1.0, 1.1),
        *confirmed(tcp(8), "rival", 1.9, 1.9),
    ]
    met = {c.role: c.setting for c in contenders(probes, [], SPACES)}
    assert met == {"default": DEFAULT, "best": tcp(16), "rival": tcp(8)}


def test_the_result_a_setting_was_chosen_for_is_left_out() -> None:
    """The winner's curse: a lucky search probe does not count once it was measured again."""
    probes = [probe("tcp", tcp(16), 9.0), *confirmed(tcp(16), "best", 1.0, 1.0, 1.0)]
    ranking = rank_contenders(contenders(probes, [], SPACES), SPACES)
    assert ranking is not None
    assert ranking.contender(0).throughput.value < 1.1e9
    assert ranking.contender(0).probes == 3


def test_the_cheapest_of_the_same_wins() -> None:
    probes = [
        BASELINE,
        probe("tcp", tcp(16), 2.0),
        probe("tcp", tcp(4), 1.95),
        *confirmed(tcp(16), "best", 2.00, 2.02, 1.98),
        *confirmed(tcp(4), "rival", 1.99, 2.01, 1.97),
        *confirmed(DEFAULT, "default", 0.5, 0.51),
    ]
    ranking = rank_contenders(contenders(probes, [], SPACES), SPACES)
    assert ranking is not None
    assert ranking.candidates[ranking.chosen].setting == tcp(4)
    assert ranking.default is not None
    assert ranking.candidates[ranking.default].setting == DEFAULT


def test_of_the_same_tcp_is_the_cheaper_transport() -> None:
    probes = [
        probe("udt", udt(2**24), 2.1),
        probe("tcp", tcp(16), 2.0),
        *[probe("udt", udt(2**24), g, "confirm", "best", "confirm") for g in (2.0, 2.02, 1.99)],
        *confirmed(tcp(16), "rival", 1.99, 2.01, 1.98),
    ]
    ranking = rank_contenders(contenders(probes, [], SPACES), SPACES)
    assert ranking is not None
    assert ranking.candidates[ranking.chosen].subject == "tcp"


def test_udt_wins_where_it_is_really_faster() -> None:
    probes = [
        probe("udt", udt(2**24), 2.1),
        probe("tcp", tcp(16), 1.5),
        *[probe("udt", udt(2**24), g, "confirm", "best", "confirm") for g in (2.0, 2.02, 1.99)],
        *confirmed(tcp(16), "rival", 1.0, 1.1, 1.0),
    ]
    ranking = rank_contenders(contenders(probes, [], SPACES), SPACES)
    assert ranking is not None
    assert ranking.candidates[ranking.chosen].subject == "udt"


def test_one_that_was_not_confirmed_yet_is_not_forgotten() -> None:
    """Interrupted in the first round, after the default alone was probed again."""
    probes = [BASELINE, probe("tcp", tcp(16), 2.0), *confirmed(DEFAULT, "default", 0.5)]
    ranking = rank_contenders(contenders(probes, [], SPACES), SPACES)
    assert ranking is not None
    assert ranking.candidates[ranking.chosen].setting == tcp(16)


def test_what_a_search_recommends_comes_before_its_luckiest_probe() -> None:
    lucky, steady = probe("tcp", tcp(16), 3.0), probe("tcp", tcp(8), 1.9)
    recommending = msgspec.structs.replace(steady, recommended=(tcp(8), 2.0e9))
    assert roles([lucky, steady])["best"] == tcp(16)
    assert roles([lucky, recommending])["best"] == tcp(8)
    assert roles([lucky, recommending])["rival"] == tcp(16)


def test_the_last_recommendation_of_a_search_counts() -> None:
    first = msgspec.structs.replace(probe("tcp", tcp(8), 1.9), recommended=(tcp(8), 2.0e9))
    second = msgspec.structs.replace(probe("tcp", tcp(4), 1.8), recommended=(tcp(4), 2.1e9))
    assert roles([first, second])["best"] == tcp(4)


def test_a_recommendation_says_nothing_against_another_transport() -> None:
    tcp_one = msgspec.structs.replace(probe("tcp", tcp(8), 1.9), recommended=(tcp(8), 2.0e9))
    assert roles([tcp_one, probe("udt", udt(2**24), 2.5)])["best"] == udt(2**24)


def test_a_default_measured_before_others_came_does_not_win_by_that() -> None:
    """The path was empty at first; then the transfers of others began."""
    probes = [
        probe("tcp", DEFAULT, 0.99, "baseline", "default", "baseline"),
        probe("tcp", tcp(16), 0.99),
        *confirmed(DEFAULT, "default", 0.03, 0.03),
        *confirmed(tcp(16), "best", 0.39, 0.4),
    ]
    ranking = rank_contenders(contenders(probes, [], SPACES), SPACES)
    assert ranking is not None
    assert ranking.candidates[ranking.chosen].setting == tcp(16)


def test_a_default_that_a_search_recommends_leaves_the_other_defaults_as_measured() -> None:
    default = probe("tcp", DEFAULT, 0.9, "baseline", "default", stage="baseline")
    globus = probe("tcp", tcp(16, 0), 0.95, "baseline", "Globus default", stage="baseline")
    again = msgspec.structs.replace(probe("tcp", DEFAULT, 0.9), recommended=(DEFAULT, 0.9e9))
    lucky = msgspec.structs.replace(probe("tcp", tcp(4, 0), 1.2), recommended=(DEFAULT, 0.9e9))
    found = select(candidates_of([default, globus, again, lucky]), [], SPACES)
    assert found[0].setting == tcp(16, 0)
    assert {c.role for c in found} >= {"default", "Globus default"}


def test_a_rate_beyond_the_path_is_no_gain_either() -> None:
    probes = [BASELINE, probe("tcp", tcp(16), 5.0)]
    probes += confirmed(DEFAULT, "default", 1, 1, 1) + confirmed(tcp(16), "best", 5, 5, 5)
    met = contenders(probes, [], SPACES)
    free, held = (
        rank_contenders(met, SPACES, ceiling=one) for one in (None, Ceiling(4e9, "the link"))
    )
    assert free
    assert held
    assert free.gain
    assert held.gain
    assert held.gain.value == pytest.approx(0.8 * free.gain.value)
    assert held.gain.interval[0] == pytest.approx(0.8 * free.gain.interval[0])
    assert held.expected.value == 4e9
    assert held.expected.interval[0] < 4e9 == held.expected.interval[1]


def test_a_gain_is_claimed_of_further_transfers_and_other_ratios_of_the_probes() -> None:
    repeats = (0.97, 1.0, 1.03)
    probes = [BASELINE, probe("tcp", tcp(16), 2), probe("tcp", tcp(4), 1)]
    probes += confirmed(DEFAULT, "default", *repeats)
    probes += confirmed(tcp(16), "best", *(2 * each for each in repeats))
    probes += confirmed(tcp(4), "rival", *repeats)
    ranking = rank_contenders(contenders(probes, [], SPACES), SPACES)
    assert ranking
    at = {candidate.role: index for index, candidate in enumerate(ranking.candidates)}
    gain, rival = (ranking.ratio(at["best"], at[role]) for role in ("default", "rival"))
    assert gain == ranking.gain
    assert gain.value == pytest.approx(rival.value) == pytest.approx(2)
    # Student's, of a spread with six degrees: sqrt(2 / 3) of it for two means, sqrt(8 / 3) for
    # one more transfer of each.
    widths = [math.log(one.interval[1] / one.interval[0]) for one in (gain, rival)]
    assert widths[0] == pytest.approx(2 * widths[1])
