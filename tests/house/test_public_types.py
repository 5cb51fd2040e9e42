"""No public `Any`: the rule finds what it is for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from house import public_types
from house.source import ROOT, Source


def source(text: str, path: str = "clusterkit/a.py") -> Source:
    return Source(ROOT / path, text, ast.parse(text))


def names(text: str) -> list[str]:
    return [name for _, name in public_types.any_in(source(text))]


def test_every_exclusion_has_a_reason_and_a_file():
    for place, reason in public_types.EXCLUDED.items():
        assert reason
        assert (ROOT / place.partition(":")[0]).is_file()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def f(x: Any): pass", "f"),
        ("def f() -> dict[str, Any]: pass", "f"),
        ("def f(*, x: 'list[Any]'): pass", "f"),
        ("def f(*args: Any): pass", "f"),
        ("def f(**options: typing.Any): pass", "f"),
        ("async def f(x: Any): pass", "f"),
        ("class C:\n    def m(self, x: Any): pass", "C.m"),
        ("class C:\n    def __call__(self, x: Any): pass", "C.__call__"),
        ("class C:\n    x: NDArray[Any]", "C.x"),
        ("class C(Base[Any]): pass", "C"),
        ("X: TypeAlias = Mapping[str, Any]", "X"),
        ("if TYPE_CHECKING:\n    def f(x: Any): pass", "f"),
        ("@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: Any) -> str: ...\ndef f(x): pass", "f"),
    ],
)
def test_any_is_seen(text, name):
    assert names(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "def _f(x: Any): pass",
        "class _C:\n    x: Any",
        "class C:\n    _x: Any\n    def _m(self, x: Any): pass",
        "def f(x: int):\n    y: Any = x",
        "def f(x: Anything): pass",
        "def f(x: NDArray[np.floating[Any]]): pass",
        "X: TypeAlias = NDArray[np.integer[Any]]",
        "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x: Any) -> Any: pass",
    ],
)
def test_other_annotations_are_allowed(text):
    assert names(text) == []


def test_names_that_a_package_takes_from_a_private_module_are_public(monkeypatch):
    library = (
        source("from p._a import drawn", "p/__init__.py"),
        source("from p._a import helper\n__all__ = ['other']", "p/b.py"),
        source("def drawn(x: Any): pass\ndef helper(x: Any): pass", "p/_a.py"),
    )
    monkeypatch.setattr(public_types, "sources", lambda *folders: library)
    breaches = [str(breach) for breach in public_types.public_any()]
    assert breaches == [f"{Path('p/_a.py')}:1: Any in the public signature of drawn"]
