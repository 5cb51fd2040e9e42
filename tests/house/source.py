"""The Python files of the project, parsed once."""

from __future__ import annotations

import ast
import functools
import io
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

ROOT = Path(__file__).parents[2]
LIBRARY = ("clusterkit", "plugins/*/src")
TESTS = ("tests", "plugins/*/tests")

Place: TypeAlias = Literal["top", "inside", "types"]
"""Where an import stands: what runs with the module, what runs later, and what never runs."""


@attrs.frozen
class Breach:
    """A place that breaks a rule of the house.

    Parameters
    ----------
    path : str
        File, relative to the root of the repository.
    line : int
    text : str
        What is wrong.
    """

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@attrs.frozen(eq=False)
class Source:
    """A Python file: its path, its lines and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @classmethod
    @functools.cache
    def of(cls, path: Path) -> Source:
        text = path.read_text(encoding="utf-8")
        return cls(path, text, ast.parse(text, str(path)))

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree."""
        return tuple(ast.walk(self.tree))

    @property
    def name(self) -> str:
        """Path relative to the root of the repository."""
        return self.path.relative_to(ROOT).as_posix() if self.path.is_relative_to(ROOT) else self.path.as_posix()

    def breach(self, node: ast.AST | int, text: str) -> Breach:
        return Breach(self.name, node if isinstance(node, int) else getattr(node, "lineno", 1), text)


@functools.cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Every Python file below the folders (patterns relative to the root), sorted by path."""
    paths = {path for folder in folders for root in ROOT.glob(folder) for path in root.rglob("*.py")}
    return tuple(Source.of(path) for path in sorted(paths))


NOTHING = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
})  # fmt: skip
"""Tokens that are no code."""


def code_tokens(source: Source) -> Iterator[tokenize.TokenInfo]:
    """Names, operators, numbers and texts, without texts that stand alone, as docstrings do."""
    alone: set[int] = set()
    for node in source.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            alone.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type not in NOTHING and token.start[0] not in alone:
            yield token


def at_top(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is imported; not those for type checkers."""
    return (node for node, place in imports(tree) if place == "top")


def everywhere(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports anywhere, functions included; not those for type checkers."""
    return (node for node, place in imports(tree) if place != "types")


def imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, Place]]:
    """Every import and where it stands: at the top of the module, inside a function, or for type checkers only."""
    return _imports(tree.body, "top")


def _imports(nodes: Iterable[ast.AST], place: Place) -> Iterator[tuple[ast.Import | ast.ImportFrom, Place]]:
    for node in nodes:
        if isinstance(node, ast.expr):  # no import stands in one
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, place
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _imports(node.body, "types")
            yield from _imports(node.orelse, place)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(ast.iter_child_nodes(node), "types" if place == "types" else "inside")
        else:
            yield from _imports(ast.iter_child_nodes(node), place)
