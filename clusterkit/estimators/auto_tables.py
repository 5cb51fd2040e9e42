"""What `auto` does with columns of tables and arrays: roles, a mixture beside the pool, and the choice of the two.

The pool of `auto` compares partitions on a spanning tree, which sees shapes, and for which every column counts as much
as its spread. A mixture sees which columns matter and what a category says, and no shape. So that neither outvotes the
other where that one is sure:

1. A mixture of mixed columns is fitted at the given number of clusters, or at all up to
   the one that its criterion prefers. Its number is that at which the gain of the criterion over one cluster, times the
   share of it that halves of the rows confirm, is the largest. A number of which two clusters have one mode together
   is none: a core and its heavy tails are one cluster. Another mixture, of six clusters whatever the number, gives the
   columns their roles.
2. The pool runs on the features of all numbers. It runs on those that are not irrelevant, and on the relevant ones,
   where it is surer of these. Where no number is relevant it runs on the features of the relevant columns.
3. Of numbers without categories, and of arrays, the pool has the answer where it is sure, or its families agree with
   it more than with the mixture, up to rows on borders, which the mixture decides. Else the mixture has it where it is
   stable, or the pool is hardly right and there are columns that say nothing of the clusters.
   On a lattice, of columns of few values, distances have gaps whatever the clusters: the mixture has the answer.
4. Of other tables the mixture has the answer, unless the pool is sure, and surer, of another structure. Where the
   number is open it is that of the mixture, unless the pool is sure of its own number and not of the clusters at that
   of the mixture. Fewer clusters that a surer mixture only divides are no reason against it.

"Sure" is a confidence of at least .9, and of .8 for a number of its own.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts import DriverResult
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.labelings import by_appearance
from clusterkit.contracts.outcomes import MixtureScores
from clusterkit.contracts.seeds import Seeds
from clusterkit.criteria.confidence import AGREES, column_agreement, rand_matrix, subsample_stability, subsamples
from clusterkit.criteria.one_cluster import MOST_OF_ONE, indicated_levels
from clusterkit.criteria.rules import SAME_STRUCTURE
from clusterkit.drivers.auto import CONFIRMS, AutoDriver, is_nested, restated_in_words
from clusterkit.drivers.auto_fits import FAILURES, Known
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import ClusterkitWarning, NeedsMemory, counted
from clusterkit.estimators.samples import of_rows
from clusterkit.families.mixtures.columns import mixed_columns
from clusterkit.families.mixtures.mixed_mixture import MixedPosteriors, PreparedMixture
from clusterkit.families.mixtures.relevant import roles_of
from clusterkit.families.mixtures.search import RESTATED, apart
from clusterkit.fitting.fit import BoundComposition, bind, n_with_samples, run
from clusterkit.fitting.samples import ArraySamples
from clusterkit.numerics.selection import are_few
from clusterkit.samples.transform import ChosenColumns
from clusterkit.tables import FittedPreparation
from clusterkit.tables.preparing.plans import CategoryColumn

FEWEST_COLUMNS, MOST_COLUMNS = 4, 300
"""Smallest number of columns from which a table of numbers without gaps is judged by its columns too, and largest
number: with more, likelihoods of thousands of parameters decide nothing."""

FEWEST_ROWS, MOST_ROWS = 20, 200_000
"""Smallest number of rows by which columns are judged, since roles in fewer mean nothing; and largest number of which
all are used, since a mixture of more takes minutes."""

SAMPLE = 20_000
"""Rows of the sample by which larger tables are judged: its mixture takes less time than the pool, and a cluster of one
in a thousand rows has 20 of them."""

ROWS_OF_OTHERS = 2000
"""Most rows in which the pool looks at the other columns, where clusters restate one: it only confirms them or not."""

COMPONENTS = 6
"""Clusters of the mixture that gives the roles: clusters of any shape are covered by several."""

SURE, UNSURE = 0.9, 0.8
"""Confidence from which the pool overrules the mixture, and below which it says nothing about the number."""

SURER = 0.3
"""Difference of the confidences from which the pool runs without the redundant numbers: mostly they make it surer."""

STABLE_STRUCTURE = 0.8
"""Stability from which a mixture of numbers of many values is believed against the pool."""

EVIDENCE = "evidence of the columns"
"""The criterion of a mixture, in `resolved_`."""

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

UNLIKELY = 0.1
"""Confidence of a mixture below which its clusters are not taken where the pool has others that are likely."""

HARDLY = 0.2
"""Confidence of the pool below which a mixture of numbers stands, however stable, if it has found columns that say
nothing of the clusters, which the pool cannot see."""

MOST_NUMBERS = 10
"""Numbers of clusters beyond the least of a range that a mixture is fitted at."""

MOSTLY_LEVELS = 0.5
"""Share of columns of few values from which a table without texts and gaps is one of categories, and data a lattice."""


@final
@attrs.frozen(eq=False)
class TableAnswer:
    """The answer of a table.

    Parameters
    ----------
    driven : DriverResult
        The fit, which takes rows as `preparation` makes them.
    preparation : FittedPreparation or None
        Columns as numbers and codes for a mixture, as features for the pool; None for an array.
    """

    driven: DriverResult
    preparation: FittedPreparation | None


@final
@attrs.frozen(eq=False)
class Numbered:
    """A mixture at the number of clusters that was given or chosen.

    Parameters
    ----------
    fit : FitResult
    stability : float
        Agreement with mixtures of halves of the rows.
    scores : mapping of int to float, optional
        Gain of the criterion over one cluster at each number, as a share of the largest, times the share that halves of
        the rows confirm: their agreement, divided by the one that clusters that overlap so far can have.
    second : FitResult or None, optional
        The mixture at the next best number.
    left : float, optional
        What the criterion gains beyond this number, a row: much where the number is too small.
    """

    fit: FitResult
    stability: float
    scores: Mapping[int, float] = attrs.field(factory=dict)
    second: FitResult | None = None
    left: float = 0.0

    @cached_property
    def confidence(self) -> float:
        """Estimated probability that the clusters are right."""
        return mixture_confidence(self.stability, attainable(self.fit), self.left)

    def candidates(self) -> list[Mapping[str, object]]:
        """The mixtures at the chosen and at the next best number, as rows of `Auto.candidates_`."""
        if self.second is None:
            return []
        return [
            {
                "recipe": "mixture",
                "n_clusters": n_with_samples(fit.labels),
                "score": self.scores.get(n_with_samples(fit.labels), 0.0),
                "similarity": rand_index(fit.labels, self.fit.labels),
                "found_by": ["mixture"],
            }
            for fit in (self.fit, self.second)
        ]


def is_judged(fitted: FittedPreparation, n: int) -> bool:
    """Whether the columns of a table are judged: a category, a flag or a gap, or four numbers; at most 300 columns."""
    plans = [plan for plan in fitted.plans if plan.used]
    if n < FEWEST_ROWS or not 2 <= len(plans) <= MOST_COLUMNS:
        return False
    mixed = any(isinstance(plan, CategoryColumn) or getattr(plan, "gaps", 0) for plan in plans)
    return mixed or len(plans) >= FEWEST_COLUMNS


@final
@attrs.frozen(eq=False)
class AutoRows:
    """Rows in memory for `Auto`, with what is known about them.

    Parameters
    ----------
    rows : ndarray of shape (n, features)
        Of a table its features.
    names : sequence of str
        Names of the attributes of an array; () for those without.
    fitted : FittedPreparation or None
        The one that made `rows`; None for an array.
    cells : ndarray or None
        The columns of a table as numbers and codes.
    known : Known or None
    """

    rows: Array
    names: Sequence[str]
    fitted: FittedPreparation | None = None
    cells: Array | None = None
    known: Known | None = None

    @cached_property
    def columns(self) -> Mapping[str, slice]:
        """The places of the features of each column of a table, or of each attribute of an array, by its name."""
        if self.fitted is None:
            names = self.names or [f"column {j + 1}" for j in range(self.rows.shape[1])]
            return {name: slice(j, j + 1) for j, name in enumerate(names)}
        ends = np.cumsum([len(plan.features) for plan in self.fitted.plans if plan.used]).tolist()
        return {name: slice(begin, end) for name, begin, end in zip(self.fitted.used, [0, *ends], ends, strict=False)}

    @property
    def are_judged(self) -> bool:
        """Whether the columns are judged; the attributes of an array are if they are 4 to 300, and fewer than rows."""
        if self.fitted is not None:
            return is_judged(self.fitted, len(self.rows))
        n, d = self.rows.shape
        judged = n >= FEWEST_ROWS and FEWEST_COLUMNS <= d <= MOST_COLUMNS and d < n
        return judged and isinstance(self.rows, np.ndarray) and len(self.columns) == d

    def court(self, driver: AutoDriver, stages: Composition, seeds: Seeds) -> Court:
        """The pool and a mixture of the columns."""
        if driver.between is not None:
            least, most = driver.between
            limits = {"least_clusters": least, "most_clusters": max(least, min(most, least + MOST_NUMBERS))}
            stages = attrs.evolve(stages, solver=stages.solver.with_parameters(**limits))
        if self.fitted is None or self.cells is None:
            kinds = dict.fromkeys(self.columns, "auto")
            return Court(driver, self.rows, self.columns, self.rows, kinds, frozenset(), None, stages, seeds)
        coded = attrs.evolve(self.fitted, coded=True)
        kinds = dict(zip(coded.names_of_codes, coded.kinds_of_codes, strict=True))
        categories = frozenset(plan.name for plan in coded.plans if isinstance(plan, CategoryColumn))
        return Court(driver, self.rows, self.columns, self.cells, kinds, categories, coded, stages, seeds)

    def beside_columns(
        self, answer: DriverResult, of_others: Callable[[str], DriverResult],
        levels: Mapping[str, Array] | None = None,
    ) -> DriverResult:  # fmt: skip
        """The answer; where it restates one column, with a second answer of the other columns beside it.

        A clustering that is the values of one column tells what the column tells already. The other columns confirm it
        where they lead to the same clusters without that column; else half of the confidence is left.
        """
        labels = np.asarray(answer.fit.labels)
        # at points every column has few values, and the report says so
        if "points" in answer.fit.resolved.get("auto", {}) or answer.fit.interrupted:
            return answer
        restated = restated_column(labels, self.rows, self.columns, levels)
        if restated is None:
            return answer
        name, agreement = restated
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)
            other = of_others(name)
        same = rand_index(labels, other.fit.labels)
        facts: dict[str, object] = {
            "column": name,
            "agreement": round(agreement, 3),
            "n_clusters_without": int(np.max(other.fit.labels)) + 1,
            "similarity_without": round(same, 3),
            "confidence_without": round(cast("float", other.report["confidence"]), 3),
        }
        confidence = cast("float", answer.report["confidence"])
        if same < CONFIRMS:
            confidence *= 0.5
            warnings.warn(restated_in_words(facts), ClusterkitWarning, stacklevel=3)
        auto = {**answer.fit.resolved["auto"], "restates": facts, "confidence": round(confidence, 3)}
        fit = attrs.evolve(answer.fit, resolved={**answer.fit.resolved, "auto": auto})
        return attrs.evolve(answer, fit=fit, report={**answer.report, "confidence": confidence})


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
    kinds : mapping of str to str
        Kind of each column, as the feature map `columns` takes them.
    categories : frozenset of str
        The columns that are categories.
    preparation : FittedPreparation or None
        The one that made `coded`; None for an array.
    stages : Composition
        The mixture.
    seeds : Seeds
    known : Known or None
        Links and seeds that the mixture keeps.
    """

    driver: AutoDriver
    rows: Array
    columns: Mapping[str, slice]
    coded: Array
    kinds: Mapping[str, str]
    categories: frozenset[str]
    preparation: FittedPreparation | None
    stages: Composition
    seeds: Seeds
    known: Known | None = None
    # the search for its own number, after the first call of `mixture`
    _bound: dict[str, BoundComposition] = attrs.field(factory=dict, repr=False, init=False)

    def without(self, name: str) -> Court:
        """The same table without a column."""
        used = np.arange(self.rows.shape[1])
        dropped = used[self.columns[name]]
        columns, start = dict[str, slice](), 0
        for other, places in self.columns.items():
            if other != name:
                width = places.stop - places.start
                columns[other], start = slice(start, start + width), start + width
        keep = [place for place, other in enumerate(self.kinds) if other != name]
        return attrs.evolve(
            self, rows=np.delete(self.rows, dropped, axis=1), columns=columns, coded=self.coded[:, keep],
            kinds={other: kind for other, kind in self.kinds.items() if other != name},
        )  # fmt: skip

    def of_others(self, answer: DriverResult, name: str) -> DriverResult:
        """What the pool or the mixture, whichever has the answer, finds without a column, in a sample of many rows."""
        facts = answer.fit.resolved["auto"]
        driver = attrs.evolve(self.driver, max_rows=min(self.driver.max_rows, ROWS_OF_OTHERS))
        other = attrs.evolve(self.without(name), driver=driver)
        if facts["criterion"] != EVIDENCE:
            roles = cast("Mapping[str, str]", facts["column_roles"])
            return other.pool(driver.n_clusters, {} if self.is_of_numbers else roles)
        best = other.best_mixture()
        return DriverResult(best.fit, {"confidence": best.confidence})

    def mixture(self, k: int | None, part: Indices | None = None) -> FitResult:
        """The mixture at a number of clusters, or at its own; of all rows or a part of them.

        Where its own number was searched before, the labels of the others are known from there.
        """
        rows = self.coded if part is None else self.coded[part]
        kinds, names = tuple(self.kinds.values()), tuple(self.kinds)
        featuremap = self.stages.featuremap.with_parameters(kinds=kinds, names=names)
        composition = attrs.evolve(self.stages, featuremap=featuremap, n_clusters=k)
        if self.known is not None:
            composition = self.known.on(composition, None)
        seeds = self.seeds  # as recipe "mixture", so that both have the same labels with the same seed
        if part is None and k is None:
            self._bound["open"] = bind(composition, ArraySamples(rows), seeds)
            return run(self._bound["open"])
        bound = None if part is not None else self._bound.get("open")
        prepared = None if bound is None or k is None else cast("PreparedMixture", bound.prepared).at(k)
        if bound is None or prepared is None:
            return SingleDriver().run([composition], ArraySamples(rows), seeds).fit
        task = attrs.evolve(bound.task, n_clusters=k)
        return run(attrs.evolve(bound, composition=composition, prepared=prepared, task=task))

    def keeping(self, answer: TableAnswer, known: Known) -> TableAnswer | None:
        """The answer with links and seeds: as it is, or by the mixture that has it; None where neither keeps them."""
        fit = answer.driven.fit
        if known.seeds is None and not known.broken(fit.labels):
            return answer
        if fit.resolved["auto"]["criterion"] != EVIDENCE:
            return None
        try:
            fit = attrs.evolve(self, known=known).mixture(n_with_samples(fit.labels))
        except FAILURES:
            return None
        auto = {**fit.resolved, "auto": answer.driven.fit.resolved["auto"]}
        driven = attrs.evolve(answer.driven, fit=attrs.evolve(fit, resolved=auto))
        return attrs.evolve(answer, driven=driven)

    def best_mixture(self) -> Numbered:
        """The mixture at the given number, or where the gain that halves of the rows confirm is the largest."""
        fit = self.mixture(self.driver.n_clusters)
        values = cast("Mapping[int, float]", fit.resolved["solver"].get("criterion_of_number", {}))
        if self.driver.n_clusters is not None or not values:
            return Numbered(fit, self.stability(fit))
        prepared = cast("PreparedMixture", self._bound["open"].prepared)
        one = values[1] if 1 in values else prepared.search.of_one()
        most = max(values.values()) - one
        if most <= 0:
            return Numbered(fit, self.stability(fit) if 1 not in values else 0.0)
        numbers = [k for k in sorted(values) if k > 1]
        known: dict[int, FitResult] = {n_with_samples(fit.labels): fit}

        def at(k: int) -> FitResult:
            if k not in known:
                known[k] = self.mixture(k)
            return known[k]

        # a number of clusters is wrong if they are pieces of others; if that holds for all numbers, all count
        numbers = [k for k in numbers if not _has_pieces(at(k))] or numbers
        most = max(values[k] for k in numbers) - one
        if most <= 0:
            return Numbered(at(numbers[0]), 0.0)
        scores = {k: (values[k] - one) / most for k in numbers}
        best: tuple[float, float, FitResult] | None = None
        for k in sorted(numbers, key=lambda k: -scores[k]):
            if best is not None and scores[k] <= best[0]:
                break
            of_draws = attainable(at(k))
            least = 0.0 if best is None else best[0] * of_draws / scores[k]
            stability = self.stability(at(k), least)
            scores[k] *= min(1.0, stability / of_draws)
            if best is None or scores[k] > best[0]:
                best = scores[k], stability, at(k)
        assert best is not None
        _, stability, fit = best
        chosen = n_with_samples(fit.labels)
        others = [k for k in numbers if k != chosen]
        by_score = sorted(others, key=lambda k: -scores[k])
        fits = ((k, at(k)) for k in by_score)
        # a mixture may leave a cluster without rows
        runner_up = next((other for k, other in fits if n_with_samples(other.labels) == k), None)
        left = (one + most - values.get(chosen, one)) / len(self.coded)
        return Numbered(fit, stability, scores, runner_up, left)

    def roles(self) -> Mapping[str, str]:
        """The role of each used column."""
        kinds, names = tuple(self.kinds.values()), tuple(self.kinds)
        return roles_of(self.coded, kinds, names, COMPONENTS, self.seeds.stream("roles"))

    @cached_property
    def is_of_numbers(self) -> bool:
        """Whether the table has no categories and no gaps, and mostly numbers of many values, or is an array."""
        if self.preparation is None:
            return True
        if self.categories or np.isnan(self.coded).any():
            return False
        columns = mixed_columns(self.coded, tuple(self.kinds.values()))
        return len(columns.levels) < MOSTLY_LEVELS * len(self.columns)

    @cached_property
    def is_lattice(self) -> bool:
        """Whether most columns have few values: the gaps between these are no borders of clusters."""
        n = len(self.coded)
        few = [are_few(len(np.unique(column)), n) for column in self.coded.T]
        return sum(few) >= MOSTLY_LEVELS * len(few)

    @cached_property
    def are_indicators(self) -> bool:
        """Whether the attributes of an array are indicators, which depend on each other whatever the clusters."""
        return self.preparation is None and indicated_levels(self.rows) is not None

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
        fewer = () if self.are_indicators else (("cluster-dependent", "redundant"), ("cluster-dependent",))
        for wanted in (every, *fewer):
            index = self.features(roles, wanted)
            if index.tobytes() in seen or (best is not None and _confidence(best) > 1.0 - SURER):
                continue
            seen.add(index.tobytes())
            is_known = len(index) == self.rows.shape[1]
            answer = of_all if of_all is not None and is_known else self.pool_on(k, index)
            if best is None or _confidence(answer) >= _confidence(best) + SURER:
                best = answer
        assert best is not None
        if self.restates(best):  # of fewer numbers an answer may be surer because it is the values of one
            return of_all or self.pool_on(k, self.features(roles, tuple(roles.values())))
        return best

    def pool_on(self, k: int | None, index: Indices, other: Labels | None = None) -> DriverResult:
        """The answer of the pool on some features, as one for all."""
        every = len(index) == self.rows.shape[1]
        rows = self.rows if every else np.ascontiguousarray(self.rows[:, index])
        driver = self.driver if k is None else attrs.evolve(self.driver, n_clusters=k, between=None)
        answer = driver.run([], rows, self.seeds, other)
        if every:
            return answer
        # rows that are equal in some columns are not equal
        auto = {name: fact for name, fact in answer.fit.resolved["auto"].items() if name != "points"}
        fit = of_rows(answer.fit, ChosenColumns(index))
        return attrs.evolve(answer, fit=attrs.evolve(fit, resolved={**fit.resolved, "auto": auto}))

    @cached_property
    def levels(self) -> Mapping[str, Array]:
        """The codes of the categories, -1 in gaps; NaN for rare levels, which have one code together."""
        codes: dict[str, Array] = {}
        plans = () if self.preparation is None else self.preparation.plans
        for plan in plans:
            if isinstance(plan, CategoryColumn) and plan.name in self.kinds:
                column = np.nan_to_num(self.coded[:, list(self.kinds).index(plan.name)], nan=-1.0)
                codes[plan.name] = np.where(column < len(plan.levels), column, np.nan) if plan.rare else column
        return codes

    def restates(self, pool: DriverResult) -> bool:
        """Whether the clusters of the pool are the values of one column, so that they prove nothing."""
        return restated_column(np.asarray(pool.fit.labels), self.rows, self.columns, self.levels) is not None

    def stability(self, fit: FitResult, least: float = 0.0) -> float:
        """Mean agreement of the labels of all rows with those of mixtures of two disjoint parts, at most 500 rows each.

        The second part is left out where even its full agreement would not raise the mean to `least`.
        """
        labels, k = np.asarray(fit.labels), n_with_samples(fit.labels)
        if k < 2:
            return 0.0
        parts = subsamples(len(labels), self.seeds.stream("halves"))

        def of_part(i: int) -> float:
            return subsample_stability(labels, (parts[i],), lambda _: np.asarray(self.mixture(k, parts[i]).labels))

        first = of_part(0)
        return first if (first + 1.0) / 2.0 < least else (first + of_part(1)) / 2.0

    def answer(self) -> TableAnswer | None:
        """The better of the pool and the mixture; None where memory allows no mixture."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClusterkitWarning)  # of clusters that are nowhere the most probable
                best, roles = self.best_mixture(), self.roles()
        except NeedsMemory:
            return None
        mixture, stability, wanted = best.fit, best.stability, self.driver.n_clusters
        k = wanted or n_with_samples(mixture.labels)
        facts: dict[str, object] = {"column_roles": dict(roles)}
        if k < 2:
            return self._of_pool(self.pool(None, roles), facts)
        of_numbers = self.is_of_numbers
        every = np.arange(self.rows.shape[1])
        pool = self.pool_on(wanted, every, np.asarray(mixture.labels)) if of_numbers else self.pool(k, roles)
        similarity = rand_index(pool.fit.labels, mixture.labels)
        facts |= {
            "similarity_of_mixture_and_pool": round(similarity, 3),
            "stability_of_mixture": round(stability, 3),
            "gain_left": round(best.left, 3),
        }
        of_mixture = best.confidence
        least = wanted or (self.driver.between or (1,))[0]
        lacks = n_with_samples(mixture.labels) < least  # clusters that were asked for
        if of_numbers:
            same = similarity >= SAME_STRUCTURE and n_with_samples(pool.fit.labels) == k
            agreements = pool.fit.resolved["auto"].get("agreements", (0.0, 0.0))
            of_pool, of_other = cast("tuple[float, float]", agreements)
            # families agree on a small number of clusters of columns that say nothing, too
            comparable = wanted or "irrelevant" not in roles.values()
            sure = _confidence(pool) >= SURE or (comparable and of_other < min(of_pool, AGREES))
            sure = sure and not same and not self.is_lattice
            is_found = self.is_lattice and not self.are_indicators and of_mixture >= UNLIKELY
            if sure or lacks or not (is_found or stability >= STABLE_STRUCTURE):
                some = self.pool(wanted, roles, pool)
                # halves of the rows may not find the columns that all rows show
                stands = "irrelevant" in roles.values() and not self.are_indicators
                if sure or lacks or not stands or _confidence(some) >= HARDLY:
                    return self._of_pool(some, facts)
        elif lacks and wanted is None:
            return self._of_pool(self.pool(None, roles), facts)
        elif _confidence(pool) >= max(SURE, of_mixture) and similarity < SAME_STRUCTURE and not self.restates(pool):
            return self._of_pool(pool, facts)
        elif wanted is None and (_confidence(pool) < SURE or of_mixture < UNLIKELY):
            free = self.pool(None, roles)
            is_believed = _confidence(free) >= UNSURE and not (
                of_mixture > _confidence(free) and _divides(mixture, free.fit)
            )
            # clusters of the mixture that are hardly real are no better than those that restate a column, and say so
            if is_believed and (of_mixture < UNLIKELY or not self.restates(free)):
                return self._of_pool(free, facts)
        return self._of_mixture(best, pool, similarity, facts)

    def _of_mixture(
        self, best: Numbered, pool: DriverResult, similarity: float, facts: Mapping[str, object]
    ) -> TableAnswer:
        """The answer of the mixture, beside which the pool stands."""
        mixture, k = best.fit, n_with_samples(best.fit.labels)
        confidence = best.confidence
        # for other tables the pool was given the number of clusters, so that its answer is no evidence for it
        knows_number = self.driver.n_clusters is not None or self.is_of_numbers
        if knows_number and similarity >= SAME_STRUCTURE and n_with_samples(pool.fit.labels) == k:
            confidence = max(confidence, _confidence(pool))
        # clusters that are likely and found again are more than one, whatever tests of distances say
        perhaps = pool.report["perhaps_one_cluster"] and (confidence < MOST_OF_ONE or self.are_indicators)
        confidence = min(confidence, MOST_OF_ONE) if perhaps else confidence
        of_pool = pool.fit.resolved.get("auto", {})
        tests = {name: of_pool[name] for name in TESTS if name in of_pool}
        second = None if best.second is None else n_with_samples(best.second.labels)
        facts = {
            "recipe": "mixture",
            "n_clusters": k,
            "criterion": EVIDENCE,
            "covariance": mixture.resolved["solver"]["covariance"],
            **facts,
            "pool": of_pool.get("recipe"),
            "confidence_of_pool": round(_confidence(pool), 3),
            "confidence": round(confidence, 3),
            "perhaps_one_cluster": perhaps,
            **tests,
        }
        if second is not None and best.second is not None:
            facts |= {
                "score_of_number": tuple((number, round(score, 3)) for number, score in sorted(best.scores.items())),
                "second_n_clusters": second,
                "second_is_nested": is_nested(np.asarray(mixture.labels), np.asarray(best.second.labels)),
            }
        fit = attrs.evolve(
            mixture,
            reason=f"the mixture of mixed columns: {counted(k, 'cluster')}",
            resolved={**mixture.resolved, "auto": facts},
        )
        report = {
            "candidates": best.candidates(),
            "confidence": confidence,
            "perhaps_one_cluster": perhaps,
            "second_n_clusters": second,
        }
        return TableAnswer(DriverResult(fit, report), self.preparation)

    def _of_pool(self, pool: DriverResult, facts: Mapping[str, object]) -> TableAnswer:
        """The answer of the pool, with the roles."""
        resolved = {**pool.fit.resolved, "auto": {**pool.fit.resolved.get("auto", {}), **facts}}
        answer = attrs.evolve(pool, fit=attrs.evolve(pool.fit, resolved=resolved))
        preparation = None if self.preparation is None else attrs.evolve(self.preparation, coded=False)
        return TableAnswer(answer, preparation)


CONSTANT, STABLE, APART, LEFT = -20.8, 12.5, 11.1, -5.1
"""Constant, and weights of stability, of how far clusters lie apart, and of the gain that is left, of
`mixture_confidence`."""


def mixture_confidence(stability: float, apart: float, left: float) -> float:
    """Estimated probability that the clusters of a mixture have an adjusted Rand index of .8 with the structure.

    Parameters
    ----------
    stability : float
        Agreement with mixtures of halves of the rows.
    apart : float
        The largest agreement that clusters which overlap so far can have.
    left : float
        What the criterion gains beyond this number of clusters, a row.
    """
    return 1.0 / (1.0 + math.exp(-(CONSTANT + STABLE * stability + APART * apart + LEFT * left)))


ONE_MODE = 0.95
"""Smallest density between two centres, as a share of that at the lower one, from which the two clusters are one."""


def _has_pieces(fit: FitResult) -> bool:
    """Whether two clusters of a mixture have one mode together."""
    model = cast("MixedPosteriors", cast("MixtureScores", fit.outcome).extend).model
    pairs = ((i, j) for i in range(model.k) for j in range(i))
    return len(model.numbers) > 0 and any(model.valley(i, j) >= ONE_MODE for i, j in pairs)


def attainable(fit: FitResult) -> float:
    """Adjusted Rand index that labels drawn from the probabilities are expected to have with the most probable ones.

    Clusters that overlap are found again so far at best, however right they are.
    """
    if fit.memberships is None:
        return 1.0
    return apart(np.asarray(fit.memberships))


MOST_VALUES, LEAST_ROWS = 200, 10
"""Largest number of distinct values of a column that clusters can restate, and least rows to each of them on
average."""

LOOKED_AT = 20_000
"""Rows in which distinct values are counted, at regular intervals of more."""


def restated_column(
    labels: Labels, rows: Array, columns: Mapping[str, slice], levels: Mapping[str, Array] | None = None
) -> tuple[str, float] | None:
    """The column of few values that clusters restate, with their agreement; None if there is none.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    rows : ndarray of shape (n, features)
    columns : mapping of str to slice
        Places of the features of each column; above 300 columns none is looked at.
    levels : mapping of str to ndarray of shape (n,), optional
        Codes of categories; rows with NaN, whose level is not known, do not count.
    """
    if not 2 <= len(columns) <= MOST_COLUMNS or labels.max() < 1:
        return None
    part = slice(None, None, -(-len(rows) // LOOKED_AT))
    agreement: dict[str, float] = {}
    for name, places in columns.items():
        codes_of = (levels or {}).get(name)
        values, of_rows = rows[part, places] if codes_of is None else codes_of[part, None], labels[part]
        known = np.isfinite(values[:, 0])
        if 2 * known.sum() < len(known):
            continue
        _, codes = np.unique(values[known], axis=0, return_inverse=True)
        if 1 <= codes.max() < min(MOST_VALUES, len(codes) // LEAST_ROWS):
            of_levels = codes_of is not None or places.stop - places.start > 1
            agreement[name] = column_agreement(of_rows[known], codes.reshape(-1), unions=of_levels)
    name = max(agreement, key=agreement.__getitem__, default="")
    return (name, agreement[name]) if agreement.get(name, 0.0) >= RESTATED else None


def _divides(finer: FitResult, coarser: FitResult) -> bool:
    """Whether a clustering has more clusters than another one, and only divides those."""
    one, other = (by_appearance(np.asarray(fit.labels)) for fit in (finer, coarser))
    return n_with_samples(finer.labels) > n_with_samples(coarser.labels) and is_nested(one, other)


def _confidence(answer: DriverResult) -> float:
    value = cast("float", answer.report["confidence"])
    return 0.0 if np.isnan(value) else value


def rand_index(one: Labels, other: Labels) -> float:
    """Adjusted Rand index of the labels of two fits, none of them noise."""
    return float(rand_matrix([by_appearance(np.asarray(one)), by_appearance(np.asarray(other))])[0, 1])
