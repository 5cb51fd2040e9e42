"""What records declare of their arrays: each array is declared, and what a file holds is as it is declared."""

from __future__ import annotations

import types
import typing

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit import load, recipe, saving
from clusterkit.contracts import array, scalar
from clusterkit.contracts.declared import annotations_of
from clusterkit.contracts.registry import ABSTRACT_NAMES, registry
from clusterkit.errors import InvalidModelFile, NotSavable
from clusterkit.numerics.shapes import check, declared, is_tree
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.saving.savable import SAVABLE, class_of
from clusterkit.testing.compare import two_groups

X = two_groups()


def holds_arrays(hint: object) -> bool:
    """Whether values of a type are arrays, or tuples of them."""
    if hint in (np.ndarray, SparseRows) or typing.get_origin(hint) is np.ndarray:
        return True
    several = typing.get_origin(hint) in (typing.Union, types.UnionType, tuple, list)
    return several and any(map(holds_arrays, typing.get_args(hint)))


def test_every_array_of_a_class_that_can_be_saved_is_declared():
    undeclared = []
    for kind in (SAVABLE, *ABSTRACT_NAMES):
        for entry in registry.every(kind):
            cls = class_of(kind, entry.name)
            fields = [field.name for field in attrs.fields(cls) if field.init] if attrs.has(cls) else []
            hints = annotations_of(cls)
            undeclared += [
                f"{cls.__name__}.{name}"
                for name in fields
                if holds_arrays(hints.get(name)) and name.lstrip("_") not in declared(cls)
            ]
    assert not undeclared


def test_a_class_with_an_array_that_it_does_not_declare_cannot_be_saved():
    @clusterkit.register
    @attrs.frozen(eq=False)
    class Undeclared:
        rows: np.ndarray

    with pytest.raises(NotSavable, match=r"Undeclared declares nothing of the array rows.*contracts\.array"):
        saving.pack(Undeclared(np.zeros((2, 2))))


def test_what_is_not_as_declared_is_not_saved():
    @clusterkit.register
    @attrs.frozen(eq=False)
    class Finite:
        rows: np.ndarray = attrs.field(validator=array("n d"))

    with pytest.raises(NotSavable, match="rows is not finite"):
        saving.pack(Finite(np.full((2, 2), np.nan)))


@attrs.frozen(eq=False)
class Line:
    points: np.ndarray = attrs.field(validator=array("n 2", "n 3"))
    weights: np.ndarray = attrs.field(validator=array("n", least=0, most=1))
    order: np.ndarray = attrs.field(validator=array("n", below="n", distinct=True))
    ends: np.ndarray = attrs.field(validator=array("parts+1", divides="n"))
    heights: np.ndarray = attrs.field(validator=array("n-1", ascending=True, finite=False))
    count: int = attrs.field(default=1, validator=scalar(least=1, most="n"))


GOOD = {
    "points": np.zeros((3, 2)),
    "weights": np.ones(3),
    "order": np.array([2, 0, 1]),
    "ends": np.array([0, 1, 3]),
    "heights": np.array([1.0, np.inf]),
    "count": 2,
}
BAD = {
    "points": [
        (np.zeros((3, 4)), "3 is needed"),
        (np.zeros(3), "2 or 2 dimensions"),
        (np.full((3, 2), np.nan), "finite"),
    ],
    "weights": [
        (np.ones(4), "n is 3 in points"),
        (-np.ones(3), r"outside 0\.\.1"),
        (np.ones(3, dtype="f2"), "float16"),
    ],
    "order": [
        (np.array([0, 1, 3]), r"outside 0\.\.2"),
        (np.array([0, 1, 1]), "twice"),
        (np.arange(3, dtype="u8"), "uint64"),
    ],
    "ends": [
        (np.array([0, 2]), "does not divide 3"),
        (np.array([0, 2, 1, 3]), "ascending"),
        (np.array([], int), "parts"),
    ],
    "heights": [(np.array([2.0, 1.0]), "ascending"), (np.array([np.nan, 1.0]), "ascending")],
    "count": [(0, "outside 1..3"), (4, "outside 1..3"), (2**64, "64 bits")],
}


def test_what_fulfils_its_declaration_passes():
    check(Line, GOOD)
    check(Line, {**GOOD, "points": np.zeros((3, 3))})
    Line(**GOOD)


@pytest.mark.parametrize(("name", "value", "message"), [(n, v, m) for n, each in BAD.items() for v, m in each])
def test_each_rule_refuses(name, value, message):
    with pytest.raises(ValueError, match=f"Line: {name} .*{message}"):
        check(Line, {**GOOD, name: value})


@pytest.mark.parametrize(
    ("edges", "answer"),
    [([], True), ([[0, 1]], True), ([[0, 1], [2, 1], [3, 2]], True), ([[0, 1], [1, 0]], False), ([[1, 1]], False)],
)
def test_edges_that_join_all_are_a_tree(edges, answer):
    assert is_tree(np.array(edges, dtype=int).reshape(-1, 2)) is answer


def forged(path, name, shape, change):
    """The file with the first array of a shape changed in place, or replaced, and its checksum made anew."""
    content = saving.read(path)
    tree = {key: value for key, value in content.tree.items() if key not in ("format", "sha256")}
    tensors = dict(content.tensors)
    key = next(key for key, tensor in tensors.items() if tensor.shape == shape and tensor.dtype.kind in name)
    changed = tensors[key].copy()
    saving.write(path, saving.Content(tree, {**tensors, key: np.ascontiguousarray(change(changed))}))


def entry(place, value):
    def change(values):
        values[place] = value
        return values

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (entry((0, 0), 10**6), r"merges has an entry outside 0\.\.23"),
        (entry((0, 0), -5_000_000), "merges has an entry outside"),
        (lambda merges: merges[:-1], "n is "),
        (entry(slice(1), [[0, 0]]), "joined already"),
    ],
)
def test_a_spanning_tree_is_a_tree(change, message, tmp_path):
    path = tmp_path / "m.clusterkit"
    recipe("hdbscan", labeler__min_cluster_size=3).fit(X).save(path)
    forged(path, "i", (len(X) - 1, 2), change)
    with pytest.raises(InvalidModelFile, match=f"Tree.*{message}"):
        load(path)
