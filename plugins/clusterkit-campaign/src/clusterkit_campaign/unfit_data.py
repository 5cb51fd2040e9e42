"""What no fit may accept: values that are no finite numbers, and objects that are no table of samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from clusterkit._typing import Rng
from clusterkit_campaign.patterns import blobs

__all__ = ["UNFIT", "Unfit"]

Unfit: TypeAlias = Callable[[Rng], object]
"""From a random generator to an object that must be refused."""


def _with(value: object, dtype: type = float) -> Unfit:
    def make(rng: Rng) -> object:
        X: Any = blobs(rng).astype(dtype)
        X[rng.integers(len(X)), 0] = value
        return X

    return make


def _masked(rng: Rng) -> object:
    X = blobs(rng)
    return np.ma.masked_array(X, mask=X > 8.0)


UNFIT: Mapping[str, tuple[Unfit, str]] = {
    "nan": (_with(np.nan), "a value is missing"),
    "infinite": (_with(np.inf), "a value is infinite"),
    "minus infinite": (_with(-np.inf), "a value is infinite"),
    "float32 nan": (_with(np.nan, np.float32), "a value is missing"),
    "all nan": (lambda rng: np.full((9, 2), np.nan), "all values are missing"),
    "None among objects": (_with(None, object), "a value is missing"),
    "text among objects": (_with("seven", object), "a value is no number"),
    "text": (lambda rng: np.array([["a", "b"], ["c", "d"], ["e", "f"]]), "values are no numbers"),
    "bytes": (lambda rng: np.array([[b"a"], [b"b"], [b"c"]]), "values are no numbers"),
    "complex": (lambda rng: blobs(rng) + 1j, "values are no real numbers"),
    "np.matrix": (lambda rng: np.asmatrix(blobs(rng)), "scikit-learn refuses the class"),
    "dates": (lambda rng: np.arange(20).astype("datetime64[D]")[:, None], "values are no numbers"),
    "masked values": (_masked, "the mask says that values are missing"),
    "no rows": (lambda rng: np.empty((0, 2)), "there is no sample"),
    "no columns": (lambda rng: np.empty((5, 0)), "there is no attribute"),
    "a vector": (lambda rng: rng.standard_normal(20), "it is no table"),
    "a number": (lambda rng: 3.0, "it is no table"),
    "three axes": (lambda rng: rng.standard_normal((4, 3, 2)), "it is no table"),
    "ragged lists": (lambda rng: [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], "rows differ in length"),
    "None": (lambda rng: None, "it is no table"),
    "a word": (lambda rng: "data.csv", "it is no table"),
    "a dict": (lambda rng: {"x": [1.0, 2.0]}, "it is no table"),
    "an iterator": (lambda rng: iter([[1.0], [2.0]]), "it is no table"),
    "records": (lambda rng: np.zeros(9, dtype=[("x", "f8"), ("y", "f8")]), "it is no table"),
}
"""By name: the object, and why it must be refused."""
