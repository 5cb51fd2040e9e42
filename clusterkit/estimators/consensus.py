"""An ensemble and a consensus of it as one estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import validate_data

from clusterkit._typing import Array, ArrayLike, ClustererLike, ConsensusLike, Labels, RandomState
from clusterkit.core.ensembles import ClusterRange
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.labelings import NOISE
from clusterkit.core.params import check_count
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Consensus
from clusterkit.estimators import bars
from clusterkit.estimators.ensemble import ensemble
from clusterkit.estimators.nested_params import NestedParams
from clusterkit.estimators.not_numbers import only_numbers
from clusterkit.estimators.units import warn_of_units
from clusterkit.estimators.unsuited import refuse_unsuited

__all__ = ["ConsensusClustering"]


class ConsensusClustering(ClusterMixin, NestedParams):
    """Clusters the samples many times and combines the labelings.

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
        By `fit`, for the reasons of `clusterkit.ensemble` and `clusterkit.consensus.combine`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from clusterkit import ConsensusClustering
    >>> X, _ = make_blobs([30, 30, 30], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> ConsensusClustering("diclens", random_state=0).fit(X).n_clusters_
    3
    """

    always_fitted = frozenset({"labels_", "members_", "n_clusters_", "agreement_", "n_features_in_"})

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
        with only_numbers(X):
            rows: Array = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        seeds = Seeds.of(self.random_state)
        with bars.shown(self.verbose), bars.hooks():
            self.members_ = ensemble(
                rows, M, member_clusters=self.member_clusters, base=self.base, random_state=seeds.stream("ensemble")
            )
        self.labels_ = combine(self.members_, stage, n_clusters=self.n_clusters, random_state=seeds.stream("consensus"))
        self.n_clusters_ = len(np.unique(self.labels_[self.labels_ != NOISE]))
        self.agreement_ = metrics.anmi(self.labels_, self.members_)
        warn_of_units(self, rows, None, "If their units have no meaning, scale them first.")
        return self

    def check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        super().check_parameters()
        self._consensus().check_k(self.n_clusters)
        check_count("n_members", self.n_members)

    def try_out(self) -> None:
        """Check that labels and members are of the same samples; there is no prediction."""
        labels, members = self.labels_, self.members_
        if labels.ndim != 1 or members.ndim != 2 or members.shape[1] != len(labels) or not members.size:
            raise ValueError(f"labels_ has the shape {labels.shape} and members_ {members.shape}")

    def _consensus(self) -> Consensus:
        stage = self._stage("consensus")
        if stage is None:
            raise InvalidParameter("consensus must not be None; 'diclens' needs no parameters")
        assert isinstance(stage, Consensus)
        return stage
