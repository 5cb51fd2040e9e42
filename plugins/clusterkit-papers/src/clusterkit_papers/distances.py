"""The largest distances to print, and readings of the papers' protocols that may explain them.

A `Distance` is a printed value from which the tables of the papers stay far away. A `Reading` is one way to understand
what the paper did where its text leaves that open: a scaling, a part of the data, a start, a parameter, a variant.
`distances` plans a job for each reading, and `conclusions` says by one rule, from the rows, what the readings show.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import attrs
import numpy as np

from clusterkit_papers.fits import fit_recipe, without_warnings
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.printed_tables import Printed, printed
from clusterkit_papers.scalings import SCALING_WORDS, SCALINGS
from clusterkit_papers.verdicts import MEASURES

__all__ = ["DISTANCES", "Conclusion", "Distance", "Reading", "conclusions", "contradiction", "distances"]

Labelled = tuple[np.ndarray, np.ndarray]
"""Known classes (n,) and labels (n,)."""

Candidate = Callable[[int], Labelled]
"""One run of a setting with a seed."""

Data = Callable[[], tuple[np.ndarray, np.ndarray]]
"""Samples (n, d) and their classes (n,)."""

COLUMNS: Mapping[str, str] = {
    "accuracy (%)": "accuracy",
    "purity (%)": "purity_percent",
    "NMI": "nmi",
    "Rand": "rand",
}
"""The columns of the table and their measures."""

STANDARD_ERRORS = 2.0
"""A printed value that is this many standard errors of our mean away is within chance; print gives no spread."""

LEAST_RUNS = 5
"""Runs from which a standard error is taken to mean something."""

GRAPH: Mapping[str, object] = {"solver__normalize": False}
"""The normalised cut whose eigenvectors are not scaled to rows of length 1, as Shi and Malik have it."""

LLOYD: Mapping[str, object] = {"featuremap": "identity", "n_init": 1, "init__weighting": "uniform", "init__trials": 1}
"""The k-means of the paper on ELM feature space: k distinct random samples are the centres, once."""


@attrs.frozen
class Reading:
    """One way to read a protocol.

    Parameters
    ----------
    what : str
        The reading in words; the row is named after it.
    candidates : mapping of str to callable
        Settings by name, usually one. Of several the known classes choose the best, by the first column.
    runs : int
        Number of runs; with several candidates each has one run before the choice.
    note : str
    best_run : bool
        Whether the known classes choose the best of the runs, in place of their mean.
    part : str
        Part of the data that is taken only to save time.
    """

    what: str
    candidates: Mapping[str, Candidate]
    runs: int = 1
    note: str = ""
    best_run: bool = False
    part: str = ""

    @property
    def uses_labels(self) -> bool:
        """Whether known classes choose something."""
        return len(self.candidates) > 1 or self.best_run


@attrs.frozen
class Distance:
    """A printed value that our tables do not come near, and the readings that were tried.

    Parameters
    ----------
    name : str
        Method and data set; a row of the printed table "distances".
    table, row : str
        The place in print.
    columns : mapping of str to str
        The printed columns by ours, keys of `COLUMNS`.
    readings : tuple of Reading
        The first is that of the table.
    nmi_average : {"arithmetic", "geometric"}
        Mean of the entropies in the paper's NMI.
    counts : bool
        Whether the number of clusters is shown too.
    quick : bool
        Whether a quick run has it.
    """

    name: str
    table: str
    row: str
    columns: Mapping[str, str]
    readings: tuple[Reading, ...]
    nmi_average: str = "arithmetic"
    counts: bool = False
    quick: bool = False

    @property
    def cells(self) -> dict[str, Printed]:
        """The printed cells by column."""
        return {column: printed(self.table)[self.row, there] for column, there in self.columns.items()}

    def judged(self, y: np.ndarray, labels: np.ndarray) -> Values:
        """The measures of all columns, and the number of clusters."""
        from clusterkit.metrics import clustering_accuracy, nmi, purity, rand_index

        indices: dict[str, Callable[[], float]] = {
            "accuracy": lambda: 100.0 * clustering_accuracy(y, labels),
            "purity_percent": lambda: 100.0 * purity(y, labels),
            "nmi": lambda: nmi(y, labels, average=self.nmi_average),
            "rand": lambda: rand_index(y, labels),
        }
        values = {COLUMNS[column]: indices[COLUMNS[column]]() for column in self.columns}
        return values | {"clusters": float(len(np.unique(labels)))}


def distances(plan: Plan) -> list[Job]:
    """A job for every reading of every distance; a quick run has a part of the distances."""
    chosen = [distance for distance in DISTANCES if distance.quick or not plan.quick]
    return [_job(plan, distance, reading) for distance in chosen for reading in distance.readings]


def _job(plan: Plan, distance: Distance, reading: Reading) -> Job:
    row, seeds = f"{distance.name}: {reading.what}", plan.seeds(reading.runs)
    measure = COLUMNS[next(iter(distance.columns))]
    tried = len(reading.candidates) if len(reading.candidates) > 1 else 0

    def one(candidate: Candidate, seed: int, step: Step) -> Values:
        values = distance.judged(*candidate(seed))
        step(f"{row}, seed {seed}")
        return values | {"seconds": 0.0}  # the table is about labels, not about times

    def run(step: Step) -> Measurements:
        names, note = list(reading.candidates), ""
        if tried:
            first = {name: one(candidate, seeds[0], step)[measure] for name, candidate in reading.candidates.items()}
            names = [max(first, key=lambda name: first[name])]
            note = f"{names[0]}, the best of {tried} settings by labels"
        runs = [one(reading.candidates[names[0]], seed, step) for seed in seeds]
        if reading.best_run:
            runs, note = [max(runs, key=lambda values: values[measure])], f"the best run by labels, of {len(runs)}"
        return Measurements(runs, note)

    cells = [Cell(column, COLUMNS[column]) for column in distance.columns]
    cells += [Cell("clusters", "clusters")] if distance.counts else []
    units, part = tried + len(seeds), reading.part
    return Job(
        distance.name, row, tuple(cells), run, units, reading.uses_labels, reading.note, comparable=not part, part=part
    )


@attrs.frozen
class Conclusion:
    """What the readings of a distance show.

    Parameters
    ----------
    name : str
    printed : tuple of float
        The printed values, by column.
    reading : str
        The reading that decides, or the nearest one.
    ours : tuple of float
        Its values.
    verdict : str
        "reached", "exceeded", the same "with labels", or "unexplained".
    remark : str
        What the paper itself says against the printed value.
    """

    name: str
    printed: tuple[float, ...]
    reading: str
    ours: tuple[float, ...]
    verdict: str
    remark: str = ""


RANKS = ("reached", "exceeded", "reached with labels", "exceeded with labels")
"""The verdicts of a reading that is no worse than print, the best first."""


def conclusions(rows: Iterable[Mapping[str, object]]) -> list[Conclusion]:
    """The verdict on each distance that has rows, by one rule.

    A reading *reaches* print if all its columns are as printed, within the tolerance of their measure or within two
    standard errors of our mean, and *exceeds* print if some are better and none is worse. The best reading without
    labels decides, then the best with labels. Without any the distance is *unexplained*. A contradiction of the
    printed numbers is a remark.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of `clusterkit_papers.reproduce` for the table "distances".
    """
    by_row: dict[str, dict[str, Mapping[str, object]]] = {}
    for row in rows:
        if row["ours"] is not None and row["column"] in COLUMNS:
            by_row.setdefault(str(row["row"]), {})[str(row["column"])] = row
    verdicts = []
    for distance in DISTANCES:
        begin = f"{distance.name}: "
        readings = [(name.removeprefix(begin), cells) for name, cells in by_row.items() if name.startswith(begin)]
        if readings:
            verdicts.append(_conclusion(distance, readings))
    return verdicts


def _conclusion(distance: Distance, readings: Sequence[tuple[str, Mapping[str, Mapping[str, Any]]]]) -> Conclusion:
    judged = [(*_standing(distance, cells), name, cells) for name, cells in readings]
    # the rank of the verdict, then how far the reading is from print
    rank, _, name, cells = min(judged, key=lambda one: (one[0], one[1]))
    remarks = (*(cell.remark for cell in distance.cells.values()), contradiction(distance))
    remark = "; ".join(dict.fromkeys(filter(None, remarks)))
    verdict = RANKS[rank] if rank < len(RANKS) else "unexplained"
    values = tuple(float(cell.value or 0.0) for cell in distance.cells.values())
    return Conclusion(
        distance.name, values, name, tuple(float(cells[column]["ours"]) for column in distance.columns), verdict, remark
    )


def _standing(distance: Distance, cells: Mapping[str, Mapping[str, Any]]) -> tuple[int, float]:
    """The place of a reading in `RANKS`, or their number if it is short of print, and its largest distance."""
    gaps = []
    for column, there in distance.cells.items():
        kind, row = MEASURES[COLUMNS[column]], cells[column]
        spread = float(row["sd"] or 0.0) if row["runs"] >= LEAST_RUNS else 0.0
        allowed = max(kind.tolerance, STANDARD_ERRORS * spread / math.sqrt(row["runs"]))
        gap = kind.better * (float(row["ours"]) - float(there.value or 0.0))
        gaps.append((gap / kind.tolerance, gap < -allowed - 1e-9, gap > allowed + 1e-9))
    size = max(abs(gap) for gap, _, _ in gaps)
    used = 2 if any(row["uses_labels"] for row in cells.values()) else 0
    if any(short for _, short, _ in gaps):
        return len(RANKS), max(-gap for gap, _, _ in gaps)
    return used + any(better for _, _, better in gaps), size


def contradiction(distance: Distance) -> str:
    """Why no clusterings have the printed accuracy and Rand index of two classes together; "" if some may have.

    Of two clusters and two classes with accuracy a the Rand index is at least ``a² + (1 - a)²`` (but for terms of 1/n
    that raise it), a convex function of a, so that the bound holds for means over runs too.
    """
    column = distance.columns.get("accuracy (%)", "")
    accuracy = printed(distance.table).get((distance.row, column))
    rand = printed(distance.table).get((distance.row, column.replace("Acc", "RI")))
    if distance.row not in TWO_CLASSES or accuracy is None or rand is None or not accuracy.value or not rand.value:
        return ""
    share = (accuracy.value - 0.005) / 100.0  # both are rounded to two digits
    least = share**2 + (1.0 - share) ** 2
    if rand.value + 0.005 >= least:
        return ""
    bound = f"a Rand index of {least:.3f} at least, and {rand.value:g} is printed"
    return f"an accuracy of {accuracy.value:g} % means {bound} beside it"


TWO_CLASSES = ("Svmguide1-a", "Ringnorm")
"""The data sets of the table that have two classes."""


@lru_cache(maxsize=6)
def _samples(dataset: str, scaling: str = "raw", components: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scaled samples, or their first principal components, and classes."""
    from clusterkit_papers.datasets import load

    loaded = load(dataset)
    X = SCALINGS[scaling](np.asarray(loaded.data, dtype=np.float64))
    if components:
        centred = X - X.mean(axis=0)
        _, vectors = np.linalg.eigh(centred.T @ centred)
        X = centred @ vectors[:, ::-1][:, :components]
    return np.ascontiguousarray(X), loaded.target


def _of(dataset: str, scaling: str = "raw", components: int = 0) -> Data:
    return partial(_samples, dataset, scaling, components)


def _classes(dataset: str, names: Sequence[int], *, scaling: str = "raw", scaled_first: bool = False) -> Data:
    """Some classes of a data set, by their places in the order of the file, scaled before or after the choice."""

    def data() -> tuple[np.ndarray, np.ndarray]:
        X, y = _samples(dataset, scaling if scaled_first else "raw")
        labels, where = np.unique(y, return_index=True)
        rows = np.isin(y, labels[np.argsort(where)][list(names)])
        part = X[rows] if scaled_first else SCALINGS[scaling](X[rows])
        return np.ascontiguousarray(part), y[rows]

    return data


def _fit(data: Data, recipe: str, **parameters: object) -> Candidate:
    """One fit of a recipe, with as many clusters as classes."""

    def run(seed: int) -> Labelled:
        X, y = data()
        model = fit_recipe(X, recipe, seed, n_clusters=len(np.unique(y)), **parameters).fitted
        return y, model.labels_

    return run


def _one(candidate: Candidate) -> dict[str, Candidate]:
    return {"": candidate}


def _kmeans_on_two(n_runs: int = 20) -> tuple[Reading, ...]:
    """k-means on two categories of Synthetic Control, printed as the first baseline of the paper's table 2."""
    name, first = "synthetic-control", (0, 1)

    def drawn(seed: int) -> Labelled:
        pair = np.random.default_rng(seed).choice(6, 2, replace=False)
        return _fit(_classes(name, [int(place) for place in pair], scaling="minmax"), "kmeans", **LLOYD)(seed)

    within = _classes(name, first, scaling="minmax")
    return (
        Reading("first two categories, attributes in [0, 1]", _one(_fit(within, "kmeans", **LLOYD)), n_runs),
        Reading(
            "first two categories, in [0, 1] with all six",
            _one(_fit(_classes(name, first, scaling="minmax", scaled_first=True), "kmeans", **LLOYD)),
            n_runs,
        ),
        Reading(
            "first two categories, z-scores",
            _one(_fit(_classes(name, first, scaling="zscore"), "kmeans", **LLOYD)),
            n_runs,
        ),
        Reading(
            "first two categories, from random labels",
            _one(_fit(within, "kmeans", featuremap="identity", init="random", n_init=1)),
            n_runs,
        ),
        Reading(
            "first two categories, best of 20 starts by the objective",
            _one(_fit(within, "kmeans", **LLOYD | {"n_init": 20})),
        ),
        Reading("first two categories, best of the runs", _one(_fit(within, "kmeans", **LLOYD)), n_runs, best_run=True),
        Reading(
            "two categories drawn anew for each run",
            _one(drawn),
            n_runs,
            note="the paper selects 'portions of these data sets with different numbers of categories'",
        ),
    )


def _comusa(dataset: str) -> tuple[Reading, ...]:
    """COMUSA on ensembles as the search of EDSVC has them."""

    def merged(scaling: str, relaxation: float, member_clusters: str = "cbrt") -> dict[str, Candidate]:
        def run(seed: int) -> Labelled:
            from clusterkit.consensus import combine

            _, y = _samples(dataset, scaling)
            members = _members(dataset, scaling, member_clusters, seed)
            with without_warnings():  # one cluster is a possible answer
                labels = combine(members, {"name": "comusa", "relaxation": relaxation}, random_state=seed)
            return y, labels

        return _one(run)

    return (
        Reading("relaxation 0.5, attributes in [0, 1]", merged("minmax", 0.5), ENSEMBLES),
        Reading("relaxation 0.5, raw", merged("raw", 0.5), ENSEMBLES),
        Reading("relaxation 0.5, z-scores, members with 2 to √n clusters", merged("zscore", 0.5, "sqrt"), ENSEMBLES),
        Reading("relaxation 0.25, z-scores", merged("zscore", 0.25), ENSEMBLES),
        Reading("relaxation 0.13, attributes in [0, 1]", merged("minmax", 0.13), ENSEMBLES),
        Reading("relaxation 0.13, z-scores", merged("zscore", 0.13), ENSEMBLES),
        Reading("relaxation 0, z-scores", merged("zscore", 0.0), ENSEMBLES),
    )


ENSEMBLES = 10
"""Number of ensembles, as in the table of the paper."""


@lru_cache(maxsize=64)
def _members(dataset: str, scaling: str, member_clusters: str, seed: int) -> np.ndarray:
    """Ten k-means partitions (10, n), those of the search with this seed where the numbers of clusters end at ∛n."""
    from clusterkit import ensemble
    from clusterkit.contracts.seeds import Seeds

    X, _ = _samples(dataset, scaling)
    stream = Seeds.of(seed).stream("tuner")
    with without_warnings():
        members = ensemble(X, 10, member_clusters=member_clusters, random_state=stream)  # type: ignore[arg-type]
    if len(members) < 10:
        raise KeyboardInterrupt
    return members


def _iris() -> tuple[Reading, ...]:
    """Support vector clustering of Iris; the paper cites Ben-Hur et al. (2001) for it."""
    from clusterkit_papers.svc.data_sets import GRID, NARROW_C

    def sphere(components: int, scaling: str, gamma: float, **bound: float) -> Candidate:
        parameters = {f"solver__{name}": value for name, value in bound.items()}

        def run(seed: int) -> Labelled:
            X, y = _samples("iris", scaling, components)
            outside = {"labeler__outliers": "nearest", "labeler__min_cluster_size": 1}
            return y, fit_recipe(
                X, "svc", seed, tuner=None, featuremap__gamma=gamma, **outside, **parameters
            ).fitted.labels_

        return run

    def tuned(seed: int) -> Labelled:
        X, y = _samples("iris", "zscore")
        return y, fit_recipe(X, "svc", seed).fitted.labels_

    printed_grid = {
        f"{SCALING_WORDS[scaling]}, gamma = {gamma:g}, C = {C:g}": sphere(0, scaling, gamma, C=C)
        for scaling, gamma, C in itertools.product(("raw", "zscore"), GRID, NARROW_C)
    }
    shares = {
        f"{SCALING_WORDS[scaling]}, gamma = {gamma:g}, share outside {nu:g}": sphere(0, scaling, gamma, nu=nu)
        for scaling, gamma, nu in itertools.product(("raw", "zscore"), GRID, (0.1, 0.3, 0.5, 0.7, 0.9))
    }
    settings = {2: (6.0, 0.6), 3: (7.0, 0.7), 4: (9.0, 0.75)}
    return (
        Reading("recipe svc, z-scores", _one(tuned)),
        Reading("grid of the paper", printed_grid),
        Reading("widths of the paper, shares outside from 0.1 to 0.9", shares),
        *(
            Reading(
                f"{components} principal components, gamma = {gamma:g}, share outside {nu:g}",
                _one(sphere(components, "raw", gamma, nu=nu)),
                note="the settings of Ben-Hur et al. (2001) for Iris",
            )
            for components, (gamma, nu) in settings.items()
        ),
    )


def _cut(dataset: str, scaling: str, width: float, **changes: object) -> Candidate:
    """A normalised cut of a Gaussian affinity of all pairs, its width a fraction of the largest distance."""
    affinity = {"featuremap": "rbf", "featuremap__sigma_fraction": width}
    return _fit(_of(dataset, scaling), "ncut", **affinity | dict(GRAPH) | changes)


def _tuned_cut(dataset: str, scaling: str, neighbours: int) -> Candidate:
    """A normalised cut of a self-tuned graph of neighbours."""
    return _fit(_of(dataset, scaling), "ncut", featuremap="identity", solver__n_neighbors=neighbours, **GRAPH)


def _cuts(dataset: str, scalings: Sequence[str]) -> tuple[Reading, ...]:
    """Normalised cuts; the first scaling is that of the paper's table here."""
    scaled = [(scaling, SCALING_WORDS[scaling]) for scaling in scalings]
    widths, neighbours = (0.1, 0.2, 0.3), (5, 10, 15, 20)
    grid = {f"{words}, width {width:g}": _cut(dataset, scaling, width) for scaling, words in scaled for width in widths}
    for (scaling, words), m in itertools.product(scaled, neighbours):
        grid[f"{words}, {m} neighbours"] = _tuned_cut(dataset, scaling, m)
        means = _fit(_of(dataset, scaling), "spectral", featuremap__n_neighbors=m)
        grid[f"{words}, k-means on the eigenvectors of {m} neighbours"] = means
    return (
        *(Reading(f"all pairs, width 0.2, {words}", _one(_cut(dataset, scaling, 0.2))) for scaling, words in scaled),
        Reading(
            "all pairs, width 0.2, attributes in [0, 1], rows of length 1",
            _one(_cut(dataset, "minmax", 0.2, solver__normalize=True)),
            note="the variant of Ng, Jordan and Weiss (2002)",
        ),
        Reading("self-tuned graph of 10 neighbours, raw", _one(_tuned_cut(dataset, "raw", 10))),
        Reading("scaling, width, neighbours and variant by labels", grid),
    )


def _mixture(data: Data, smoothness: float = 0.1, neighbours: int = 5, n_init: int = 5, **changes: object) -> Candidate:
    """LapGMM; of several starts the one with the lowest objective counts."""
    solver = {"solver__smoothness": smoothness, "solver__n_neighbors": neighbours}
    solver |= {f"solver__{name}": value for name, value in changes.items()}
    return _fit(data, "lapgmm", featuremap="identity", n_init=n_init, **solver)


def _mixtures_of_svmguide() -> tuple[Reading, ...]:
    raw, scaled = _of("svmguide1"), _of("svmguide1", "minmax")
    grid = {
        f"{covariance} covariances, lambda = {smoothness:g}, {neighbours} neighbours": _mixture(
            scaled, smoothness, neighbours, 1, covariance=covariance
        )
        for covariance, smoothness, neighbours in itertools.product(("full", "diag", "tied"), (0.1, 1.0, 10.0), (5, 20))
    }
    return (
        Reading("attributes in [0, 1], lambda = 0.1, 5 neighbours", _one(_mixture(scaled))),
        Reading("the same, raw", _one(_mixture(raw))),
        Reading("lambda = 1, 20 neighbours", _one(_mixture(scaled, 1.0, 20))),
        Reading("diagonal covariances", _one(_mixture(scaled, covariance="diag"))),
        Reading("diagonal covariances, lambda = 1, 20 neighbours", _one(_mixture(scaled, 1.0, 20, covariance="diag"))),
        Reading("one covariance for both", _one(_mixture(scaled, covariance="tied"))),
        Reading("covariances, lambda and neighbours by labels", grid),
    )


def _mixtures_of_ringnorm() -> tuple[Reading, ...]:
    data = _of("ringnorm", "minmax")

    def some() -> tuple[np.ndarray, np.ndarray]:
        X, y = data()
        rows = np.random.default_rng(0).permutation(len(X))[:7000]
        return X[rows], y[rows]

    return (
        Reading("attributes in [0, 1], lambda = 0.1, gamma = 0.9", _one(_mixture(data))),
        Reading("the same, raw", _one(_mixture(_of("ringnorm")))),
        Reading("7,000 random rows, as many as in print", _one(_mixture(some))),
        Reading("lambda = 0.01, 20 neighbours", _one(_mixture(data, 0.01, 20))),
        Reading("gamma = 0.5", _one(_mixture(data, gamma=0.5))),
        Reading("gamma = 0.3", _one(_mixture(data, gamma=0.3))),
        Reading("gamma = 0.1", _one(_mixture(data, gamma=0.1))),
        Reading("no graph, a plain mixture", _one(_mixture(data, 0.0))),
    )


def _mixtures_of_digits() -> tuple[Reading, ...]:
    scaled, grey = _of("digits-1279", "minmax"), _of("digits-1279")
    components = {count: _of("digits-1279", components=count) for count in (20, 10, 5)}
    return (
        Reading("attributes in [0, 1], lambda = 0.1, 5 neighbours", _one(_mixture(scaled)), 3),
        Reading("grey levels", _one(_mixture(grey)), 3),
        Reading("grey levels, lambda = 10, 20 neighbours", _one(_mixture(grey, 10.0, 20)), 3),
        Reading("grey levels, diagonal covariances", _one(_mixture(grey, covariance="diag")), 3),
        *(
            Reading(f"{count} principal components of the grey levels", _one(_mixture(part)), 3)
            for count, part in components.items()
        ),
    )


def _mixtures_of_usps() -> tuple[Reading, ...]:
    few = _of("usps", components=20)

    def training() -> tuple[np.ndarray, np.ndarray]:
        X, y = few()
        return X[:7291], y[:7291]

    def mixture(data: Data, smoothness: float = 0.1, neighbours: int = 5) -> dict[str, Candidate]:
        return _one(_mixture(data, smoothness, neighbours, 1))

    return (
        Reading("attributes in [0, 1], lambda = 0.1, 5 neighbours", mixture(_of("usps", "minmax"))),
        Reading("10 principal components", mixture(_of("usps", components=10))),
        Reading("20 principal components", mixture(few)),
        Reading("20 principal components, lambda = 10, 20 neighbours", mixture(few, 10.0, 20)),
        Reading("20 principal components, the first 7,291 rows", mixture(training)),
        Reading("20 principal components, best of five runs", mixture(few), 5, best_run=True),
    )


def _cutting_planes() -> tuple[Reading, ...]:
    """CPMMC for more than two clusters on USPS; its balance bounds the sums of outputs, and labels are the largest."""

    def data(names: Sequence[int] | None = None, rows: int | None = None) -> Data:
        def some() -> tuple[np.ndarray, np.ndarray]:
            X, y = _samples("usps")
            chosen = np.arange(len(y)) if names is None else np.flatnonzero(np.isin(y, names))
            if rows is not None:
                chosen = np.random.default_rng(0).permutation(chosen)[:rows]
            return X[chosen], y[chosen]

        return some

    @lru_cache(maxsize=2)
    def fitted(part: Data, slack: float, seed: int, changes: tuple[tuple[str, object], ...]) -> tuple[np.ndarray, Any]:
        X, y = part()
        parameters: dict[str, Any] = {"n_clusters": len(np.unique(y)), **dict(changes)}
        balancer = {"name": "band", "slack": slack}
        return y, fit_recipe(X, "cpm3c", seed, balancer=balancer, **parameters).fitted

    def cut(part: Data, *, by_outputs: bool = True, slack: float = 0.15, **changes: object) -> Candidate:
        def run(seed: int) -> Labelled:
            y, model = fitted(part, slack, seed, tuple(changes.items()))
            return y, model.outcome_.rows.argmax(axis=1) if by_outputs else model.labels_

        return run

    whole, few = data(), data(rows=1000)
    grid = {
        f"width {width:g}, C = {C:g}": cut(few, featuremap__sigma_fraction=width, solver__C=C)
        for width, C in itertools.product((0.1, 0.3, 1.0), (1.0, 10.0))
    }
    part, digits = "1,000 random rows", ((0, 6, 8, 9), (1, 2, 7, 9))
    return (
        Reading("Gaussian kernel of width 0.3, C = 10", _one(cut(whole))),
        Reading("labels with balanced sizes", _one(cut(whole, by_outputs=False))),
        Reading(
            "Gaussian kernel of width 0.1, C = 100",
            _one(cut(whole, featuremap__sigma_fraction=0.1, solver__C=100.0)),
            note="the labels stay nearly those of the k-means that it starts from",
        ),
        Reading(part, _one(cut(few)), part=part),
        Reading(f"{part}, width and C by labels", grid, part=part),
        Reading(f"{part}, a plane, C = 0.1", _one(cut(few, featuremap="identity", solver__C=0.1)), part=part),
        *(
            Reading(
                f"the digits {', '.join(map(str, four))}, {part}", _one(cut(data(four, 1000), slack=0.03)), part=part
            )
            for four in digits
        ),
    )


def _kernel_factors(n_runs: int = 20) -> tuple[Reading, ...]:
    """NMF with a Gaussian kernel on five classes of Libras, under readings of sigma = 0.25 and of the updates."""
    data, sigma = _classes("libras", range(5)), 0.25

    def factors(gamma: float, solver: str = "nmf", factored: Data = data) -> dict[str, Candidate]:
        width = {"featuremap__gamma": gamma, "solver": solver, "labeler__n_init": 1}
        return _one(_fit(factored, "kernel-nmf", **width))

    words = "of the kernel matrix"
    return (
        Reading(f"exp(-d² / 2σ²), NMF {words}", factors(0.5 / sigma**2), n_runs),
        Reading(f"exp(-d² / σ²), NMF {words}", factors(1.0 / sigma**2), n_runs),
        Reading(f"exp(-d² / σ), NMF {words}", factors(1.0 / sigma), n_runs),
        Reading("exp(-d² / 2σ²), basis among the samples", factors(0.5 / sigma**2, "convex_nmf"), n_runs),
        Reading(f"exp(-σ d²), NMF {words}", factors(sigma), n_runs),
        Reading(
            "exp(-σ d²), basis among the samples",
            factors(sigma, "convex_nmf"),
            n_runs,
            note="convex NMF of Ding, Li and Jordan (2010), the nearest that we have to the cited method",
        ),
    )


def _emmc(method: str, data_set: str, table: int, readings: tuple[Reading, ...], quick: bool = False) -> Distance:
    name = data_set.removesuffix("1-a")
    columns = {"accuracy (%)": f"{method} Acc"}
    return Distance(f"{method} on {name}", f"emmc-table{table}", data_set, columns, readings, quick=quick)


DISTANCES = (
    _emmc("CPMMC", "USPS", 8, _cutting_planes()),
    _emmc("LapGMM", "USPS", 10, _mixtures_of_usps()),
    _emmc("LapGMM", "Svmguide1-a", 10, _mixtures_of_svmguide()),
    _emmc("LapGMM", "Ringnorm", 10, _mixtures_of_ringnorm()),
    _emmc("LapGMM", "Digits1279", 10, _mixtures_of_digits()),
    _emmc("NC", "LetterABCD", 10, _cuts("letter-abcd", ("minmax", "raw", "zscore"))),
    _emmc("NC", "Svmguide1-a", 10, _cuts("svmguide1", ("raw", "minmax", "zscore"))),
    Distance(
        "k-means on Synthetic Control, k = 2",
        "elm-table2",
        "k = 2",
        {"purity (%)": "k-means purity (%)", "NMI": "k-means NMI"},
        _kmeans_on_two(),
        quick=True,
    ),
    Distance(
        "kernel NMF on Libras, k = 5",
        "elm-table6",
        "k = 5",
        {"purity (%)": "kernel purity (%)", "NMI": "kernel NMI"},
        _kernel_factors(),
        quick=True,
    ),
    *(
        Distance(
            f"COMUSA on {name}", "edsvc-table2", row, {"NMI": "COMUSA"}, _comusa(dataset), "geometric", counts=True
        )
        for name, row, dataset in (
            ("Banknote", "Banknote Authentication", "banknote"),
            ("Semeion", "Semeion", "semeion"),
        )
    ),
    Distance("SVC on Iris", "svc-table2", "Iris", {"Rand": "SVC Rand"}, _iris(), counts=True, quick=True),
)
"""The distances that the reading of the tables found to be the largest; those of EMMC itself are in its own tables."""
