"""Many labellings of the same samples (`ensemble`), and with a consensus of them as one estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.utils.validation import check_array, validate_data

from clusterkit._typing import Array, ArrayLike, Labels, RandomState
from clusterkit.contracts import Consensus, FeatureMap, Solver
from clusterkit.contracts.arguments import Clusterer, ClustererLike, ConsensusLike
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.params import check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidParameter
from clusterkit.estimators import same_place
from clusterkit.estimators.base import NestedParams
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.samples import only_numbers, refuse_unsuited
from clusterkit.estimators.units import warn_of_units
from clusterkit.fitting.ensembles import ClusterRange, Member, cluster_range, draw_members
from clusterkit.numerics.shapes import Declared, array


def ensemble(
    X: ArrayLike,
    n_members: int = 10,
    *,
    member_clusters: ClusterRange = "cbrt",
    base: ClustererLike | Sequence[ClustererLike] = "cmeans",
    random_state: RandomState = None,
) -> Labels:
    """Several labellings of the samples, each with a number of clusters and a seed of its own.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_members : int, default 10
        Number of labellings M.
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
    with only_numbers(X) as plain:
        rows: Array = check_array(plain, dtype=[np.float64, np.float32], order="C")
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
    from clusterkit.drivers.compose import resolve_as, resolve_labeler

    if isinstance(model, Driven):
        model = model.base if model.base is not None else Pipeline()
    if not isinstance(model, Pipeline):
        return None
    featuremap = resolve_as(FeatureMap, "featuremap", model.featuremap)
    solver = resolve_as(Solver, "solver", model.solver)
    labeler = resolve_labeler(model.labeler, featuremap, solver, 3)
    if labeler.finds_k:
        return 0
    limits = [limit for limit in (labeler.max_clusters, solver.max_clusters) if limit is not None]
    return min(limits, default=None)


class ConsensusClustering(ClusterMixin, NestedParams):
    """Clusters the samples many times and combines the labellings.

    There is no `predict`: a consensus labels the samples of the ensemble only.

    Parameters
    ----------
    consensus : str, dict or Consensus, default "diclens"
        A name of ``clusterkit.stages("consensus")``, a dict with "name" and parameters, or a stage.
    base : str, estimator or list of these, default "cmeans"
        The clusterers that make the members: names of recipes or estimators; several are used in turn. See
        `clusterkit.ensemble`.
    n_members : int, default 10
    member_clusters : {"cbrt", "sqrt"}, int or pair of ints, default "cbrt"
        Numbers of clusters of the members; see `clusterkit.ensemble`.
    n_clusters : int, optional
        Number of clusters of the answer, for a consensus that takes it; "cspa" and "hbgf" need it.
    random_state : int, Generator, RandomState or None
    verbose : bool, default False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Numbered by first appearance; -1 for samples that are noise in all members.
    members_ : ndarray of shape (n_members, n)
        The ensemble.
    n_clusters_ : int
        Number of clusters of the answer.
    agreement_ : float
        Mean normalised mutual information of the answer with the members, in [0, 1].

    Raises
    ------
    InvalidParameter, UnknownName, InvalidData
        Raised by `fit`, for the reasons of `clusterkit.ensemble` and `clusterkit.consensus.combine`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from clusterkit import ConsensusClustering
    >>> X, _ = make_blobs([30, 30, 30], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> ConsensusClustering("diclens", random_state=0).fit(X).n_clusters_
    3
    """

    _always_fitted = frozenset({"labels_", "members_", "n_clusters_", "agreement_", "n_features_in_"})

    _declared: ClassVar[Mapping[str, Declared]] = {
        "labels_": array("n", least=NOISE, most="n"),
        "members_": array("M n", least=NOISE, most="n"),
    }

    labels_: Labels
    members_: Labels
    n_clusters_: int
    agreement_: float
    n_features_in_: int

    _slots: ClassVar[Mapping[str, str]] = {"consensus": "consensus"}

    def __init__(
        self,
        consensus: ConsensusLike = "diclens",
        base: ClustererLike | Sequence[ClustererLike] = "cmeans",
        n_members: int = 10,
        member_clusters: ClusterRange = "cbrt",
        n_clusters: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.consensus = consensus
        self.base = base
        self.n_members = n_members
        self.member_clusters = member_clusters
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows of X, shape (n, d); `y` is ignored."""
        from clusterkit import metrics
        from clusterkit.consensus import combine

        stage = self._consensus()
        stage.check_k(self.n_clusters)
        M = check_count("n_members", self.n_members)
        refuse_unsuited(X)
        with only_numbers(X) as plain:
            rows: Array = validate_data(self, plain, dtype=[np.float64, np.float32], order="C")
        seeds = Seeds.of(self.random_state)
        with same_place.shown(self.verbose), same_place.hooks():
            self.members_ = ensemble(
                rows, M, member_clusters=self.member_clusters, base=self.base, random_state=seeds.stream("ensemble")
            )
        self.labels_ = combine(self.members_, stage, n_clusters=self.n_clusters, random_state=seeds.stream("consensus"))
        self.n_clusters_ = len(np.unique(self.labels_[self.labels_ != NOISE]))
        self.agreement_ = metrics.anmi(self.labels_, self.members_)
        warn_of_units(self, rows, None, "If their units have no meaning, scale them first.")
        return self

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        super()._check_parameters()
        self._consensus().check_k(self.n_clusters)
        check_count("n_members", self.n_members)

    def _try_out(self) -> None:
        """Check that there are members; there is no prediction."""
        if not self.members_.size:
            raise ValueError("members_ has no labels")

    def _consensus(self) -> Consensus:
        stage = self._stage("consensus")
        if stage is None:
            raise InvalidParameter("consensus must not be None; 'diclens' needs no parameters")
        assert isinstance(stage, Consensus)
        return stage
