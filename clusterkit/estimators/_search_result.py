"""The result of a search: every candidate in the order of the grid, and the best one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Clusterer, Floats, Labels
from clusterkit.criteria.agreement import distinct
from clusterkit.criteria.rules import TIED
from clusterkit.estimators._search_grid import digest, varying

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Candidate", "SearchResult"]

EstimatorT = TypeVar("EstimatorT", bound=Clusterer)

FACTS = ("score", "n_clusters", "n_noise", "seconds", "status", "reason")
"""Columns of the table after the parameters."""


@final
@attrs.frozen(eq=False)
class Candidate:
    """One point of the grid.

    Parameters
    ----------
    params : dict
        Its parameters in the grid; all others are those of the pipeline.
    score : float
        nan without a score.
    labels : ndarray of shape (n,) or None
        None where the fit failed or did not run.
    n_clusters, n_noise : int
        -1 without labels.
    seconds : float
        Time for the fit and the score.
    status : {"scored", "excluded", "failed", "not run"}
    reason : str
        Why the candidate was excluded or failed; otherwise the warnings of the fit.
    stability : float
        Agreement with refits to parts of the samples, for the score "auto"; nan for the others.
    """

    params: Mapping[str, object]
    score: float = math.nan
    labels: Labels | None = None
    n_clusters: int = -1
    n_noise: int = -1
    seconds: float = math.nan
    status: str = "not run"
    reason: str = ""
    stability: float = math.nan

    def key(self, name: str) -> str:
        """Text that is equal for equal values of a parameter, in every process."""
        return digest(self.params.get(name), strict=False)


@final
@attrs.frozen(eq=False)
class SearchResult(Generic[EstimatorT]):
    """All candidates of a search.

    Parameters
    ----------
    score : str
        Name of the score that compares the candidates.
    candidates : tuple of Candidate
        In the order of the grid.
    best_index : int
        Index of the best score, the first of several equal ones; `ties` are the others.
    best_estimator : estimator
        The pipeline with the best parameters, fitted; not fitted if `refit` was False, or if Ctrl-C ended a search in
        several processes or by the score "auto".
    seed : int
        Random state of all fits.
    interrupted : bool
        Whether Ctrl-C ended the search; unfinished candidates then have the status "not run".
    facts : mapping
        For the score "auto": "criterion" (whether all candidates have the same number of clusters), "compared_in" (the
        space), "margin" (over the best candidate with another structure), "confidence" (as `clusterkit.Auto` has it),
        "perhaps_one_cluster", "second_n_clusters", and "rows_compared" where these are a sample.
    """

    score: str
    candidates: tuple[Candidate, ...] = attrs.field(repr=lambda candidates: f"<{len(candidates)}, see table>")
    best_index: int
    best_estimator: EstimatorT
    seed: int
    interrupted: bool = False
    facts: Mapping[str, object] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the lowest, which holds for the objective only."""
        return self.score == "objective"

    @property
    def scores(self) -> Floats:
        """Score of every candidate, shape (len,); nan where a candidate has none."""
        return np.array([candidate.score for candidate in self.candidates])

    @property
    def best_params(self) -> dict[str, object]:
        """Parameters of the best candidate in the grid."""
        return dict(self.candidates[self.best_index].params)

    @property
    def best_score(self) -> float:
        """The best score."""
        return self.candidates[self.best_index].score

    @property
    def best_labels(self) -> Labels:
        """Labels of the best candidate, shape (n,); -1 is noise."""
        return self._labels(self.best_index)

    @property
    def distinct(self) -> list[int]:
        """Indices of the candidates with a score whose clusters no candidate before has, in the order of the grid."""
        scored = [i for i, candidate in enumerate(self.candidates) if not math.isnan(candidate.score)]
        first = distinct([self._labels(i) for i in scored])
        return [scored[j] for j in sorted(set(map(int, first)))]

    @property
    def ties(self) -> list[int]:
        """Indices of candidates with the best score and other clusters than the best one has, one for each clustering.

        Scores that differ by rounding only are equal.
        """
        score = self.best_score
        tied = [
            i
            for i, candidate in enumerate(self.candidates)
            if i == self.best_index or abs(candidate.score - score) <= TIED * max(1.0, abs(score))
        ]
        tied.remove(self.best_index)
        tied.insert(0, self.best_index)
        first = distinct([self._labels(i) for i in tied])
        return [i for place, i in enumerate(tied) if place and first[place] == place]

    def _labels(self, index: int) -> Labels:
        labels = self.candidates[index].labels
        assert labels is not None
        return labels

    @property
    def varied(self) -> list[str]:
        """Parameters that have several values in the grid, by name."""
        return varying([candidate.params for candidate in self.candidates])

    @property
    def table(self) -> list[dict[str, object]]:
        """A row for each candidate: its parameters, score, n_clusters, n_noise, seconds, status and reason."""
        names = sorted({name for candidate in self.candidates for name in candidate.params})
        return [
            {
                **{name: candidate.params.get(name) for name in names},
                **{fact: getattr(candidate, fact) for fact in FACTS},
            }
            for candidate in self.candidates
        ]

    def to_frame(self) -> DataFrame:
        """The table as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed; `table` needs nothing.
        """
        import pandas

        return pandas.DataFrame(self.table)
