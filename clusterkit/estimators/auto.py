"""The estimator that chooses the method, and where it is not given the number of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
from scipy.sparse import issparse

from clusterkit._typing import Array, NumberLike, RandomState, Samples
from clusterkit.core.compat import Composition
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.run import FitResult
from clusterkit.core.seeds import Seeds
from clusterkit.core.shortage import n_with_samples, shortage
from clusterkit.drivers.auto.driver import AutoDriver
from clusterkit.estimators import bars, threads
from clusterkit.estimators.fitted_attributes import set_fitted
from clusterkit.estimators.nested_params import NestedParams
from clusterkit.estimators.number import checked_number, is_open, limits_of, set_report
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.pooled import FixedDriver
from clusterkit.estimators.preparing import attach
from clusterkit.estimators.row_span import RowSpan, of_rows
from clusterkit.estimators.samples import checked
from clusterkit.estimators.units import SCALE_OR_FRAME, warn_of_units
from clusterkit.estimators.unsuited import refuse_unsuited
from clusterkit.numerics.distinct_count import n_distinct

if TYPE_CHECKING:
    from clusterkit.tables import FittedPreparation, Preparation

__all__ = ["Auto"]


class Auto(FixedDriver):
    """Clusters data whose structure is not known: fits a pool of methods and returns the best clustering.

    Members of the pool are k-means, Gaussian mixtures, spectral clustering, Genie, mass cut and HDBSCAN, and recipes of
    plugins that ask for it. They are compared on the spanning tree of the data, without labels, so features in
    different units should be scaled first. Of a data frame they are: gaps, categories, dates and units of its columns
    are taken care of (`preparation`).

    Of more columns than rows the coordinates are taken in which the rows differ; distances stay the same.

    1. **Candidates.** Members that need a number of clusters are fitted at the given one, or at many. What a method
       calls noise follows the spanning tree to a cluster. Candidates that are equal count once.
    2. **Choice.** With the number of clusters given, ``2 V / D + 0.8 H + 0.4 icl``: separation in the tree, entropy
       of the sizes, likelihood of Gaussians; D is the number of dimensions in which the rows are spread, 2 to 5.
       Without, ``1.5 b + 4.5 A3 - 1.8 i - 3 C - 8 (C - c) + S exp(-3 b) + V/2``: contrast of borders, agreement between
       families, edges that clusters hold inside, agreement on the clusters and on the least of them, stability under
       subsampling where there are no borders, separation. For a pool of fewer than 5 families it is another sum, which
       ``clusterkit/criteria/rules.py`` states.
    3. **Report.** `confidence_`, `perhaps_one_cluster_` and `second_n_clusters_` inform, and overrule nothing.

    The scores are in clusterkit/criteria, the fits in clusterkit/drivers/auto.

    Parameters
    ----------
    n_clusters : int, "auto", (int, int) or None, default None
        Number of clusters; None and "auto" choose it, and a range ``(least, most)`` chooses one in it.
    pool : sequence of str or None, default None
        Recipes to choose among; None: those above.
    max_rows : int, default 5000
        Most rows that members are fitted to and candidates are compared on; of more, a random sample is taken, from
        which the other rows get their labels by the votes of their 5 nearest rows, with a warning.
    max_work : int, default 4e10
        Members that read spanning trees are fitted to all rows if the tree takes at most this work, ``n d min(n, 32 *
        2^d)`` products: 1,000,000 rows in 2 dimensions, 100,000 in 10.
    preparation : Preparation or None, default None
        What becomes of the columns of a data frame (`clusterkit.tables.Preparation`); None: its defaults. An array is
        taken as it is.
    random_state : int, Generator, RandomState or None, default None
    verbose : bool, default False
        Whether to show a progress bar, if standard error is a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Every row has a cluster.
    candidates_ : list of dict
        The distinct clusterings, best first: "recipe", "n_clusters", "score", the terms of the score, "similarity"
        (adjusted Rand index with `labels_`) and "found_by".
    confidence_ : float
        Estimated probability that `labels_` have an adjusted Rand index of at least .8 with the structure that the
        positions of the rows show. It says nothing of agreement with classes that you have in mind: classes need not be
        clusters. nan after Ctrl-C and where there was nothing to choose.
    perhaps_one_cluster_ : bool or None
        True if two tests for more than one cluster show none. They have little power below some hundred rows and where
        clusters touch, so that True is no proof. A single ring or arc counts as several. None where they say nothing:
        of at most 20 distinct rows that are mostly repeated, whose number is ``resolved_["auto"]["points"]``.
    second_n_clusters_ : int or None
        Number of clusters of the best candidate with another number; where the structure is nested both are right
        (``resolved_["auto"]["second_is_nested"]``). None if the number was given.
    resolved_ : dict
        Under "auto" the choice in short, with the best score at each number ("score_of_number"), ties ("tied_with"),
        what was done on a sample of the rows and which members failed. Where there was nothing to choose, "recipe" is
        None, and "reason" says why.
    preparation_ : FittedPreparation
        Only after a fit to a data frame: what became of each column. `predict` applies it to data frames with the same
        columns; its decisions are also ``resolved_["preparation"]``.
    n_iter_, converged_, stop_reason_, interrupted_, history_, objective_, space_, outcome_, exact_on_training_, \
n_features_in_
        As in `Pipeline`, of the chosen fit. After Ctrl-C the best of the candidates so far is kept.

    Notes
    -----
    Whatever method is chosen, the answer has `labels_`, `predict`, `score` and `confidence_`, and
    ``clusterkit.profile(model, X)`` gives the means and the shares of its clusters in the units of the columns,
    ``clusterkit.representatives(model, X)`` rows that stand for each. `cluster_centers_`, `memberships_`, `transform`
    and `decision_function` exist where the chosen method has them; elsewhere the AttributeError says what has.

    See Also
    --------
    clusterkit.plots.candidates : The candidates and their scores as a picture.

    Examples
    --------
    >>> from clusterkit import Auto
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = Auto(random_state=0).fit(X)
    >>> int(model.labels_.max()) + 1, model.confidence_ > 0.5
    (2, True)
    """

    always_fitted = FixedDriver.always_fitted | {
        "candidates_", "confidence_", "perhaps_one_cluster_", "second_n_clusters_"
    }  # fmt: skip

    candidates_: list[Mapping[str, object]]
    confidence_: float
    perhaps_one_cluster_: bool | None
    second_n_clusters_: int | None

    _driver_class = AutoDriver
    base: Pipeline | None = None
    """None: there is no single composition under this driver."""

    def __init__(
        self,
        n_clusters: NumberLike = None,
        pool: Sequence[str] | None = None,
        max_rows: int = 5000,
        max_work: int = 40_000_000_000,
        preparation: Preparation | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.pool = pool
        self.max_rows = max_rows
        self.max_work = max_work
        self.preparation = preparation
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Samples, y: object = None) -> Self:  # type: ignore[override]  # its criterion counts rows
        """Cluster the rows of X, shape (n, d), a data frame or a mapping of names to columns; `y` is ignored."""
        driver = self._driver()
        refuse_unsuited(X)
        fitted = self._fitted_preparation(X)
        rows: Array
        if fitted is None:
            rows = checked(self, X, None, reset=True)
        else:
            rows = fitted.transform(X, quiet=True)
            self.n_features_in_ = len(fitted.columns)
            self.feature_names_in_ = np.array(fitted.columns, dtype=object)
        seeds = Seeds.of(self.random_state)
        # mixtures estimate covariances, which have d² entries
        span = RowSpan.of(rows) if rows.shape[1] > len(rows) > 1 else None
        with threads.suited(0), bars.shown(self.verbose), bars.hooks():
            answer = driver.run([], rows if span is None else span(rows), seeds)
        fit = attrs.evolve(answer.fit, shortage=self._shortage(answer.fit, rows))
        set_fitted(self, fit if span is None else of_rows(fit, span), None)
        set_report(self, answer.report)
        if fitted is None:
            warn_of_units(self, rows, None, SCALE_OR_FRAME)
        else:
            attach(self, fitted)
        return self

    def planned(self) -> Composition | None:
        """None: the composition is chosen by the fit."""
        return None

    def check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        self._driver()
        NestedParams.check_parameters(self)

    def why_not_inductive(self) -> str | None:
        """None: whatever is chosen labels new samples."""
        return None

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Parameters by name."""
        return NestedParams.get_params(self, deep)

    def set_params(self, **params: object) -> Self:
        """Set parameters by name."""
        return NestedParams.set_params(self, **params)

    def _fitted_preparation(self, X: object) -> FittedPreparation | None:
        """The preparation of a data frame or a mapping of columns; None for an array."""
        from clusterkit.tables import Preparation, is_frame

        if self.preparation is not None and not isinstance(self.preparation, Preparation):
            raise InvalidParameter(f"preparation must be a Preparation or None, got {self.preparation!r}")
        is_table = is_frame(X) or (isinstance(X, Mapping) and not issparse(X))  # one kind of sparse matrix is a mapping
        return (self.preparation or Preparation()).fit(X) if is_table else None

    def _shortage(self, fit: FitResult, rows: Array) -> str | None:
        """What is said of clusters without rows; nothing where the number is open, for then none is missing."""
        if is_open(self.n_clusters) or (k := checked_number(self.n_clusters)) is None:
            return None
        return fit.shortage or shortage(n_with_samples(fit.labels), k, len(rows), partial(n_distinct, rows, k))

    def _driver(self) -> AutoDriver:
        choice = is_open(self.n_clusters)
        k, between = (None, limits_of(self.n_clusters)) if choice else (checked_number(self.n_clusters), None)
        if isinstance(self.pool, str):
            raise InvalidParameter(f"pool must be a list of recipes, such as [{self.pool!r}], got {self.pool!r}")
        pool: Any = None if self.pool is None else tuple(self.pool)
        if pool == ():
            raise InvalidParameter("pool has no recipe to choose among; name some, or leave it out for the usual ones")
        return AutoDriver(k, pool, self.max_rows, self.max_work, between)
