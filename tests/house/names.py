"""Rules about names: identifiers name the thing they hold, files are named after their one idea."""

import ast
import functools
import re
from collections.abc import Iterator

from .source import LIBRARY, ROOT, TESTS, Breach, Source, at_top, sources

FORBIDDEN = frozenset({"found", "own", "kept", "given", "told", "asked", "said", "result", "res"})
"""Words that say how a value came about and not what it is."""

EMPTY_FILE_NAMES = frozenset({"utils", "util", "helpers", "helper", "misc", "common"})
"""Names of files that would fit anything."""

MOST_LINES = 800
"""Longest file in which a reader finds things by scrolling. A question that takes several files to answer costs more
than a long file does."""

PYTHON_FILE = re.compile(r"(?<![\w/.{$<-])(?:[\w-]+/)*[a-z_]\w*\.py\b")
"""A path of a Python file within prose."""

MODULE = re.compile(r"(?<![\w.])clusterkit\.([a-z_]\w*)\.([a-z_]\w*)|\b(\w+_jit)\b")
"""A module within prose: below a package of clusterkit, or a compiled one by its name alone."""

NUMBA = ("numba", "clusterkit._jit")


def forbidden_identifiers() -> Iterator[Breach]:
    """No identifier is called found, own, kept, given, told, asked, said, result or res."""
    for source in sources(*LIBRARY, *TESTS):
        yield from identifiers_of(source)


def identifiers_of(source: Source) -> Iterator[Breach]:
    """Forbidden identifiers that a file defines; the import of hypothesis's `given` is none."""
    for node in source.nodes:
        for name in _defined(node):
            if name in FORBIDDEN:
                yield source.breach(node, f"the identifier {name!r} does not name the thing it holds")


def _defined(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.alias(asname=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names


def long_files() -> Iterator[Breach]:
    """No file has more than 800 lines."""
    for source in sources(*LIBRARY, *TESTS):
        lines = source.text.count("\n")
        if lines > MOST_LINES:
            yield source.breach(1, f"{lines} lines, at most {MOST_LINES}: one file, one question")


def empty_file_names() -> Iterator[Breach]:
    """No file or package is called utils, helpers, misc or common."""
    for source in sources(*LIBRARY, *TESTS):
        parts = {part.strip("_") for part in source.path.relative_to(source.path.parents[1]).with_suffix("").parts}
        for name in sorted(parts & EMPTY_FILE_NAMES):
            yield source.breach(1, f"the name {name!r} fits anything: name the file after its one idea")


def paths_in_docstrings() -> Iterator[Breach]:
    """Every Python file and module that a docstring names exists, below the root, clusterkit/ or a src/, or near it."""
    for source in sources(*LIBRARY, *TESTS):
        yield from missing_files_of(source)
        yield from missing_modules_of(source)


def missing_files_of(source: Source) -> Iterator[Breach]:
    """Python files that the docstrings of a file name and that are nowhere; placeholders such as NAME.py are none."""
    places = (ROOT, ROOT / "clusterkit", *ROOT.glob("plugins/*/src"), *source.path.parents)
    for node in source.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            for path in PYTHON_FILE.findall(ast.get_docstring(node) or ""):
                if not any((place / path).exists() for place in places):
                    yield source.breach(node, f"the docstring names {path}, which does not exist")


@functools.cache
def compiled_modules() -> frozenset[str]:
    """The names of all compiled modules."""
    return frozenset(path.stem for folder in LIBRARY for root in ROOT.glob(folder) for path in root.rglob("*_jit.py"))


def missing_modules_of(source: Source) -> Iterator[Breach]:
    """Modules that the docstrings of a file name and that are nowhere; a name in a package is one that it exports."""
    for node in source.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            for package, name, compiled in MODULE.findall(ast.get_docstring(node) or ""):
                folder = ROOT / "clusterkit" / package
                init = folder / "__init__.py"  # a checkout may keep the folder of a package that is gone
                exported = init.exists() and f'"{name}"' in init.read_text(encoding="utf-8")
                places = (folder / name, folder / f"{name}.py", folder.with_suffix(".py"))
                if not (
                    compiled in compiled_modules() if compiled else exported or any(place.exists() for place in places)
                ):
                    missing = compiled or f"clusterkit.{package}.{name}"
                    yield source.breach(node, f"the docstring names {missing}, which does not exist")


def compiled_suffixes() -> Iterator[Breach]:
    """A module that imports numba or clusterkit._jit at its top ends in `_jit`, and no other does."""
    for source in sources(*LIBRARY):
        if source.name == "clusterkit/_jit.py":
            continue
        compiled = any(module in NUMBA for node in at_top(source.tree) for module in _modules(node))
        suffixed = source.path.stem.endswith("_jit")
        if compiled and not suffixed:
            yield source.breach(1, "imports numba at its top, so its name must end in _jit")
        if suffixed and not compiled:
            yield source.breach(1, "ends in _jit and compiles nothing")


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
