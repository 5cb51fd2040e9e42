"""The law of saving: everything that a fit leaves behind can be saved, and the loaded model predicts the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from clusterkit._typing import Array
from clusterkit.core import saving
from clusterkit.core.registry import registry
from clusterkit.testing.compare import same_bits

if TYPE_CHECKING:
    from clusterkit.estimators.saving import SavedAsData

__all__ = ["check_recipe_saves", "check_saving", "saved_copy", "two_groups"]

T = TypeVar("T")


def saved_copy(value: T, *stand_ins: type) -> T:
    """The object after it was saved to a file and loaded from it.

    Parameters
    ----------
    value : object
        Of registered classes.
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
    import clusterkit

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clusterkit"
        model.save(path)
        content = path.read_bytes()
        again: Any = clusterkit.load(path)
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
        Of ``clusterkit.recipes()``.
    X : ndarray of shape (n, d), optional
        Default `two_groups`.

    Raises
    ------
    AssertionError, NotSavable
        As `check_saving`.
    """
    from clusterkit import recipe

    rows = two_groups() if X is None else X
    model = recipe(name, random_state=0)
    finds_k = registry.get("recipe", name).clusters == "found"
    if not finds_k:
        model.set_params(n_clusters=2)
    check_saving(model.fit(rows), rows)
