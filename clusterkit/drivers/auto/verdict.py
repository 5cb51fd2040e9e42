"""The candidate that the criteria choose, and everything that is reported about the choice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.wording import counted
from clusterkit.criteria.agreement import distinct
from clusterkit.criteria.confidence import Evidence, structure_confidence, witnesses
from clusterkit.criteria.rules import Ranking, known_number, unknown_number
from clusterkit.criteria.scores import Separation
from clusterkit.criteria.terrain import Terrain
from clusterkit.drivers.auto.fits import Candidate

__all__ = ["Verdict", "is_nested"]

NESTED = 0.95
"""Share of the rows of the finer clustering that must lie in the cluster of the coarser one to which most rows of
their cluster belong, for the two to count as nested: 1 up to the rows on borders."""

SHOWN = 5
"""Candidates that `resolved_` shows; `candidates_` has all."""


@final
@attrs.frozen(eq=False)
class Verdict:
    """The ranking of the candidates and what follows from it.

    Parameters
    ----------
    candidates : sequence of Candidate
    ranking : Ranking
    known : bool
        Whether the number of clusters was given.
    """

    candidates: Sequence[Candidate]
    ranking: Ranking
    known: bool

    @classmethod
    def of(cls, candidates: Sequence[Candidate], terrain: Terrain, stability: Array | None, *, known: bool) -> Verdict:
        """Rank candidates; `stability` (m,) is needed where the number of clusters is not known, else None.

        Where Ctrl-C came before the stabilities were computed, None counts as the same stability for all.
        """
        labelings = [candidate.labels for candidate in candidates]
        if known:
            return cls(candidates, known_number(terrain, labelings), known)
        families = [candidate.member.family for candidate in candidates]
        values = np.zeros(len(candidates)) if stability is None else stability
        return cls(candidates, unknown_number(terrain, labelings, families, values), known)

    @property
    def best(self) -> Candidate:
        """The answer."""
        return self.candidates[self.ranking.best]

    @property
    def ties(self) -> list[str]:
        """Other clusterings with the same score."""
        return [_described(self.candidates[i]) for i in self.ranking.ties]

    @property
    def second(self) -> Candidate | None:
        """The best candidate with another number of clusters; None if there is none."""
        total = np.array(self.ranking.total)
        total[[candidate.n_clusters == self.best.n_clusters for candidate in self.candidates]] = -np.inf
        return self.candidates[int(np.argmax(total))] if np.isfinite(total).any() else None

    def confidence(self, terrain: Terrain, stability: float) -> float:
        """Of `structure_confidence`, for the answer; nan where it is the only candidate of too few methods."""
        ranking, members = self.ranking, [candidate.member for candidate in self.candidates]
        methods, finders = [member.name for member in members], [member.finds_number for member in members]
        agreeing = witnesses(ranking.similarity[ranking.best], methods, finders, known=self.known)
        if agreeing is None and len(self.candidates) == 1:
            return math.nan
        separation = Separation.of(terrain, self.best.labels).validity
        evidence = Evidence(stability, ranking.margin, separation, self.best.n_clusters, agreeing)
        return structure_confidence(evidence, known=self.known)

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
                    **{name: float(values[place]) for name, values in self.ranking.terms.items()},
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
        """What `resolved_` says of the choice."""
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
                for row in table[:SHOWN]
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


def _described(candidate: Candidate) -> str:
    return f"{candidate.member.name}, {counted(candidate.n_clusters, 'cluster')}"
