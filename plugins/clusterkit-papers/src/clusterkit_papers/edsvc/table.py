"""Ensemble-driven support vector clustering: sizes (table 1), NMI beside consensus functions on its ensembles (2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit_papers.data_tables import sizes_job
from clusterkit_papers.fits import TimedFit, fit_recipe, timed_fit, warm_up, without_warnings
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.scalings import SCALING_WORDS, SCALINGS, to_mean

if TYPE_CHECKING:
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

__all__ = [
    "DATA_SETS",
    "ENSEMBLES",
    "QUICK",
    "READ_AS",
    "EdsvcDataSet",
    "EdsvcEnsembles",
    "table1",
    "table2",
    "timed_search",
]

MEMBERS = 10
"""Number of partitions in an ensemble, as printed."""

ENSEMBLES = 10
"""Number of ensembles that each consensus function runs on; the paper does not say how often it ran."""

OUR_VARIANT = "a variant of our own under that name"
"""Start of the verdict for the consensus functions that the paper names but does not define."""

CONSENSUS_FUNCTIONS: Sequence[tuple[str, str, bool, str]] = (
    ("COMUSA", "comusa", False, ""),
    ("DICLENS", "diclens", False, ""),
    ("COMUSACL", "comusacl", False, OUR_VARIANT),
    ("COMUSACL-DEW", "comusacl_dew", False, OUR_VARIANT),
    ("co-association", "coassociation", False, ""),
    ("CSPA", "cspa", True, ""),
    ("HBGF", "hbgf", True, ""),
)
"""Column, registered name, whether the function receives the number of classes, and why its values cannot be compared
with the printed ones."""

SEARCHES: Mapping[str, Mapping[str, object]] = {
    "edsvc as published": {},
    "edsvc, plane": {"tuner__search": "plane"},
}
"""The two ways in which the recipe edsvc searches width and bound, with their changes to the recipe."""

NOTES = {
    "edsvc as published": "100 widths at C = 1, then 100 bounds from 1 to 1 / (0.9 n), outliers to the nearest, any "
    "number of clusters",
    "edsvc, plane": "24 + 8 widths and 12 shares of outliers to 0.9, outliers to the nearest, 2 to √n clusters, 60 "
    "members or more",
}
"""Candidates that each search tries, for the rows' notes."""

ENSEMBLE_NOTE = f"{MEMBERS} k-means with 2 to ∛n clusters; the first ensembles are those of edsvc as published"

"""Ensemble that the consensus functions combine, for the rows' notes."""

READ_AS = "minmax"
"""The scaling of the rows that are the paper's own: it names none, and [0, 1] is the first of ours."""

Scaling = str
"""A key of `SCALINGS`, or "5 components" for so many principal components."""


@attrs.frozen
class EdsvcDataSet:
    """A data set of the table.

    Parameters
    ----------
    name : str
        Printed name.
    dataset : str
        Name for `clusterkit_papers.datasets.load`.
    runs : int
        Number of seeds of a search. A candidate takes a second on the large sets, so these have one.
    components : int or None
        Number of principal components (of the z-scores, or of `raw` data) that a further row is run on.
    raw : bool
        Whether all attributes have the same unit, so that the components need no z-scores.
    """

    name: str
    dataset: str
    runs: int = 3
    components: int | None = None
    raw: bool = False

    @property
    def scalings(self) -> tuple[Scaling, ...]:
        """Min-max and z-scores, because the paper does not say which; and the components where there are any."""
        more = () if self.components is None else (f"{self.components} components",)
        return ("minmax", "zscore", *more)

    def describe(self, scaling: Scaling) -> str:
        """A scaling in words, for the names of rows."""
        of = "the attributes" if self.raw else "the z-scores"
        return SCALING_WORDS.get(scaling) or f"{self.components} principal components of {of}"


DATA_SETS = (
    EdsvcDataSet("Wine", "wine", components=2),
    EdsvcDataSet("Ionosphere", "ionosphere"),
    EdsvcDataSet("Breast Cancer", "breast-cancer"),
    EdsvcDataSet("Banknote Authentication", "banknote", runs=1),
    EdsvcDataSet("Yeast", "yeast", runs=1),
    EdsvcDataSet("Semeion", "semeion", runs=1, components=5, raw=True),
)
"""The six data sets of the table. Wine and Semeion have further rows on principal components, because no single scaling
gives the printed values."""

QUICK = ("Wine", "Ionosphere")
"""The data sets of a quick run, two of the small ones."""


class EdsvcEnsembles:
    """The rows of a data set in each scaling and the ensembles of k-means partitions of them, each computed once.

    Parameters
    ----------
    data_set : EdsvcDataSet
    """

    def __init__(self, data_set: EdsvcDataSet) -> None:
        self.data_set = data_set
        self._rows: dict[Scaling, np.ndarray] = {}
        self._ensembles: dict[tuple[Scaling, int], np.ndarray] = {}
        self._y: np.ndarray | None = None

    def X(self, scaling: Scaling) -> np.ndarray:
        """The scaled rows, (n, d)."""
        if scaling not in self._rows:
            from clusterkit_papers.datasets import load

            dataset = load(self.data_set.dataset)
            rows, self._y = np.asarray(dataset.data, dtype=np.float64), dataset.target
            if scaling in SCALINGS:
                self._rows[scaling] = SCALINGS[scaling](rows)
            else:
                rows = rows - rows.mean(axis=0) if self.data_set.raw else to_mean(rows)
                left, sizes, _ = np.linalg.svd(rows, full_matrices=False)
                self._rows[scaling] = (left * sizes)[:, : self.data_set.components]
        return self._rows[scaling]

    @property
    def y(self) -> np.ndarray:
        """Known classes, (n,)."""
        self.X("minmax")
        assert self._y is not None
        return self._y

    def judged(self, labels: np.ndarray) -> Values:
        """NMI with the geometric mean of the entropies, and the numbers of clusters and of classes."""
        from clusterkit.metrics import nmi

        return {
            "nmi": nmi(self.y, labels, average="geometric"),
            "clusters": float(len(np.unique(labels))),
            "classes": float(len(np.unique(self.y))),
        }

    def members(self, scaling: Scaling, seed: int) -> np.ndarray:
        """The ensemble that the published search with this seed uses, (M, n)."""
        from clusterkit import ensemble
        from clusterkit.contracts.seeds import Seeds

        if (scaling, seed) not in self._ensembles:
            X = self.X(scaling)
            with without_warnings():
                partitions = ensemble(X, MEMBERS, random_state=Seeds.of(seed).stream("tuner"))
            if len(partitions) < MEMBERS:
                raise KeyboardInterrupt
            self._ensembles[scaling, seed] = partitions
        return self._ensembles[scaling, seed]


REMARKS = {"Breast Cancer": "without the 16 rows that have missing values"}
"""Notes on single data sets."""


def table1(plan: Plan) -> list[Job]:
    """All six data sets; a quick run has the same rows."""
    return [
        sizes_job(
            data_set.name,
            f"{data_set.name}: data set {data_set.dataset}",
            partial(_rows_and_classes, data_set.dataset),
            note=REMARKS.get(data_set.name, ""),
        )
        for data_set in DATA_SETS
    ]


def _rows_and_classes(name: str) -> tuple[np.ndarray, np.ndarray]:
    from clusterkit_papers.datasets import load

    dataset = load(name)
    return dataset.data, dataset.target


def table2(plan: Plan) -> list[Job]:
    """NMI of the search in two ways, of consensus functions on its ensembles, and of one cluster for every row."""
    jobs = []
    for data_set in DATA_SETS:
        if plan.quick and data_set.name not in QUICK:
            continue
        ensembles = EdsvcEnsembles(data_set)
        for scaling in data_set.scalings:
            jobs += [_search(plan, ensembles, scaling, kind) for kind in SEARCHES]
            jobs += [_consensus(plan, ensembles, scaling, *function) for function in CONSENSUS_FUNCTIONS]
            jobs.append(_mean_member(plan, ensembles, scaling))
            jobs.append(_psvc(plan, ensembles, scaling))
        jobs.append(_alone(ensembles))
    return jobs


def _search(plan: Plan, ensembles: EdsvcEnsembles, scaling: Scaling, kind: str) -> Job:
    run = partial(_fits, ensembles, scaling, plan.seeds(ensembles.data_set.runs), "edsvc", SEARCHES[kind])
    usual, ours = ensembles.data_set.runs, not SEARCHES[kind]
    return _job(ensembles, scaling, kind, "EDSVC", run, usual, plan, NOTES[kind], as_described=ours)


def _psvc(plan: Plan, ensembles: EdsvcEnsembles, scaling: Scaling) -> Job:
    """PSVC at the width that the ensemble chooses; the paper draws a curve over widths and prints no number."""
    changes = {"tuner": "edsvc", "labeler__outliers": "nearest"}
    run = partial(_fits, ensembles, scaling, plan.seeds(ensembles.data_set.runs), "psvc", changes)
    note = "100 widths, the one that agrees best with the ensemble; the paper has a curve over widths and no number"
    return _job(ensembles, scaling, "psvc, tuner edsvc", "PSVC", run, ensembles.data_set.runs, plan, note)


def _fits(
    ensembles: EdsvcEnsembles,
    scaling: Scaling,
    seeds: Sequence[int],
    recipe: str,
    changes: Mapping[str, Any],
    step: Step,
) -> Measurements:
    runs, notes = [], []
    X = ensembles.X(scaling)
    for seed in seeds:
        timed = timed_search(X, recipe, seed, **changes)
        values = {**ensembles.judged(timed.fitted.labels_), "seconds": timed.seconds}
        runs.append(values)
        notes.append(_words(timed.fitted, len(X), values["clusters"]))
        step(f"{ensembles.data_set.name}: {recipe}, {scaling}, seed {seed}")
    return Measurements(runs, "; ".join(dict.fromkeys(notes)))


def _consensus(
    plan: Plan, ensembles: EdsvcEnsembles, scaling: Scaling, column: str, function: str, needs_k: bool, doubt: str
) -> Job:
    """A consensus function on the ensembles."""

    def run(step: Step) -> Measurements:
        from clusterkit.consensus import combine

        runs: list[Values] = []
        for seed in plan.seeds(ENSEMBLES):
            members = ensembles.members(scaling, seed)
            k = int(ensembles.judged(members[0])["classes"]) if needs_k else None
            # one cluster is a possible answer, and the row shows it: `timed_fit` ignores the warning
            timed = timed_fit(partial(combine, members, function, n_clusters=k, random_state=seed))
            runs.append({**ensembles.judged(timed.fitted), "seconds": timed.seconds})
            step(f"{ensembles.data_set.name}: {function}, {scaling}, seed {seed}")
        return Measurements(runs, doubt=doubt)

    words = f"{function}, number of classes given" if needs_k else function
    ours = column in ("COMUSA", "DICLENS")
    return _job(ensembles, scaling, words, column, run, ENSEMBLES, plan, ENSEMBLE_NOTE, as_described=ours)


def _mean_member(plan: Plan, ensembles: EdsvcEnsembles, scaling: Scaling) -> Job:
    """The mean NMI of the k-means partitions themselves: what a consensus has to beat."""

    def run(step: Step) -> Measurements:
        runs: list[Values] = []
        for seed in plan.seeds(ENSEMBLES):
            members = [ensembles.judged(member) for member in ensembles.members(scaling, seed)]
            means = {measure: float(np.mean([one[measure] for one in members])) for measure in ("nmi", "clusters")}
            runs.append({**means, "seconds": 0.0})
            step(f"{ensembles.data_set.name}: members, {scaling}, seed {seed}")
        return Measurements(runs)

    return _job(ensembles, scaling, "mean member", "member", run, ENSEMBLES, plan, ENSEMBLE_NOTE)


def _alone(ensembles: EdsvcEnsembles) -> Job:
    """One cluster for every row, which is no method: what the NMI of a row must be read against."""

    def run(step: Step) -> Measurements:
        n = len(ensembles.X("minmax"))
        step(f"{ensembles.data_set.name}: every row alone")
        return Measurements([{**ensembles.judged(np.arange(n)), "seconds": 0.0}])

    name = ensembles.data_set.name
    note = "no method: the NMI of a partition that says nothing, √(H / ln n) for classes of entropy H"
    cells = (Cell("EDSVC", "nmi"), Cell("EDSVC clusters", "clusters"))
    return Job(name, f"{name}: every row alone", cells, run, 1, note=note, filler=True)


def _job(
    ensembles: EdsvcEnsembles,
    scaling: Scaling,
    words: str,
    column: str,
    run: Callable[[Step], Measurements],
    usual: int,
    plan: Plan,
    note: str,
    *,
    as_described: bool = False,
) -> Job:
    """A job that fills the NMI of a column and its number of clusters; `as_described` holds for one scaling."""
    cells = (Cell(column, "nmi"), Cell(f"{column} clusters", "clusters"))
    data_set = ensembles.data_set
    row = f"{data_set.name}: {words}, {data_set.describe(scaling)}"
    ours = as_described and scaling == READ_AS
    return Job(data_set.name, row, cells, run, len(plan.seeds(usual)), note=note, as_described=ours)


def _words(model: Any, n: int, clusters: float) -> str:
    """Choice of a search in words, for the rows' notes."""
    choice = model.resolved_["tuner"]
    gamma, C = model.resolved_["featuremap"]["gamma"], model.resolved_.get("solver", {}).get("C")
    share = "" if C is None else f", share of outliers {1.0 / (C * n):.2f}"
    many = f", {clusters:.0f} clusters are more than √n" if clusters > math.sqrt(n) else ""
    scores = f"score {choice['score']:.2f}, of every row alone {choice['singletons']:.2f}"
    return f"gamma = {gamma:.3g}{share}, {scores}{many}"


def timed_search(X: np.ndarray, name: str, seed: int, **parameters: object) -> TimedFit[Pipeline | Driven]:
    """Fit a recipe whose tuner searches; `_warm_up` has been called, so that compiling is not measured."""
    _warm_up()
    return fit_recipe(X, name, seed, **parameters)


def _warm_up() -> None:
    """Import and compile what the searches need."""
    warm_up("edsvc", tuner__n_gamma=3, tuner__n_bounds=3)
    warm_up("psvc", tuner="edsvc", tuner__n_gamma=3)
