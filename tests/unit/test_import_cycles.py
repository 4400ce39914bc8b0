"""No module of the program imports itself by way of others."""

import graphlib

import grimp
import pytest


def _check(graph: grimp.ImportGraph) -> None:
    """Raises CycleError with the modules of a cycle."""
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    graphlib.TopologicalSorter(imports).prepare()


def test_no_import_cycles() -> None:
    """Imports for type checkers alone count: they tie modules together as others do."""
    _check(grimp.build_graph("advisor", "plugins", cache_dir=None))


def test_a_cycle_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")):
        graph.add_import(importer=importer, imported=imported)
    with pytest.raises(graphlib.CycleError) as found:
        _check(graph)
    first, *others = found.value.args[1]
    assert sorted(others) == ["a", "b", "c"]
    assert others[-1] == first
