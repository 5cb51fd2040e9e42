"""A grid of parameters, every point of which is fitted to all samples and scored without labels."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, overload

import attrs
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from clusterkit._typing import ArrayLike, Clusterer, ClustererLike, Grid, Indices, Labels, RandomState, Samples
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.params import is_count
from clusterkit.core.progress import Report, tell
from clusterkit.core.seeds import Seeds
from clusterkit.estimators import _search_grid as grids
from clusterkit.estimators import bars, threads
from clusterkit.estimators._search_result import Candidate, EstimatorT, SearchResult, all_failed, failed, failure
from clusterkit.estimators._search_scores import Judge, judge, objections
from clusterkit.estimators._search_store import Store, seed_in
from clusterkit.estimators.build import recipe
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline

__all__ = ["Candidate", "SearchResult", "search"]


# estimators first: checkers without types for scikit-learn take them for anything, a name too
@overload
def search(
    pipeline: EstimatorT,
    grid: Grid,
    X: Samples,
    score: str = "anmi",
    *,
    n_jobs: int | None = 1,
    random_state: RandomState = None,
    ensemble: ArrayLike | Mapping[str, Any] | None = None,
    noise: str | None = None,
    exclude: bool = True,
    on: str = "input",
    stability: str = "subsample",
    repeats: int = 6,
    resume: str | Path | None = None,
    refit: bool = True,
    verbose: bool = False,
) -> SearchResult[EstimatorT]: ...
@overload
def search(
    pipeline: str,
    grid: Grid,
    X: Samples,
    score: str = "anmi",
    *,
    n_jobs: int | None = 1,
    random_state: RandomState = None,
    ensemble: ArrayLike | Mapping[str, Any] | None = None,
    noise: str | None = None,
    exclude: bool = True,
    on: str = "input",
    stability: str = "subsample",
    repeats: int = 6,
    resume: str | Path | None = None,
    refit: bool = True,
    verbose: bool = False,
) -> SearchResult[Pipeline | Driven]: ...


def search(
    pipeline: ClustererLike,
    grid: Grid,
    X: Samples,
    score: str = "anmi",
    *,
    n_jobs: int | None = 1,
    random_state: RandomState = None,
    ensemble: ArrayLike | Mapping[str, Any] | None = None,
    noise: str | None = None,
    exclude: bool = True,
    on: str = "input",
    stability: str = "subsample",
    repeats: int = 6,
    resume: str | Path | None = None,
    refit: bool = True,
    verbose: bool = False,
) -> SearchResult[Any]:
    """Fit every point of a grid to all of X and compare the labels by a score that needs no classes.

    Parameters
    ----------
    pipeline : str, Pipeline, Pooled or clusterer
        A recipe by name, or an estimator with the interface of scikit-learn. Not fitted, not changed.
    grid : dict of lists, or list of these
        Names of parameters (``n_clusters``, ``solver__df``, whole slots) with their values, as in scikit-learn's
        ParameterGrid.
    X : array-like or sparse matrix of shape (n, d)
    score : {"anmi", "ami", "stability", "silhouette", "dbcv", "objective"}, default "anmi"
        See Notes. Higher is better, except for "objective".
    n_jobs : int or None, default 1
        Number of candidates that joblib fits at once, each with one thread. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default None
        The source of the seed that all fits share, unless the grid varies the seed; an int is this seed. None takes the
        random state of `pipeline`, if it has one.
    ensemble : array of shape (M, n), dict or None, default None
        For "anmi" and "ami": labelings to compare with, or arguments of `clusterkit.ensemble`. Default: ten labelings
        by k-means in unscaled X, each from one start, with numbers of clusters from 2 to √n.
    noise : {"cluster", "singletons", "exclude"}, optional
        How the score treats noise (label -1), as in `clusterkit.metrics`. Default: "singletons" for "silhouette" and
        "dbcv", where noise counts as 0; "cluster" for the other scores.
    exclude : bool, default True
        Whether labellings without a cluster, with one cluster, or with more than √n clusters get no score.
    on : {"input", "space"}, default "input"
        Where the silhouette is computed: in X, or in the fitted space, which may differ between candidates.
    stability : {"subsample", "seeds"}, default "subsample"
        The difference between the refits of the score "stability": their samples or their seeds.
    repeats : int, default 6
        Number of these refits.
    resume : path, optional
        A file for finished candidates. A search with the same arguments reads them from the file instead of fitting
        them; its grid may have more points. Failed candidates are fitted again.
    refit : bool, default True
        Whether to fit `best_estimator` again where the fitted model is not available (several processes, or a file).
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
        If an ensemble or a file belongs to other samples.
    KeyboardInterrupt
        If Ctrl-C is pressed before any candidate has a score.

    Notes
    -----
    - "anmi": mean over the ensemble of the normalised mutual information (geometric). It is not adjusted for chance and
      tends to more clusters. "ami": mean adjusted mutual information (arithmetic mean of the entropies), without
      that tendency.
    - "stability": the pipeline is fitted to `repeats` subsamples of 80 % of the samples, drawn once without replacement
      (or `repeats` times to all samples, with different seeds); the mean over all pairs of fits of the adjusted Rand
      index on the samples they share.
    - "silhouette": scikit-learn's mean silhouette, Euclidean; O(n²) time. Favours round clusters.
    - "dbcv": `clusterkit.metrics.dbcv`, for clusters of any shape; O(n²) time.
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
    >>> comparison = search("kmeans", {"n_clusters": [2, 3, 4]}, X, score="silhouette", random_state=0)
    >>> comparison.best_params
    {'n_clusters': 3}
    """
    base = _estimator(pipeline)
    candidates = grids.points_of(grid)
    if score == "objective":
        grids.require_one_objective(candidates, base.get_params())
    checked = check_array(X, dtype=[np.float64, np.float32], order="C", accept_sparse="csr")
    path = None if resume is None else Path(resume)
    workers = _workers(n_jobs)
    seed = _seed(random_state, base, path)
    models = [_prepared(base, params, seed) for params in candidates]
    if all(isinstance(model, Exception) for model in models):
        raise all_failed([failed(p, m) for p, m in zip(candidates, models, strict=True)])
    seeds = Seeds(seed).child("search")
    with bars.shown(verbose), bars.hooks(), threads.suited(0):
        judged = judge(
            score, checked, ensemble=ensemble, noise=noise, on=on, repeats=repeats, stability=stability, seeds=seeds
        )
        store = None if path is None else Store.open(path, _header(base, checked, seed, judged, exclude))
        progress = _SearchInProgress(X, judged, exclude, workers, store)
        progress.run(models, candidates)
        return progress.result(models, seed, refit)


@attrs.define
class _SearchInProgress:
    """The candidates of one search, finished one after the other; after Ctrl-C the rest stays open."""

    X: Any
    judge: Judge
    exclude: bool
    workers: int
    store: Store | None
    done: dict[int, Candidate] = attrs.Factory(dict)
    candidates: tuple[dict[str, Any], ...] = ()
    fitted: tuple[int, Any] | None = None
    interrupted: bool = False

    def run(self, models: list[Any], candidates: tuple[dict[str, Any], ...]) -> None:
        self.candidates = candidates
        waiting = []
        for i, (params, model) in enumerate(zip(candidates, models, strict=True)):
            stored = None if self.store is None else self.store.get(params)
            if isinstance(model, Exception):
                self.done[i] = failed(params, model)
            elif stored is not None:
                self.done[i] = Candidate.restored(params, stored)
            else:
                waiting.append(i)
        try:
            with contextlib.closing(self._results(models, waiting)) as results:
                for i, facts, model in results:
                    if facts is None:
                        self.interrupted = True
                        break
                    self._record(i, facts, model)
        except KeyboardInterrupt:
            self.interrupted = True

    def _results(self, models: list[Any], waiting: list[int]) -> Generator[tuple[int, Any, Any], None, None]:
        if self.workers == 1:
            for i in waiting:
                yield _evaluate(i, models[i], self.X, self.judge, self.exclude, keep=True)
            return
        from joblib import Parallel, delayed

        # copies on write: compiled functions take no arrays that cannot be written to
        parallel = Parallel(n_jobs=self.workers, return_as="generator_unordered", mmap_mode="c")
        results = parallel(
            delayed(_evaluate)(i, models[i], self.X, self.judge, self.exclude, keep=False) for i in waiting
        )
        try:
            yield from results
        finally:
            results.close()

    def _record(self, i: int, facts: dict[str, Any], model: Any) -> None:
        self.done[i] = Candidate(self.candidates[i], **facts)
        if self.store is not None and facts["status"] != "failed":
            written = {**facts, "score": None if math.isnan(facts["score"]) else facts["score"]}
            self.store.add(self.candidates[i], written)
        best = self.best()
        if model is not None and best == i:
            self.fitted = (i, model)
        best_score = None if best is None else self.done[best].score
        tell(Report("search", len(self.done), len(self.candidates), best_score))

    def best(self) -> int | None:
        """Index of the best candidate so far, the first of several equal ones; None if none has a score."""
        sign = -1.0 if self.judge.score == "objective" else 1.0
        scored = [i for i, candidate in self.done.items() if not math.isnan(candidate.score)]
        return max(scored, key=lambda i: (sign * self.done[i].score, -i), default=None)

    def result(self, models: list[Any], seed: int, refit: bool) -> SearchResult[Any]:
        best = self.best()
        candidates = tuple(self.done.get(i, Candidate(params)) for i, params in enumerate(self.candidates))
        if best is None:
            if self.interrupted:
                raise KeyboardInterrupt
            raise all_failed(list(candidates))
        model = clone(models[best])
        if self.fitted is not None and self.fitted[0] == best:
            model = self.fitted[1]
        elif refit and not self.interrupted:
            with _quiet():
                model.fit(self.X)
        return SearchResult(self.judge.score, candidates, best, model, seed, self.interrupted)


def _evaluate(
    i: int, model: Any, X: Any, judge: Judge, exclude: bool, *, keep: bool
) -> tuple[int, dict[str, Any] | None, Any]:
    """Number of a candidate, its facts (None if it was interrupted), and the fitted model if `keep` is set."""
    began = time.perf_counter()
    facts: dict[str, Any] = {}
    try:
        with threads.suited(0), _quiet() as messages:
            fitted = _fitted(clone(model), X)
            labels = np.asarray(fitted.labels_)
            facts = {
                "labels": labels,
                "n_clusters": len(np.unique(labels[labels >= 0])),
                "n_noise": int(np.count_nonzero(labels < 0)),
            }
            why = objections(labels) if exclude else ""
            score = math.nan if why else judge(fitted, labels, _refit(model, X))
        if not why and math.isnan(score):
            why = f"the score has no value for {facts['n_clusters']} clusters and {facts['n_noise']} noise samples"
        status = "excluded" if why else "scored"
        reason = why or "; ".join(dict.fromkeys(str(warning.message) for warning in messages))
        facts |= {"score": score, "status": status, "reason": reason}
    except KeyboardInterrupt:
        return i, None, None
    except Exception as error:  # the failure of one candidate must not end the search
        return i, {**facts, **failure(error), "seconds": time.perf_counter() - began}, None
    return i, {**facts, "seconds": time.perf_counter() - began}, fitted if keep else None


def _fitted(model: Any, X: Any) -> Any:
    """The model, fitted to the end."""
    model.fit(X)
    if getattr(model, "interrupted_", False):
        raise KeyboardInterrupt
    return model


def _refit(model: Any, X: Any) -> Callable[[Indices, int], Labels]:
    from sklearn.utils import _safe_indexing

    def labels_of(rows: Indices, seed: int) -> Labels:
        copy = clone(model)
        if "random_state" in copy.get_params(deep=False):
            copy.set_params(random_state=seed)
        return np.asarray(_fitted(copy, _safe_indexing(X, rows)).labels_)

    return labels_of


@contextlib.contextmanager
def _quiet() -> Iterator[list[Any]]:
    """Collect warnings in a list, for the row of the candidate in the table."""
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always", ClusterkitWarning)
        yield messages


def _estimator(pipeline: ClustererLike) -> Clusterer:
    if isinstance(pipeline, str):
        return recipe(pipeline)
    if isinstance(pipeline, type) or not all(hasattr(pipeline, name) for name in ("fit", "get_params", "set_params")):
        raise InvalidParameter(f"search: pipeline must be the name of a recipe or a clusterer, got {pipeline!r}")
    return pipeline


def _workers(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    if not threads.is_jobs(n_jobs):
        raise InvalidParameter(f"search: n_jobs must be an integer other than 0, or None, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))


def _seed(random_state: RandomState, base: Clusterer, path: Path | None) -> int:
    """The seed of all fits: an int random state itself, else 31 random bits, or the seed in the file."""
    of_base = base.get_params(deep=False).get("random_state")
    before = None if path is None or random_state is not None or of_base is not None else seed_in(path)
    if before is not None:
        return before
    source = of_base if random_state is None else random_state
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


def _header(base: Clusterer, X: Any, seed: int, judged: Judge, exclude: bool) -> dict[str, Any]:
    without = {"random_state": None, "verbose": None, "n_jobs": None}
    return {
        "data": grids.data_digest(X),
        "pipeline": grids.digest({"class": type(base), **base.get_params(deep=False), **without}),
        "seed": seed,
        "judge": grids.digest(
            {
                "score": judged.score,
                "noise": judged.noise,
                "space": judged.space,
                "members": judged.members,
                "refits": [len(judged.seeds), *map(len, judged.subsamples)],
                "exclude": bool(exclude),
            }
        ),
    }
