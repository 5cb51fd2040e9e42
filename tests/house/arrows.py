"""Rules about imports: no circle, no arrow between families, no private module of another package.

import-linter holds the layers; the rules here count imports inside functions too and need no package but the library's.
"""

import ast
import functools
from collections.abc import Iterator, Mapping

from .source import ROOT, Breach, Source, everywhere, sources

FOUNDATIONS = frozenset({"clusterkit._jit", "clusterkit._typing"})
"""Private modules that the whole library shares."""

Graph = Mapping[str, Mapping[str, int]]
"""Module to the modules it imports, each with the line of the first import."""


def module_name(source: Source) -> str:
    """Dotted name of a file of the library or of a plugin."""
    parts = source.path.relative_to(ROOT).with_suffix("").parts
    if parts[0] == "plugins":
        parts = parts[parts.index("src") + 1 :]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def _modules() -> dict[str, Source]:
    return {module_name(source): source for source in sources("clusterkit", "plugins/*/src")}


def graph_of(modules: Mapping[str, Source]) -> Graph:
    """Who imports whom, by the dotted names in the import statements."""
    return {
        name: {
            target: node.lineno
            for node in reversed(list(everywhere(source.tree)))
            for target in targets(name, source, node, modules)
            if target != name
        }
        for name, source in modules.items()
    }


def targets(
    name: str, source: Source, node: ast.Import | ast.ImportFrom, modules: Mapping[str, Source]
) -> Iterator[str]:
    """The modules of the project that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
        return
    base = node.module or ""
    if node.level:
        package = name if source.path.stem == "__init__" else name.rpartition(".")[0]
        parent = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*parent, *([base] if base else [])])
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        if inner in modules:
            yield inner
        elif base in modules:
            yield base


@functools.cache
def _graph() -> Graph:
    return graph_of(_modules())


def import_circles() -> Iterator[Breach]:
    """No module imports itself through others, imports inside functions included."""
    for circle in circles(_graph()):
        source = _modules()[circle[0]]
        yield source.breach(_graph()[circle[0]][circle[1]], "circle of imports: " + " -> ".join([*circle, circle[0]]))


def circles(graph: Graph) -> Iterator[list[str]]:
    """One shortest circle for every strongly connected part of a graph."""
    reached = {name: _reach(graph, name) for name in graph}
    seen: set[str] = set()
    for name in sorted(graph):
        if name in seen or name not in reached[name]:
            continue
        seen |= {other for other in reached[name] if name in reached.get(other, {})}
        path = [name]
        previous = reached[name]
        step = previous[name]
        while step != name:
            path.insert(1, step)
            step = previous[step]
        yield path


def _reach(graph: Graph, start: str) -> dict[str, str]:
    """Every module reached from one by at least one import, with the module before it on a shortest way."""
    previous: dict[str, str] = {}
    front = [start]
    while front:
        following = []
        for name in front:
            for target in graph.get(name, {}):
                if target not in previous:
                    previous[target] = name
                    following.append(target)
        front = following
    return previous


def family_arrows() -> Iterator[Breach]:
    """No family imports another one."""
    for name, targets in _graph().items():
        family = _family(name)
        for target, line in targets.items():
            if family and _family(target) not in (family, None):
                yield _modules()[name].breach(line, f"an arrow between families: {name} -> {target}")


def _family(module: str) -> str | None:
    parts = module.split(".")
    return parts[2] if parts[:2] == ["clusterkit", "families"] and len(parts) > 2 else None


def private_imports() -> Iterator[Breach]:
    """No package imports a private module (leading underscore) of another package."""
    for name, targets in _graph().items():
        for target, line in targets.items():
            package, _, last = target.rpartition(".")
            if last.startswith("_") and not _inside(name, package) and target not in FOUNDATIONS:
                yield _modules()[name].breach(line, f"imports {target}, which is private to {package}")
    yield from _private_names()


def _private_names() -> Iterator[Breach]:
    """Imports of a private name from a public module of another package."""
    for name, source in _modules().items():
        for node in everywhere(source.tree):
            if isinstance(node, ast.ImportFrom) and node.module in _modules() and node.module not in FOUNDATIONS:
                home = node.module.rpartition(".")[0]
                for alias in node.names:
                    is_private = alias.name.startswith("_") and not alias.name.startswith("__")
                    if is_private and not _inside(name, home) and f"{node.module}.{alias.name}" not in _modules():
                        yield source.breach(node, f"imports {alias.name} of {node.module}, which is private to {home}")


def _inside(name: str, package: str) -> bool:
    """Whether a module is in a package or below it."""
    return name == package or name.startswith(package + ".")
