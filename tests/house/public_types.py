"""The rule about types: what is public says what it takes and gives."""

import ast
import re
from collections.abc import Iterable, Iterator

from .source import LIBRARY, Breach, Source, sources

INSIDE = "used inside its package only"

EXCLUDED: dict[str, str] = {
    "clusterkit/families/shared/band.py:slack_problem": INSIDE,
    "clusterkit/families/shared/transport.py:limit_problem": INSIDE,
    "clusterkit/families/shared/transport.py:sizes_problem": INSIDE,
    "clusterkit/families/consensus/expansion.py:indicator": INSIDE,
    "clusterkit/families/support_vectors/basins.py:BasinPredictor.facts": INSIDE,
    "clusterkit/families/support_vectors/basins.py:basin_labeling": INSIDE,
    "clusterkit/numerics/nearest_jit.py:fill": INSIDE,
    "clusterkit/numerics/shapes.py:Declared.__call__": "attrs says so of validators",
    "clusterkit/plots/figure.py:rows_of": INSIDE,
    "clusterkit/plots/figure.py:FittedDomain.model": INSIDE,
    "clusterkit/plots/figure.py:FittedDomain.of": INSIDE,
    "clusterkit/families/margins/cutting_plane.py:PreparedCuttingPlanes.resolved": INSIDE,
    "clusterkit/families/graphs/lapgmm.py:Smoother.W": INSIDE,
    "clusterkit/families/graphs/ncut.py:leading": INSIDE,
    "clusterkit/families/margins/ridge.py:RegularisedInverse.resolved": INSIDE,
    "clusterkit/families/support_vectors/edsvc.py:EdSvcChoice.facts": INSIDE,
    "clusterkit/families/support_vectors/edsvc.py:CandidateRuns.labels_of": INSIDE,
}
"""Public names that may have `Any`, ``path:name`` as in a breach, each with the reason."""

ALIASES = "clusterkit/_typing.py"
"""A module with an underscore whose names stand in public signatures."""

PRECISION = re.compile(r"\b(?:floating|integer|dtype)\[Any\]")
"""A number type of any precision is a type; numpy has no other way to write it."""

ANY = re.compile(r"\bAny\b")
"""The word alone, also inside an annotation that is a text."""


def public_any() -> Iterator[Breach]:
    """No public function, method, attribute, class or type alias has `Any` in its signature."""
    library = sources(*LIBRARY)
    exported = _exports_of_private_modules(library)
    for source in library:
        public = source.name == ALIASES or not _is_private_path(source.name)
        names = None if public else exported.get(source.name, frozenset())
        for breach, name in any_in(source, names):
            if f"{source.name}:{name}" not in EXCLUDED:
                yield breach


def any_in(source: Source, names: Iterable[str] | None = None) -> Iterator[tuple[Breach, str]]:
    """Annotations with `Any` of the public definitions of a file, each with the name of the definition.

    Parameters
    ----------
    source : Source
    names : iterable of str, optional
        Only these definitions of the module; default: all without an underscore.
    """
    for name, annotation in _annotations(source.tree, ()):
        if names is not None and name.partition(".")[0] not in names:
            continue
        if ANY.search(PRECISION.sub("", ast.unparse(annotation))):
            yield source.breach(annotation, f"Any in the public signature of {name}"), name


def _annotations(scope: ast.Module | ast.ClassDef, outer: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    """Name and annotation of everything public that a module or a class defines, methods included."""
    statements = list(_flattened(scope.body))
    overloaded = {node.name for node in statements if isinstance(node, ast.FunctionDef) and _is_overload(node)}
    for node in statements:
        name = _name_of(node)
        if name is None or _is_private(name):
            continue
        path = (*outer, name)
        if isinstance(node, ast.ClassDef):
            yield from ((".".join(path), base) for base in node.bases)
            yield from _annotations(node, path)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name not in overloaded or _is_overload(node):  # checkers do not show the implementation
                yield from ((".".join(path), annotation) for annotation in _signature(node))
        elif isinstance(node, ast.AnnAssign):
            yield ".".join(path), node.annotation
            if "TypeAlias" in ast.unparse(node.annotation) and node.value is not None:
                yield ".".join(path), node.value


def _flattened(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, and those under ``if`` and ``try``."""
    for node in statements:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _flattened([*node.body, *node.orelse])


def _name_of(node: ast.stmt) -> str | None:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    yield from (argument.annotation for argument in every if argument is not None and argument.annotation is not None)
    if node.returns is not None:
        yield node.returns


def _is_overload(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator).endswith("overload") for decorator in node.decorator_list)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _is_private_path(path: str) -> bool:
    return any(_is_private(part.removesuffix(".py")) for part in path.split("/"))


def _exports_of_private_modules(library: Iterable[Source]) -> dict[str, frozenset[str]]:
    """Path of each module with an underscore to the names that public modules export from it.

    A package exports what its ``__init__`` imports, any other module what is in its ``__all__`` too.
    """
    paths = {_module(source.name): source.name for source in library}
    exported: dict[str, frozenset[str]] = {}
    for source in library:
        if _is_private_path(source.name):
            continue
        listed = None if source.path.stem == "__init__" else _listed(source.tree)
        for node in source.nodes:
            path = paths.get(node.module or "") if isinstance(node, ast.ImportFrom) else None
            if isinstance(node, ast.ImportFrom) and path is not None and _is_private_path(path):
                names = {alias.name for alias in node.names if listed is None or (alias.asname or alias.name) in listed}
                exported[path] = exported.get(path, frozenset()) | names
    return exported


def _module(path: str) -> str:
    """Dotted name of a module: ``clusterkit/fitting/fit.py`` is ``clusterkit.fitting.fit``."""
    return path.rpartition("src/")[2].removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _listed(tree: ast.Module) -> set[str]:
    """Names in ``__all__``."""
    return {
        constant.value
        for node in tree.body
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets)
        for constant in ast.walk(node.value)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    }
