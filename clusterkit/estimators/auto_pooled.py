"""Fits under several random maps, with complexity, width and start chosen without labels."""

from __future__ import annotations

from collections.abc import Sequence

from clusterkit._typing import Floats, InitLike, NumberLike, RandomState
from clusterkit.drivers import auto_pooled
from clusterkit.drivers.gap import Complexity
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.pooled import FixedDriver

__all__ = ["AutoPooled"]


class AutoPooled(FixedDriver):
    """`Pooled` that chooses complexity, width and start itself, by comparison with data without clusters.

    1. **The safe answer**: one fit from `start` with the complexity and width of the base, as a `Pipeline` with the
       same seed gives it.
    2. **Complexity**, where `df` and `C` of the solver are None: the one with the largest gap between the lowest
       objective on Gaussian samples of the same covariance and the lowest objective on the data; then, if `widths` is
       not None, the **width** with the largest gap at this complexity.
    3. **The search**: under each map the best of the `n_init` starts of the base and of one start from `start`. The
       winner has the lowest objective summed over all maps, with the safe answer among the candidates.
    4. **The check**: winner and safe answer are solved in random halves of the attributes. If the winner's objective is
       more than `limit` times the objective of the safe answer in one of them, the winner rests on few attributes, and
       the safe answer is returned.

    The work is in drivers/auto_pooled.py and drivers/gap.py.

    Parameters
    ----------
    base : Pipeline, optional
        As in `Pooled`; best with ``init="random"``.
    n_maps : int, default 5
    degrees : sequence of float, default (20, 25, 30)
        Effective degrees of freedom (df) of the solver to choose from.
    widths : sequence of float or None, default None
        Widths to choose from. With None, or for a map without this parameter, the width of the base is used.
    n_references : int, default 3
        Number of Gaussian samples.
    n_trials : int, default 15
        Starts of each fit that measures a gap. With fewer than the `n_init` of the search a complexity wins only where
        good labels are still reached from few starts.
    n_halvings : int, default 4
        Number of times that the attributes are halved at random; both halves are used.
    limit : float, default 3
        Largest accepted ratio of the two objectives in a half; infinity accepts the winner always.
    start : str, dict or Partitioner, default "kmeans"
        The start of the safe answer: a partitioner, or any recipe by name.
    n_clusters, random_state, verbose
        As in `Pooled`.

    Attributes
    ----------
    gaps_ : dict
        The gap of each pair (df, width) tried; None stands for the value of the base.
    halves_ : ndarray of shape (2 n_halvings,)
        Objective of the winner divided by the objective of the safe answer, in each half; empty if the two are the same
        or there is one attribute only.
    chosen_ : str
        "winner", "safe" (the winner failed in a half, or the search was interrupted), or "same".
    pooled_ : ndarray of shape (n_maps + 1,)
        Summed objective, without the factors C, of each map's winner and of the safe answer.
    winner_ : int
        Index of the least entry of `pooled_`.
    agreement_, labels_, resolved_, ...
        As in `Pooled`; ``resolved_["tuner"]`` has the values chosen and their scores.

    Notes
    -----
    The gap is measured on at most 1000 rows and 300 nodes, with two maps of the data: ``n_references + 2`` fits of
    `n_trials` starts for each complexity and each further width.

    Gaps of neighbouring complexities differ by little more than their noise, and a wrong choice costs more than a right
    one gains: long lists are less safe than the default.

    The check depends on the axes: it is not invariant to rotations of the data.

    References
    ----------
    Tibshirani, Walther, Hastie (2001), Estimating the number of clusters in a data set via the gap statistic, Journal
    of the Royal Statistical Society B 63: the logarithm of the objective against reference data. There it compares
    numbers of clusters.

    Examples
    --------
    >>> from clusterkit import recipe
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([30, 30], centers=[[0, 0], [6, 6]], random_state=0)
    >>> model = recipe("emmc-auto", n_clusters=2, n_init=5, n_maps=2, random_state=0).fit(X)
    >>> model.chosen_
    'same'
    """

    agreement_: float
    pooled_: Floats
    winner_: int
    gaps_: dict[Complexity, float]
    halves_: Floats
    chosen_: str

    _driver_class = auto_pooled.AutoPooledDriver

    def __init__(
        self,
        base: Pipeline | None = None,
        n_maps: int = 5,
        degrees: Sequence[float] = (20.0, 25.0, 30.0),
        widths: Sequence[float] | None = None,
        n_references: int = 3,
        n_trials: int = 15,
        n_halvings: int = 4,
        limit: float = 3.0,
        start: InitLike = "kmeans",
        n_clusters: NumberLike = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.base = base
        self.n_maps = n_maps
        self.degrees = degrees
        self.widths = widths
        self.n_references = n_references
        self.n_trials = n_trials
        self.n_halvings = n_halvings
        self.limit = limit
        self.start = start
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.verbose = verbose
