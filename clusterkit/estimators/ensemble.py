"""Many labelings of the same samples, for a consensus."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from clusterkit._typing import Array
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.labelings import checked, cluster_limit
from clusterkit.core.params import check_count, is_count
from clusterkit.core.progress import Report, tell
from clusterkit.core.seeds import Seeds
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline

__all__ = ["cluster_range", "ensemble"]

RULES = ("cbrt", "sqrt")


def ensemble(X: Any, M: int = 10, *, k_rule: Any = "cbrt", base: Any = "cmeans", random_state: Any = None) -> Array:
    """M labelings of the samples, each with a number of clusters and a seed of its own.

    Parameters
    ----------
    X : array-like of shape (n, d)
    M : int, default 10
        Members.
    k_rule : {"cbrt", "sqrt"}, int or pair of ints, default "cbrt"
        Where the number of clusters of a member is drawn from, all numbers with equal probability: 2 to the cube or
        square root of n (rounded down, at least 2); always this one; or from the first to the second. At most n.
    base : str, estimator or list of these, default "cmeans"
        What makes the members: recipes by name, or clusterers with the interface of scikit-learn; of several each in
        turn. One without the parameter `n_clusters`, or that finds the number itself, is only given its seed.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    ndarray of shape (M, n), int64
        Labels; -1 is noise.

    Raises
    ------
    InvalidParameter, UnknownName
        If M, `k_rule` or `base` is wrong.
    InvalidData
        If a clusterer gives labels below -1.
    ValueError
        If X is no table of finite numbers.

    Notes
    -----
    Ctrl-C ends it with the members that are done. The default is the ensemble of Strehl and Ghosh (2002) with random
    numbers of clusters: one start of k-means each, so that members differ.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> ensemble(X, 4, random_state=0).shape
    (4, 30)
    """
    X = check_array(X, dtype=[np.float64, np.float32], order="C")
    M = check_count("M", M)
    low, high = cluster_range(k_rule, len(X))
    makers = _makers(base)
    seeds = Seeds.of(random_state)
    members: list[Any] = []
    for m in range(M):
        own = seeds.child("member", m)
        k = int(own.stream("k").integers(low, high + 1))
        try:
            fitted = makers[m % len(makers)](k, own.integer("seed")).fit(X)
        except KeyboardInterrupt:
            if not members:
                raise
            break
        members.append(_labels(fitted, X))
        tell(Report("ensemble", m + 1, M))
        if getattr(fitted, "interrupted_", False):
            break
    if len(members) < M:
        warnings.warn(f"interrupted: {len(members)} of {M} members are made", ClusterkitWarning, stacklevel=2)
    return checked(members, [f"member {m}" for m in range(len(members))])


def _labels(fitted: Any, X: Array) -> Any:
    """What a fitted clusterer says of the samples; some mixtures only predict."""
    if hasattr(fitted, "labels_"):
        return fitted.labels_
    if hasattr(fitted, "predict"):
        return fitted.predict(X)
    raise InvalidParameter(f"base must be a clusterer: {type(fitted).__name__} has neither labels_ nor predict")


def cluster_range(k_rule: Any, n: int) -> tuple[int, int]:
    """Fewest and most clusters of a member, for n samples."""
    if isinstance(k_rule, str) and k_rule in RULES:
        low, high = 2, cluster_limit(n, k_rule)
    elif is_count(k_rule):
        low = high = int(k_rule)
    elif isinstance(k_rule, tuple | list) and len(k_rule) == 2 and all(map(is_count, k_rule)):
        low, high = map(int, k_rule)
    else:
        low, high = 1, 0
    if low > high:
        raise InvalidParameter(
            f"k_rule must be 'cbrt', 'sqrt', an integer >= 1 or a pair of these with the lower first, got {k_rule!r}"
        )
    return min(low, n), min(high, n)


def _makers(base: Any) -> list[Callable[[int, int], Any]]:
    parts: Sequence[Any] = base if isinstance(base, list | tuple) else [base]
    if not parts:
        raise InvalidParameter("base is an empty list; name a recipe or give a clusterer")
    return [_maker(part) for part in parts]


def _maker(part: Any) -> Callable[[int, int], Any]:
    """What makes an estimator of a number of clusters and a seed."""
    from clusterkit.estimators.build import recipe

    model = recipe(part) if isinstance(part, str) else part
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


def _most_clusters(model: Any) -> int | None:
    """The most clusters one can ask for; None for any number, 0 where the method finds it."""
    from clusterkit.drivers.compose import resolve, resolve_labeler

    if isinstance(model, Driven):
        model = model.base if model.base is not None else Pipeline()
    if not isinstance(model, Pipeline):
        return None
    featuremap: Any = resolve("featuremap", model.featuremap)
    solver: Any = resolve("solver", model.solver)
    labeler: Any = resolve_labeler(model.labeler, featuremap, solver, 3)
    if labeler.finds_k:
        return 0
    limits = [limit for limit in (labeler.max_clusters, solver.max_clusters) if limit is not None]
    return min(limits, default=None)
