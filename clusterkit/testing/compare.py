"""Comparisons of several laws: equal bits, equal up to rounding, equal outcomes, also on devices and after saving.

`put` moves arrays to a simulated device of array-api-strict, which has nothing but the standard and refuses to mix
devices. The law of saving (`check_saving`): everything that a fit leaves behind can be saved, and the loaded model
predicts the same.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import numpy as np

from clusterkit import saving
from clusterkit._typing import AnyArray, Array
from clusterkit.contracts.outcomes import Domain, Embedding, MergeTrees, Outcome, Tree
from clusterkit.contracts.registry import registry
from clusterkit.samples import Space, sums, transform
from clusterkit.samples.array_libraries import host_dtype, is_device_array, to_host
from clusterkit.samples.devices import Device

if TYPE_CHECKING:
    from clusterkit.estimators.saving import SavedAsData


def same_bits(one: AnyArray, other: AnyArray, what: str) -> None:
    """Equal shape, type and values, nan included."""
    assert one.dtype == other.dtype, f"{what}: {one.dtype} against {other.dtype}"
    np.testing.assert_array_equal(one, other, err_msg=what, strict=True)


def close(one: AnyArray, other: AnyArray, what: str, *, digits: int = 0, scale: float = 0.0) -> None:
    """Equal up to rounding, relative to the larger array or to `scale`; ``digits`` decimal digits may be lost."""
    assert one.shape == other.shape, f"{what}: shape {one.shape} against {other.shape}"
    if not one.size:
        return
    narrow = any(a.dtype == np.float32 for a in (one, other))
    eps = float(np.finfo(np.float32 if narrow else np.float64).eps)
    largest = max(float(np.abs(one).max()), float(np.abs(other).max()), scale)
    np.testing.assert_allclose(
        one.astype(np.float64), other.astype(np.float64), rtol=0, atol=1e3 * 10**digits * eps * largest, err_msg=what
    )


def numbers(outcome: Outcome, space: Space) -> Array:
    """All numbers of an outcome about the samples, as one array."""
    if isinstance(outcome, Embedding):
        return outcome.rows
    if isinstance(outcome, Tree):
        return np.concatenate([outcome.heights, outcome.core_distances, outcome.merges.ravel()])
    if isinstance(outcome, MergeTrees):
        of_graph = [outcome.graph.index.ravel(), outcome.graph.weights]
        of_trees = [part for tree in outcome.trees for part in (tree.community, tree.merges.ravel(), tree.similarity)]
        return np.concatenate([*of_graph, *of_trees])
    assert isinstance(outcome, Domain), f"an outcome is an Embedding, a Domain or a Tree: {type(outcome).__name__}"
    return np.append(outcome.value(space.points), outcome.level)


@contextmanager
def small_blocks() -> Iterator[None]:
    """Blocks of 64 rows, so that a few hundred samples already take several."""
    usual = transform.BLOCK_BYTES
    transform.BLOCK_BYTES = 0
    try:
        yield
    finally:
        transform.BLOCK_BYTES = usual


@contextmanager
def small_groups(rows: int) -> Iterator[None]:
    """Groups of so many rows, so that a few hundred samples already take several."""
    usual = sums.GROUP
    sums.GROUP = rows
    try:
        yield
    finally:
        sums.GROUP = usual


A = TypeVar("A", bound=AnyArray)

DEVICE = Device("array_api_strict", "device1")
"""A device of array_api_strict other than its first one, which numpy would read."""

EXACT = 1e-12
"""Relative difference of float64 sums of a block on a device from those of numpy: rounding in another order."""


def installed() -> bool:
    """Whether array-api-strict is there."""
    return find_spec(DEVICE.library) is not None


def put(array: A) -> A:
    """A copy of an array on the simulated device."""
    return cast("A", DEVICE.put(np.array(array)))


def same_features_there(there: AnyArray, here: AnyArray) -> None:
    """Features on the device that have the type and, up to rounding, the values of an array of numpy."""
    assert is_device_array(there), f"features left the device: {type(there).__name__}"
    assert Device.of(there) == DEVICE, f"features lie on {there.device}"
    assert host_dtype(there) == here.dtype, f"features: {there.dtype} on the device, {here.dtype} on the host"
    close(to_host(there), here, "features", digits=1, scale=1.0)


def numbers_of(addend: object) -> list[AnyArray]:
    """All arrays and numbers of the part that a block adds up, in the order of its fields; on the host."""
    if is_device_array(addend):
        return [np.asarray(to_host(addend))]
    if isinstance(addend, np.ndarray | np.generic | float | int):
        return [np.asarray(addend)]
    if isinstance(addend, tuple):
        return [number for each in addend for number in numbers_of(each)]
    cls: Any = type(addend)
    if attrs.has(cls):
        fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
        return [number for field in fields for number in numbers_of(getattr(addend, field.name.lstrip("_")))]
    return []


T = TypeVar("T")


def saved_copy(value: T, *stand_ins: type) -> T:
    """The object after it was saved to a file and loaded from it.

    Parameters
    ----------
    value : object
        Object of registered classes.
    *stand_ins : type
        Classes inside the object that are there for the test only; they are registered for this session.

    Raises
    ------
    NotSavable
        If a part of the object is of a class that is not registered.
    """
    for stand_in in stand_ins:
        registry.register(stand_in)
    packed = saving.pack(value)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "value.clusterkit"
        saving.write(path, saving.Content(packed.tree(), packed.tensors))
        return cast("T", saving.unpack(saving.read(path), str(path)))


def copies(value: T, *stand_ins: type) -> Iterator[tuple[str, T]]:
    """The object after pickling and after saving as data, each with the word for it; `stand_ins` as in `saved_copy`."""
    yield "pickling", cast("T", pickle.loads(pickle.dumps(value)))
    yield "saving", saved_copy(value, *stand_ins)


def check_saving(model: SavedAsData, X: Array) -> None:
    """Save and load a fitted estimator: all that it reports is the same, and it labels any rows alike.

    Parameters
    ----------
    model : estimator
        Fitted to X.
    X : ndarray of shape (n, d)

    Raises
    ------
    AssertionError
        Saying what differs.
    NotSavable
        Naming the object that cannot be saved.
    """
    from clusterkit.estimators.loading import load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clusterkit"
        model.save(path)
        content = path.read_bytes()
        again: Any = load(path)
        again.save(path)
        assert path.read_bytes() == content, "a loaded model is saved as another file than the model itself"
    kinds = [type(again), type(model)]
    assert kinds[0] is kinds[1]
    assert repr(again) == repr(model), "parameters differ after saving"
    names = {name for name in vars(model) if name.endswith("_")}
    assert {name for name in vars(again) if name.endswith("_")} == names, "fitted attributes differ after saving"
    for name in names:
        value = getattr(model, name)
        if isinstance(value, np.ndarray):
            same_bits(getattr(again, name), value, f"{name} after saving")
        elif isinstance(value, str | int | float):
            np.testing.assert_equal(getattr(again, name), value, err_msg=f"{name} after saving")
    fitted = cast("Any", model)
    assert hasattr(again, "predict") == hasattr(fitted, "predict")
    if hasattr(fitted, "predict"):
        new = np.concatenate([X[::-1] * 0.9 + 0.03, X[:1] + 50.0, X[:1] - 50.0]).astype(X.dtype)
        if fitted.__sklearn_tags__().input_tags.pairwise:  # distances are not negative
            new = np.abs(new)
        same_bits(again.predict(X), fitted.predict(X), "labels of the training rows after saving")
        same_bits(again.predict(new), fitted.predict(new), "labels of new rows after saving")


def two_groups(n: int = 24, dtype: str = "float64") -> Array:
    """n rows in two groups of nonnegative numbers, which every recipe takes."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(2.0, 0.4, (n // 2, 2)), rng.normal(7.0, 0.4, (n - n // 2, 2))])
    groups: Array = np.abs(X).astype(dtype)
    return groups


def check_recipe_saves(name: str, X: Array | None = None) -> None:
    """Fit a recipe to few rows, save it and load it.

    Parameters
    ----------
    name : str
        Name in ``clusterkit.recipes()``.
    X : ndarray of shape (n, d), optional
        Default `two_groups`.

    Raises
    ------
    AssertionError, NotSavable
        See `check_saving`.
    """
    from clusterkit.estimators.build import recipe

    rows = two_groups() if X is None else X
    model = recipe(name, random_state=0)
    finds_k = registry.get("recipe", name).clusters == "found"
    if not finds_k:
        model.set_params(n_clusters=2)
    check_saving(model.fit(rows), rows)
