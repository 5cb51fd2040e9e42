"""Many labelings of the same samples, for a consensus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from clusterkit._typing import Array, ArrayLike, Clusterer, ClustererLike, Labels, RandomState
from clusterkit.core.ensembles import ClusterRange, Member, cluster_range, draw_members
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.params import check_count
from clusterkit.core.seeds import Seeds
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.not_numbers import only_numbers
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.unsuited import refuse_unsuited

__all__ = ["ensemble"]


def ensemble(
    X: ArrayLike,
    n_members: int = 10,
    *,
    member_clusters: ClusterRange = "cbrt",
    base: ClustererLike | Sequence[ClustererLike] = "cmeans",
    random_state: RandomState = None,
) -> Labels:
    """Several labelings of the samples, each with a number of clusters and a seed of its own.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_members : int, default 10
        Number of labelings M.
    member_clusters : {"cbrt", "sqrt"}, int or pair of ints, default "cbrt"
        Range from which the number of clusters of a member is drawn, all numbers with equal probability: 2 to the cube
        or square root of n (rounded down, at least 2); always this number; or from the first to the second. At most n.
    base : str, estimator or list of these, default "cmeans"
        The clusterers that make the members: recipes by name, or clusterers with the interface of scikit-learn; several
        take turns. A clusterer without the parameter `n_clusters`, or one that finds the number itself, only gets a
        seed.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    ndarray of shape (n_members, n), int64
        Labels; -1 is noise.

    Raises
    ------
    InvalidParameter, UnknownName
        If `n_members`, `member_clusters` or `base` is wrong.
    InvalidData
        If a clusterer gives labels below -1.
    ValueError
        If X is no table of finite numbers.

    Notes
    -----
    Ctrl-C ends the loop; the finished members are returned. The default is the ensemble of Strehl and Ghosh (2002) with
    random numbers of clusters: one start of k-means each, so that members differ.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> ensemble(X, 4, random_state=0).shape
    (4, 30)
    """
    refuse_unsuited(X)
    with only_numbers(X):
        rows: Array = check_array(X, dtype=[np.float64, np.float32], order="C")
    n_members = check_count("n_members", n_members)
    k_range = cluster_range(member_clusters, len(rows))
    makers = _makers(base)

    def cluster(m: int, k: int, seed: int) -> Member:
        fitted = makers[m % len(makers)](k, seed).fit(rows)
        return Member(_labels(fitted, rows), bool(getattr(fitted, "interrupted_", False)))

    return draw_members(n_members, k_range, Seeds.of(random_state), cluster)


def _labels(fitted: Any, X: Array) -> Labels:
    """Labels of the samples by a fitted clusterer; some mixtures only predict."""
    if hasattr(fitted, "labels_"):
        labels: Labels = fitted.labels_
        return labels
    if hasattr(fitted, "predict"):
        predicted: Labels = fitted.predict(X)
        return predicted
    raise InvalidParameter(f"base must be a clusterer: {type(fitted).__name__} has neither labels_ nor predict")


def _makers(base: ClustererLike | Sequence[ClustererLike]) -> list[Callable[[int, int], Any]]:
    parts: Sequence[ClustererLike] = base if isinstance(base, list | tuple) else [cast("ClustererLike", base)]
    if not parts:
        raise InvalidParameter("base is an empty list; name a recipe or give a clusterer")
    return [_maker(part) for part in parts]


def _maker(part: ClustererLike) -> Callable[[int, int], Any]:
    """A function of a number of clusters and a seed that gives an unfitted estimator."""
    from clusterkit.estimators.build import recipe

    model: Clusterer = recipe(part) if isinstance(part, str) else part
    if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "get_params")):
        raise InvalidParameter(f"base takes names of recipes and clusterers, got {part!r}")
    known = model.get_params()
    most = _most_clusters(model) if "n_clusters" in known else 0

    def make(k: int, seed: int) -> Any:
        changes = {"n_clusters": k if most is None else min(k, most)} if most != 0 else {}
        if "random_state" in known:
            changes["random_state"] = seed
        return clone(model).set_params(**changes)

    return make


def _most_clusters(model: Clusterer) -> int | None:
    """The most clusters one can ask for; None for any number, 0 where the method finds it."""
    from clusterkit.drivers.compose import resolve, resolve_labeler

    if isinstance(model, Driven):
        model = model.base if model.base is not None else Pipeline()
    if not isinstance(model, Pipeline):
        return None
    featuremap = resolve("featuremap", model.featuremap)
    solver = resolve("solver", model.solver)
    labeler = resolve_labeler(model.labeler, featuremap, solver, 3)
    if labeler.finds_k:
        return 0
    limits = [limit for limit in (labeler.max_clusters, solver.max_clusters) if limit is not None]
    return min(limits, default=None)
