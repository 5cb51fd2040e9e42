"""Mixtures of numbers and levels with gaps, and a role for each column.

It maximises ``ICL = ln p(z) + N(z, R) + Σ_j C_j``: the evidence of the labels z, of the numbers R that depend on the
cluster with a regression of the others on them, and of each category, dependent on the cluster or not. All parameters
are integrated out, so that the number of clusters, the form of the covariances, the roles and the starts are compared
by one number without a penalty. The terms stand on top of evidence.py, EM is in
expectation.py, the search in search.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Ending, MixtureScores, Outcome, Status
from clusterkit.errors import InvalidParameter, shortened
from clusterkit.families.mixtures.evidence import COVARIATE
from clusterkit.families.mixtures.expectation import MixtureModel, ModelSums, maximise
from clusterkit.families.mixtures.mixed_table import MixedTable
from clusterkit.families.mixtures.roles import STRONG, roles_of_columns
from clusterkit.families.mixtures.search import COPY, RESTATED, Search, Solution, restated
from clusterkit.numerics.shapes import scalar
from clusterkit.samples import Space, memory
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.mixed_space import MixedColumns, MixedSpace, split_points
from clusterkit.samples.transform import Transform

BYTES_A_CELL = 48
"""Bytes that a row takes for each number and each level, with the tables of a pass."""


@final
@attrs.frozen(eq=False)
class MixedPosteriors:
    """Probabilities of the clusters for new samples, gaps integrated out.

    Parameters
    ----------
    transform : Transform
        Raw rows to numbers and codes.
    model : MixtureModel
    n_numbers : int
        Columns of the transform that are numbers.
    """

    transform: Transform
    model: MixtureModel
    n_numbers: int = attrs.field(validator=scalar(least=0))

    def check_saved(self) -> None:
        """Raise ValueError unless the transform gives the numbers and levels of the model."""
        model = self.model
        last: Any = self.transform.steps[-1:]
        fine = last and isinstance(last[0], MixedColumns) and len(last[0].numbers) == self.n_numbers
        if not fine or [part.n_levels for part in last[0].levels] != model.forms.levels.tolist():
            raise ValueError("MixedPosteriors: the columns of the transform are not those of the model")
        if model.numbers.max(initial=-1) >= self.n_numbers:
            raise ValueError("MixedPosteriors: a number is none of the model")

    def __call__(self, Y: Array) -> Array:
        """Posteriors of raw rows, (m, d) to (m, k), float64."""
        return self.of_points(self.transform(Y))

    def of_points(self, points: Array) -> Array:
        """Posteriors of rows of numbers and codes."""
        return self.model.posteriors(*split_points(points, self.n_numbers))[0]

    def terms(self, Y: Array) -> Array | None:
        """Logarithms of the shares and likelihoods of raw rows by column, (m, d + 1, k); None for other coordinates."""
        columns = cast("MixedColumns", self.transform.steps[-1])
        if columns.d != Y.shape[1]:
            return None
        of_parts = self.model.terms(*split_points(self.transform(Y), self.n_numbers))
        terms = np.zeros((len(Y), columns.d + 1, self.model.k))
        for j, part in enumerate(columns.parts):
            terms[:, part.column] += of_parts[:, j]
        terms[:, -1] = of_parts[:, -1]
        return terms

    def sums(self, Y: Array) -> ModelSums:
        """What an EM iteration needs of a block of raw rows."""
        return ModelSums.of(self.model, *split_points(self.transform(Y), self.n_numbers))

    def columns(self, index: slice | Indices) -> MixedPosteriors:
        """Posteriors of some of the clusters, which sum to 1 among these."""
        return attrs.evolve(self, model=self.model.take(index))


@final
@attrs.frozen
class MixedMixture(Solver):
    """A mixture of Gaussians and multinomials that finds out which columns matter; the scores are the posteriors.

    For tables of numbers, categories and gaps. Each column gets a role: it depends on the cluster; or it is irrelevant;
    or redundant, because the relevant ones explain it; or a covariate, which is a category that shifts the numbers
    alike in all clusters, as a sex or a site does. Gaps count nowhere: they are integrated out where variances are by
    column, and filled once by a regression where there are covariances. The search is `Search.known` and
    `Search.unknown` in search.py, the criterion `completed_likelihood` in evidence.py.

    Parameters
    ----------
    covariance : {"auto", "diag", "tied", "full"}, default "auto"
        Covariances of the numbers inside clusters: a variance for each column and cluster, one matrix for all clusters,
        or one for each. "auto" compares them by the criterion.
    roles : bool, default True
        Whether columns get roles. Without, all of them depend on the cluster.
    covariates : bool, default True
        Whether categories may be covariates.
    least_clusters : int, default 1
        The first number of clusters that is tried where none is given.
    most_clusters : int, default 10
        The last one; the search ends before, after two numbers in a row that are no better.

    Notes
    -----
    Labels that say what one category says are left aside where there are others and the other columns do not gain by
    them. A covariate that hides clusters of the other columns is read as a part of them too; the reading that was left
    aside is ``resolved_["solver"]["other_reading"]``. Above 300 columns only variances by
    column are tried, and no covariates; of more than 20 categories of up to 6 levels those that say most of the numbers
    may be covariates. Starts are compared on at most 2,000 rows. About O(n k (p² + q)) an iteration
    for p numbers and q categories, ten to fifteen starts; 600 rows of 8 columns take about .3 s, and 1.5 s without the
    number of clusters. Rows are in memory; of tables that do not fit, `estimators/mixed_blocks.py` fits a sample and
    then iterates over blocks. Dask frames are fitted by passes of their engine.

    References
    ----------
    Biernacki, Celeux, Govaert (2010), Exact and Monte Carlo calculations of integrated likelihoods for the latent class
    model, Journal of Statistical Planning and Inference 140(11). Raftery, Dean (2006), Variable selection for
    model-based clustering, Journal of the American Statistical Association 101. Hunt, Jorgensen (1999), Mixture model
    clustering using the MULTIMIX program, Australian and New Zealand Journal of Statistics 41(2). Fraley, Raftery
    (2007), Bayesian regularization for normal mixture estimation and model-based clustering, Journal of Classification
    24(2).
    """

    name: ClassVar[str] = "mixed_mixture"
    synonyms: ClassVar[tuple[str, ...]] = ("latent_class", "multimix", "stepmix")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    default_labeler: ClassVar[str | Mapping[str, object] | None] = "most_probable"
    chooses_number: ClassVar[bool] = True

    covariance: Literal["auto", "diag", "tied", "full"] = params.choice("auto", ("auto", "diag", "tied", "full"))
    roles: bool = params.flag(True)
    covariates: bool = params.flag(True)
    least_clusters: int = params.integer(1, at_least=1)
    most_clusters: int = params.integer(10, at_least=1)

    def __attrs_post_init__(self) -> None:
        if self.least_clusters > self.most_clusters:
            raise InvalidParameter(
                f"solver 'mixed_mixture': least_clusters = {self.least_clusters} is more than most_clusters = "
                f"{self.most_clusters}"
            )

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on mixed columns."""
        return {MixedSpace: Path(_prepare, MixtureScores)}


def _prepare(spec: MixedMixture, space: MixedSpace, task: Task, rng: Rng) -> Prepared:
    """The search for labels, roles and the number of clusters, none of which depends on targets."""
    levels = space.n_levels
    cells = space.n * (space.n_numbers + int(levels.sum()) + (task.n_clusters or spec.most_clusters))
    memory.require(
        BYTES_A_CELL * cells,
        f"a mixture of {space.n:,} rows of {space.n_numbers} numbers and {len(levels)} categories",
        "Fit fewer rows, and label the others by predict.",
    )
    numbers, codes = space.parts(space.points)
    table = MixedTable.of(numbers, space.grid, codes, levels, space.level_forms)
    search = Search.of(table, rng, covariance=spec.covariance, roles=spec.roles, covariates=spec.covariates)
    if task.n_clusters is None:
        least, most = min(spec.least_clusters, space.n), min(spec.most_clusters, space.n)
        solution, values, by_number, search = search.unknown(least, most)
        return PreparedMixture(space, table, solution, values, search, by_number)
    return PreparedMixture(space, table, search.known(task.n_clusters), {}, search, {})


def restating_in_words(facts: Mapping[str, object]) -> str:
    """The doubt about clusters that restate a category, by `PreparedMixture.restating`; empty for none.

    Examples
    --------
    >>> restating_in_words({"restates": {"column": "sex", "agreement": 1.0, "gain_without": -0.1}})
    "the clusters restate the column 'sex' (agreement 1.00), and the other columns have others"
    """
    of_column = cast("Mapping[str, object] | None", facts.get("restates"))
    if of_column is None:
        return ""
    other = cast("Mapping[str, object]", facts.get("other_reading", {}))
    name = shortened(str(of_column["column"]))
    begun = f"the clusters restate the column {name!r} (agreement {of_column['agreement']:.2f})"
    if other.get("column") == of_column["column"] and other["role"] == "covariate":
        if cast("float", other["lead"]) > STRONG or cast("float", of_column["agreement"]) < COPY:
            return ""
        k = cast("int", other["n_clusters"])
        return (
            f"{begun}; the other columns have them too, but the rows are at least as likely if it is a covariate, "
            f"which shifts the numbers alike in every cluster, and there "
            f"{'is one cluster' if k == 1 else f'are {k} others'}"
        )
    if cast("float", of_column["gain_without"]) > 0:
        return ""
    return f"{begun}, and the other columns have others"


@final
@attrs.frozen(eq=False)
class PreparedMixture(Prepared):
    """The labels of the highest criterion, and where the number is open those of all numbers that were tried."""

    space: MixedSpace
    table: MixedTable
    solution: Solution
    values: Mapping[int, float]
    search: Search
    by_number: Mapping[int, Solution]

    def at(self, k: int) -> PreparedMixture | None:
        """What a preparation for k clusters gives; None for a number that was not tried."""
        if k not in self.by_number:
            return None
        return PreparedMixture(self.space, self.table, self.search.of_all_rows(self.by_number[k]), {}, self.search, {})

    @property
    def resolved(self) -> Mapping[str, object]:
        """Form of the covariances, roles and gains of the columns, and the criterion."""
        roles = roles_of_columns(self.table, self.solution)
        columns = self.space.columns
        names, parts = columns.all_names, [part.column for part in columns.parts]
        facts: dict[str, object] = {
            "covariance": self.solution.structure,
            "criterion": round(self.solution.value, 6),
            "start": self.solution.start,
            "roles": roles.of_columns(names, parts),
            "gain_of_column": roles.gains_of_columns(names, parts),
        }
        if self.values:
            facts["n_clusters"] = self.solution.k
            facts["criterion_of_number"] = {k: round(value, 6) for k, value in self.values.items()}
        return {**facts, **self.restating}

    @cached_property
    def restating(self) -> dict[str, object]:
        """What is to be told of a category that the clusters restate, or that has another reading."""
        solution, table, columns = self.solution, self.table, self.space.columns
        names = [columns.all_names[part.column] for part in columns.parts[table.p :]]
        facts: dict[str, object] = {}
        if solution.instead is not None:
            is_covariate = solution.categories[solution.read] == COVARIATE
            facts["other_reading"] = {
                "column": names[solution.read],
                "role": "cluster-dependent" if is_covariate else "covariate",
                "n_clusters": solution.instead.k,
                "lead": round(solution.lead, 6),
            }
        agreements = [restated(table, solution.labels, solution.k, j) for j in range(table.q)] if solution.k > 1 else []
        if agreements and max(agreements) >= RESTATED:
            j = int(np.argmax(agreements))
            gain = self.search.gain_without(j, solution.labels) / table.n
            facts["restates"] = {
                "column": names[j],
                "agreement": round(agreements[j], 3),
                "gain_without": round(gain, 6),
            }
        return facts

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> MixtureScores:
        """The posteriors of the labels, which follow from no targets."""
        solution = self.solution
        roles = solution.structure, solution.relevant, solution.categories
        model = maximise(self.table, solution.P, *roles)
        if len(model.covariates):
            model = maximise(self.table, solution.P, *roles, before=model)
        transform = self.space.coordinates
        extend = MixedPosteriors(transform, model, self.space.n_numbers)
        labels = extend.of_points(self.space.points).argmax(axis=1)
        present, first = np.unique(labels, return_index=True)
        order = np.concatenate([present[np.argsort(first)], np.setdiff1d(np.arange(solution.k), present)]).astype(
            np.intp
        )
        extend = extend.columns(order)
        rows = extend.of_points(self.space.points)
        empty = None
        if len(present) < solution.k:
            empty = (
                f"solver 'mixed_mixture': {solution.k - len(present)} of {solution.k} clusters are nowhere the most "
                "probable; fewer clusters may fit the table better"
            )
        reason = f"highest criterion of all starts: {solution.value:.6g}, from {solution.start}"
        lowest = -solution.value
        doubt = restating_in_words(self.restating)
        warning = f"solver 'mixed_mixture': {doubt}" if doubt else None
        status = Status(1, Ending.CONVERGED, reason, (lowest,), warning=warning, empty_clusters=empty, objective=lowest)
        return MixtureScores(rows, extend, status=status, are_memberships=True)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """None: the starts are compared inside the search."""
        return None
