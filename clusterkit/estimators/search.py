"""A grid of parameters, every point of which is fitted to all samples and scored without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast, overload

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array

from clusterkit._typing import Array, ArrayLike, RandomState
from clusterkit.contracts.arguments import Clusterer, ClustererLike, Grid, SamplesLike
from clusterkit.contracts.params import is_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.compose import map_of, rows_by
from clusterkit.errors import InvalidParameter
from clusterkit.estimators import same_place
from clusterkit.estimators._search_results import (
    Candidate,
    EstimatorT,
    SearchResult,
    points_of,
    require_one_objective,
)
from clusterkit.estimators._search_run import SearchInProgress, TableSamples, all_failed, failed_candidate
from clusterkit.estimators._search_scores import judge
from clusterkit.estimators.auto import Auto
from clusterkit.estimators.build import recipe
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.preparing import is_mixed, is_table, prepared_for, stages_of_tables
from clusterkit.estimators.samples import only_numbers, refuse_unsuited
from clusterkit.estimators.units import warn_of_units_of
from clusterkit.tables import Preparation, Table, columns_of

__all__ = ["Candidate", "SearchResult", "search"]


class SearchOptions(TypedDict, total=False):
    """Keyword arguments of `search`."""

    n_jobs: int | None
    random_state: RandomState
    ensemble: ArrayLike | Mapping[str, object] | None
    noise: str | None
    exclude: bool
    repeats: int
    refit: bool
    metric: str | None
    preparation: Preparation | None
    verbose: bool


# estimators first: checkers without types for scikit-learn take them for anything, a name too
@overload
def search(
    pipeline: EstimatorT, grid: Grid, X: SamplesLike, score: str = "auto", **options: Unpack[SearchOptions]
) -> SearchResult[EstimatorT]: ...
@overload
def search(
    pipeline: str, grid: Grid, X: SamplesLike, score: str = "auto", **options: Unpack[SearchOptions]
) -> SearchResult[Pipeline | Driven]: ...


def search(
    pipeline: ClustererLike,
    grid: Grid,
    X: SamplesLike,
    score: str = "auto",
    *,
    n_jobs: int | None = 1,
    random_state: RandomState = None,
    ensemble: ArrayLike | Mapping[str, object] | None = None,
    noise: str | None = None,
    exclude: bool = True,
    repeats: int = 6,
    refit: bool = True,
    metric: str | None = None,
    preparation: Preparation | None = None,
    verbose: bool = False,
) -> SearchResult[Any]:
    """Fit every point of a grid to all of X and compare the labels by a score that needs no classes.

    Parameters
    ----------
    pipeline : str, Pipeline, Driven or clusterer
        A recipe by name, or an estimator with the interface of scikit-learn. Not fitted, not changed.
    grid : dict of lists, or list of these
        Names of parameters (``n_clusters``, ``solver__df``, whole slots) with their values, as in scikit-learn's
        ParameterGrid.
    X : array-like or sparse matrix of shape (n, d)
        A data frame with gaps, words or dates is prepared as ``Auto().fit(frame)`` does, by every fit of `Auto` and
        once for other estimators; the recipe "mixture", and others that take the columns of tables, get all frames as
        they are. Scores look at the prepared rows, and `best_estimator` takes such frames.
    score : {"auto", "anmi", "ami", "stability", "silhouette", "dbcv", "disco", "evidence", "objective"}, default "auto"
        See Notes. Higher is better, except for "objective".
    n_jobs : int or None, default 1
        Number of candidates that joblib fits at once, each with one thread. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default None
        The source of the seed that all fits share, unless the grid varies the seed; an int is this seed. None takes the
        random state of `pipeline`, if it has one.
    ensemble : array of shape (M, n), dict or None, default None
        For "anmi" and "ami": labellings to compare with, or arguments of `clusterkit.ensemble`. Default: ten labellings
        by k-means in unscaled X, each from one start, with numbers of clusters from 2 to √n.
    noise : {"cluster", "singletons", "exclude"}, optional
        How the score treats noise (label -1), as in `clusterkit.metrics`. Default: "singletons" for "silhouette" and
        "dbcv", where noise counts as 0; "cluster" for the other scores. Not for "auto", for which noise follows the
        spanning tree to a cluster.
    exclude : bool, default True
        Whether labellings without a cluster, with one cluster, or with more than √n clusters get no score.
    repeats : int, default 6
        Number of refits of the score "stability".
    refit : bool, default True
        Whether to fit `best_estimator` again where the fitted model is not available, as with several processes.
    metric : {"euclidean", "cosine", "haversine"}, optional
        How all candidates compare rows, and the scores with them: the parameter `metric` of the pipeline, whose own
        value is taken if it is None. With `metric` in the grid scores look at the rows as they are.
    preparation : Preparation, optional
        Treatment of gaps, categories, dates and units of a data frame; None: its defaults.
    verbose : bool, default False
        Whether to show a progress bar, if standard error is a terminal.

    Returns
    -------
    SearchResult

    Raises
    ------
    InvalidParameter, UnknownName
        For wrong arguments, and if no candidate has a score. The failure of one candidate is a row of the table.
    InvalidData
        If an ensemble belongs to other samples.
    KeyboardInterrupt
        If Ctrl-C is pressed before any candidate has a score.

    Notes
    -----
    - "auto": the criterion by which `clusterkit.Auto` chooses, on the spanning tree of the data. Where all candidates
      have the same number of clusters, by separation, agreement, entropy and likelihood; otherwise by the contrast
      of borders and insides, stability, agreement between candidates with different stages, and the fall of the masses
      of the tree (with 5 and more different methods as `clusterkit.Auto` does).
      All candidates are compared in the same space: the attributes as the feature maps scale them, if that is the same
      for all, and otherwise X with all attributes scaled to unit variance. Scores depend on the grid. Candidates
      with the same clusters count once. Two more fits a candidate, to half the samples and at most 500; candidates are
      compared on at most 5,000 samples. `SearchResult.facts` has the confidence and the test for a single cluster.
    - "anmi": mean over the ensemble of the normalised mutual information (geometric). It is not adjusted for chance and
      tends to more clusters. "ami": mean adjusted mutual information (arithmetic mean of the entropies), without
      that tendency.
    - "stability": the pipeline is fitted to `repeats` subsamples of 80 % of the samples, drawn once without
      replacement; the mean over all pairs of fits of the adjusted Rand index on the samples they share.
    - "silhouette": scikit-learn's mean silhouette, Euclidean; O(n²) time. Favours round clusters.
    - "dbcv": `clusterkit.metrics.dbcv`, for clusters of any shape; O(n²) time.
    - "disco": `clusterkit.metrics.disco`, which judges the noise as well, whatever `noise` is; O(n²) memory.
    - "evidence": how much more likely a row is with the clusters than without, as a logarithm, integrated over all
      parameters of a mixture, and with a role for each column, so that columns that say nothing count nothing. It takes
      categories and gaps as they are and prefers elliptic clusters. "auto" means it for a table of which all candidates
      take the columns as they are, as the recipe "mixture" does.
    - "objective": the objective of the solver. It is allowed only where nothing but init, n_init, max_iter and
      random_state varies: a wider kernel or another complexity changes what the objective measures.

    References
    ----------
    Strehl, Ghosh (2002), Cluster ensembles, JMLR 3 (anmi). Vinh, Epps, Bailey (2010), Information theoretic measures
    for clusterings comparison, JMLR 11 (ami). Ben-Hur, Elisseeff, Guyon (2002), A stability based method for
    discovering structure in clustered data, PSB 7 (stability by subsamples). Rousseeuw (1987), Silhouettes, J. Comput.
    Appl. Math. 20. Moulavi et al. (2014), Density-based clustering validation, SDM.

    Examples
    --------
    >>> from clusterkit import search
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs([30, 30, 30], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> comparison = search("kmeans", {"n_clusters": [2, 3, 4]}, X, random_state=0)
    >>> comparison.best_params, comparison.ties
    ({'n_clusters': 3}, [])
    """
    base = _estimator(pipeline)
    candidates = points_of(grid)
    if metric is not None:
        base = _by_metric(base, metric, candidates)
    if score == "objective":
        require_one_objective(candidates, base.get_params())
    refuse_unsuited(X)
    fitted, samples = None, cast("Any", X)
    if not isinstance(base, Auto) and is_table(X) and (is_mixed(X) or stages_of_tables(cast("Pipeline", base))):
        fitted = prepared_for(cast("Pipeline", base), X, preparation)
        X = cast("SamplesLike", fitted.transform(samples, quiet=True))
        if not isinstance(samples, Table):
            by_name = {column.name: column for column in columns_of(samples)}
            samples = Table("a table", by_name, tuple(by_name))
        samples = TableSamples(samples, fitted, cast("Array", X))
    numbers = _features(base, X)
    with only_numbers(numbers) as plain:
        checked = check_array(plain, dtype=[np.float64, np.float32], order="C", accept_sparse="csr")
    if not any("metric" in params for params in candidates):
        checked = rows_by(str(base.get_params(deep=False).get("metric", "euclidean")), checked)
    workers, seed = _workers(n_jobs), _seed(random_state, base)
    models = [_prepared(base, params, seed) for params in candidates]
    fine = [model for model in models if not isinstance(model, Exception)]
    if score != "objective" and any(getattr(get_tags(model).input_tags, "pairwise", False) for model in fine):
        raise InvalidParameter(
            "search compares candidates by coordinates, and a precomputed matrix has none: compare its fits with "
            "score='objective', or with known classes by scikit-learn's GridSearchCV"
        )
    if not fine:
        raise all_failed([failed_candidate(p, m) for p, m in zip(candidates, models, strict=True)])
    with same_place.surroundings(verbose):
        columns = samples.columns if isinstance(samples, TableSamples) else None
        if columns is not None and score == "auto" and noise is None and all(map(stages_of_tables, fine)):
            score = "evidence"
        judged = judge(
            score, checked, columns=columns, ensemble=ensemble, noise=noise, repeats=repeats,
            seeds=Seeds(seed).child("search"), models=models,
        )  # fmt: skip
        progress = SearchInProgress(samples, judged, exclude, workers, candidates)
        progress.run(models)
        answer = progress.search_result(models, seed, refit)
    warn_of_units_of([answer.best_estimator], X, stacklevel=2)
    return answer


def _estimator(pipeline: ClustererLike) -> Clusterer:
    if isinstance(pipeline, str):
        return recipe(pipeline)
    if isinstance(pipeline, type) or not all(hasattr(pipeline, name) for name in ("fit", "get_params", "set_params")):
        raise InvalidParameter(f"search: pipeline must be the name of a recipe or a clusterer, got {pipeline!r}")
    return pipeline


def _by_metric(base: Clusterer, metric: str, candidates: Sequence[Mapping[str, object]]) -> Clusterer:
    """The estimator with its parameter `metric`."""
    map_of(metric)
    if "metric" not in base.get_params(deep=False):
        raise InvalidParameter(f"search: metric={metric!r}, but {type(base).__name__} has no parameter metric")
    if any("metric" in params for params in candidates):
        raise InvalidParameter(f"search: metric={metric!r} is given, and the grid has it too; use one of them")
    return cast("Clusterer", clone(base).set_params(metric=metric))


def _features(base: Clusterer, X: Any) -> Any:
    """The rows for the scores: of a data frame those that `Auto` prepares, which takes such frames."""
    from clusterkit.tables import Preparation, is_frame

    if not isinstance(base, Auto) or not is_frame(X):
        return X
    return (base.preparation or Preparation()).fit(X).transform(X, quiet=True)


def _workers(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    if not same_place.is_jobs(n_jobs):
        raise InvalidParameter(f"search: n_jobs must be an integer other than 0, or None, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))


def _seed(random_state: RandomState, base: Clusterer) -> int:
    """The seed of all fits: an int random state itself, else 31 random bits."""
    of_base = base.get_params(deep=False).get("random_state")
    source = cast("RandomState", of_base if random_state is None else random_state)
    seeds = Seeds.of(source)
    return int(source) if is_count(source, at_least=0) and int(source) < 2**32 else seeds.integer("search")


def _prepared(base: Clusterer, params: Mapping[str, Any], seed: int) -> Any:
    """The estimator of a candidate, or the error of its parameters."""
    try:
        model = clone(base)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed)
        return model.set_params(**{name: clone(value, safe=False) for name, value in params.items()})
    except Exception as error:
        return error
