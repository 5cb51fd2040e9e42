"""Whole pipelines: fits a legal composition, repeats, predicts and pickles; and chooses which compositions to try."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts.composition import SLOTS, Composition
from clusterkit.contracts.outcomes import MixtureScores
from clusterkit.errors import InvalidData
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.samples.array_libraries import to_host
from clusterkit.samples.coding import Coding
from clusterkit.testing.compare import check_saving, same_bits
from clusterkit.testing.strategies import Case

MAX_ITER = 12
"""Iterations at most in a trial fit: enough for small samples to converge, and few enough for hundreds of fits."""


def describe(c: Composition) -> str:
    """The names of the stages, joined by hyphens: the label that pytest shows.

    Examples
    --------
    >>> from clusterkit import compositions
    >>> describe(next(iter(compositions())))
    'elm-centroids-argmax-None-equal-2'
    """
    return "-".join(value for _, value in _slots(c))


def samples(dtype: str = "float64", pairs: str = "") -> Array:
    """Three blobs in [0, 1]², 27 rows; or their distances, for what takes a matrix of pairs."""
    X = Case("blobs", 27, 2, 3, "float64", seed=5).X
    scaled: Array = ((X - X.min(axis=0)) / np.ptp(X, axis=0)).astype(dtype)
    return np.sqrt(((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)) if pairs else scaled


def estimator(c: Composition, seed: int = 0) -> Pipeline:
    """A pipeline of the stages, with at most `MAX_ITER` iterations."""
    return Pipeline(
        c.featuremap, c.solver, c.labeler, c.balancer, "random" if c.init is None else c.init,
        n_clusters=c.n_clusters, n_init=c.n_init, max_iter=min(c.max_iter, MAX_ITER), random_state=seed,
    )  # fmt: skip


def check_composition(c: Composition, X: Array | None = None, *, seed: int = 0) -> bool:
    """Fit a legal composition and check every promise of `Pipeline`.

    Parameters
    ----------
    c : Composition
    X : ndarray of shape (n, d), optional
        Default `samples()`.
    seed : int, default 0

    Returns
    -------
    bool
        False if a stage refused the data by name (negative features for NMF), which is a correct answer too.

    Raises
    ------
    AssertionError
        Saying which promise was broken.
    """
    X = samples(pairs=c.featuremap.takes_pairs) if X is None else X
    try:
        model = estimator(c, seed).fit(X)
    except InvalidData as refused:
        refusal = str(refused)
        named = [stage.name for stage in (c.featuremap, c.solver, c.labeler) if f"'{stage.name}'" in refusal]
        assert named, f"the refusal names no stage: {refusal}"
        return False
    _check_results(c, model, X)
    again = estimator(c, seed).fit(X)
    same_bits(again.labels_, model.labels_, "labels of two fits with one seed")
    same_bits(again.history_, model.history_, "objectives of two fits with one seed")
    _check_predictions(c, model, X)
    check_saving(model, X)
    return True


def check_clusters(model: object, X: object) -> None:
    """Check that a fit has one set of clusters: column j of each table with a column for each is cluster j.

    The clusters are those that have rows; of the tables the largest entry of a row is its label, where `predict` takes
    it. Seeds may name numbers between which some have no rows: such fits are not for this check.

    Raises
    ------
    AssertionError
        Naming the table.
    """
    fitted: Any = model
    labels, k = to_host(fitted.labels_), fitted.n_clusters_
    codec = getattr(model, "labeler", None) and fitted.composition().labeler
    if getattr(codec, "coding", Coding.ONEHOT) is Coding.ONEHOT:  # other codecs number places along one score
        numbers = np.unique(labels[labels >= 0])
        np.testing.assert_array_equal(numbers, np.arange(k), err_msg="clusters without rows have numbers")
    names = ["predict_proba"]
    if getattr(codec, "largest", False) or getattr(codec, "consumes", None) is MixtureScores:
        names += ["decision_function", "transform"]
    predict = getattr(model, "predictor_", None)
    plain = all(getattr(predict, name, None) is None for name in ("offsets", "scale"))
    for name in [name for name in names if hasattr(model, name)]:
        table = to_host(getattr(model, name)(X)).reshape(len(labels), -1)
        assert table.shape[1] == k, f"{name} has {table.shape[1]} columns for {k} clusters"
        if name != "transform" and plain:
            inside = table.any(axis=1)  # rows of noise, and those at its edge, have no degrees
            np.testing.assert_array_equal(
                table.argmax(axis=1)[inside], to_host(fitted.predict(X))[inside], err_msg=name
            )
    for name, axis in (("memberships_", 1), ("cluster_centers_", 0)):
        table = getattr(model, name, None)
        assert table is None or table.shape[axis] == k, f"{name} has shape {table.shape} for {k} clusters"


def _check_results(c: Composition, model: Pipeline, X: Array) -> None:
    labels, n = model.labels_, len(X)
    assert labels.shape == (n,)
    assert labels.dtype == np.intp
    if c.n_clusters is None:
        numbers = np.unique(labels[labels >= 0])
        assert labels.min() >= -1
        np.testing.assert_array_equal(numbers, np.arange(len(numbers)), err_msg="numbers are left out")
    else:
        assert labels.min() >= 0
        assert labels.max() < c.n_clusters
        if c.balancer is not None:
            low, high = c.balancer.bounds(n, c.n_clusters)
            sizes = np.bincount(labels, minlength=c.n_clusters)
            assert (sizes >= low).all(), f"sizes {sizes}, at least {low}"
            assert (sizes <= high).all(), f"sizes {sizes}, at most {high}"
    # a solver that learns from no labels may start at its optimum
    assert model.n_iter_ >= (c.solver.targets != "never")
    assert isinstance(model.converged_, bool)
    assert model.stop_reason_, "no reason why it stopped"
    assert model.history_.ndim == 1
    if c.solver.targets == "every_iteration":
        assert len(model.history_) == model.n_iter_ <= MAX_ITER
    if c.solver.has_objective:
        assert np.isfinite(model.history_).all()
        assert np.isfinite(model.objective_)
    assert model.n_features_in_ == X.shape[1]
    assert model.space_ is not None
    assert model.space_.n == n
    assert model.outcome_ is not None
    if model.n_clusters_:
        check_clusters(model, X)


def _check_predictions(c: Composition, model: Pipeline, X: Array) -> None:
    fresh = estimator(c)
    assert hasattr(fresh, "predict") == hasattr(model, "predict") == c.inductive
    again: Pipeline = pickle.loads(pickle.dumps(model))
    same_bits(again.labels_, model.labels_, "labels after pickling")
    if not c.inductive:
        assert not model.exact_on_training_
        assert "transductive" in str(fresh._why_not_inductive())
        return
    new = (X[::-1] * 0.9 + 0.03).astype(X.dtype)
    predicted = model.predict(new)
    assert predicted.shape == (len(new),)
    fixed = getattr(c.labeler, "coding", Coding.ONEHOT) is not Coding.ONEHOT
    assert set(predicted.tolist()) <= {-1, *range((fixed and c.n_clusters) or int(model.labels_.max()) + 1)}
    same_bits(again.predict(new), predicted, "predictions after pickling")
    if model.exact_on_training_:
        np.testing.assert_array_equal(model.predict(X), model.labels_, err_msg="exact_on_training_ is True")


def pairwise_cover(compositions: Iterable[Composition]) -> list[Composition]:
    """A few compositions that together contain every pair of slot values that occurs in any of them; greedy.

    Parameters
    ----------
    compositions : iterable of Composition

    Returns
    -------
    list of Composition
        Deterministic: ties go to the first.
    """
    listed = list(compositions)
    number: dict[tuple[tuple[str, str], tuple[str, str]], int] = {}
    pairs = np.array([[number.setdefault(pair, len(number)) for pair in combinations(_slots(c), 2)] for c in listed])
    missing = np.ones(len(number), dtype=bool)
    cover = []
    while missing.any():
        best = int(np.argmax(missing[pairs].sum(axis=1)))
        cover.append(listed[best])
        missing[pairs[best]] = False
    return cover


def _slots(c: Composition) -> list[tuple[str, str]]:
    """Slot and value, in order."""
    stages = {slot: getattr(c, slot) for slot in SLOTS}
    named = [(slot, "None" if stage is None else str(stage.name)) for slot, stage in stages.items()]
    return [*named, ("n_clusters", str(c.n_clusters))]
