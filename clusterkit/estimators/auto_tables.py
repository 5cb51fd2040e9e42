"""What `auto` does with the columns of a table: roles, a mixture beside the pool, and the choice between the two.

The pool of `auto` compares partitions on a spanning tree, which sees shapes, and for which every column counts as much
as its spread. A mixture sees which columns matter and what a category says, and no shape. So that neither outvotes the
other where that one is sure:

1. A mixture of mixed columns (`clusterkit.solvers.mixtures`) is fitted at the given number of clusters, or at all up to
   the one that its criterion prefers. Its number is the largest that is stable, up to the least that has 95 % of the
   gain of the criterion. Another mixture, of six clusters whatever the number, gives the columns their roles.
2. The pool runs on the features of all numbers. It runs on those that are not irrelevant, and on the relevant ones,
   where it is surer of these. Where no number is relevant it runs on the features of the relevant columns.
3. Of numbers without categories the pool has the answer; where pool and mixture find the same structure, and the
   mixture is stable, that of the mixture is taken, with its number. Where the number is open the pool takes that of a
   stable mixture if it is sure of its clusters there, the finer of two numbers that it is sure of.
4. Of other tables the mixture has the answer, unless the pool is sure of another structure. Where the number is open it
   is that of the mixture, unless the pool is sure of its own number and not of the clusters at that of the mixture.

"Sure" is a confidence of at least .9, and of .8 for a number of its own.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts import DriverResult
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.labelings import by_appearance
from clusterkit.contracts.seeds import Seeds
from clusterkit.criteria.confidence import column_agreement, rand_matrix, subsample_stability, subsamples
from clusterkit.criteria.rules import SAME_STRUCTURE
from clusterkit.drivers.auto import AutoDriver
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import ClusterkitWarning, NeedsMemory, counted
from clusterkit.estimators.samples import of_rows
from clusterkit.featuremaps.columns import mixed_columns
from clusterkit.featuremaps.relevant import roles_of
from clusterkit.fitting.fit import n_with_samples
from clusterkit.fitting.samples import ArraySamples
from clusterkit.samples.transform import ChosenColumns
from clusterkit.tables import FittedPreparation
from clusterkit.tables.preparing.plans import CategoryColumn

__all__ = ["Court", "TableAnswer", "is_judged", "restated_column"]

FEWEST_COLUMNS, MOST_COLUMNS = 4, 300
"""Numbers from which a table is judged by its columns though all of them are numbers without gaps; and most columns:
above, likelihoods of thousands of parameters decide nothing."""

FEWEST_ROWS, MOST_ROWS = 20, 200_000
"""Rows between which columns are judged: of fewer roles mean nothing, and of more the mixture takes minutes."""

COMPONENTS = 6
"""Clusters of the mixture that gives the roles: clusters of any shape are covered by several."""

SURE, UNSURE = 0.9, 0.8
"""Confidence from which the pool overrules the mixture, and below which it says nothing about the number."""

SURER = 0.3
"""Difference of the confidences from which the pool runs without the redundant numbers: mostly they make it surer."""

GAINED = 0.95
"""Share of the largest gain of the criterion, over one cluster, that the number of clusters needs. Further clusters
divide groups that are no product of Gaussians and independent categories; chosen on the table breast699."""

STABLE_NUMBER, STABLE_STRUCTURE = 0.9, 0.8
"""Stability of a mixture from which it may decide the number, and from which it confirms the pool."""

TESTS = (
    "projection_p_value",
    "tree_statistic",
    "gain_of_clusters",
    "one_piece",
    "points",
    "rows_compared",
    "trees_on",
    "failed",
)
"""Facts about the rows that the pool finds whatever its answer."""

MOST_TRIED = 4
"""Numbers of clusters whose stability is looked at; where none of them is stable, the largest is kept."""

MOSTLY_IRRELEVANT = 0.5
"""Share of irrelevant columns from which distances are mostly noise, so that a stable mixture of numbers overrules a
pool that is not sure."""

MOSTLY_LEVELS = 0.5
"""Share of columns of few values from which a table without texts and gaps is one of categories."""


@final
@attrs.frozen(eq=False)
class TableAnswer:
    """The answer of a table.

    Parameters
    ----------
    driven : DriverResult
        The fit, which takes rows as `preparation` makes them.
    preparation : FittedPreparation
        Columns as numbers and codes for a mixture, as features for the pool.
    """

    driven: DriverResult
    preparation: FittedPreparation


def is_judged(fitted: FittedPreparation, n: int) -> bool:
    """Whether the columns of a table are judged: a category, a flag or a gap, or four numbers; at most 300 columns."""
    plans = [plan for plan in fitted.plans if plan.used]
    if not FEWEST_ROWS <= n <= MOST_ROWS or not 2 <= len(plans) <= MOST_COLUMNS:
        return False
    mixed = any(isinstance(plan, CategoryColumn) or getattr(plan, "gaps", 0) for plan in plans)
    return mixed or len(plans) >= FEWEST_COLUMNS


@final
@attrs.frozen(eq=False)
class Court:
    """The pool and the mixture of one table.

    Parameters
    ----------
    driver : AutoDriver
    rows : ndarray of shape (n, features)
        The features.
    columns : mapping of str to slice
        Places of the features of each used column.
    coded : ndarray of shape (n, columns)
        The columns as numbers and codes.
    preparation : FittedPreparation
        The one that made `coded`.
    stages : Composition
        The mixture.
    seeds : Seeds
    left_out : frozenset of str, optional
        Columns that are not looked at.
    """

    driver: AutoDriver
    rows: Array
    columns: Mapping[str, slice]
    coded: Array
    preparation: FittedPreparation
    stages: Composition
    seeds: Seeds
    left_out: frozenset[str] = frozenset()

    def without(self, name: str) -> Court:
        """The same table without a column."""
        used = np.arange(self.rows.shape[1])
        dropped = used[self.columns[name]]
        columns, start = dict[str, slice](), 0
        for other, places in self.columns.items():
            if other != name:
                width = places.stop - places.start
                columns[other], start = slice(start, start + width), start + width
        keep = [place for place, other in enumerate(self._names) if other != name]
        return attrs.evolve(
            self, rows=np.delete(self.rows, dropped, axis=1), columns=columns, coded=self.coded[:, keep],
            left_out=self.left_out | {name},
        )  # fmt: skip

    @property
    def _names(self) -> list[str]:
        return [name for name in self.preparation.names_of_codes if name not in self.left_out]

    @property
    def _kinds(self) -> tuple[str, ...]:
        pairs = zip(self.preparation.names_of_codes, self.preparation.kinds_of_codes, strict=True)
        return tuple(kind for name, kind in pairs if name not in self.left_out)

    def mixture(self, k: int | None, part: Indices | None = None) -> FitResult:
        """The mixture at a number of clusters, or at its own; of all rows or a part of them."""
        rows = self.coded if part is None else self.coded[part]
        featuremap = self.stages.featuremap.with_parameters(kinds=self._kinds, names=tuple(self._names))
        composition = attrs.evolve(self.stages, featuremap=featuremap, n_clusters=k)
        return SingleDriver().run([composition], ArraySamples(rows), self.seeds.child("mixture")).fit

    def best_mixture(self) -> tuple[FitResult, float]:
        """The mixture at the given number of clusters, or at the largest stable one, and its stability."""
        fit = self.mixture(self.driver.n_clusters)
        values = cast("Mapping[int, float]", fit.resolved["solver"].get("criterion_of_number", {}))
        if 1 not in values:
            return fit, self.stability(fit)
        most = max(values.values()) - values[1]
        if most <= 0:
            return fit, 0.0
        enough = next(k for k in sorted(values) if k > 1 and values[k] - values[1] >= GAINED * most)
        tried: list[tuple[FitResult, float]] = []
        for k in range(enough, 1, -1):
            fit = fit if k == n_with_samples(fit.labels) else self.mixture(k)
            tried.append((fit, self.stability(fit)))
            if tried[-1][1] >= STABLE_NUMBER:
                return tried[-1]
            if len(tried) == MOST_TRIED:
                break
        return tried[0]

    def roles(self) -> Mapping[str, str]:
        """The role of each used column."""
        return roles_of(self.coded, self._kinds, tuple(self._names), COMPONENTS, self.seeds.stream("roles"))

    @property
    def categories(self) -> frozenset[str]:
        """The columns that are categories."""
        return frozenset(plan.name for plan in self.preparation.plans if isinstance(plan, CategoryColumn))

    @property
    def is_of_numbers(self) -> bool:
        """Whether the table has no categories and no gaps, and mostly numbers of many values."""
        if self.categories or np.isnan(self.coded).any():
            return False
        columns = mixed_columns(self.coded, self._kinds)
        return len(columns.levels) < MOSTLY_LEVELS * len(self.columns)

    def features(self, roles: Mapping[str, str], wanted: Sequence[str]) -> Indices:
        """The features of the numbers with these roles; of all relevant columns, or all, where there is no number."""
        of_numbers = [name for name in self.columns if name not in self.categories and roles.get(name) in wanted]
        relevant = [name for name in self.columns if roles.get(name) == "cluster-dependent"]
        chosen = of_numbers or relevant or list(self.columns)
        return np.concatenate([np.arange(self.columns[name].start, self.columns[name].stop) for name in chosen])

    def pool(self, k: int | None, roles: Mapping[str, str], of_all: DriverResult | None = None) -> DriverResult:
        """The answer of the pool, of the features of which it is the surest, as one for all features.

        `of_all` is its answer on all of them, where that is known.
        """
        every = tuple(dict.fromkeys(roles.values())) if self.is_of_numbers else ("cluster-dependent", "redundant")
        best: DriverResult | None = None
        seen: set[bytes] = set()
        for wanted in (every, ("cluster-dependent", "redundant"), ("cluster-dependent",)):
            index = self.features(roles, wanted)
            if index.tobytes() in seen or (best is not None and _confidence(best) > 1.0 - SURER):
                continue
            seen.add(index.tobytes())
            is_known = len(index) == self.rows.shape[1]
            answer = of_all if of_all is not None and is_known else self.pool_on(k, index)
            if best is None or _confidence(answer) >= _confidence(best) + SURER:
                best = answer
        assert best is not None
        return best

    def pool_on(self, k: int | None, index: Indices) -> DriverResult:
        """The answer of the pool on some features, as one for all."""
        every = len(index) == self.rows.shape[1]
        rows = self.rows if every else np.ascontiguousarray(self.rows[:, index])
        driver = self.driver if k is None else attrs.evolve(self.driver, n_clusters=k, between=None)
        answer = driver.run([], rows, self.seeds)
        return answer if every else attrs.evolve(answer, fit=of_rows(answer.fit, ChosenColumns(index)))

    def restates(self, pool: DriverResult) -> bool:
        """Whether the clusters of the pool are the values of one column, so that they prove nothing."""
        return restated_column(np.asarray(pool.fit.labels), self.rows, self.columns) is not None

    def stability(self, fit: FitResult) -> float:
        """How far mixtures of two disjoint halves of the rows, or of 500, agree with the one of all."""
        labels, k = np.asarray(fit.labels), n_with_samples(fit.labels)
        if k < 2:
            return 0.0
        parts = subsamples(len(labels), self.seeds.stream("halves"))
        return subsample_stability(labels, parts, lambda i: np.asarray(self.mixture(k, parts[i]).labels))

    def answer(self) -> TableAnswer | None:
        """The better of the pool and the mixture; None where memory allows no mixture."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClusterkitWarning)  # of clusters that are nowhere the most probable
                (mixture, stability), roles = self.best_mixture(), self.roles()
        except NeedsMemory:
            return None
        k = self.driver.n_clusters or n_with_samples(mixture.labels)
        facts: dict[str, object] = {"column_roles": dict(roles)}
        is_open = self.driver.n_clusters is None
        if k < 2:
            return self._of_pool(self.pool(None, roles), facts)
        of_numbers = self.is_of_numbers
        pool = self.pool_on(k, np.arange(self.rows.shape[1])) if of_numbers else self.pool(k, roles)
        similarity = _similarity(pool.fit.labels, mixture.labels)
        facts |= {"similarity_of_mixture_and_pool": round(similarity, 3), "stability_of_mixture": round(stability, 3)}
        if of_numbers:
            if stability < STABLE_STRUCTURE or similarity < SAME_STRUCTURE:
                best = self.pool(None, roles) if is_open else self.pool(k, roles, pool)
                if is_open and stability >= STABLE_NUMBER:
                    best = self._finer(best, self.pool(k, roles, pool))
                noise = np.mean([role == "irrelevant" for role in roles.values()]) > MOSTLY_IRRELEVANT
                if not (noise and stability >= STABLE_NUMBER and _confidence(best) < SURE):
                    return self._of_pool(best, facts)
        elif _confidence(pool) >= SURE and similarity < SAME_STRUCTURE and not self.restates(pool):
            return self._of_pool(pool, facts)
        elif is_open and _confidence(pool) < SURE:
            free = self.pool(None, roles)
            if _confidence(free) >= UNSURE and not self.restates(free):
                return self._of_pool(free, facts)
        confidence = max(mixture_confidence(stability, similarity), _confidence(pool) if of_numbers else 0.0)
        perhaps = pool.report["perhaps_one_cluster"]
        of_pool = pool.fit.resolved.get("auto", {})
        tests = {name: of_pool[name] for name in TESTS if name in of_pool}
        facts = {
            "recipe": "mixture",
            "n_clusters": k,
            "criterion": "evidence of the columns",
            "covariance": mixture.resolved["solver"]["covariance"],
            **facts,
            "pool": of_pool.get("recipe"),
            "confidence_of_pool": round(_confidence(pool), 3),
            "confidence": round(confidence, 3),
            "perhaps_one_cluster": perhaps,
            **tests,
        }
        reason = f"the mixture of mixed columns: {counted(k, 'cluster')}"
        fit = attrs.evolve(mixture, reason=reason, resolved={**mixture.resolved, "auto": facts})
        report = {"candidates": [], "confidence": confidence, "perhaps_one_cluster": perhaps, "second_n_clusters": None}
        return TableAnswer(DriverResult(fit, report), self.preparation)

    def _finer(self, free: DriverResult, at: DriverResult) -> DriverResult:
        """The pool at its own number, or at that of the mixture: the finer one of which it is sure."""
        finer = n_with_samples(at.fit.labels) > n_with_samples(free.fit.labels)
        return at if _confidence(at) >= SURE and (finer or _confidence(free) < SURE) else free

    def _of_pool(self, pool: DriverResult, facts: Mapping[str, object]) -> TableAnswer:
        """The answer of the pool, with the roles."""
        resolved = {**pool.fit.resolved, "auto": {**pool.fit.resolved.get("auto", {}), **facts}}
        answer = attrs.evolve(pool, fit=attrs.evolve(pool.fit, resolved=resolved))
        return TableAnswer(answer, attrs.evolve(self.preparation, coded=False))


CONSTANT, STABLE, SAME = -11.0, 13.5, 1.0
"""Constant, and weights of stability and of the agreement with the pool, of `mixture_confidence`: by eye on 45 tables,
generated and real, of which 1 of 20 with a stability of .97 and more had other classes than clusters."""


def mixture_confidence(stability: float, similarity: float) -> float:
    """Estimated probability that the clusters of a mixture have an adjusted Rand index of .8 with the structure.

    Parameters
    ----------
    stability : float
        Agreement with mixtures of halves of the rows.
    similarity : float
        Agreement with the pool.
    """
    return 1.0 / (1.0 + math.exp(-(CONSTANT + STABLE * stability + SAME * similarity)))


RESTATED = 0.7
"""Agreement of the clusters with one column (`column_agreement`) from which they are said to restate it."""

MOST_VALUES, LEAST_ROWS = 200, 10
"""Most distinct values of a column that clusters can restate, and least rows to each of them on average."""

LOOKED_AT = 20_000
"""Rows in which distinct values are counted, at regular intervals of more."""


def restated_column(labels: Labels, rows: Array, columns: Mapping[str, slice]) -> tuple[str, float] | None:
    """The column of few values that clusters restate, with their agreement; None if there is none.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    rows : ndarray of shape (n, features)
    columns : mapping of str to slice
        Places of the features of each column; above 300 columns none is looked at.
    """
    if not 2 <= len(columns) <= MOST_COLUMNS or labels.max() < 1:
        return None
    part = slice(None, None, -(-len(rows) // LOOKED_AT))
    agreement: dict[str, float] = {}
    for name, places in columns.items():
        _, codes = np.unique(rows[part, places], axis=0, return_inverse=True)
        if 1 <= codes.max() < min(MOST_VALUES, len(codes) // LEAST_ROWS):
            of_levels = places.stop - places.start > 1
            agreement[name] = column_agreement(labels[part], codes.reshape(-1), unions=of_levels)
    name = max(agreement, key=agreement.__getitem__, default="")
    return (name, agreement[name]) if agreement.get(name, 0.0) >= RESTATED else None


def _confidence(answer: DriverResult) -> float:
    value = cast("float", answer.report["confidence"])
    return 0.0 if np.isnan(value) else value


def _similarity(one: Labels, other: Labels) -> float:
    return float(rand_matrix([by_appearance(np.asarray(one)), by_appearance(np.asarray(other))])[0, 1])
