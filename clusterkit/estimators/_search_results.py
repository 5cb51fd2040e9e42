"""The grid of a search, and its result.

`points_of` gives the points of a grid, `varying` the parameters that vary over it, and `as_text` a text of a value that
is equal for equal values. `SearchResult` has every candidate in the order of the grid, and the best one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Floats, Labels
from clusterkit.contracts.arguments import Clusterer, Grid
from clusterkit.criteria.confidence import distinct
from clusterkit.criteria.rules import TIED
from clusterkit.errors import InvalidParameter

if TYPE_CHECKING:
    from pandas import DataFrame

SAME_OBJECTIVE = ("init", "n_init", "max_iter", "random_state")
"""Parameters that may vary where candidates are compared by objective: they change the way to the optimum, not the
optimum."""


def points_of(grid: Grid) -> tuple[dict[str, Any], ...]:
    """The candidates of a grid, in the order of scikit-learn's ParameterGrid.

    Raises
    ------
    InvalidParameter
        If the grid is no dict of sequences, nor a list of these, or has no point.
    """
    from sklearn.model_selection import ParameterGrid

    try:
        points: tuple[dict[str, Any], ...] = tuple(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"search: grid must be a dict of lists of values, or a list of these: {error}") from None
    if not points:
        raise InvalidParameter("search: the grid is an empty list")
    return points


def varying(candidates: Sequence[Mapping[str, Any]], base: Mapping[str, Any] | None = None) -> list[str]:
    """Names of parameters with more than one value; a candidate without a parameter has the value of `base`."""
    names = sorted({name for params in candidates for name in params})
    base = {} if base is None else base
    return [name for name in names if len({as_text(params.get(name, base.get(name))) for params in candidates}) > 1]


def require_one_objective(candidates: Sequence[Mapping[str, Any]], base: Mapping[str, Any]) -> None:
    """Refuse to compare the objectives of different problems."""
    wrong = [name for name in varying(candidates, base) if name.partition("__")[0] not in SAME_OBJECTIVE]
    if wrong:
        raise InvalidParameter(
            f"search: score='objective' cannot choose {', '.join(wrong)}: objectives are comparable only between fits "
            f"of the same problem, where nothing but {', '.join(SAME_OBJECTIVE)} varies. Take 'ami', 'stability', "
            "'silhouette' or 'dbcv'."
        )


def as_text(value: Any) -> str:
    """Text that is equal for equal values: of numbers, arrays, stages, estimators, and lists and dicts of these.

    Examples
    --------
    >>> as_text({"a": np.float64(1.0)}) == as_text({"a": 1.0}), as_text(1) == as_text("1")
    (True, False)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tolist()}"
    if isinstance(value, Mapping):
        return str(sorted((str(key), as_text(inner)) for key, inner in value.items()))
    if isinstance(value, list | tuple):
        return str([as_text(item) for item in value])
    fields = attrs.asdict(value, recurse=False) if attrs.has(type(value)) else None
    if hasattr(value, "get_params") and not isinstance(value, type):
        fields = value.get_params(deep=False)
    return f"{type(value)}{value!r}" if fields is None else f"{type(value)}{as_text(fields)}"


EstimatorT = TypeVar("EstimatorT", bound=Clusterer)

FACTS = ("score", "n_clusters", "n_noise", "seconds", "status", "reason")
"""Columns of the table after the parameters."""


@final
@attrs.frozen(eq=False)
class Candidate:
    """One point of the grid, with the result of its fit.

    Parameters
    ----------
    params : dict
        Parameters of the candidate in the grid; all others are those of the pipeline.
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
        """Text that is equal for equal values of a parameter."""
        return as_text(self.params.get(name))


@final
@attrs.frozen(eq=False)
class SearchResult(Generic[EstimatorT]):
    """All candidates of a search.

    Parameters
    ----------
    score : str
        Name of the score that compares the candidates.
    candidates : tuple of Candidate
        Candidates in the order of the grid.
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
        """Score of every candidate, (number of candidates,); nan where a candidate has none."""
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
        """Indices of candidates with a score and clusters that no earlier candidate has, in the order of the grid."""
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
