"""The best of the clusterings that a pool of methods finds, chosen without classes.

`AutoDriver` makes the choice, by the ranking of the candidates in criteria/rules.py. For tables, and arrays of four
columns and more, `Court` in estimators/auto_tables.py sets it against a mixture of the columns. `confidence_in_words`
and `second_in_words` say how sure the choice is and what else may be right, so that the two do not contradict each
other.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts import Driver, DriverResult, params
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.outcomes import Ending, Scores
from clusterkit.contracts.seeds import Seeds
from clusterkit.criteria.confidence import (
    Evidence,
    canonical,
    distinct,
    family_agreement,
    rand_matrix,
    structure_confidence,
    witnesses,
)
from clusterkit.criteria.one_cluster import MOST_OF_ONE, OneCluster, are_counts
from clusterkit.criteria.rules import Ranking, candidate_numbers, known_number, unknown_number
from clusterkit.criteria.terrain import Separation, Terrain, are_directions
from clusterkit.drivers.auto_fits import Fits, Known, PoolCandidate, PoolMember, fit_member, of_composition, pool_of
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter, counted, first_names, percent, shortened
from clusterkit.fitting.fit import check_magnitude, one_cluster
from clusterkit.numerics.selection import few_points
from clusterkit.samples.limits import Report, notify, reusing, side_by_side

NESTED = 0.95
"""Share of the rows of the finer clustering that must lie in the cluster of the coarser one to which most rows of
their cluster belong, for the two to count as nested: 1 up to the rows on borders."""

SHOWN_CRITERIA = 5
"""Candidates that `resolved_` shows; `candidates_` has all."""


class LabelsByVotes(ClusterkitWarning):
    """Rows outside of a sample have their labels by the votes of the nearest rows in it."""


@final
@attrs.frozen(eq=False)
class Choice:
    """The ranking of the candidates, with the facts that follow from it.

    Parameters
    ----------
    candidates : sequence of PoolCandidate
    ranking : Ranking
    known : bool
        Whether the number of clusters was given.
    """

    candidates: Sequence[PoolCandidate]
    ranking: Ranking
    known: bool

    @classmethod
    def of(cls, candidates: Sequence[PoolCandidate], terrain: Terrain, *, known: bool) -> Choice:
        """Rank candidates, without their stabilities."""
        labelings = [candidate.labels for candidate in candidates]
        families = [candidate.member.family for candidate in candidates]
        if known:
            return cls(candidates, known_number(terrain, labelings, families), known)
        return cls(candidates, unknown_number(terrain, labelings, families, [math.nan] * len(candidates)), known)

    def decided(self, stabilities: Callable[[Sequence[PoolCandidate]], Sequence[float]]) -> Choice:
        """The choice with the stabilities of those candidates for whose rank they matter."""
        ranking = self.ranking
        while places := ranking.undecided([candidate.n_clusters for candidate in self.candidates]):
            values = np.array(ranking.terms["stability"])
            values[places] = stabilities([self.candidates[place] for place in places])
            ranking = attrs.evolve(ranking, terms={**ranking.terms, "stability": values})
        return attrs.evolve(self, ranking=ranking)

    @property
    def best(self) -> PoolCandidate:
        """The best candidate."""
        return self.candidates[self.ranking.best]

    @property
    def ties(self) -> list[str]:
        """Other clusterings with the same score."""
        return [_described(self.candidates[i]) for i in self.ranking.ties]

    @property
    def second(self) -> PoolCandidate | None:
        """The best candidate with another number of clusters; None if there is none."""
        total = np.array(self.ranking.total)
        total[[candidate.n_clusters == self.best.n_clusters for candidate in self.candidates]] = -np.inf
        return self.candidates[int(np.argmax(total))] if np.isfinite(total).any() else None

    def confidence(self, terrain: Terrain, stability: float) -> float:
        """`structure_confidence` of the answer; nan for a single candidate that too few methods could confirm."""
        ranking, members = self.ranking, [candidate.member for candidate in self.candidates]
        methods, finders = [member.name for member in members], [member.finds_number for member in members]
        agreeing = witnesses(ranking.similarity[ranking.best], methods, finders, known=self.known)
        if agreeing is None and len(self.candidates) == 1:
            return math.nan
        separation = Separation.of(terrain, self.best.labels).validity
        evidence = Evidence(stability, ranking.margin, separation, self.best.n_clusters, agreeing)
        return structure_confidence(evidence, known=self.known)

    def agreements(self, other: Labels) -> tuple[float, float]:
        """How far families agree with the answer, and with other labels: means of the 3 best (`family_agreement`)."""
        labelings = [canonical(other), *(candidate.labels for candidate in self.candidates)]
        families = [candidate.member.family for candidate in self.candidates]
        of_other = family_agreement(rand_matrix(labelings), ["", *families])[0]
        return float(family_agreement(self.ranking.similarity, families)[self.ranking.best]), float(of_other)

    def table(self) -> list[Mapping[str, object]]:
        """The distinct clusterings, best first: methods that found them, number of clusters, score and terms."""
        first = distinct([candidate.labels for candidate in self.candidates])
        rows: list[Mapping[str, object]] = []
        shown: set[int] = set()
        for place in map(int, np.argsort(-self.ranking.total, kind="stable")):
            if int(first[place]) in shown:
                continue
            shown.add(int(first[place]))
            same = np.flatnonzero(first == first[place])
            rows.append(
                {
                    "recipe": self.candidates[place].member.name,
                    "n_clusters": self.candidates[place].n_clusters,
                    "score": float(self.ranking.total[place]),
                    **{name: float(v[place]) for name, v in self.ranking.terms.items() if not math.isnan(v[place])},
                    "similarity": float(self.ranking.similarity[place, self.ranking.best]),
                    "found_by": sorted({self.candidates[int(i)].member.name for i in same}),
                }
            )
        return rows

    def curve(self) -> tuple[tuple[int, float], ...]:
        """Each number of clusters with the best score at it, by ascending number."""
        best: dict[int, float] = {}
        for candidate, score in zip(self.candidates, self.ranking.total.tolist(), strict=True):
            best[candidate.n_clusters] = max(best.get(candidate.n_clusters, score), score)
        return tuple((k, round(best[k], 3)) for k in sorted(best))

    def facts(self, table: Sequence[Mapping[str, object]]) -> dict[str, object]:
        """Report on the choice for `resolved_`."""
        second = self.second
        facts: dict[str, object] = {
            "recipe": self.best.member.name,
            "n_clusters": self.best.n_clusters,
            "criterion": "known number" if self.known else "unknown number",
            "score": round(float(self.ranking.total[self.ranking.best]), 3),
            "candidates": len(self.candidates),
            "distinct": len(table),
            "margin": round(self.ranking.margin, 3),
            "best": tuple(
                f"{row['recipe']}: {counted(cast('int', row['n_clusters']), 'cluster')}, {row['score']:.3f}"
                for row in table[:SHOWN_CRITERIA]
            ),
        }
        if not self.known:
            facts["score_of_number"] = self.curve()
        if self.ties:
            facts["tied_with"] = tuple(self.ties)
        if not self.known and second is not None:
            facts["second_n_clusters"] = second.n_clusters
            facts["second_is_nested"] = is_nested(self.best.labels, second.labels)
        return facts


def is_nested(one: Labels, other: Labels) -> bool:
    """Whether the finer of two clusterings only divides clusters of the coarser one, up to 5 % of the rows.

    Examples
    --------
    >>> is_nested(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])), is_nested(
    ...     np.array([0, 0, 1, 1]), np.array([0, 1, 2, 1])
    ... )
    (True, False)
    """
    finer, coarser = (one, other) if one.max() >= other.max() else (other, one)
    cells = np.zeros((int(finer.max()) + 1, int(coarser.max()) + 1), dtype=np.int64)
    np.add.at(cells, (finer, coarser), 1)
    return bool(cells.max(axis=1).sum() >= NESTED * len(one))


def _described(candidate: PoolCandidate) -> str:
    return f"{candidate.member.name}, {counted(candidate.n_clusters, 'cluster')}"


FEWEST = 4
"""Smallest number of rows that can be two clusters of two; with fewer there is nothing to compare."""

FEWEST_JUDGED = 20
"""Smallest number of rows for which a confidence is given: on four or five rows of noise it was near 1. The sets that
it was fitted to have 150 rows and more."""

SHOWN = 5
"""Names of methods in a message."""

LEAF = 32
"""Rows in a leaf of the trees of `clusterkit.numerics.spanning_trees`, for the estimate of their work."""


def _names(value: Any) -> str | None:
    named = isinstance(value, tuple) and all(isinstance(name, str) and name for name in value)
    return None if value is None or named else "a list of names of recipes, or None"


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _range(value: Any) -> str | None:
    wanted = "a pair (least, most) of integers with 2 <= least <= most, or None"
    if value is None:
        return None
    pair = isinstance(value, tuple) and len(value) == 2 and params.is_count(value[0], 2)
    return None if pair and params.is_count(value[1], int(value[0])) else wanted


WIDE = 100
"""Smallest number of columns from which directions are embeddings."""

SAMPLE_OF_WIDE = 1000
"""Most embeddings on which candidates are compared: on 5,000 of 384 columns the pool takes 60 times as long as recipe
`embeddings`, on 1,000 of them a fifth of that, and that recipe is fitted to all rows."""


def tree_work(n: int, d: int) -> int:
    """Estimate of the products that a spanning tree of n rows in d dimensions takes.

    A row meets about 2^d leaves of 32 rows, or all rows.

    Examples
    --------
    >>> f"{tree_work(1_000_000, 2):.1e}", f"{tree_work(100_000, 10):.1e}", f"{tree_work(100_000, 50):.1e}"
    ('2.6e+08', '3.3e+10', '5.0e+11')
    """
    return n * d * min(n, LEAF * 2 ** min(d, 60))


@final
@attrs.frozen
class AutoDriver(Driver):
    """Fits every member of a pool, at one number of clusters or at many, and returns the best by the spanning tree.

    1. **Candidates.** Members are recipes; those that need the number of clusters are fitted at the given one, or at
       2-10, 12, 15, 20, 25, 31, 35, 50 up to √n and at those around the number for which the masses of the tree speak.
       Noise follows the tree to a cluster. Candidates that are equal up to the names of the clusters count once.
    2. **Choice.** Given a number of clusters, by separation, agreement between families, entropy and likelihood;
       otherwise by contrast, agreement by rows and by clusters, and stability: `known_number` and `unknown_number` of
       `clusterkit.criteria.rules`. No classes, and no objective of any method, enter it.
    3. **Report.** The confidence, the test for a single cluster and the second-best number of clusters inform; they
       overrule nothing.

    Where rows are directions, of length 1, recipe `embeddings` is a member too, fitted to all rows; from 100
    columns on at most 1,000 rows are compared.

    The compositions passed to `run` are members too. Where `n_clusters` is None, theirs is taken as given.

    Parameters
    ----------
    n_clusters : int or None, default None
    pool : sequence of str or None, default None
        Recipes. None: all that ask for it (`clusterkit.contracts.providers.Recipe.pool`).
    max_rows : int, default 5000
        Most rows that members are fitted to and candidates are compared on; of more, a random sample is taken, and the
        other rows get the label of most of their 5 nearest rows in it.
    between : (int, int) or None, default None
        Least and most number of clusters to choose from, where `n_clusters` is None; None: no limits but √n.
    max_work : int, default 4e10
        Most work (`tree_work`) with which spanning trees are fitted to all rows in spite of `max_rows`: 1,000,000 rows
        in 2 dimensions, 100,000 in 10.
    """

    name: ClassVar[str] = "auto"
    estimator: ClassVar[str] = "clusterkit.estimators.auto:Auto"
    trial: ClassVar[dict[str, object]] = {"pool": ()}

    n_clusters: int | None = params.integer(None, at_least=1, optional=True)
    pool: tuple[str, ...] | None = params.free(None, _names, invalid=("kmeans", 3, ("",)), converter=_as_tuple)
    max_rows: int = params.integer(5000, at_least=100)
    max_work: int = params.integer(40_000_000_000, at_least=0, at_most=params.MOST_WORK)
    between: tuple[int, int] | None = params.free(None, _range, invalid=((3, 2), (1, 4), 5, "all"), converter=_as_tuple)

    def run(
        self, compositions: Sequence[Composition], X: Array, seeds: Seeds, other: Labels | None = None
    ) -> DriverResult:
        """Choose among the pool and the compositions, which may be none, on X, shape (n, d).

        With `other` labels of the rows the facts have "agreements" of families, with the answer and with these.

        The report has "candidates" (a row for each distinct clustering, best first), "confidence",
        "perhaps_one_cluster" and "second_n_clusters", and what the driver of the chosen member reports. After Ctrl-C
        the best of the candidates so far is returned.
        """
        k = self.n_clusters
        if k is None and compositions:
            k = compositions[0].n_clusters
        members = [of_composition(c, f"composition {i + 1}") for i, c in enumerate(compositions)]
        members += pool_of(self.pool)
        driver = self
        if self.pool is None and are_directions(X):
            members += pool_of(["embeddings"])
            if X.shape[1] >= WIDE:
                driver = attrs.evolve(self, max_rows=min(self.max_rows, SAMPLE_OF_WIDE), max_work=0)
        return driver.choose(members, k, X, seeds, other=other)

    def choose(
        self,
        members: Sequence[PoolMember],
        k: int | None,
        X: Array,
        seeds: Seeds,
        space: Array | None = None,
        known: Known | None = None,
        other: Labels | None = None,
    ) -> DriverResult:
        """Choose among members, at k clusters or, where it is None, at any number.

        Candidates are compared in the coordinates `space`, (n, r), or in X where it is None. Every candidate gets what
        is `known` about the rows; methods that ignore it are left out.
        """
        n = len(X)
        if known is not None and n > self.max_rows:
            raise InvalidData(
                f"links, seeds and sample_weight are of all rows, and candidates are fitted to a sample of "
                f"{self.max_rows} of these {n}: set max_rows={n}, or fit one recipe"
            )
        check_magnitude(X)
        least = k if k is not None else 0 if self.between is None else self.between[0]
        if least > n:
            raise InvalidData(f"n_samples={n} should be >= n_clusters={least}: no cluster may be without a sample")
        if k == 1:
            reason = "one cluster: nothing to choose among"
            return DriverResult(_one_cluster(members, X, seeds, known, reason), _nothing())
        self._check_able(members, k)
        if k is not None:
            members = [member.alone() for member in members if member.takes in (None, k)]
        with reusing():
            fits = Fits(X, self._sample(n, seeds), self._trees_on_all(X), seeds, space, known)
            return self._choose(members, k, fits, other)

    def _choose(self, members: Sequence[PoolMember], k: int | None, fits: Fits, other: Labels | None) -> DriverResult:
        n, seeds = len(fits.X), fits.seeds
        if n < FEWEST or not np.ptp(fits.S, axis=0).any():
            return self._without_choice(members, k, fits)
        terrain = fits.terrain()
        candidates, interrupted = self._candidates(members, k, fits, terrain)
        if not candidates:
            if interrupted:
                raise KeyboardInterrupt
            if members and len(fits.failures) == len(members):
                raise next(iter(fits.failures.values()))
            if k is not None and members and all(member.finds_number for member in members):
                raise _other_number(members, k, "no clusters, or one")
            return self._without_choice(members, k, fits)
        choice = Choice.of(candidates, terrain, known=k is not None)
        if k is None and not interrupted:
            try:
                choice = choice.decided(fits.stabilities)
            except KeyboardInterrupt:
                interrupted = True
        table = choice.table()
        best = choice.best
        answer = fits.fit(best.member, best.number)
        fitted = fits.complete(best, answer.fit, terrain)
        confidence, one, points, of_best = math.nan, None, few_points(terrain.X), math.nan
        if not interrupted:
            try:
                [of_best] = fits.stabilities([best])
                if terrain.n >= FEWEST_JUDGED and best.n_clusters < terrain.n:  # else nothing is grouped
                    confidence = choice.confidence(terrain, of_best)
                if points is None or are_counts(terrain.X):
                    one = OneCluster.of(terrain.X, seeds.stream("one cluster"))
            except KeyboardInterrupt:
                interrupted = True
        perhaps = None if one is None else not one.several
        if perhaps:
            confidence = min(confidence, MOST_OF_ONE)
        facts = {**choice.facts(table), "confidence": round(confidence, 3), "perhaps_one_cluster": perhaps}
        facts |= {} if one is None else one.facts()
        if k is not None and not math.isnan(of_best):  # else the stability is among the terms of the score
            facts["stability"] = round(of_best, 3)
        if other is not None:
            facts["agreements"] = choice.agreements(other if fits.scored is None else other[fits.scored])
        if points is not None:
            facts["points"] = points
        facts |= self._of_rows(fits, best, n)
        if fits.failures:
            facts["failed"] = {name: str(error) for name, error in fits.failures.items()}
        reason = f"the best of {len(candidates)} clusterings: {best.member.name}, {counted(best.n_clusters, 'cluster')}"
        if interrupted:
            reason = f"interrupted: the best of the first {len(candidates)} clusterings is kept"
        fitted = attrs.evolve(
            fitted,
            reason=reason,
            ending=Ending.INTERRUPTED if interrupted else fitted.ending,
            resolved={**fitted.resolved, "auto": facts},
        )
        second = choice.second
        report = {
            **answer.report,
            "candidates": table,
            "confidence": confidence,
            "perhaps_one_cluster": perhaps,
            "second_n_clusters": None if second is None or k is not None else second.n_clusters,
        }
        return DriverResult(fitted, report)

    def _check_able(self, members: Sequence[PoolMember], k: int | None) -> None:
        """Refuse a pool whose methods make none of the numbers of clusters asked for."""
        if not members and k is not None:
            raise InvalidParameter(f"n_clusters={k}: the pool is empty; name recipes, or leave pool out")
        if not members:
            return
        least, most = (k, k) if k is not None else self.between or (2, None)
        for member in members:
            if member.finds_number or member.takes is None:
                return
            if least <= member.takes and (most is None or member.takes <= most):
                return
        asked_for = f"n_clusters={k if k is not None else self.between}"
        takes = sorted({str(member.takes) for member in members})
        raise InvalidParameter(
            f"{asked_for}: the methods of the pool ({_listed(members)}) make {' or '.join(takes)} clusters only. Add a "
            "recipe that makes any number, such as 'kmeans'"
        )

    def _sample(self, n: int, seeds: Seeds) -> Indices | None:
        """The rows on which candidates are compared; None for all."""
        if n <= self.max_rows:
            return None
        return np.sort(seeds.stream("sample").choice(n, self.max_rows, replace=False))

    def _trees_on_all(self, X: Array) -> bool:
        return tree_work(*X.shape) <= self.max_work

    def _candidates(
        self, members: Sequence[PoolMember], k: int | None, fits: Fits, terrain: Terrain
    ) -> tuple[list[PoolCandidate], bool]:
        """The candidates, and whether Ctrl-C came in between."""
        finding = [(member, None) for member in members if member.finds_number]
        tried = candidate_numbers(terrain, self.between) if k is None else [k]
        taking = [(member, number) for number in tried for member in members if not member.finds_number]
        jobs: list[tuple[PoolMember, int | None]] = [*finding, *((m, j) for m, j in taking if m.takes in (None, j))]
        candidates: list[PoolCandidate] = []
        interrupted = False

        def one(job: tuple[PoolMember, int | None]) -> tuple[PoolCandidate | None, bool]:
            nonlocal interrupted
            if interrupted:
                return None, True
            candidate, ended = fits.candidate(*job, terrain)
            interrupted = interrupted or ended  # the other threads begin no further fit
            return candidate, ended

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about candidates that are not chosen help nobody
            try:
                # the spanning trees of all rows, which take longest, come first
                for index, (candidate, _) in enumerate(side_by_side(one, jobs, fits.most_at_once)):
                    if candidate is not None and (k is not None or self._within(candidate.n_clusters)):
                        candidates.append(candidate)
                    notify(Report("candidates", index + 1, len(jobs)))
            except KeyboardInterrupt:
                interrupted = True
        for member, number in jobs:
            if (failure := fits.errors.get((member.name, number))) is not None:
                fits.failures.setdefault(*failure)
        if k is None or not candidates:
            return candidates, interrupted
        # on rows with fewer distinct values some methods find fewer clusters than asked for
        nearest = min(abs(candidate.n_clusters - k) for candidate in candidates)
        if nearest and all(member.finds_number for member in members):
            numbers = sorted({candidate.n_clusters for candidate in candidates})
            raise _other_number(members, k, " and ".join(map(str, numbers)))
        return [one for one in candidates if abs(one.n_clusters - k) == nearest], interrupted

    def _within(self, k: int) -> bool:
        """Whether a number may be chosen; a method that is given a number may find fewer clusters."""
        return self.between is None or self.between[0] <= k <= self.between[1]

    def _without_choice(self, members: Sequence[PoolMember], k: int | None, fits: Fits) -> DriverResult:
        """The answer where no candidate has two clusters: the first member at k, or one cluster."""
        taking = [member for member in members if not member.finds_number]
        if k is None or not taking:
            reason = "one cluster: the rows are too few or too alike for two"
            if len(fits.S) >= FEWEST and np.ptp(fits.S, axis=0).any():
                reason = f"one cluster: no method of the pool divides the rows ({_listed(members) or 'it is empty'})"
            if self.between is not None:
                reason = "one cluster: no candidate has from {} to {} clusters".format(*self.between)
            fitted = _one_cluster(members, fits.X, fits.seeds, fits.known, reason)
            if len(fits.X) > 1 and (fits.X[0] == fits.X).all():
                message = f"all {len(fits.X)} samples are equal, so they are in one cluster"
                warnings.warn(message, ClusterkitWarning, stacklevel=4)
        else:
            answer = fit_member(taking[0], k, fits.X, fits.seeds.child(taking[0].name, k), fits.known)
            return attrs.evolve(answer, report={**answer.report, **_nothing()})
        return DriverResult(fitted, _nothing())

    def _of_rows(self, fits: Fits, best: PoolCandidate, n: int) -> dict[str, object]:
        """Report on the steps that used a part of the rows, which is also a warning."""
        if fits.scored is None:
            return {}
        facts: dict[str, object] = {"rows_compared": len(fits.S), "trees_on": n if fits.trees_on_all else len(fits.S)}
        if not fits.on_all_rows(best.member):
            wide = fits.X.shape[1] >= WIDE and are_directions(fits.S)
            more = "Recipe 'embeddings' is fitted to all rows." if wide else "Raise max_rows to look at more."
            warnings.warn(
                f"the {n} rows were clustered by a sample of {len(fits.S)}, from which the others have their labels by "
                f"the votes of their 5 nearest rows; structure much smaller than that is not seen. {more}",
                LabelsByVotes,
                stacklevel=5,
            )
        return facts


def _one_cluster(members: Sequence[PoolMember], X: Array, seeds: Seeds, known: Known | None, reason: str) -> FitResult:
    """All rows in one cluster, by the first member that takes a number, if possible one that scores new rows.

    Without such a member there are only labels.
    """
    facts = {"recipe": None, "n_clusters": 1, "reason": reason}
    paths = [(member, member.composition.path) for member in members if not member.finds_number]
    scoring = [one for one in paths if one[1] is not None and one[1].inductive and issubclass(one[1].gives, Scores)]
    taking = next((member for member, _ in scoring or paths), None)
    if taking is None:
        return one_cluster(len(X), reason, {"auto": facts})
    fitted = fit_member(taking, 1, X, seeds.child(taking.name, 1), known).fit
    return attrs.evolve(fitted, reason=reason, resolved={**fitted.resolved, "auto": facts})


def _other_number(members: Sequence[PoolMember], k: int, numbers: str) -> InvalidParameter:
    """The error where methods that find the number of clusters find another one than was asked for."""
    return InvalidParameter(
        f"n_clusters={k}: the methods of the pool find the number themselves ({_listed(members)}), and found {numbers}"
        ". Leave n_clusters out, or add a recipe that takes it, such as 'kmeans'"
    )


def _listed(members: Sequence[PoolMember]) -> str:
    """The names of members, for messages."""
    return first_names([member.name for member in members], SHOWN)


def _nothing() -> dict[str, object]:
    """The report of a fit without a choice among candidates."""
    return {"candidates": [], "confidence": math.nan, "perhaps_one_cluster": None, "second_n_clusters": None}


def confidence_in_words(confidence: float) -> str:
    """A confidence in words, which is an estimate and never certainty; empty where there is none.

    Examples
    --------
    >>> confidence_in_words(0.82), confidence_in_words(1.0), confidence_in_words(0.0), confidence_in_words(math.nan)
    ('82 %', 'above 99 %', 'below 1 %', '')
    """
    return "" if math.isnan(confidence) else percent(min(max(confidence, 2.0**-40), 1.0 - 2.0**-40))


HARDLY = 0.1
"""Confidence below which clusters are hardly the groups of the rows, though tests show more than one cluster."""

PIECES = {
    "curved": "one piece, curved: it has ends and bends, but no gap",
    "joined": "one piece: from row to row there is a way without a gap",
}
"""Descriptions of rows that the tests take for one piece, by `criteria.one_cluster.OneCluster.piece`."""


def perhaps_in_words(facts: Mapping[str, object]) -> str:
    """What the rows may be in place of the clusters of a choice, by its facts; "" where nothing says so.

    Examples
    --------
    >>> perhaps_in_words({"confidence": 0.004, "perhaps_one_cluster": False})
    'other clusters, or none: with so low a confidence these are hardly the groups of the rows'
    >>> perhaps_in_words({"confidence": 0.4, "perhaps_one_cluster": True, "one_piece": "joined"})
    'one piece: from row to row there is a way without a gap'
    """
    if facts.get("perhaps_one_cluster"):
        none = "no clusters at all: the tests for more than one cluster show none"
        return PIECES.get(str(facts.get("one_piece")), none)
    is_low = cast("float", facts.get("confidence", math.nan)) < HARDLY
    return "other clusters, or none: with so low a confidence these are hardly the groups of the rows" * is_low


def second_in_words(chosen: int, second: int, *, nested: bool) -> str:
    """The next best number of clusters, and what it means where its clusters and the chosen ones are nested.

    Examples
    --------
    >>> second_in_words(3, 5, nested=False), second_in_words(3, 1, nested=True)
    ('5 clusters', '1 cluster, which joins the chosen ones: the same groups on a coarser scale')
    >>> second_in_words(3, 6, nested=True)
    '6 clusters, which divide the chosen ones: the same groups on a finer scale'
    """
    text = counted(second, "cluster")
    if not nested:
        return text
    verb, scale = ("divide", "finer") if second > chosen else ("join", "coarser")
    return f"{text}, which {verb}{'s' if second == 1 else ''} the chosen ones: the same groups on a {scale} scale"


CONFIRMS = 0.7
"""Adjusted Rand index from which the clusters of the other columns confirm clusters that restate a column."""


def restated_in_words(facts: Mapping[str, object]) -> str:
    """What `resolved_` says of clusters that restate a column ("restates"), as a sentence.

    Examples
    --------
    >>> restated_in_words({"column": "year", "agreement": 0.98, "n_clusters_without": 3, "similarity_without": 0.1})
    "the clusters restate the column 'year' (agreement 0.98); without it there are 3 others (similarity 0.10)"
    """
    column, agreement = facts["column"], cast("float", facts["agreement"])
    k, same = cast("int", facts["n_clusters_without"]), cast("float", facts["similarity_without"])
    text = f"the clusters restate the column {shortened(str(column))!r} (agreement {agreement:.2f}); without it there "
    if k < 2:
        return f"{text}are none: the other columns do not confirm them"
    if same >= CONFIRMS:
        again = counted(k, "cluster")
        return f"{text}are nearly the same {again} (similarity {same:.2f}), which confirms them"
    return f"{text}are {k} others (similarity {same:.2f})"
