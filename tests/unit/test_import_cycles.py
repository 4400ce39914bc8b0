"""No module of the program imports itself by way of others."""

import grimp


def _cycles(graph: grimp.ImportGraph) -> list[str]:
    """Each as `a -> b -> a`; one for each import that is part of a cycle."""
    return sorted(
        " -> ".join((importer, *chain))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if (chain := graph.find_shortest_chain(imported, importer))
    )


def test_no_import_cycles() -> None:
    """Imports for type checkers alone count: they tie modules together as others do."""
    assert _cycles(grimp.build_graph("advisor", "plugins", cache_dir=None)) == []


def test_a_cycle_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")):
        graph.add_import(importer=importer, imported=imported)
    assert _cycles(graph) == ["a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c"]
