"""What every transport must keep to, as far as it can be seen without a peer."""

from typing import ClassVar

from advisor.api.transport import SpaceOptions, Transport, WithProcesses
from advisor.domain.path import PathFacts
from advisor.domain.traits import TransportTraits
from advisor.testing.samples import a_host, a_path

_PATHS = (
    a_path(),
    a_path(rtt_s=1e-5, bandwidth_bps=None, mtu_bytes=65536),
    a_path(rtt_s=0.0001, bandwidth_bps=1e9, mtu_bytes=1500),
    a_path(rtt_s=0.366, bandwidth_bps=100e9),
    a_path(
        bandwidth_bps=1e8,
        source=a_host(send_max_bytes=212992, memory_bytes=2**30),
        destination=a_host(receive_max_bytes=212992, memory_bytes=2**30),
    ),
    a_path(source=a_host(send_max_bytes=None, congestion=None, congestion_available=[])),
)


class TransportContract:
    """The contract. Inherit, set `plugin`, and let pytest collect it."""

    plugin: ClassVar[Transport]
    paths: ClassVar[tuple[PathFacts, ...]] = _PATHS

    def test_it_can_be_listed(self) -> None:
        assert self.plugin.name
        assert self.plugin.summary
        availability = self.plugin.available()
        assert availability.ok or availability.remedy

    def test_its_traits_are_of_its_kind(self) -> None:
        assert isinstance(getattr(self.plugin, "traits", TransportTraits()), TransportTraits)

    def test_every_path_has_a_space_worth_searching(self) -> None:
        for path in self.paths:
            for fixed in self.plugin.variants(path, []):
                space = self.plugin.space(path, fixed, SpaceOptions())
                assert all(p.lower < p.upper for p in space.parameters)
                assert set(space.cost_order) <= {p.name for p in space.parameters}
                assert space.fixed.items() >= fixed.items()

    def test_both_ends_of_the_space_are_settings(self) -> None:
        for path in self.paths:
            fixed = self.plugin.variants(path, [])[0]
            space = self.plugin.space(path, fixed, SpaceOptions())
            for fraction in (0.0, 0.5, 1.0):
                setting = space.setting_at({p.name: fraction for p in space.parameters})
                assert setting.items() >= fixed.items()

    def test_its_flows_can_be_spread_where_it_says_so(self) -> None:
        if not isinstance(self.plugin, WithProcesses):
            return
        flows = getattr(self.plugin, "traits", TransportTraits()).flow_parameter
        assert flows, "only flows can be spread over processes"
        for path in self.paths:
            assert self.plugin.most_processes(path) >= 1

    def test_baselines_have_a_role_and_a_setting(self) -> None:
        for path in self.paths:
            for baseline in self.plugin.baselines(path):
                assert baseline.role
                assert baseline.setting
