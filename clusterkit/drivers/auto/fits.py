"""Fits of the members of a pool at several numbers of clusters, and refits that show their stability."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.compat import Composition
from clusterkit.core.contracts import During, check_instance
from clusterkit.core.progress import Report, tell
from clusterkit.core.run import FitResult, fit
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Driver, DriverResult
from clusterkit.criteria.agreement import canonical, subsample_stability, subsamples
from clusterkit.criteria.numbers import most_clusters
from clusterkit.criteria.terrain import Terrain
from clusterkit.drivers.auto.pool import Member
from clusterkit.drivers.auto.votes import Complete, Votes

__all__ = ["Candidate", "Fits", "fit_member", "run_driver"]

FAILURES = (ValueError, RuntimeError, ArithmeticError)
"""What a member may raise on data that it cannot work on: errors of the library, of linear algebra and of ARPACK. The
others go on without it."""


@final
@attrs.frozen(eq=False)
class Candidate:
    """A clustering to choose among.

    Parameters
    ----------
    member : Member
    number : int or None
        Number of clusters that the method was fitted with; None where it finds the number.
    labels : ndarray of shape (m,)
        Labels 0..k-1 of the scored rows, every one of which occurs.
    """

    member: Member
    number: int | None
    labels: Labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters among the scored rows."""
        return int(self.labels.max()) + 1


@final
@attrs.frozen(eq=False)
class Fits:
    """The fits of one run, with the rows that they are made and compared on.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    scored : ndarray of int or None
        Rows on which candidates are compared; None: all.
    trees_on_all : bool
        Whether members that scale are fitted to all rows, where the others are fitted to those scored.
    seeds : Seeds
    space : ndarray of shape (n, r) or None
        The coordinates in which candidates are compared; None: X.
    """

    X: Array
    scored: Indices | None
    trees_on_all: bool
    seeds: Seeds
    space: Array | None = None
    failures: dict[str, Exception] = attrs.field(factory=dict, init=False)
    S: Array = attrs.field(init=False)
    parts: tuple[Indices, ...] = attrs.field(init=False)
    _part_rows: tuple[Array, ...] = attrs.field(init=False)
    _refits: dict[tuple[int, str, int | None], Labels | None] = attrs.field(factory=dict, init=False)

    @S.default
    def _rows_scored(self) -> Array:
        return self.X if self.scored is None else np.ascontiguousarray(self.X[self.scored])

    @parts.default
    def _halves(self) -> tuple[Indices, ...]:
        return subsamples(len(self.S), self.seeds.stream("subsamples"))

    @_part_rows.default
    def _rows_of_parts(self) -> tuple[Array, ...]:
        # kept, because fits to one array share what they compute from it
        return tuple(np.ascontiguousarray(self.S[rows]) for rows in self.parts)

    def terrain(self) -> Terrain:
        """What candidates are compared on."""
        if self.space is None:
            return Terrain.of(self.S)
        return Terrain.of(self.space if self.scored is None else self.space[self.scored])

    def on_all_rows(self, member: Member) -> bool:
        """Whether a member is fitted to all rows."""
        return self.scored is None or (self.trees_on_all and member.scales)

    def fit(self, member: Member, k: int | None) -> DriverResult:
        """The fit of a member, with its warnings; the same whenever it is called."""
        return fit_member(member, k, self.X if self.on_all_rows(member) else self.S, self._seeds(member, k))

    def candidate(self, member: Member, k: int | None, terrain: Terrain) -> tuple[Candidate | None, bool]:
        """A member at a number of clusters, and whether Ctrl-C ended its fit early.

        None where it fails, finds fewer than two clusters, or so many that the mean cluster has less than √m rows.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the candidates that are not chosen nobody wants to hear
            try:
                fitted = self.fit(member, k).fit
            except FAILURES as error:
                self.failures.setdefault(member.name, error)
                return None, False
        labels = fitted.labels if self.scored is None or not self.on_all_rows(member) else fitted.labels[self.scored]
        if (labels < 0).all():
            return None, fitted.interrupted
        labels = canonical(terrain.adopted(labels))
        many = member.finds_number and labels.max() >= most_clusters(len(labels))
        usable = labels.max() > 0 and not many
        return (Candidate(member, k, labels) if usable else None), fitted.interrupted

    def stability(self, candidate: Candidate) -> float:
        """Mean agreement of a candidate with refits of its method to two disjoint parts of the rows.

        Raises
        ------
        KeyboardInterrupt
            Also if Ctrl-C ended a refit early, whose labels would count against the candidate.
        """
        return subsample_stability(candidate.labels, self.parts, lambda part: self._refit(part, candidate))

    def _refit(self, part: int, candidate: Candidate) -> Labels | None:
        member, k = candidate.member, candidate.number
        place = (part, member.name, k)
        if place not in self._refits:
            rows = self._part_rows[part]
            labels: Labels | None = None
            if k is None or 1 <= k <= len(rows):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        again = fit_member(member, k, rows, self._seeds(member, k).child("part", part)).fit
                        if again.interrupted:
                            raise KeyboardInterrupt
                        labels = again.labels
                    except FAILURES:  # too few rows for this method: nothing is found again
                        labels = None
            self._refits[place] = labels
        return self._refits[place]

    def stabilities(self, candidates: Sequence[Candidate]) -> Array:
        """Of all candidates, (m,), with reports of the progress."""
        values = np.zeros(len(candidates))
        for i, candidate in enumerate(candidates):
            values[i] = self.stability(candidate)
            tell(Report("stability", i + 1, len(candidates)))
        return values

    def complete(self, candidate: Candidate, fitted: FitResult, terrain: Terrain) -> FitResult:
        """A fit as the answer: labels of all rows, without noise, and a function that labels new ones.

        Rows that the method called noise follow the tree to a cluster, or, where the tree is of a sample, their nearest
        row that has a label. Rows outside a sample get the label of most of their 5 nearest rows in it.
        """
        noisy = bool((fitted.labels < 0).any())
        if not self.on_all_rows(candidate.member):
            votes = Votes(self.S, candidate.labels)
            return self._with(fitted, votes(self.X), votes, exact=False)
        if not noisy:
            nearest = Votes(self.X, fitted.labels, 1)
            predict = nearest if fitted.predict is None else fitted.predict
            if fitted.predict is not None and candidate.member.finds_number:
                # such a method may call new rows noise where it calls none of those it was fitted to
                predict = Complete(fitted.predict, nearest)
            return attrs.evolve(fitted, predict=predict, exact=fitted.exact and fitted.predict is not None)
        if self.scored is None:
            labels = terrain.adopted(fitted.labels)
        else:
            labels = Complete(_Known(fitted.labels), _labelled(self.X, fitted.labels))(self.X)
        nearest = Votes(self.X, labels, 1)
        predict = nearest if fitted.predict is None else Complete(fitted.predict, nearest)
        return self._with(fitted, labels, predict, exact=False)

    def _with(self, fitted: FitResult, labels: Labels, predict: Votes | Complete, *, exact: bool) -> FitResult:
        labels = np.array(labels, dtype=np.intp)
        labels.flags.writeable = False
        return attrs.evolve(fitted, labels=labels, predict=predict, exact=exact, memberships=None, outlier_scores=None)

    def _seeds(self, member: Member, k: int | None) -> Seeds:
        return self.seeds.child(member.name, 0 if k is None else k)


def run_driver(driver: Driver, composition: Composition, X: Array, seeds: Seeds) -> DriverResult:
    """The answer of a driver, whose type is checked."""
    with During(driver):
        answer = driver.run([composition], X, seeds)
    check_instance(driver, "run", answer, DriverResult)
    return answer


def fit_member(member: Member, k: int | None, X: Array, seeds: Seeds) -> DriverResult:
    """A member at k clusters, by its driver if it has one."""
    if member.driver is None:
        return DriverResult(fit(member.at(k), X, seeds))
    return run_driver(member.driver, member.at(k), X, seeds)


def _labelled(X: Array, labels: Labels) -> Votes:
    """Votes of the rows that have a label."""
    return Votes(X[labels >= 0], labels[labels >= 0], 1)


@final
@attrs.frozen(eq=False)
class _Known:
    """The labels of the training rows, in their order."""

    labels: Labels

    def __call__(self, Y: Array) -> Labels:
        return self.labels
