"""The points of a grid, the parameters that vary over it, and a digest of each that is equal in every process."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from clusterkit._typing import Grid
from clusterkit.core.errors import InvalidParameter

__all__ = ["described", "digest", "points_of", "require_one_objective", "varying"]

SAME_OBJECTIVE = ("init", "n_init", "max_iter", "random_state")
"""Parameters that may vary where candidates are compared by objective: they change the way to the optimum, not the
optimum."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""A memory address in a repr, which differs from process to process."""


def points_of(grid: Grid) -> tuple[dict[str, Any], ...]:
    """The candidates of a grid, in the order of scikit-learn's ParameterGrid.

    Raises
    ------
    InvalidParameter
        If the grid is no dict of sequences, nor a list of these, or has no point.
    """
    from sklearn.model_selection import ParameterGrid

    try:
        points: tuple[dict[str, Any], ...] = tuple(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"search: grid must be a dict of lists of values, or a list of these: {error}") from None
    if not points:
        raise InvalidParameter("search: the grid is an empty list")
    return points


def varying(candidates: Sequence[Mapping[str, Any]], base: Mapping[str, Any] | None = None) -> list[str]:
    """Names of parameters with more than one value; a candidate without a parameter has the value of `base`."""
    names = sorted({name for params in candidates for name in params})
    base = {} if base is None else base
    return [
        name
        for name in names
        if len({digest(params.get(name, base.get(name)), strict=False) for params in candidates}) > 1
    ]


def require_one_objective(candidates: Sequence[Mapping[str, Any]], base: Mapping[str, Any]) -> None:
    """Refuse to compare the objectives of different problems."""
    wrong = [name for name in varying(candidates, base) if name.partition("__")[0] not in SAME_OBJECTIVE]
    if wrong:
        raise InvalidParameter(
            f"search: score='objective' cannot choose {', '.join(wrong)}: objectives are comparable only between fits "
            f"of the same problem, where nothing but {', '.join(SAME_OBJECTIVE)} varies. Take 'ami', 'stability', "
            "'silhouette' or 'dbcv'."
        )


def described(value: Any, *, strict: bool = True) -> Any:
    """A value as plain JSON that is equal in every process.

    Raises
    ------
    InvalidParameter
        If `strict` and the repr of the value is only its address.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return described(value.item(), strict=strict)
    if isinstance(value, np.ndarray):
        return {"array": _of_bytes([str(value.dtype), str(value.shape), np.ascontiguousarray(value)])}
    if isinstance(value, Mapping):
        return {str(key): described(inner, strict=strict) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [described(item, strict=strict) for item in value]
    if isinstance(value, type):
        return {"class": f"{value.__module__}.{value.__qualname__}"}
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if attrs.has(type(value)):
        fields = {field.name: getattr(value, field.name) for field in attrs.fields(type(value)) if field.init}
        return {"object": kind, **described(fields, strict=strict)}
    if hasattr(value, "get_params"):
        return {"object": kind, **described(value.get_params(deep=False), strict=strict)}
    text = repr(value)
    if strict and _ADDRESS.search(text):
        raise InvalidParameter(f"search: with resume= a parameter must be a value that can be written, got {text}")
    return {"object": kind, "is": text}


def digest(value: Any, *, strict: bool = True) -> str:
    """A hash of `described`."""
    text = json.dumps(described(value, strict=strict), sort_keys=True)
    return _of_bytes([text])


def data_digest(X: Any) -> str:
    """A hash of samples, dense or sparse: shape, type and every value."""
    if isinstance(X, np.ndarray):
        return _of_bytes([str(X.dtype), str(X.shape), np.ascontiguousarray(X)])
    return _of_bytes([str(X.dtype), str(X.shape), X.data, X.indices, X.indptr])


def _of_bytes(parts: Iterable[Any]) -> str:
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part.encode() if isinstance(part, str) else memoryview(part).cast("B") if part.size else b"")
    return checksum.hexdigest()[:32]
