"""The search for the mixture of highest evidence: starts, structures, roles, and the number of clusters.

Each start is improved for a few rounds, of EM steps and a choice of roles, as "diag" and as "tied"; the best are
polished, also as "full". Labels that say what one category says are left aside if there are others: dividing the rows
by it costs ln p(z), but the category itself is free then.

A category that shifts the numbers and clusters that say what it says are two readings of the same rows, and their
evidence differs by the priors alone. As a covariate it leaves only what is inside its levels, and may so hide clusters
that the other columns have without it. Where it does, labels that it says are searched for too (`Search._readings`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Self, cast, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Labels, Mask, Rng
from clusterkit.contracts.labelings import by_appearance
from clusterkit.families.mixtures.evidence import (
    COVARIATE,
    DEPENDENT,
    IRRELEVANT,
    SWEEPS,
    Structure,
    completed_likelihood,
    labels_evidence,
    roles_of,
)
from clusterkit.families.mixtures.expectation import expectation_maximisation, maximise
from clusterkit.families.mixtures.mixed_table import MixedTable, PartitionSums
from clusterkit.numerics.lloyd import kmeans
from clusterkit.numerics.threads import in_threads
from clusterkit.samples.limits import Report, notify

SHORT_ROUNDS, SHORT_STEPS = 3, 5
"""Rounds of each start, and EM steps between two choices of roles."""

LONG_ROUNDS, LONG_STEPS = 8, 40
"""The same for the best of them."""

POLISHED = 5
"""Candidates that are polished."""

WHOLE_ROUNDS = 3
"""Rounds on all rows, where starts are compared on a sample."""

COPY = 0.9
"""Adjusted Rand index with one category from which labels say what the category says."""

THREADED = 10_000
"""Cells of the table from which on starts are improved side by side: below, an improvement takes a few milliseconds,
most of them in the interpreter."""

REPEATS = 3
"""Further random centres of k-means on all columns."""

SPARSE = (0.15, 0.4)
"""Shares of the columns that keep a weight in sparse starts."""

SPARSE_ROUNDS = 5
"""Rounds of weights there."""

RESTATED = 0.7
"""Adjusted Rand index of labels with a category, or with unions of its levels, from which they restate it."""

APART = 0.8
"""Adjusted Rand index that labels drawn from the posteriors have with the most probable ones, from which clusters
beside a covariate that hides others are believed: pieces of one cluster, of Gaussian, skewed and heavy-tailed numbers,
have .1 to .75, clusters .82 and more."""

EXPLAINING, EXPLAINED, SHIFTED = 2, 0.5, 0.1
"""Categories within whose levels starts are made, at most, and the mean share of variance that they explain of the
numbers of which they explain a tenth: a category that shifts numbers far hides the clusters from starts on the numbers
as they are."""

MOST_COLUMNS = 300
"""Columns up to which covariances and covariates are tried: their cost grows with the cube, and with the square."""

MOST_START_ROWS = 2000
"""Rows on which starts are compared; of more, a random sample is taken."""

ENTROPY = 0.5
"""Share of the entropy of the posteriors in the comparison of labels with the same number of clusters. The criterion
lacks the whole of it against the evidence of the rows alone, and where clusters overlap prefers labels with hardly more
than one cluster; with all of it, components that describe the shape of one cluster win. Of 0, .25, .5, .75 and 1 the
middle ones are alike on the tables and designs of tests/benchmarks/mixed.py, and 1 is worse."""

WORSE = 2
"""Numbers of clusters in a row that do not raise the criterion, after which the search ends."""

FEWEST_TRIED = 4
"""Number of clusters up to which it goes on in any case."""


@final
@attrs.frozen(eq=False)
class Solution:
    """Labels with the posteriors, structure and roles that belong to them.

    Parameters
    ----------
    value : float
        The criterion.
    labels : ndarray of shape (n,)
    P : ndarray of shape (n, k)
        Posteriors.
    structure : {"diag", "tied", "full"}
    relevant : ndarray of shape (p,), bool
    categories : ndarray of shape (q,), int8
        Roles (`clusterkit.families.mixtures.evidence`).
    start : str
        Name of the start.
    read : int, default -1
        A category with two readings, as a covariate and as a part of the clusters; -1 for none.
    instead : Solution or None, default None
        The labels of the other reading.
    lead : float, default 0.0
        By how much the criterion of these is higher, on the rows on which starts are compared.
    """

    value: float
    labels: Labels
    P: Array
    structure: Structure
    relevant: Mask
    categories: NDArray[np.int8]
    start: str = ""
    read: int = -1
    instead: Solution | None = None
    lead: float = 0.0

    @property
    def k(self) -> int:
        """Number of clusters."""
        return self.P.shape[1]

    @property
    def score(self) -> float:
        """By what labels with the same number of clusters are compared: the criterion, and half of the entropy."""
        from scipy.special import entr

        return self.value + ENTROPY * float(entr(self.P).sum())


@final
@attrs.frozen(eq=False)
class Search:
    """The search in one table, with what the starts of all numbers of clusters have in common.

    Parameters
    ----------
    table : MixedTable
    whole : MixedTable
        All rows, where `table` is a sample of them.
    seed : int
    structures : tuple of {"diag", "tied", "full"}
        Structures that are compared; the last one only for the best labels.
    roles : bool
        Whether columns get roles; without, all depend on the cluster.
    covariates : bool
        Whether categories may be covariates.
    excluded : ndarray of shape (q,), bool
        Categories that say what another one says.
    restated : int
        A category that is no covariate here, and that labels have to restate; -1 for none.
    """

    table: MixedTable
    whole: MixedTable
    seed: int
    structures: tuple[Structure, ...]
    roles: bool
    covariates: bool
    excluded: Mask
    restated: int = -1

    @classmethod
    def of(
        cls, whole: MixedTable, rng: Rng, *, covariance: str = "auto", roles: bool = True, covariates: bool = True
    ) -> Self:
        """The search, on a sample of the rows where they are many."""
        seed = int(rng.integers(2**31 - 1))
        table = whole
        if whole.n > MOST_START_ROWS:
            table = whole.take(np.sort(rng.choice(whole.n, MOST_START_ROWS, replace=False)))
        few = whole.p + whole.q <= MOST_COLUMNS
        structures: tuple[Structure, ...] = ("diag", "tied", "full") if few and whole.p > 1 else ("diag",)
        if covariance != "auto" and whole.p > 1:
            structures = (cast("Structure", covariance),)
        return cls(table, whole, seed, structures, roles, roles and covariates and few, repeated_categories(whole))

    def one(self) -> Solution:
        """A single cluster."""
        return self._one_of(self.whole)

    def of_one(self) -> float:
        """The criterion of a single cluster on the rows on which starts are compared."""
        return self._one_of(self.table).value

    def _one_of(self, table: MixedTable, covariates: Mask | None = None) -> Solution:
        """A single cluster of rows; with given covariates (q,), or with those that the criterion prefers."""
        labels = np.zeros(table.n, dtype=np.intp)
        sums, beside = (PartitionSums.of(table, labels, k) for k in (1, 2))
        best: Solution | None = None
        for structure in self.structures:
            relevant, categories = np.ones(table.p, dtype=bool), np.zeros(table.q, dtype=np.int8)
            roles = table, sums, structure, relevant, categories
            if covariates is not None:
                categories[covariates] = COVARIATE
            elif self.covariates and table.p:
                categories = roles_of(*roles, only_covariates=True, excluded=self.excluded)[1]
            value = completed_likelihood(table, sums, structure, relevant, categories)
            # as one of two clusters, of which the other one is empty
            if covariates is not None and structure != "diag":
                of_two = completed_likelihood(table, beside, structure, relevant, categories)
                value = max(value, of_two - labels_evidence(beside.sizes))
            elif self.roles and structure != "diag":
                roles = table, beside, structure, relevant, categories
                of_two = roles_of(*roles, covariates=self.covariates, excluded=self.excluded)[2]
                value = max(value, of_two - labels_evidence(beside.sizes))
            if best is None or value > best.value:
                nothing = np.zeros(table.p, dtype=bool)
                best = Solution(value, labels, np.ones((table.n, 1)), structure, nothing, categories)
        assert best is not None
        return best

    def of_labels(self, labels: Labels) -> tuple[Solution, float]:
        """Roles and structure of given labels (n,), from 0 on, and what the criterion gains over one cluster."""
        table, k = self.whole, int(labels.max(initial=0)) + 1
        best: Solution | None = None
        for structure in self.structures:
            relevant = np.ones(table.p, dtype=bool)
            categories = np.where(self.excluded, IRRELEVANT, DEPENDENT).astype(np.int8)
            relevant, categories, value = self._roles(
                table, labels, k, structure, relevant, categories, sweeps=2 * SWEEPS
            )
            if best is None or value > best.value:
                best = Solution(value, labels, np.eye(k)[labels], structure, relevant, categories)
        assert best is not None
        return best, best.value - self.one().value

    def known(self, k: int) -> Solution:
        """The best labels with k clusters."""
        return self.unknown(k, k)[0]

    def _readings(self, solution: Solution) -> Iterator[Search]:
        """Searches in which a covariate of a solution is none, where it may hide clusters.

        That is where the other columns have clusters of their own that the category says, found by EM from its levels.
        """
        table, gains = self.table, dict[int, float]()
        for j in np.flatnonzero(solution.categories == COVARIATE).tolist():
            labels = np.where(table.codes[:, j] < 0, table.levels[j], table.codes[:, j])
            gains[j] = self._gain_of_others(j, np.unique(labels, return_inverse=True)[1])
        for j in sorted(gains, key=lambda j: -gains[j])[:EXPLAINING]:
            if gains[j] > 0:
                yield self._without_shift(j)

    def _better(self, solution: Solution, rival: Solution, other: Search) -> tuple[Solution, Search]:
        """The better reading of a category, with the other one beside it, and the search that it is of.

        Labels that restate the category are better where they have the higher criterion; and where the clusters beside
        the covariate are no more than pieces of one, of which the criterion gains nothing, or which overlap far.
        """
        gain = self.gain(solution)
        stands = gain > 0 and apart(solution.P) >= APART
        if rival.value > solution.value or (not stands and self.gain_without(other.restated, rival.labels) > gain):
            covariate = solution if gain > 0 else self._one_of(self.table)
            lead = rival.value - covariate.value
            return attrs.evolve(rival, read=other.restated, instead=covariate, lead=lead), other
        lead = solution.value - rival.value
        return attrs.evolve(solution, read=other.restated, instead=rival, lead=lead), self

    def gain(self, solution: Solution) -> float:
        """What the criterion gains by the clusters of a solution, over one cluster with the same covariates."""
        return solution.value - self._one_of(self.table, solution.categories == COVARIATE).value

    def gain_without(self, j: int, labels: Labels) -> float:
        """What the other columns gain by labels over one cluster, without a category and those nearly the same."""
        other = self._without_shift(j)
        table = other.table if len(labels) == self.table.n else other.whole
        return attrs.evolve(other, whole=table, excluded=self.excluded | self._same_as(j)).of_labels(labels)[1]

    def _gain_of_others(self, j: int, labels: Labels) -> float:
        """What the other columns gain by clusters of their own that EM from labels leads to; 0 if these are others."""
        k, other = int(labels.max()) + 1, self._without_shift(j)
        other = attrs.evolve(other, excluded=self.excluded | self._same_as(j))
        best = 0.0
        for structure in self.structures[:2]:
            solution = other._improved(other.table, _soft(labels, k), k, structure, "", SHORT_ROUNDS, SHORT_STEPS)
            if solution is not None and restated(self.table, solution.labels, k, j) >= RESTATED:
                best = max(best, other.gain(solution))
        return best

    def _same_as(self, j: int) -> Mask:
        """A category and those that nearly agree with it, (q,)."""
        codes, levels = self.table.codes, self.table.levels.tolist()
        agreements = [agreement(codes[:, i], codes[:, j], levels[i], levels[j]) for i in range(self.table.q)]
        return (np.array(agreements) >= RESTATED) | (np.arange(self.table.q) == j)

    def _without_shift(self, j: int) -> Search:
        """The search in which a category, and those that nearly agree with it, are no covariates."""
        same = self._same_as(j)

        def of(table: MixedTable) -> MixedTable:
            pairs = zip(table.shifting, same, strict=True)
            return attrs.evolve(table, shifting=tuple(None if is_same else columns for columns, is_same in pairs))

        table = of(self.table)
        whole = table if self.whole is self.table else of(self.whole)
        return attrs.evolve(self, table=table, whole=whole, restated=j)

    def _best_of(self, k: int) -> Solution | None:
        """The best labels with k clusters from all starts, no copies of a category if there are others."""
        first: tuple[str, Labels] | None = None

        def starts() -> Iterator[tuple[Structure, tuple[str, Labels]]]:
            nonlocal first
            for start in self._distinct_starts(k):
                first = first or start
                for structure in self.structures[:2]:
                    yield structure, start

        def improved(structure: Structure, start: tuple[str, Labels]) -> Solution | None:
            name, labels = start
            return self._improved(self.table, _soft(labels, k), k, structure, name, SHORT_ROUNDS, SHORT_STEPS)

        most = None if self.table.n * (self.table.p + self.table.q) >= THREADED else 1
        candidates = [one for _, one in in_threads(improved, starts(), most) if one is not None]
        if not candidates:
            return None if self.restated >= 0 else self._without_roles(k, first)
        candidates.sort(key=lambda solution: -solution.value)

        def polished(structure: Structure, solution: Solution) -> Solution:
            better = self._improved(
                self.table, _soft(solution.labels, k), k, structure, solution.start, LONG_ROUNDS, LONG_STEPS, solution
            )
            is_better = better is not None and (structure != solution.structure or better.value >= solution.value)
            return better if is_better and better is not None else solution

        best = [
            (structure, solution)
            for solution in _distinct(candidates)[:POLISHED]
            for structure in dict.fromkeys((solution.structure, self.structures[-1]))
        ]
        finals = [final for _, final in in_threads(polished, best, most)]
        # the best first, because to tell a copy takes as long as to improve one
        ordered = sorted((*finals, *candidates), key=lambda solution: -solution.score)
        if self.restated >= 0:
            return next(filter(self._may_restate, ordered), None)
        whole = [solution for solution in ordered if len(np.unique(solution.labels)) == k]
        others = (solution for solution in (*whole, *ordered) if not self._is_copy(solution))
        return next(others, max(finals, key=lambda solution: solution.score))

    def of_all_rows(self, solution: Solution) -> Solution:
        """A solution of the rows on which starts are compared, as one of all rows."""
        if solution.k == 1:
            return attrs.evolve(self.one(), read=solution.read, instead=solution.instead, lead=solution.lead)
        return solution if len(solution.labels) == self.whole.n else self._of_whole(solution)

    def unknown(self, least: int, most: int) -> tuple[Solution, dict[int, float], dict[int, Solution], Search]:
        """The best labels with a number of clusters between two bounds, and the criterion at each number tried.

        The last mapping has the labels of each number above 1; `of_all_rows` of the search beside it makes them those
        of all rows.
        """
        best, values, by_number = self._numbers(least, most)
        for other in self._readings(best):
            rival, its_values, its_numbers = other._numbers(least, most)
            if rival.k > 1:
                best, search = self._better(best, rival, other)
                if search is other:
                    values, by_number = its_values, its_numbers
                return search.of_all_rows(best), values, by_number, search
        return self.of_all_rows(best), values, by_number, self

    def _numbers(self, least: int, most: int) -> tuple[Solution, dict[int, float], dict[int, Solution]]:
        """The same for the rows on which starts are compared."""
        best: Solution | None = None
        by_number: dict[int, Solution] = {}
        values: dict[int, float] = {}
        worse = 0
        for k in range(least, most + 1):
            notify(Report("clusters of the mixture", k, most))
            highest = self._best_of(k) if k > 1 else self._one_of(self.table)
            if highest is not None:
                values[k] = highest.value
                if k > 1:
                    by_number[k] = highest
            if highest is not None and (best is None or highest.value > best.value):
                best, worse = highest, 0
            else:
                worse += 1
            if worse >= WORSE and k >= FEWEST_TRIED:
                break
        return best or self._one_of(self.table), values, by_number

    def _without_roles(self, k: int, start: tuple[str, Labels] | None) -> Solution:
        """Labels where no column depends on the clusters of any start: a mixture of all columns."""
        if start is None:  # no column at all
            nothing = np.zeros(self.whole.n, dtype=np.intp)
            sums = PartitionSums.of(self.whole, nothing, k)
            relevant, categories = np.zeros(self.whole.p, dtype=bool), np.zeros(self.whole.q, dtype=np.int8)
            value = completed_likelihood(self.whole, sums, "diag", relevant, categories)
            return Solution(
                value, nothing, np.full((self.whole.n, k), 1.0 / k), "diag", relevant, categories, "no column"
            )
        name, labels = start
        fixed = attrs.evolve(self, roles=False, covariates=False)
        solution = fixed._improved(self.table, _soft(labels, k), k, self.structures[0], name, SHORT_ROUNDS, LONG_STEPS)
        assert solution is not None
        return fixed.of_all_rows(solution)

    def _of_whole(self, solution: Solution) -> Solution:
        """The labels of all rows, from those of a sample."""
        table, whole = self.table, self.whole
        model = maximise(table, solution.P, solution.structure, solution.relevant, solution.categories)
        P, _ = model.posteriors(np.where(whole.observed, whole.Z, np.nan), whole.codes)
        better = self._improved(
            whole, P, solution.k, solution.structure, solution.start, WHOLE_ROUNDS, LONG_STEPS, solution
        )
        if better is not None:
            return better
        labels = P.argmax(axis=1)
        value = completed_likelihood(
            whole,
            PartitionSums.of(whole, labels, solution.k),
            solution.structure,
            solution.relevant,
            solution.categories,
        )
        return attrs.evolve(solution, value=value, labels=labels, P=P)

    def _improved(
        self, table: MixedTable, P: Array, k: int, structure: Structure, name: str, rounds: int, steps: int,
        before: Solution | None = None,
    ) -> Solution | None:  # fmt: skip
        """Rounds of EM and of roles from posteriors; the best by the criterion, or None if no column matters."""
        relevant = np.ones(table.p, dtype=bool) if before is None else before.relevant
        categories = (
            np.where(self.excluded, IRRELEVANT, DEPENDENT).astype(np.int8) if before is None else before.categories
        )
        relevant, categories, _ = self._roles(table, P.argmax(axis=1), k, structure, relevant, categories, sweeps=2)
        best: Solution | None = None
        stale = 0
        for i in range(rounds):
            if not relevant.any() and not (categories == DEPENDENT).any():
                break
            P = expectation_maximisation(
                table, P, structure, relevant, categories, steps if i < SHORT_ROUNDS else LONG_STEPS
            )
            z = P.argmax(axis=1)
            previous = relevant, categories
            relevant, categories, value = self._roles(table, z, k, structure, relevant, categories, sweeps=SWEEPS)
            same = bool((relevant == previous[0]).all() and (categories == previous[1]).all())
            if best is None or value > best.value + 1e-6:
                best, stale = Solution(value, z, P, structure, relevant, categories, name), 0
            else:
                stale += 1
            if i >= SHORT_ROUNDS and (same or stale > 1):
                break
        return best

    def _roles(
        self, table: MixedTable, labels: Labels, k: int, structure: Structure, relevant: Mask,
        categories: NDArray[np.int8], sweeps: int,
    ) -> tuple[Mask, NDArray[np.int8], float]:  # fmt: skip
        """The roles of the columns for labels, and the value of the criterion."""
        sums = PartitionSums.of(table, labels, k)
        if not self.roles:
            return relevant, categories, completed_likelihood(table, sums, structure, relevant, categories)
        return roles_of(
            table, sums, structure, relevant, categories,
            sweeps=sweeps, covariates=self.covariates, excluded=self.excluded,
        )  # fmt: skip

    def _may_restate(self, solution: Solution) -> bool:
        """Whether labels have all of their clusters, restate the category, and the other columns gain by them."""
        labels, k = solution.labels, solution.k
        return (
            len(np.unique(labels)) == k
            and restated(self.table, labels, k, self.restated) >= RESTATED
            and self.gain_without(self.restated, labels) > 0
        )

    def _is_copy(self, solution: Solution) -> bool:
        """Whether labels say what one category says, but for one that may shift numbers and that others confirm."""
        codes, levels = self.table.codes, self.table.levels.tolist()
        return any(
            agreement(codes[:, j], solution.labels, levels[j], solution.k) >= COPY
            and (not self.covariates or self.table.shifting[j] is None or self.gain_without(j, solution.labels) <= 0)
            for j in range(self.table.q)
        )

    def _distinct_starts(self, k: int) -> Iterator[tuple[str, Labels]]:
        """The labels of all starts, those that are equal once."""
        seen = set()
        for name, labels in self._starts(k):
            if (key := by_appearance(labels).tobytes()) not in seen:
                seen.add(key)
                yield name, labels

    def _starts(self, k: int) -> Iterator[tuple[str, Labels]]:
        """Labels by k-means in several views of the columns."""
        p, q = self.table.p, self.table.q
        A, groups = self._all_columns
        if not A.shape[1]:
            return
        first = self._kmeans(A, k)
        yield "all columns", first
        U, lengths = self._principal
        for width in sorted({1, 2, max(3, k)} if q else {max(3, k)}):
            if width <= U.shape[1] or width == max(3, k):
                yield f"{width} principal components", self._kmeans(U[:, :width] * lengths[:width], k)
        if p and q:
            yield "numbers", self._kmeans(A[:, :p], k)
            yield "categories", self._kmeans(A[:, p:], k)
        for within in self._explaining if self.covariates else ():
            yield "numbers within the levels of a category", self._kmeans(within / (within.std(axis=0) + 1e-9), k)
        yield from self._again(A, k, "all columns")
        if q:
            even = np.hstack([A[:, :p], self._even_indicators])
            yield "levels of equal weight", self._kmeans(even, k)
            yield from self._again(even, k, "levels of equal weight")
        if p > 1:
            white, gains = self._whitened
            yield "whitened", self._kmeans(white, k)
            order = np.argsort(-gains, kind="stable")[: max(1, min(k - 1 if k > 2 else 1, 3))]
            yield "whitened directions", self._kmeans(white[:, order], k)
            if p > 3:
                gains = self._gains
                order = np.argsort(-gains, kind="stable")
                yield "three least Gaussian numbers", self._kmeans(A[:, order[:3]], k)
                if (gains > 0).sum() > 3:
                    yield "numbers that are not Gaussian", self._kmeans(A[:, np.flatnonzero(gains > 0)], k)
        if A.shape[1] > 4:
            for share in SPARSE:
                yield f"sparse {share}", self._sparse(A, groups, first, k, share)

    @cached_property
    def _explaining(self) -> list[Array]:
        """The numbers within the categories that may be covariates and explain most of some numbers, two at most."""
        table = self.table
        total = np.maximum(np.square(table.X - table.X.mean(axis=0)).sum(axis=0), 1e-9)
        shares, within = dict[int, float](), dict[int, Array]()
        for j in range(table.q):
            if table.shifting[j] is not None and not self.excluded[j]:
                within[j] = self._within(j)
                of_numbers = 1.0 - np.square(within[j]).sum(axis=0) / total
                of_numbers = of_numbers[of_numbers >= SHIFTED]
                shares[j] = float(of_numbers.mean()) if len(of_numbers) else 0.0
        best = sorted(shares, key=lambda j: (-round(shares[j], 9), j))[:EXPLAINING]
        return [within[j] for j in best if shares[j] >= EXPLAINED]

    def _within(self, j: int) -> Array:
        """The numbers less their means over the rows of the same level of a category; gaps are a level."""
        table = self.table
        level = table.codes[:, j] + 1
        members = np.eye(table.levels[j] + 1)[level]
        means = (members.T @ table.X) / np.maximum(members.sum(axis=0), 1.0)[:, None]
        return np.asarray(table.X - means[level])

    def _again(self, A: Array, k: int, view: str) -> Iterator[tuple[str, Labels]]:
        """k-means from other random centres."""
        for more in range(1, REPEATS + 1):
            yield f"{view}, start {more + 1}", self._kmeans(A, k, more)

    def _kmeans(self, A: Array, k: int, more: int = 0) -> Labels:
        if A.shape[1] == 0:
            return np.zeros(len(A), dtype=np.intp)
        return kmeans(np.ascontiguousarray(A), k, n_init=1, max_iter=50, seed=self.seed + more)[0]

    def _sparse(self, A: Array, groups: Indices, labels: Labels, k: int, share: float) -> Labels:
        """k-means with weights of columns by what the clusters explain of them (Witten, Tibshirani 2010)."""
        count = int(groups.max()) + 1
        for _ in range(SPARSE_ROUNDS):
            members = np.eye(k)[labels]
            between = np.square(members.T @ A) / (members.sum(axis=0) + 1e-9)[:, None]
            of_groups = np.bincount(groups, between.sum(axis=0), minlength=count)
            weights = np.maximum(of_groups - 0.999 * np.quantile(of_groups, 1.0 - share), 0.0)
            weights /= weights.sum() + 1e-12
            used = np.flatnonzero(weights[groups] > 0)
            if not len(used):
                break
            before = labels
            labels = self._kmeans(A[:, used] * np.sqrt(weights[groups[used]]), k)
            if (labels == before).all():
                break
        return labels

    @cached_property
    def _all_columns(self) -> tuple[Array, Indices]:
        """Numbers, then categories with one unit of variance each; and the column of each coordinate."""
        numbers = self.table.X - self.table.X.mean(axis=0)
        parts = [self._of_levels(j, is_even=False) for j in range(self.table.q)]
        widths = np.array([1] * self.table.p + [part.shape[1] for part in parts], dtype=np.intp)
        return np.hstack([numbers, *parts]), np.repeat(np.arange(len(widths)), widths)

    @cached_property
    def _even_indicators(self) -> Array:
        """Indicators in which two levels are as far apart as any other two, with one unit of variance a category."""
        return np.hstack([self._of_levels(j, is_even=True) for j in range(self.table.q)])

    def _of_levels(self, j: int, *, is_even: bool) -> Array:
        """A category as centred indicators with one unit of variance, or as one coordinate."""
        table = self.table
        if table.forms.forms[j] != "free":
            return self._coordinate(j)
        D = table.indicators[:, table.forms.slice_of(j)]
        f = D.mean(axis=0)
        variance = (f * (1.0 - f)).sum() if is_even else f * max(1, D.shape[1] - 1)
        return np.asarray((D - f) / np.sqrt(np.maximum(variance, 1e-9)))

    def _coordinate(self, j: int) -> Array:
        """An ordered category or a count as one standardised number, (n, 1), with 0 in gaps."""
        codes = self.table.codes[:, j]
        x, has = self.table.forms.coordinates(j)[codes], codes >= 0
        of_rows = x[has] if has.any() else np.zeros(1)
        return np.where(has, (x - of_rows.mean()) / max(float(of_rows.std()), 1e-9), 0.0)[:, None]

    @cached_property
    def _principal(self) -> tuple[Array, Array]:
        """Left singular vectors of all columns, and singular values."""
        A, _ = self._all_columns
        values, axes = np.linalg.eigh(A.T @ A)
        lengths = np.sqrt(np.maximum(values[::-1], 0.0))
        usable = lengths > 1e-6 * max(float(lengths[0]), 1e-12)
        return (A @ axes[:, ::-1][:, usable]) / lengths[usable], lengths[usable]

    @cached_property
    def _whitened(self) -> tuple[Array, Array]:
        """The numbers without correlations, and how far each direction is from a Gaussian."""
        X = self.table.X - self.table.X.mean(axis=0)
        values, axes = np.linalg.eigh(X.T @ X)
        usable = values > 1e-6 * max(float(values[-1]), 1e-12)
        white = X @ (axes[:, usable] / np.sqrt(values[usable]))[:, ::-1] * math.sqrt(len(X))
        return white, _gains_of_two(white, np.ones(white.shape, dtype=bool))

    @cached_property
    def _gains(self) -> Array:
        """How far each number is from a Gaussian."""
        return _gains_of_two(self.table.Z, self.table.observed)


def apart(P: Array) -> float:
    """Adjusted Rand index that labels drawn from posteriors (n, k) are expected to have with the most probable ones.

    Clusters that overlap are found again so far at best, however right they are.
    """
    N = np.eye(P.shape[1])[P.argmax(axis=1)].T @ P
    return _adjusted(N)


def _soft(labels: Labels, k: int) -> Array:
    """Posteriors to begin with, (n, k): nine tenths for the label."""
    return 0.9 * np.eye(k)[labels] + 0.1 / k


def _gains_of_two(Z: Array, observed: Mask) -> Array:
    """How much the log-likelihood of each column (n, p) gains a row by two Gaussians instead of one, (p,).

    EM from cuts at the three quartiles, less ``3/2 ln m`` for three parameters more.
    """
    m, x = observed.sum(axis=0), np.where(observed, Z, 0.0)
    squares = np.square(x)
    variances = squares.sum(axis=0) / np.maximum(m, 1) - np.square(x.sum(axis=0) / np.maximum(m, 1))
    best = alone = -0.5 * m * (np.log(2.0 * math.pi * np.maximum(variances, 1e-12)) + 1.0)
    ordered = np.sort(np.where(observed, Z, np.inf), axis=0)
    for cut in (1, 2, 3):
        borders = ordered[np.clip(m * cut // 4, 0, np.maximum(m - 1, 0)), np.arange(len(m))]
        P = np.stack([x > borders, x <= borders]) * 0.9 + 0.05
        for _ in range(25):
            P *= observed
            w = P.sum(axis=1) + 1e-9
            means = (P * x).sum(axis=1) / w
            v = np.maximum((P * squares).sum(axis=1) / w - np.square(means), 0.0) + 0.02
            logs = (np.log(w / np.maximum(m, 1)) - 0.5 * np.log(2.0 * math.pi * v))[:, None]
            logs = logs - 0.5 * np.square(x - means[:, None]) / v[:, None]
            whole = np.logaddexp(*logs)
            P = np.exp(logs - whole)
        best = np.maximum(best, (whole * observed).sum(axis=0))
    return np.where(m < 4, 0.0, (best - alone - 1.5 * np.log(np.maximum(m, 1))) / np.maximum(m, 1))


def _distinct(candidates: Sequence[Solution]) -> list[Solution]:
    """Candidates of different values of the criterion, in their order."""
    chosen: list[Solution] = []
    for solution in candidates:
        if not any(abs(solution.value - other.value) < 1e-3 for other in chosen):
            chosen.append(solution)
    return chosen


def agreement(first: Labels, second: Labels, levels: int, k: int) -> float:
    """Adjusted Rand index of labellings (n,) with `levels` and k labels; rows with -1 in one of them do not count."""
    has = (first >= 0) & (second >= 0)
    return _adjusted(np.bincount(first[has] * k + second[has], minlength=levels * k).reshape(levels, k).astype(float))


def _adjusted(N: Array) -> float:
    """The adjusted Rand index of the rows in common of two partitions."""
    pairs = (N * (N - 1)).sum() / 2
    rows, columns = N.sum(axis=1), N.sum(axis=0)
    a, b = (rows * (rows - 1)).sum() / 2, (columns * (columns - 1)).sum() / 2
    n = float(N.sum())
    expected = a * b / max(n * (n - 1) / 2, 1.0)
    return float((pairs - expected) / max((a + b) / 2 - expected, 1e-9)) if n > 1 else 0.0


def restated(table: MixedTable, labels: Labels, k: int, j: int) -> float:
    """Adjusted Rand index of labels with a category, or with unions of its levels: that of the two that is larger."""
    codes, levels = table.codes[:, j], int(table.levels[j])
    has = codes >= 0
    N = np.bincount(codes[has] * k + labels[has], minlength=levels * k).reshape(levels, k)
    united = np.where(has, N.argmax(axis=1)[codes], -1)
    return max(agreement(codes, labels, levels, k), agreement(united, labels, k, k))


def repeated_categories(table: MixedTable) -> Mask:
    """Categories that say row by row what one before them says, (q,)."""
    repeated = np.zeros(table.q, dtype=bool)
    for j in range(table.q):
        for i in range(j):
            if repeated[i] or table.levels[i] != table.levels[j]:
                continue
            a, b = table.codes[:, i], table.codes[:, j]
            if ((a < 0) != (b < 0)).any():
                continue
            pairs = np.unique(a[a >= 0] * int(table.levels[j]) + b[a >= 0])
            if len(pairs) == len(np.unique(a[a >= 0])) == len(np.unique(b[a >= 0])):
                repeated[j] = True
                break
    return repeated
