"""Ensemble-driven support vector clustering, table 2: NMI beside consensus functions on the same ensembles."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import attrs
import numpy as np

from clusterkit.core.errors import ClusterkitWarning
from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step, Values
from clusterkit_papers.scalings import SAID, SCALINGS, to_mean

__all__ = ["SETTINGS", "Bench", "Setting", "table2"]

MEMBERS = 10
"""Partitions of an ensemble, as printed."""
ENSEMBLES = 10
"""Of the consensus functions: the paper does not tell how often it ran."""
OWN = "a variant of our own under that name"
RULES: Sequence[tuple[str, str, bool, str]] = (
    ("COMUSA", "comusa", False, ""),
    ("DICLENS", "diclens", False, ""),
    ("COMUSACL", "comusacl", False, OWN),
    ("COMUSACL-DEW", "comusacl_dew", False, OWN),
    ("co-association", "coassociation", False, ""),
    ("CSPA", "cspa", True, ""),
    ("HBGF", "hbgf", True, ""),
)
"""Column, registered name, whether it is given the number of classes, and why it cannot be held against print."""
SEARCHES: Mapping[str, Mapping[str, Any]] = {
    "edsvc as published": {},
    "edsvc, plane": {"tuner__search": "plane"},
}
NOTES = {
    "edsvc as published": "100 widths at C = 1, then 100 bounds from 1 to 1 / (0.9 n), outliers to the nearest, any "
    "number of clusters",
    "edsvc, plane": "24 + 8 widths and 12 shares of outliers to 0.9, outliers to the nearest, 2 to √n clusters, 60 "
    "members or more",
}

ENSEMBLE = f"{MEMBERS} k-means with 2 to ∛n clusters; the first ensembles are those of edsvc as published"

Scaling = str


@attrs.frozen
class Setting:
    """A data set of the table.

    Parameters
    ----------
    name : str
        As printed.
    dataset : str
        As `clusterkit.datasets.load` knows it.
    runs : int
        Seeds of a search; a candidate of the large sets takes a second.
    components : int or None
        Another row with so many principal components: of the z-scores, or of `raw` data.
    raw : bool
        Whether all attributes have one unit already.
    """

    name: str
    dataset: str
    runs: int = 3
    components: int | None = None
    raw: bool = False

    @property
    def scalings(self) -> tuple[Scaling, ...]:
        """Min-max and z-scores: the paper names none."""
        more = () if self.components is None else (f"{self.components} components",)
        return ("minmax", "zscore", *more)

    def said(self, scaling: Scaling) -> str:
        """A scaling in words."""
        of = "the attributes" if self.raw else "the z-scores"
        return SAID.get(scaling) or f"{self.components} principal components of {of}"


SETTINGS = (
    Setting("Wine", "wine", components=2),
    Setting("Ionosphere", "ionosphere"),
    Setting("Breast Cancer", "breast-cancer"),
    Setting("Banknote Authentication", "banknote", runs=1),
    Setting("Yeast", "yeast", runs=1),
    Setting("Semeion", "semeion", runs=1, components=5, raw=True),
)
QUICK = ("Wine", "Ionosphere")


class Bench:
    """A data set with its scalings and ensembles, each made once."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._rows: dict[Scaling, np.ndarray] = {}
        self._ensembles: dict[tuple[Scaling, int], np.ndarray] = {}
        self._y: np.ndarray | None = None

    def X(self, scaling: Scaling) -> np.ndarray:
        """The rows, scaled."""
        if scaling not in self._rows:
            from clusterkit.datasets import load

            found = load(self.setting.dataset)
            rows, self._y = np.asarray(found.data, dtype=np.float64), found.target
            if scaling in SCALINGS:
                self._rows[scaling] = SCALINGS[scaling](rows)
            else:
                rows = rows - rows.mean(axis=0) if self.setting.raw else to_mean(rows)
                left, sizes, _ = np.linalg.svd(rows, full_matrices=False)
                self._rows[scaling] = (left * sizes)[:, : self.setting.components]
        return self._rows[scaling]

    def judged(self, labels: np.ndarray) -> Values:
        """NMI with the geometric mean, and the number of clusters."""
        from clusterkit.metrics import nmi

        assert self._y is not None
        return {
            "nmi": nmi(self._y, labels, average="geometric"),
            "clusters": float(len(np.unique(labels))),
            "classes": float(len(np.unique(self._y))),
        }

    def members(self, scaling: Scaling, seed: int) -> np.ndarray:
        """The ensemble that the published search with this seed has, (M, n)."""
        from clusterkit import ensemble
        from clusterkit.core.seeds import Seeds

        if (scaling, seed) not in self._ensembles:
            X = self.X(scaling)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClusterkitWarning)
                made = ensemble(X, MEMBERS, random_state=Seeds.of(seed).stream("tuner"))
            if len(made) < MEMBERS:
                raise KeyboardInterrupt
            self._ensembles[scaling, seed] = made
        return self._ensembles[scaling, seed]


def table2(plan: Plan) -> list[Job]:
    """NMI of the search in two ways, of consensus functions on its ensembles, and of every row alone."""
    jobs = []
    for setting in SETTINGS:
        if plan.quick and setting.name not in QUICK:
            continue
        bench = Bench(setting)
        for scaling in setting.scalings:
            jobs += [_search(plan, bench, scaling, kind) for kind in SEARCHES]
            jobs += [_consensus(plan, bench, scaling, *rule) for rule in RULES]
            jobs.append(_mean_member(plan, bench, scaling))
            jobs.append(_psvc(plan, bench, scaling))
        jobs.append(_alone(bench))
    return jobs


def _search(plan: Plan, bench: Bench, scaling: Scaling, kind: str) -> Job:
    run = partial(_fits, bench, scaling, plan.seeds(bench.setting.runs), "edsvc", SEARCHES[kind])
    return _job(bench, scaling, kind, "EDSVC", run, bench.setting.runs, plan, NOTES[kind])


def _psvc(plan: Plan, bench: Bench, scaling: Scaling) -> Job:
    """What the paper draws over widths and gives no number for: here at the width that the ensemble chooses."""
    changes = {"tuner": "edsvc", "labeler__outliers": "nearest"}
    run = partial(_fits, bench, scaling, plan.seeds(bench.setting.runs), "psvc", changes)
    note = "100 widths, the one that agrees best with the ensemble; the paper has a curve over widths and no number"
    return _job(bench, scaling, "psvc, tuner edsvc", "PSVC", run, bench.setting.runs, plan, note)


def _fits(
    bench: Bench, scaling: Scaling, seeds: Sequence[int], recipe: str, changes: Mapping[str, Any], step: Step
) -> Findings:
    found, said = [], []
    X = bench.X(scaling)
    for seed in seeds:
        model, seconds = _fitted(X, recipe, seed, **changes)
        found.append({**bench.judged(model.labels_), "seconds": seconds})
        said.append(_words(model, len(X), found[-1]["clusters"]))
        step(f"{bench.setting.name}: {recipe}, {scaling}, seed {seed}")
    return Findings(found, "; ".join(dict.fromkeys(said)))


def _consensus(plan: Plan, bench: Bench, scaling: Scaling, column: str, rule: str, given: bool, doubt: str) -> Job:
    """A consensus function on the ensembles."""

    def run(step: Step) -> Findings:
        from clusterkit.consensus import combine

        found: list[Values] = []
        for seed in plan.seeds(ENSEMBLES):
            members = bench.members(scaling, seed)
            begin = time.perf_counter()
            k = int(bench.judged(members[0])["classes"]) if given else None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClusterkitWarning)  # one cluster: the row shows it
                labels = combine(members, rule, n_clusters=k, random_state=seed)
            seconds = time.perf_counter() - begin
            found.append({**bench.judged(labels), "seconds": seconds})
            step(f"{bench.setting.name}: {rule}, {scaling}, seed {seed}")
        return Findings(found, doubt=doubt)

    words = f"{rule}, number of classes given" if given else rule
    return _job(bench, scaling, words, column, run, ENSEMBLES, plan, ENSEMBLE)


def _mean_member(plan: Plan, bench: Bench, scaling: Scaling) -> Job:
    def run(step: Step) -> Findings:
        found: list[Values] = []
        for seed in plan.seeds(ENSEMBLES):
            each = [bench.judged(member) for member in bench.members(scaling, seed)]
            found.append({measure: float(np.mean([one[measure] for one in each])) for measure in ("nmi", "clusters")})
            found[-1]["seconds"] = 0.0
            step(f"{bench.setting.name}: members, {scaling}, seed {seed}")
        return Findings(found)

    return _job(bench, scaling, "mean member", "member", run, ENSEMBLES, plan, ENSEMBLE)


def _alone(bench: Bench) -> Job:
    def run(step: Step) -> Findings:
        n = len(bench.X("minmax"))
        step(f"{bench.setting.name}: every row alone")
        return Findings([{**bench.judged(np.arange(n)), "seconds": 0.0}])

    name = bench.setting.name
    note = "no method: the NMI of a partition that says nothing, √(H / ln n) for classes of entropy H"
    cells = (Cell("EDSVC", "nmi"), Cell("EDSVC clusters", "clusters"))
    return Job(name, f"{name}: every row alone", cells, run, 1, note=note)


def _job(
    bench: Bench,
    scaling: Scaling,
    words: str,
    column: str,
    run: Callable[[Step], Findings],
    usual: int,
    plan: Plan,
    note: str,
) -> Job:
    """A job with the NMI of a column and the number of clusters."""
    cells = (Cell(column, "nmi"), Cell(f"{column} clusters", "clusters"))
    setting = bench.setting
    row = f"{setting.name}: {words}, {setting.said(scaling)}"
    return Job(setting.name, row, cells, run, len(plan.seeds(usual)), note=note)


def _words(model: Any, n: int, clusters: float) -> str:
    told = model.resolved_["tuner"]
    gamma, C = model.resolved_["featuremap"]["gamma"], model.resolved_.get("solver", {}).get("C")
    share = "" if C is None else f", share of outliers {1.0 / (C * n):.2f}"
    many = f", {clusters:.0f} clusters are more than √n" if clusters > math.sqrt(n) else ""
    return f"gamma = {gamma:.3g}{share}, score {told['score']:.2f}, of every row alone {told['singletons']:.2f}{many}"


def _fitted(X: np.ndarray, name: str, seed: int, **parameters: Any) -> tuple[Any, float]:
    """The fitted recipe and its seconds."""
    from clusterkit import recipe

    _warm()
    model = recipe(name, random_state=seed, **parameters)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)  # shattered partitions: the row shows them
        model.fit(X)
    seconds = time.perf_counter() - begin
    if model.interrupted_ or model.resolved_["tuner"]["interrupted"]:
        raise KeyboardInterrupt
    return model, seconds


@cache
def _warm() -> None:
    """Import and compile what the fits need."""
    from clusterkit import recipe

    X = np.random.default_rng(0).normal(size=(60, 2))
    recipe("edsvc", tuner__n_gamma=3, tuner__n_bounds=3, random_state=0).fit(X)
    recipe("psvc", tuner="edsvc", tuner__n_gamma=3, random_state=0).fit(X)
