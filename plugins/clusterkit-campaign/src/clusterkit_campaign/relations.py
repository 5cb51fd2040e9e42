"""Metamorphic relations: changes of the data that must not change the clustering, each where it is promised.

A relation holds where the theory of the composition says so. Whether it does is not read from the names of stages: a
change of scale or position, or a constant column, must leave the labels alone where the fitted feature map gives the
same inner products or the same kernel values as before, or where the solver reads distances alone
(`DISTANCES_ALONE`). Rows in another order must give the same clusters where nothing is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from clusterkit._typing import AnyArray, Array, Labels, Rng
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit_campaign.data_sets import blobs
from clusterkit_campaign.findings import SILENT, Problem, of_error
from clusterkit_campaign.fits import Subject, fitted

__all__ = ["RELATIONS", "check_relation", "clear_groups", "same_partition"]

DISTANCES_ALONE = frozenset({"centroids", "fuzzy_cmeans", "geoclust", "equal"})
"""Solvers of the library whose labels depend on the samples by their distances alone, up to the unit of length."""

CLOSE = 1e-9
"""Largest relative difference of inner products, or of kernel values, that counts as the same space."""

MORE_SEEDS = 16
"""Seeds that must agree with the first before a change by the order of rows counts: of two outcomes that are drawn with
equal probability, all show the same with a chance of 2^-16."""

STEP = 2.0**-10
"""Samples are multiples of it, so that sums with whole numbers and products with powers of two are exact."""


def clear_groups(rng: Rng, k: int) -> Array:
    """k groups, far from each other, of sizes that a balancer accepts; multiples of `STEP`; 12 rows a group."""
    return np.asarray(np.round(blobs(rng, n=12 * k, d=3, k=k, spread=0.4) / STEP) * STEP)


def same_partition(one: Labels, other: Labels) -> bool:
    """Whether two labellings are the same but for the numbers of clusters; -1 is noise in both.

    Examples
    --------
    >>> same_partition(np.array([0, 0, 1, -1]), np.array([2, 2, 0, -1]))
    True
    """
    if not np.array_equal(one < 0, other < 0):
        return False
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


def check_relation(name: str, subject: Subject, counts: Counter[str], seed: int) -> list[tuple[Problem, str]]:
    """Check a relation for a recipe or composition, if it applies; problems with the programs that show them."""
    if not subject.is_composition:
        return []
    rng = np.random.default_rng([seed, 77])
    k = 2 + seed % 2
    X = clear_groups(rng, 2 if subject.clusters == "two" else k)
    c = subject.composition(k)
    if not subject.composition(k).featuremap.takes_negative or c.solver.nonnegative:
        X = X - X.min(axis=0)
    problems = []
    for what in RELATIONS[name](subject, c, X, k, rng, counts):
        problem = what if isinstance(what, Problem) else Problem(SILENT, what)
        program = (
            "from clusterkit_campaign.relations import check_relation\n"
            "from clusterkit_campaign.fits import Subject\n"
            f"subject = Subject({subject.name!r}, {subject.recipe!r}, {dict(subject.parameters)!r}, "
            f"{subject.clusters!r})\n"
            f"print(check_relation({name!r}, subject, __import__('collections').Counter(), {seed}))"
        )
        problems.append((problem, program))
    return problems


def _labels(subject: Subject, X: Any, k: int, counts: Counter[str], seed: int = 0) -> Any:
    """The fitted estimator, or the problem; None if the fit is refused."""
    counts["fits"] += 1
    answer = fitted(subject, X, k, seed)
    if answer.error is not None:
        return of_error(answer.error)
    return answer.model


def _compared(
    subject: Subject, one: AnyArray, other: AnyArray, k: int, counts: Counter[str], order: AnyArray | None = None
) -> Iterator[str | Problem]:
    """Problems if the fits of two data sets, of which the second may be in another order, differ."""
    first, second = _labels(subject, one, k, counts), _labels(subject, other, k, counts)
    for each in (first, second):
        if each is None or isinstance(each, Problem):
            if each is not None:
                yield each
            if (first is None) != (second is None):
                yield "one of two equivalent data sets is refused"
            return
    counts["relations"] += 1
    expected = first.labels_ if order is None else first.labels_[order]
    if not same_partition(expected, second.labels_):
        moved = int(len(expected) - sum(_largest_overlaps(expected, second.labels_)))
        yield Problem(SILENT, "the clusters change", f"{moved} of {len(expected)} rows")


def _largest_overlaps(one: Labels, other: Labels) -> list[int]:
    return [int(np.unique(other[one == label], return_counts=True)[1].max()) for label in np.unique(one)]


def _permuted(
    subject: Subject, c: Composition, X: Array, k: int, rng: Rng, counts: Counter[str]
) -> Iterator[str | Problem]:
    """Rows in another order, where another seed changes nothing."""
    zero, *others = (_labels(subject, X, k, counts, seed) for seed in (0, 1))
    order = rng.permutation(len(X))
    if not _draws_nothing(zero, others):
        return
    for problem in _compared(subject, X, X[order], k, counts, order):
        # Few rows have few divisions of equal size: two seeds may agree by chance.
        if _draws_nothing(zero, (_labels(subject, X, k, counts, seed) for seed in range(2, 2 + MORE_SEEDS))):
            yield problem


def _draws_nothing(zero: Any, others: Iterable[Any]) -> bool:
    """Whether fits with other seeds all gave what the first one gave; all are fitted estimators."""
    for each in others:
        if any(model is None or isinstance(model, Problem) for model in (zero, each)):
            return False
        if not _is_deterministic(zero, each):
            return False
    return True


def _is_deterministic(zero: Any, one: Any) -> bool:
    """Whether two seeds gave the same space, labels and objectives to the last bit."""
    same = np.array_equal(zero.labels_, one.labels_) and np.array_equal(zero.history_, one.history_, equal_nan=True)
    if not same or zero.space_ is None or one.space_ is None:
        return False
    return bool(np.array_equal(_values(zero.space_), _values(one.space_)))


def _values(space: Space) -> Array:
    """Inner products or kernel values of all pairs, (n, n)."""
    if isinstance(space, KernelSpace):
        return np.asarray(space.gram())
    assert isinstance(space, FeatureSpace)
    H = np.vstack([block for _, block in space.blocks()])
    return np.asarray(H @ H.T)


def _renamed(
    subject: Subject, c: Composition, X: Array, k: int, rng: Rng, counts: Counter[str]
) -> Iterator[str | Problem]:
    """Other names of the columns."""
    try:
        import pandas
    except ImportError:
        return
    frames = [pandas.DataFrame(X, columns=names) for names in (["a", "b", "c"], ["z", "\x1b[31m", "a" * 300])]
    yield from _compared(subject, frames[0], frames[1], k, counts)


def _doubled(
    subject: Subject, c: Composition, X: Array, k: int, rng: Rng, counts: Counter[str]
) -> Iterator[str | Problem]:
    """Every row twice: both share a label, where the label follows from the row."""
    model = _labels(subject, np.vstack([X, X]), k, counts)
    if model is None or isinstance(model, Problem):
        if model is not None:
            yield model
        return
    if model.exact_on_training_ and hasattr(model, "predict"):
        counts["relations"] += 1
        if not np.array_equal(model.labels_[: len(X)], model.labels_[len(X) :]):
            yield "equal rows have different labels"


def _invariant(change: Callable[[Array], Array]) -> Any:
    """A relation for a change of the data that leaves the space alone."""

    def relation(
        subject: Subject, c: Composition, X: Array, k: int, rng: Rng, counts: Counter[str]
    ) -> Iterator[str | Problem]:
        other = change(X)
        if c.solver.nonnegative and other.min() < 0:
            return
        if c.solver.name in DISTANCES_ALONE or _same_space(c, X, other):
            yield from _compared(subject, X, other, k, counts)

    return relation


def _narrow(
    subject: Subject, c: Composition, X: Array, k: int, rng: Rng, counts: Counter[str]
) -> Iterator[str | Problem]:
    """float32 rows, two of them far away: the labels are those of the same numbers in float64."""
    if c.solver.name in DISTANCES_ALONE and c.featuremap.name == "identity":
        far = np.full((2, X.shape[1]), 2.0 ** rng.integers(8, 20))
        rows = np.vstack([X, -far if X.min() < 0 else far]).astype(np.float32)
        yield from _compared(subject, rows, rows.astype(np.float64), k + 1, counts)


def _same_space(c: Composition, X: Array, other: Array) -> bool:
    """Whether the feature map gives the same space; if labels are drawn first, they must see the space too."""
    if c.init is not None and c.solver.targets != "never" and c.init.sees == "input":
        return False
    try:
        spaces = [
            c.featuremap.space_of(np.ascontiguousarray(each), Task(len(each), c.n_clusters), np.random.default_rng(5))
            for each in (X, other)
        ]
    except ValueError:
        return False
    one, two = (_values(space) for space in spaces)
    return bool(np.abs(one - two).max() <= CLOSE * max(np.abs(one).max(), np.finfo(float).tiny))


RELATIONS: Mapping[str, Callable[..., Iterator[str | Problem]]] = {
    "permuted rows": _permuted,
    "renamed columns": _renamed,
    "doubled rows": _doubled,
    "moved by 1024": _invariant(lambda X: X + 1024.0),
    "times 1024": _invariant(lambda X: X * 1024.0),
    "divided by 1024": _invariant(lambda X: X / 1024.0),
    "a constant column": _invariant(lambda X: np.column_stack([X, np.full(len(X), 3.0)])),
    "float32 and float64": _narrow,
}
"""The relations by name: generators of problems, which yield nothing where the relation does not apply."""
