"""The estimator that chooses the method, and where it is not given the number of clusters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, RandomState
from clusterkit.contracts import DriverResult, FeatureMap, Predict, Task
from clusterkit.contracts.arguments import NumberLike, SamplesLike
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.links import LinksLike
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.criteria.terrain import are_directions
from clusterkit.drivers.auto import WIDE, AutoDriver, LabelsByVotes
from clusterkit.drivers.auto_fits import Known, pool_of
from clusterkit.drivers.compose import checked_number, is_open, limits_of, map_of, recipes_of_matrices
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter, counted
from clusterkit.estimators import same_place
from clusterkit.estimators.auto_tables import MOST_ROWS, SAMPLE, AutoRows, TableAnswer
from clusterkit.estimators.base import NestedParams, level_of_caller
from clusterkit.estimators.build import recipe
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.place import PlacedSamples
from clusterkit.estimators.preparing import attach, is_table, prepared_for, stages_of_tables
from clusterkit.estimators.samples import RowSpan, SpanPredictor, checked, index_of, of_rows
from clusterkit.estimators.units import SCALE_OR_FRAME, warn_of_units
from clusterkit.families.shared.scaling import UnitRows
from clusterkit.fitting.device_paths import IN_MEMORY_SHARE
from clusterkit.fitting.fit import missing_clusters, n_with_samples
from clusterkit.fitting.samples import EngineSamples, Predicted, engine_for
from clusterkit.numerics.selection import MOST_POINTS, n_distinct, sample_rows
from clusterkit.numerics.threads import ignoring
from clusterkit.samples import FeatureSpace, memory
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.engines import Engine, LocalEngine
from clusterkit.samples.rows import Rows, SlicedRows
from clusterkit.samples.transform import ChosenColumns, RowMap, Transform

if TYPE_CHECKING:
    from clusterkit.tables import FittedPreparation, Preparation


def _front(metric: str) -> FeatureMap | None:
    """The feature map of a metric, refused where rows have no coordinates: members are compared by these."""
    front = map_of(metric)
    if front is not None and front.takes_pairs:
        raise InvalidParameter(
            f"metric={metric!r}: Auto compares methods by coordinates, and a matrix of distances or of a kernel has "
            f"none. {recipes_of_matrices()}"
        )
    return front


REPEATED = 3
"""Mean number of equal rows from which on a user would ask for their sets."""

PASSES, ROWS_AN_AXIS = 40, 4
"""Products that a pool takes for each row and pair of columns, about: passes of its mixtures at all numbers, with their
components. And rows from which each coordinate of wider rows is computed."""

POOL_ALONE = (
    "what is known about the rows counts for methods of the pool only here, and the answer may be another one than "
    "without it; the recipe 'mixture' takes seeds and links"
)
"""The warning where columns would be judged, were nothing known about the rows."""


class Auto(Driven):
    """Clusters data whose structure is not known: fits a pool of methods and returns the best clustering.

    Members of the pool are k-means, Gaussian mixtures, spectral clustering, Genie, mass cut and HDBSCAN, and recipes of
    plugins that ask for it. They are compared on the spanning tree of the data, without labels, so features in
    different units should be scaled first. Of a data frame they are: gaps, categories, dates and units of its columns
    are taken care of (`preparation`).

    If there are more columns than rows, the coordinates are taken in which the rows differ; distances stay the same.

    1. **Candidates.** Members that need a number of clusters are fitted at the given one, or at many. What a method
       calls noise follows the spanning tree to a cluster. Candidates that are equal count once.
    2. **Choice.** With the number of clusters given, ``2 V / D + min(1, D - 2) c + 0.8 H + 0.4 icl``: separation in
       the tree, agreement on the cluster that families confirm least, entropy of the sizes, likelihood of Gaussians; D
       is the number of dimensions in which the rows are spread, 2 to 5.
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
        which the other rows get their labels by the votes of their 5 nearest rows, with a warning. Above 200,000 rows
        that are judged by their columns, and of rows that do not fit into memory, 20,000 (or `max_rows`) at random are
        clustered as if they were all, and give the labels of the others, with a warning too.
    max_work : int, default 4e10
        Most products of numbers, about, of each part of a fit. Members that read spanning trees are fitted to all rows
        if the tree takes no more, ``n d min(n, 32 * 2^d)``: 1,000,000 rows in 2 dimensions, 100,000 in 10. Of more
        columns than 100 and ``sqrt(max_work / 40 n)``, n at most `max_rows`, as many principal axes stand for the rows,
        447 of 5,000 rows and 1,000 of 1,000 (``resolved_["auto"]["coordinates"]``).
    metric : {"euclidean", "cosine", "haversine"}, default "euclidean"
        How rows are compared. "cosine" scales them to length 1 first, "haversine" takes latitude and longitude. Rows
        of length 1 with at least 100 columns, as embeddings are, are clustered by recipe `embeddings` as well, all of
        them whatever `max_rows` is.
    preparation : Preparation or None, default None
        Preparation of the columns of a data frame (`clusterkit.tables.Preparation`); None: its defaults. An array is
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
        (adjusted Rand index with `labels_`) and "found_by". The term "stability" is left out, and counts as 0, where it
        can decide nothing, not even the best score at a number of clusters. Where the mixture of a table has the
        answer, its best and its next best number.
    confidence_ : float
        Estimated probability that `labels_` have an adjusted Rand index of at least .8 with the structure that the
        positions of the rows show. It says nothing of agreement with classes that you have in mind: classes need not be
        clusters. Half of it where the clusters restate one column and the other columns alone give other clusters,
        which is a warning and ``resolved_["auto"]["restates"]``. nan after Ctrl-C and where nothing was to choose.
    perhaps_one_cluster_ : bool or None
        True if the tests for more than one cluster show none; `confidence_` is then at most .5. They have little power
        below some hundred rows and where clusters touch, so that True is no proof. A ring, an arc or a rolled sheet is
        one piece: ``resolved_["auto"]["one_piece"]`` is then "curved", or "joined" where flags or levels are among the
        features. None where the tests say nothing: of at most 20 distinct rows that are mostly repeated and no counts
        or categories, whose number is ``resolved_["auto"]["points"]``. Where few distinct rows are in fewer clusters,
        a warning says with which number each is one.
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
        Attributes of the chosen fit, see `Pipeline`. After Ctrl-C the best of the candidates so far is kept.

    Notes
    -----
    Whatever method is chosen, the answer has `labels_`, `predict`, `score` and `confidence_`, and
    ``clusterkit.profile(model, X)`` gives the means and the shares of its clusters in the units of the columns,
    ``clusterkit.representatives(model, X)`` rows that stand for each. `cluster_centers_`, `memberships_`, `transform`
    and `decision_function` exist where the chosen method has them; elsewhere the AttributeError says what has.

    See Also
    --------
    clusterkit.plots.number_curve : The best score at each number of clusters as a picture.

    Examples
    --------
    >>> from clusterkit import Auto
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = Auto(random_state=0).fit(X)
    >>> int(model.labels_.max()) + 1, model.confidence_ > 0.5
    (2, True)
    """

    _always_fitted = Driven._always_fitted | {
        "candidates_", "confidence_", "perhaps_one_cluster_", "second_n_clusters_"
    }  # fmt: skip

    candidates_: list[Mapping[str, object]]
    confidence_: float
    perhaps_one_cluster_: bool | None
    second_n_clusters_: int | None

    _slots: ClassVar[Mapping[str, str]] = {}
    base: Pipeline | None = None
    """None, because there is no single composition under this driver."""

    def __init__(
        self,
        n_clusters: NumberLike = None,
        pool: Sequence[str] | None = None,
        max_rows: int = 5000,
        max_work: int = 40_000_000_000,
        metric: str = "euclidean",
        preparation: Preparation | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.pool = pool
        self.max_rows = max_rows
        self.max_work = max_work
        self.metric = metric
        self.preparation = preparation
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: SamplesLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        links: LinksLike | None = None,
        seeds: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X, shape (n, d), a data frame or a mapping of names to columns; `y` is ignored.

        X may also be `clusterkit.open(path)` or what an engine takes, such as Dask arrays and frames.

        `links` and `seeds` are as in `Pipeline`, and go to every candidate: who breaks them is out. So does
        `sample_weight`, and methods that count rows are out; what compares candidates counts rows all the same.
        """
        self._check_parameters()  # what is wrong with them is said before the table is read
        engine = engine_for(X)
        if engine is not None and not isinstance(engine, DeviceEngine):
            if any(each is not None for each in (sample_weight, links, seeds)):
                raise InvalidData(
                    f"links, seeds and sample_weight need the rows in memory; fit an array instead of this "
                    f"{type(X).__name__}, or one recipe"
                )
            self._fit_where_they_lie(X, engine)
            return self
        fitted = prepared_for(self, X, self._preparation_of(X)) if is_table(X) else None
        rows = checked(self, X, None, reset=True) if fitted is None else fitted.transform(X, quiet=True)
        if fitted is not None:
            attach(self, self._fit_table(X, fitted, rows, sample_weight, links, seeds))
            return self
        known = self._known(X, len(rows), sample_weight, links, seeds)
        self._fit_rows(AutoRows(rows, self._attributes(), known=known))
        if self.metric == "euclidean":  # other metrics compare whole rows
            warn_of_units(self, rows, None, SCALE_OR_FRAME)
        return self

    def _fit_where_they_lie(self, X: object, engine: Engine) -> None:
        """Cluster rows or a table that an engine has."""
        if engine.are_tables(X):
            from clusterkit.estimators.mixed_blocks import fit_collection

            fit_collection(self, None, X, engine, self._preparation_of(X))
            return
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        placed = PlacedSamples.of(self, cast("SamplesLike", X), None)
        if isinstance(placed.samples, EngineSamples):
            placed.samples.column_extremes()
            self._fit_sample(placed.samples.rows, engine)
        else:
            self._fit_rows(AutoRows(placed.in_memory(), self._attributes()))
        placed.place(self)

    def _known(
        self, X: object, n: int, sample_weight: ArrayLike | None, links: LinksLike | None, seeds: ArrayLike | None
    ) -> Known | None:
        """What `fit` is told about n rows of X."""
        return Known.of(n, self._driver().n_clusters, sample_weight, links, seeds, index_of(X))

    def _fit_table(
        self, table: object, fitted: FittedPreparation, rows: Array, sample_weight: ArrayLike | None = None,
        links: LinksLike | None = None, seeds: ArrayLike | None = None,
    ) -> FittedPreparation:  # fmt: skip
        """Cluster a table whose features `rows`, (n, features), a preparation made; returns that of new rows.

        Where weights are known, or whole rows are compared by another metric, candidates are those of the features.
        """
        data = AutoRows(rows, (), fitted, known=self._known(table, len(rows), sample_weight, links, seeds))
        if self._judges(data):
            data = attrs.evolve(data, cells=attrs.evolve(fitted, coded=True).transform(table, quiet=True))
        return self._fit_rows(data) or fitted

    def _attributes(self) -> Sequence[str]:
        """The names of the attributes, () for those without."""
        return [str(name) for name in getattr(self, "feature_names_in_", ())]

    def _judges(self, data: AutoRows) -> bool:
        """Whether a mixture stands beside the pool: columns are judged, and the user chose no pool."""
        if self.pool is not None or self.metric != "euclidean":
            return False
        known = data.known
        if known is not None and (known.sample_weight is not None or len(data.rows) > self.max_rows):
            return False
        if data.fitted is not None and data.fitted.preparation.weights:  # a mixture has no distances to count them
            return False
        return data.are_judged

    def _fit_rows(self, data: AutoRows) -> FittedPreparation | None:
        """Cluster rows in memory; returns the preparation of new rows."""
        rows, cells = data.rows, data.cells
        if data.known is None and len(rows) > max(MOST_ROWS, self.max_rows) and self._judges(data):
            beside = rows if cells is None else np.hstack([rows, cells])
            return self._fit_sample(SlicedRows(beside), LocalEngine(), data.fitted)
        answer = self._answer(data)
        return self._set(answer.driven.fit, answer, data.fitted)

    def _fit_sample(
        self, rows: Rows, engine: Engine, fitted: FittedPreparation | None = None
    ) -> FittedPreparation | None:
        """Cluster a sample of rows as a table of that size, and label all of them; few rows are taken as they are.

        Rows of a table are its features, and beside them its numbers and codes. Returns its preparation.
        """
        few = rows.n <= max(MOST_ROWS, self.max_rows) and 8 * rows.n * rows.d <= memory.cap() // IN_MEMORY_SHARE
        size = rows.n if few else max(SAMPLE, self.max_rows)
        part = rows.gather(sample_rows(rows.n, size, Seeds.of(self.random_state).stream("rows of a sample")))
        if fitted is None and rows.names is not None:
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        width = rows.d if fitted is None else len(fitted.features)
        features = np.ascontiguousarray(part[:, :width])
        with ignoring(LabelsByVotes) if len(part) < rows.n else nullcontext():
            cells = np.ascontiguousarray(part[:, width:])
            answer = self._answer(AutoRows(features, self._attributes(), fitted, cells))
        fit, of_codes = answer.driven.fit, answer.preparation is not None and answer.preparation.coded
        if len(part) == rows.n:
            fit = attrs.evolve(fit, labels=engine.placed(fit.labels, rows))
        else:
            places = ChosenColumns(np.arange(width, rows.d) if of_codes else np.arange(width))
            predict = cast("Predict", fit.predict)
            of_all = predict if width == rows.d else SpanPredictor(places, predict)
            auto = {**fit.resolved["auto"], "rows_judged": len(part)}
            fit = attrs.evolve(
                fit, labels=engine.labels(Predicted(of_all), rows, rows.d), exact=True, memberships=None,
                outlier_scores=None, probabilities=None, layers=(), resolved={**fit.resolved, "auto": auto},
            )  # fmt: skip
            warnings.warn(
                f"the {rows.n} rows were clustered by a sample of {len(part)}, from which all of them have their "
                f"labels; structure much smaller than that is not seen. max_rows above {len(part)} looks at more.",
                ClusterkitWarning,
                stacklevel=4,
            )
        return self._set(fit, answer, fitted)

    def _answer(self, data: AutoRows) -> TableAnswer:
        """The answer of the pool and a mixture of the columns, or of the pool alone, to all rows that are given."""
        driver, seeds, rows, known = self._driver(), Seeds.of(self.random_state), data.rows, data.known
        with same_place.surroundings(self.verbose):
            stages = stages_of_tables(recipe("mixture", n_clusters=self.n_clusters)) if self._judges(data) else None
            # none where a plugin took the name of the recipe
            court = None if stages is None else data.court(driver, stages, seeds)
            judged = None if court is None else court.answer()
            if court is not None and judged is not None and known is not None:
                judged = court.keeping(judged, known)
            if court is not None and judged is not None:
                others = partial(court.of_others, judged.driven)
                driven = data.beside_columns(judged.driven, others, court.levels)
                return self._checked(attrs.evolve(judged, driven=driven), rows)
            span = self._span(rows)
            fitted_to = rows if span is None else span(rows)
            if known is None:
                answer = driver.run([], fitted_to, seeds)
            else:
                if self._judges(attrs.evolve(data, known=None)):
                    warnings.warn(POOL_ALONE, ClusterkitWarning, stacklevel=level_of_caller())
                answer = driver.choose(pool_of(driver.pool), driver.n_clusters, fitted_to, seeds, known=known)
            if span is None and known is None:

                def of_others(name: str) -> DriverResult:
                    others = np.delete(rows, data.columns[name], axis=1)
                    return driver.run([], others, seeds.child("without a column"))

                answer = data.beside_columns(answer, of_others)
            elif span is not None:
                fit = of_rows(answer.fit, span)
                auto = {**fit.resolved.get("auto", {}), "coordinates": span.width}
                answer = attrs.evolve(answer, fit=attrs.evolve(fit, resolved={**fit.resolved, "auto": auto}))
        return self._checked(TableAnswer(answer, None), rows)

    def _checked(self, answer: TableAnswer, rows: Array) -> TableAnswer:
        """The answer with the sentence about clusters without rows where a number was given.

        Where the number is open none is missing, and a warning says where clusters hold several sets of equal rows, and
        there is little else than such sets.
        """
        fit, k, missing = answer.driven.fit, self._driver().n_clusters, None
        if k is not None:
            missing = fit.missing_clusters or missing_clusters(
                n_with_samples(fit.labels), k, len(rows), partial(n_distinct, rows, k)
            )
        else:
            points, k = n_distinct(rows, MOST_POINTS + 1), int(fit.labels.max()) + 1
            if k < points <= min(MOST_POINTS, len(rows) // REPEATED):
                warnings.warn(
                    f"only {points} of the {len(rows)} rows are distinct, and they are in {counted(k, 'cluster')}. "
                    f"Where each is a cluster, take n_clusters={points}",
                    ClusterkitWarning,
                    stacklevel=level_of_caller(),
                )
        driven = attrs.evolve(answer.driven, fit=attrs.evolve(fit, missing_clusters=missing))
        return attrs.evolve(answer, driven=driven)

    def _span(self, rows: Array) -> Transform | None:
        """What rows go through before they are compared: the map of the metric, and fewer coordinates of many."""
        front = _front(self.metric)
        steps: tuple[RowMap, ...] = ()
        if front is not None:
            space = front.space_of(rows, Task(len(rows), None), Seeds.of(self.random_state).stream("metric"))
            assert isinstance(space, FeatureSpace)
            steps, rows = space.transform.steps, space.rows()
        n, d = rows.shape
        # mixtures estimate covariances, which have d² entries
        most = max(WIDE, math.isqrt(self.max_work // (PASSES * min(n, self.max_rows))))
        directed = min(n, d) > most and are_directions(rows)
        if min(n, d) > most or d > n > 1:
            part = rows[sample_rows(n, ROWS_AN_AXIS * most, Seeds.of(self.random_state).stream("axes"))]
            span = RowSpan.of(part, most, centred=not directed)
            steps = (*steps, span, UnitRows(None, span.width)) if directed else (*steps, span)
        return Transform(steps, rows.dtype) if steps else None

    def _set(self, fit: FitResult, answer: TableAnswer, fitted: FittedPreparation | None) -> FittedPreparation | None:
        """Set the fitted attributes; returns the preparation of new rows, None for an array."""
        self._set_fitted(fit, None)
        self._set_report(answer.driven.report)
        if fitted is not None:
            self.n_features_in_ = len(fitted.columns)
            self.feature_names_in_ = np.array(fitted.columns, dtype=object)
            self._takes_sparse_rows = False
        return answer.preparation or fitted

    def _with_recipe(self, page: str) -> str:
        """The diagram of scikit-learn, of a fit folded below the answer."""
        if not hasattr(self, "labels_"):
            return super()._with_recipe(page)
        view: Any = registry.get("view", "notebook")
        return f"{view(self)}<details><summary>Parameters</summary>{page}</details>"

    def _planned(self) -> Composition | None:
        """None, because the composition is chosen by the fit."""
        return None

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        from clusterkit.tables import Preparation

        self._driver()
        _front(self.metric)
        if self.preparation is not None and not isinstance(self.preparation, Preparation):
            raise InvalidParameter(f"preparation must be a Preparation or None, got {self.preparation!r}")
        NestedParams._check_parameters(self)

    def _why_not_inductive(self) -> str | None:
        """None, because any chosen method labels new samples."""
        return None

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Parameters by name."""
        return NestedParams.get_params(self, deep)

    def set_params(self, **params: object) -> Self:
        """Set parameters by name."""
        return NestedParams.set_params(self, **params)

    def _preparation_of(self, X: object) -> Preparation:
        """The preparation of tables such as X: that of the user, or that for the metric."""
        from clusterkit.tables import Preparation

        # other metrics compare whole rows, whose directions a scaling of single columns would change
        default = Preparation() if self.metric == "euclidean" else Preparation(scale="none", sphere=False)
        if self.metric == "haversine":
            frame: Any = X  # tables of PyArrow have column_names
            names = tuple(X) if isinstance(X, Mapping) else tuple(getattr(X, "column_names", frame.columns))
            default = attrs.evolve(default, keep=names)  # degrees as they are, of which nothing is doubted
        return self.preparation or default

    def _driver_params(self) -> dict[str, Any]:
        return {}  # the estimator has them as its own parameters

    def _driver(self) -> AutoDriver:
        choice = is_open(self.n_clusters)
        k, between = (None, limits_of(self.n_clusters)) if choice else (checked_number(self.n_clusters), None)
        if isinstance(self.pool, str):
            raise InvalidParameter(f"pool must be a list of recipes, such as [{self.pool!r}], got {self.pool!r}")
        pool: Any = None if self.pool is None else tuple(self.pool)
        if pool == ():
            raise InvalidParameter("pool has no recipe to choose among; name some, or leave it out for the usual ones")
        return AutoDriver(k, pool, self.max_rows, self.max_work, between)
