"""How good one candidate of a search is, without classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import memory
from clusterkit.core.errors import InvalidData, InvalidParameter, nearest_names
from clusterkit.core.params import check_count
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces import FeatureSpace, KernelSpace
from clusterkit.metrics import adjusted_rand, dbcv, nmi
from clusterkit.metrics._labels import check_noise, number_clusters

__all__ = ["SCORES", "Judge", "judge", "objections", "silhouette"]

SCORES = ("anmi", "ami", "stability", "silhouette", "dbcv", "objective")
OF_MEMBERS = ("anmi", "ami")
OF_POINTS = ("silhouette", "dbcv")
SHARE = 0.8
"""Of the samples, in a subsample of the score "stability"."""
ENSEMBLE = {"M": 10, "k_rule": "sqrt"}


@final
@attrs.frozen(eq=False)
class Judge:
    """A score and all that it needs, the same for every candidate.

    Parameters
    ----------
    score : str
        One of `SCORES`.
    noise : {"cluster", "singletons", "exclude"}
        What -1 is.
    space : bool
        Whether the silhouette is taken in the fitted space.
    points : ndarray or sparse matrix of shape (n, d), or None
        For the scores that look at the data.
    members : ndarray of shape (M, n) or None
        For the scores that compare with an ensemble.
    subsamples : tuple of ndarray
        Rows of each refit of "stability".
    seeds : tuple of int
        Of each refit.
    """

    score: str
    noise: Any
    space: bool = False
    points: Any = None
    members: Array | None = None
    subsamples: tuple[Array, ...] = ()
    seeds: tuple[int, ...] = ()

    def __call__(self, model: Any, labels: Labels, refit: Callable[[Array, int], Labels]) -> float:
        """The score of a fitted model; nan where it has no value.

        Parameters
        ----------
        model : fitted estimator
        labels : ndarray of shape (n,)
        refit : callable
            Rows and a seed to the labels of a new fit on them.
        """
        if self.score in OF_MEMBERS:
            assert self.members is not None
            compare = _nmi if self.score == "anmi" else _ami
            return math.fsum(compare(member, labels, self.noise) for member in self.members) / len(self.members)
        if self.score == "stability":
            return self._stability(refit, len(labels))
        if self.score == "silhouette":
            return silhouette(*(_of_space(model) if self.space else (self.points, False)), labels, self.noise)
        if self.score == "dbcv":
            return dbcv(self.points, labels, noise=self.noise)
        value = float(getattr(model, "objective_", math.nan))
        if math.isnan(value):
            raise InvalidParameter("score='objective': this estimator has no objective")
        return value

    def _stability(self, refit: Callable[[Array, int], Labels], n: int) -> float:
        found = [refit(rows, seed) for rows, seed in zip(self.subsamples, self.seeds, strict=True)]
        values = []
        for i, rows in enumerate(self.subsamples):
            for j in range(i):
                _, own, other = np.intersect1d(rows, self.subsamples[j], assume_unique=True, return_indices=True)
                values.append(adjusted_rand(found[i][own], found[j][other], noise=self.noise))
        return math.fsum(values) / len(values)


def judge(
    score: str,
    X: Any,
    *,
    ensemble: Any,
    noise: str | None,
    on: str,
    repeats: int,
    stability: str,
    seeds: Seeds,
) -> Judge:
    """The judge for samples X (n, d), all arguments checked; makes the ensemble, if one is needed and none is given."""
    if not isinstance(score, str) or score not in SCORES:
        raise InvalidParameter(f"search: no score {score!r}. {nearest_names(str(score), SCORES)}")
    if noise is None:
        noise = "singletons" if score in OF_POINTS else "cluster"
    try:
        check_noise(noise)
    except ValueError as error:
        raise InvalidParameter(f"search: {error}") from None
    if on not in ("input", "space"):
        raise InvalidParameter(f"search: on must be 'input' or 'space', got {on!r}")
    if on == "space" and score != "silhouette":
        raise InvalidParameter(f"search: on='space' is for score='silhouette', not for {score!r}")
    if ensemble is not None and score not in OF_MEMBERS:
        raise InvalidParameter(f"search: an ensemble is for score='anmi' or 'ami', not for {score!r}")
    if score in OF_MEMBERS:
        return Judge(score, noise, members=_members(X, ensemble, seeds))
    if score == "stability":
        return _refits(len_of(X), noise, repeats, stability, seeds)
    if score == "dbcv" and not isinstance(X, np.ndarray):
        raise InvalidData("search: score='dbcv' needs dense samples")
    return Judge(score, noise, on == "space", X if score in OF_POINTS and on == "input" else None)


def len_of(X: Any) -> int:
    """Rows, of a sparse matrix too."""
    return int(X.shape[0])


def _members(X: Any, given: Any, seeds: Seeds) -> Array:
    """Labelings (M, n) to compare with: those given, or k-means with numbers of clusters drawn from 2 to √n."""
    from clusterkit.core.labelings import checked
    from clusterkit.estimators.ensemble import ensemble

    if given is not None and not isinstance(given, Mapping):
        members = checked(given)
        if members.shape[1] != len_of(X):
            raise InvalidData(f"search: the ensemble is of {members.shape[1]} samples, X has {len_of(X)}")
        if (members < 0).all():
            raise InvalidData("search: all labels of the ensemble are -1 (noise): there is nothing to compare with")
        return members
    if not isinstance(X, np.ndarray):
        raise InvalidData("search: give an ensemble; the default one needs dense samples")
    arguments = {**ENSEMBLE, "random_state": seeds.integer("ensemble"), **(given or {})}
    try:
        members = ensemble(X, **arguments)
    except TypeError as error:
        raise InvalidParameter(f"search: ensemble={given!r}: {error}") from None
    if len(members) < arguments["M"]:  # Ctrl-C; scores by part of an ensemble are not comparable with others
        raise KeyboardInterrupt
    return members


def _refits(n: int, noise: str, repeats: int, how: str, seeds: Seeds) -> Judge:
    check_count("search: repeats", repeats, at_least=2)
    if how not in ("subsample", "seeds"):
        raise InvalidParameter(f"search: stability must be 'subsample' or 'seeds', got {how!r}")
    size = n if how == "seeds" else math.ceil(SHARE * n)
    rows = tuple(
        np.sort(seeds.stream("subsample", r).choice(n, size, replace=False)) if size < n else np.arange(n)
        for r in range(repeats)
    )
    return Judge("stability", noise, subsamples=rows, seeds=tuple(seeds.integer("refit", r) for r in range(repeats)))


def objections(labels: Labels) -> str:
    """Why a labelling is no candidate: no cluster, only one, or more than √n; "" if it is one."""
    n, k = len(labels), len(np.unique(labels[labels >= 0]))
    most = max(2, math.isqrt(n))
    if k < 2:
        return "no cluster, noise only" if k == 0 else "one cluster"
    return f"shattered: {k} clusters of {n} samples, more than {most}" if k > most else ""


def silhouette(points: Any, precomputed: bool, labels: Labels, noise: Any) -> float:
    """Mean silhouette, scikit-learn's, with noise.

    With "singletons" a noise sample counts as 0, as a cluster of one does, but is nobody's neighbour; with "exclude"
    it does not count; with "cluster" all noise is a cluster.
    """
    from sklearn.metrics import silhouette_samples

    kept = np.ones(len(labels), dtype=bool) if noise == "cluster" else labels >= 0
    own = labels[kept]
    if not 2 <= len(np.unique(own)) < len(own):
        return math.nan
    points = points[kept][:, kept] if precomputed else points[kept]
    values = silhouette_samples(points, own, metric="precomputed" if precomputed else "euclidean")
    return float(values.sum()) / (len(labels) if noise == "singletons" else len(own))


def _of_space(model: Any) -> tuple[Any, bool]:
    """The features of the fitted space, or its distances where it is a kernel."""
    space = getattr(model, "space_", None)
    if isinstance(space, FeatureSpace):
        n_bytes = space.n * space.width * 8
        memory.require(n_bytes, "search: the features of all samples", "Take on='input'.")
        return space.rows(), False
    if isinstance(space, KernelSpace):
        K = np.asarray(space.gram(), dtype=np.float64)
        diagonal = np.diag(K).copy()
        D = np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2.0 * K, 0.0))
        np.fill_diagonal(D, 0.0)
        return D, True
    raise InvalidParameter("on='space': this estimator has no fitted space")


def _nmi(member: Labels, labels: Labels, noise: Any) -> float:
    # as clusterkit.metrics.anmi
    return nmi(member, labels, average="geometric", noise=noise)


def _ami(member: Labels, labels: Labels, noise: Any) -> float:
    from sklearn.metrics import adjusted_mutual_info_score

    _, numbers, kept = number_clusters(labels, noise)
    member = member if kept is None else member[kept]
    return float(adjusted_mutual_info_score(member, numbers)) if len(numbers) else math.nan
