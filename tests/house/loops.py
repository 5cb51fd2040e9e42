"""The rule of what compiled loops may call: numba compiles all of it, and some of it takes longer than the loops."""

import ast
from collections.abc import Iterator

from .source import LIBRARY, Breach, Source, sources

DECORATORS = frozenset({"njit", "inner"})
"""What makes a function a compiled one."""

NUMPY = frozenset({
    "arange", "empty", "empty_like", "exp", "float32", "float64", "full", "int32", "int64", "log", "nextafter", "ones",
    "sqrt", "uint64", "zeros",
})  # fmt: skip
"""Functions of numpy that numba compiles in less than a quarter of a second. `np.partition`, with the texts of its
errors and the sorting behind it, takes ten seconds, `np.sort` two and `np.sum` half a one: a loop takes a tenth."""

METHODS = frozenset({"append", "astype", "copy", "pop", "reshape", "type", "view"})
"""Methods of arrays, lists and types that are as cheap."""


def compiled_calls() -> Iterator[Breach]:
    """Compiled loops call cheap functions of numpy only, and copy arrays element by element."""
    for source in sources(*LIBRARY):
        if source.path.stem.endswith("_jit"):
            yield from calls_of(source)


def calls_of(source: Source) -> Iterator[Breach]:
    """What compiled functions of a file call or assign that takes numba longer than a loop in its place."""
    for function in source.nodes:
        if isinstance(function, ast.FunctionDef) and any(map(_compiles, function.decorator_list)):
            for node in ast.walk(function):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)) if name not in NUMPY:
                        yield source.breach(node, f"np.{name} in a compiled loop takes long to compile: write a loop")
                    case ast.Call(func=ast.Attribute(value=value, attr=name)) if not (
                        name in METHODS or (isinstance(value, ast.Name) and value.id in {"np", "math"})
                    ):
                        yield source.breach(node, f".{name}() in a compiled loop takes long to compile: write a loop")
                    case ast.Assign(targets=[ast.Subscript(slice=place)], value=value) if any(
                        isinstance(each, ast.Slice) for each in ast.walk(place)
                    ) and not _is_number(value):
                        yield source.breach(node, "numba compiles the text of an error for a slice: copy by a loop")


def _compiles(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(name, ast.Name) and name.id in DECORATORS


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Attribute(value=ast.Name(id="np" | "math"), attr="inf" | "nan"):
            return True
    return False
