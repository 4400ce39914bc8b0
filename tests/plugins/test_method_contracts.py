"""Every method that comes with the program keeps the contract, and none is left out here."""

from advisor import registry
from advisor.testing.methods import MethodContract


class TestSweep(MethodContract):
    plugin = registry.method("sweep")


class TestSpsa(MethodContract):
    plugin = registry.method("spsa")


class TestSpsaProbData(MethodContract):
    plugin = registry.method("spsa-probdata")


class TestDepthWidth(MethodContract):
    plugin = registry.method("depth-width")


class TestCoordinateDescent(MethodContract):
    plugin = registry.method("coordinate-descent")
    finishes = False


class TestCompass(MethodContract):
    plugin = registry.method("compass")
    finishes = False


class TestNelderMead(MethodContract):
    plugin = registry.method("nelder-mead")
    finishes = False


class TestHeur1(MethodContract):
    plugin = registry.method("heur1")


class TestHeur2(MethodContract):
    plugin = registry.method("heur2")


class TestDoubling(MethodContract):
    plugin = registry.method("doubling")


class TestGlobusDefault(MethodContract):
    plugin = registry.method("globus-default")


class TestPcp(MethodContract):
    plugin = registry.method("pcp")


class TestSingleChunk(MethodContract):
    plugin = registry.method("single-chunk")


class TestPromc(MethodContract):
    plugin = registry.method("promc")


class TestHarp(MethodContract):
    plugin = registry.method("harp")


class TestAnnOt(MethodContract):
    plugin = registry.method("ann-ot")


class TestBayes(MethodContract):
    plugin = registry.method("bayes")


def test_no_bundled_method_is_left_out() -> None:
    tested = {
        one.plugin.name
        for one in globals().values()
        if isinstance(one, type) and issubclass(one, MethodContract) and hasattr(one, "plugin")
    }
    bundled = {
        line.name
        for line in registry.listing()
        if line.kind == "methods" and line.origin == "bundled"
    }
    assert tested == bundled
