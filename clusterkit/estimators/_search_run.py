"""The candidates of a search, fitted and scored one after the other or by several workers."""

from __future__ import annotations

import contextlib
import math
import signal
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone

from clusterkit._interrupts import ctrl_c_waits
from clusterkit._typing import Array, Indices, Labels
from clusterkit.errors import ClusterkitWarning, InvalidParameter
from clusterkit.estimators._search_results import Candidate, SearchResult
from clusterkit.estimators._search_scores import EvidenceColumns, Judge, SearchScores, families, objections
from clusterkit.estimators.base import FittedAttributes
from clusterkit.estimators.preparing import attach, fit_prepared, stages_of_tables
from clusterkit.numerics.threads import limited_threads
from clusterkit.samples.limits import Report, notify
from clusterkit.tables import FittedPreparation, Table

NAMED_FAILURES = 3
"""Failures that the error of an unsuccessful search names; more would hide the advice below them."""


@attrs.define
class SearchInProgress:
    """The candidates of one search, finished one after the other; after Ctrl-C the rest stays open."""

    X: Any
    judge: Judge
    exclude: bool
    workers: int
    candidates: tuple[dict[str, Any], ...]
    done: dict[int, Candidate] = attrs.Factory(dict)
    fitted: tuple[int, Any] | None = None
    interrupted: bool = False

    def run(self, models: list[Any]) -> None:
        failed = {i: model for i, model in enumerate(models) if isinstance(model, Exception)}
        self.done = {i: failed_candidate(self.candidates[i], error) for i, error in failed.items()}
        waiting = [i for i in range(len(models)) if i not in failed]
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

        # mapped with copy on write, because compiled functions refuse read-only arrays
        # workers ignore Ctrl-C: this process gets it too, and ends them without a traceback of each
        parallel = Parallel(
            n_jobs=self.workers, return_as="generator_unordered", mmap_mode="c", initializer=_ignore_ctrl_c
        )
        with _deaf_to_ctrl_c():
            results = parallel(
                delayed(_evaluate)(i, models[i], self.X, self.judge, self.exclude, keep=False) for i in waiting
            )
        try:
            yield from results
        finally:
            results.close()

    def _record(self, i: int, facts: dict[str, Any], model: Any) -> None:
        self.done[i] = Candidate(self.candidates[i], **facts)
        # the default score is known at the end; which model to keep too
        best = None if self.judge.criterion is not None else self.best()
        if model is not None and best == i:
            self.fitted = (i, model)
        best_score = None if best is None else self.done[best].score
        notify(Report("search", len(self.done), len(self.candidates), best_score))

    def best(self) -> int | None:
        """Index of the best candidate so far, the first of several equal ones; None if none has a score."""
        sign = -1.0 if self.judge.score == "objective" else 1.0
        scored = [i for i, candidate in self.done.items() if not math.isnan(candidate.score)]
        return max(scored, key=lambda i: (sign * self.done[i].score, -i), default=None)

    def compared(self, models: list[Any]) -> SearchScores:
        """The scores of the candidates that are done, by the criterion that compares all of them."""
        assert self.judge.criterion is not None
        candidates = [self.done.get(i, Candidate(params)) for i, params in enumerate(self.candidates)]
        scores = self.judge.criterion.compare(candidates, families(models, self.candidates))
        for i, candidate in self.done.items():
            if candidate.status == "scored":
                value = float(scores.values[i])
                self.done[i] = attrs.evolve(candidate, score=value)
                if math.isnan(value):
                    self.done[i] = attrs.evolve(candidate, status="excluded", reason="one cluster")
        return scores

    def search_result(self, models: list[Any], seed: int, refit: bool) -> SearchResult[Any]:
        facts: Mapping[str, object] = {}
        if self.judge.criterion is None:
            best = self.best()
        else:
            scores = self.compared(models)
            best, facts = scores.best, scores.facts
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
                _fitted(model, self.X)
        return SearchResult(self.judge.score, candidates, best, model, seed, self.interrupted, facts)


def _ignore_ctrl_c() -> None:
    """Let a worker process ignore Ctrl-C; called when it starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Ctrl-C takes effect at the end, and processes that are started meanwhile never hear of it.

    Until a new process has imported what it needs it could only answer with a traceback. Blocked signals are inherited
    by processes and threads; other threads of this process may still take the signal, so that its handler waits too.
    """
    blocks = hasattr(signal, "pthread_sigmask")
    with ctrl_c_waits():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else set()
        try:
            yield
        finally:
            if blocks:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _evaluate(
    i: int, model: Any, X: Any, judge: Judge, exclude: bool, *, keep: bool
) -> tuple[int, dict[str, Any] | None, Any]:
    """Number of a candidate, its facts (None if it was interrupted), and the fitted model if `keep` is set."""
    began = time.perf_counter()
    facts: dict[str, Any] = {}
    try:
        with limited_threads(0), _quiet() as messages:
            fitted = _fitted(clone(model), X)
            of_fit = [str(warning.message) for warning in messages]
            labels = np.asarray(fitted.labels_)
            # models of others may not be made for threads
            most = None if isinstance(model, FittedAttributes) else 1
            facts = {
                "labels": labels,
                "n_clusters": len(np.unique(labels[labels >= 0])),
                "n_noise": int(np.count_nonzero(labels < 0)),
            }
            why = objections(labels) if exclude else ""
            score = math.nan
            if not why and judge.criterion is not None:
                facts["stability"] = judge.criterion.stability(labels, _refit(model, X), most)
            elif not why:
                score = judge(fitted, labels, _refit(model, X), most)
        if not why and math.isnan(score) and judge.criterion is None:
            why = f"the score has no value for {facts['n_clusters']} clusters and {facts['n_noise']} noise samples"
        status = "excluded" if why else "scored"
        later = sorted(str(warning.message) for warning in messages[len(of_fit) :])  # refits run side by side
        reason = why or "; ".join(dict.fromkeys(of_fit + later))
        facts |= {"score": score, "status": status, "reason": reason}
    except KeyboardInterrupt:
        return i, None, None
    except Exception as error:  # the failure of one candidate must not end the search
        return i, {**facts, **_failure(error), "seconds": time.perf_counter() - began}, None
    return i, {**facts, "seconds": time.perf_counter() - began}, fitted if keep else None


@attrs.frozen(eq=False)
class TableSamples:
    """A table for the fits of a search: as it is for models that take such columns, as features for the others.

    Parameters
    ----------
    table : Table
    preparation : FittedPreparation
        The one that made the features.
    features : ndarray of shape (n, d)
    """

    table: Table
    preparation: FittedPreparation
    features: Array

    @property
    def columns(self) -> EvidenceColumns:
        """The columns as numbers and codes."""
        coded = attrs.evolve(self.preparation, coded=True)
        return EvidenceColumns(coded.transform(self.table, quiet=True), coded.kinds_of_codes)

    def fit(self, model: Any) -> None:
        """Fit a model to the form that it takes; its `predict` then takes tables."""
        if stages_of_tables(model) is not None:
            fit_prepared(model, self.table, self.preparation.preparation)
            return
        model.fit(self.features)
        if isinstance(model, FittedAttributes):
            attach(model, self.preparation)

    def take(self, rows: Indices) -> TableSamples:
        """Some rows."""
        return attrs.evolve(self, table=self.table.take(rows), features=self.features[rows])


def _fitted(model: Any, X: Any) -> Any:
    """The model, fitted to the end."""
    if isinstance(X, TableSamples):
        X.fit(model)
    else:
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
        part = X.take(rows) if isinstance(X, TableSamples) else _safe_indexing(X, rows)
        return np.asarray(_fitted(copy, part).labels_)

    return labels_of


@contextlib.contextmanager
def _quiet() -> Iterator[list[Any]]:
    """Collect warnings in a list, for the row of the candidate in the table."""
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always", ClusterkitWarning)
        yield messages


def _failure(error: Exception) -> dict[str, Any]:
    return {"score": math.nan, "status": "failed", "reason": f"{type(error).__name__}: {error}"}


def failed_candidate(params: Mapping[str, Any], error: Exception) -> Candidate:
    return Candidate(params, **_failure(error))


def all_failed(candidates: list[Candidate]) -> InvalidParameter:
    """The error for a search in which no candidate has a score."""
    reasons = list(dict.fromkeys(f"{candidate.params}: {candidate.reason}" for candidate in candidates))
    some = "\n  ".join(reasons[:NAMED_FAILURES])
    more = f"\n  and {len(reasons) - NAMED_FAILURES} more" if len(reasons) > NAMED_FAILURES else ""
    kinds = {candidate.status for candidate in candidates}
    what = "failed" if kinds == {"failed"} else "was excluded" if kinds == {"excluded"} else "failed or was excluded"
    hint = "" if kinds == {"failed"} else "\nexclude=False keeps those with too few or too many clusters."
    return InvalidParameter(f"search: every one of {len(candidates)} candidates {what}:\n  {some}{more}{hint}")
