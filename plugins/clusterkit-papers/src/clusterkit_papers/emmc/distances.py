"""EMMC where it is far from print: what each reading of the protocol gives, and what the classes themselves would give.

The rows change one thing at a time: nodes, scaling, start, C, the best run in place of the mean. Beside them stand two
uses of the known classes. A regression on them shows which classes L nodes can tell apart at all; the iterations that
start from them show whether the method stays there.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from clusterkit.contracts import Task
from clusterkit.families.shared.elm import Elm
from clusterkit_papers.emmc.complexity import RepeatedStart, accuracies, best_complexity, by_labels
from clusterkit_papers.emmc.data_sets import DATA_SETS, PRINTED_C, EmmcDataSet
from clusterkit_papers.emmc.readings import GAUSSIAN, RECIPE, SEVERAL
from clusterkit_papers.fits import judge, judged_fit, mean_accuracy, timed_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.printed_tables import printed
from clusterkit_papers.scalings import to_range
from clusterkit_papers.verdicts import MEASURES

__all__ = ["SETS", "DistantSet", "answer", "distances"]

SETS = ("Digits1279", "LetterABCD", "USPS")
"""The data sets with more than two classes on which EMMC stays below print."""

QUICK_SETS = SETS[:1]
"""The data set of a quick run."""

OUTPUTS: Mapping[str, Mapping[str, object]] = {"single": {}, "multi": SEVERAL}
"""One output, and an output for each cluster, under their printed names."""

NODES: Mapping[str, Mapping[str, object]] = {
    "radial basis nodes": {"featuremap__activation": "radbas"},
    "Gaussian nodes": GAUSSIAN,
    "sigmoid nodes": {"featuremap__activation": "sigmoid"},
}
"""The nodes of `RECIPE`, and the two of equation 7 of the paper."""

RUNS = 2
"""Number of runs of a row: the distances are many times the spread."""

C_GRID = PRINTED_C[::5]
"""Values of C that known classes choose from."""

PRINTED_C_OF_TABLES = 500.0
"""C where nothing chooses it."""

ONE_START: Mapping[str, object] = {"init": {"name": "kmeans_mapped", "n_init": 1}}
"""k-means in the feature space, once: ten starts take twice as long as all the rest on USPS."""


def _unit_length(X: np.ndarray) -> np.ndarray:
    """Rows (n, d) in [0, 1], then of length 1."""
    Z = to_range(X)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    scaled: np.ndarray = Z / np.where(length > 0, length, 1.0)
    return scaled


SCALES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "attributes in [-1, 1]": lambda X: 2.0 * to_range(X) - 1.0,
    "attributes in [0, 1]": to_range,
    "rows of length 1": _unit_length,
}
"""Scalings, of which the paper says nothing; the first is that of the other tables."""

FIRST = next(iter(SCALES))

VARIANTS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    RECIPE: (FIRST, {}),
    **{f"{RECIPE}, {scale}": (scale, {}) for scale in list(SCALES)[1:]},
    **{f"{RECIPE}, {nodes}": (FIRST, changes) for nodes, changes in list(NODES.items())[1:]},
    f"{RECIPE}, k-means on the rows": (FIRST, {"init": {"name": "kmeans", "n_init": 1}}),
    f"{RECIPE}, ten starts of k-means": (FIRST, {"init": "kmeans_mapped"}),
}
"""Clusterings without labels: scaling, and changes of the recipe. Each differs in one thing from the first."""


@attrs.define(eq=False)
class DistantSet:
    """A data set, scaled in each way, and the fits to it, each made once.

    Parameters
    ----------
    data_set : EmmcDataSet
    """

    data_set: EmmcDataSet
    _samples: dict[str, np.ndarray] = attrs.field(factory=dict, init=False)
    _fits: dict[tuple[str, str, int], Values] = attrs.field(factory=dict, init=False)
    _chosen: dict[tuple[str, tuple[int, ...]], tuple[float, list[Values]]] = attrs.field(factory=dict, init=False)

    def X(self, scale: str) -> np.ndarray:
        """The scaled rows, (n, d)."""
        if not self._samples:
            self._samples["as they are"], self._samples["classes"] = self.data_set.load()
        if scale not in self._samples:
            self._samples[scale] = SCALES[scale](self._samples["as they are"])
        return self._samples[scale]

    @property
    def y(self) -> np.ndarray:
        """Known classes as numbers from 0, (n,)."""
        self.X(FIRST)
        numbers: np.ndarray = np.unique(self._samples["classes"], return_inverse=True)[1]
        return numbers

    def parameters(self, outputs: str, **changes: object) -> Mapping[str, object]:
        """Parameters of `RECIPE` on rows that are scaled already."""
        margin = self.data_set.margin(self.X(FIRST), featuremap__scale=None)
        return {**margin, **ONE_START, **OUTPUTS[outputs], **changes}

    def fit(self, variant: str, outputs: str, seed: int) -> Values:
        """Values of a clustering without labels, a key of `VARIANTS`."""
        scale, changes = VARIANTS[variant]
        return self._once(variant, outputs, seed, scale, changes)

    def from_classes(self, outputs: str, seed: int) -> Values:
        """Values where the iterations start from the known classes."""
        return self._once("from the classes", outputs, seed, FIRST, {"init": RepeatedStart(self.y)})

    def _once(self, key: str, outputs: str, seed: int, scale: str, changes: Mapping[str, object]) -> Values:
        if (key, outputs, seed) not in self._fits:
            parameters = self.parameters(outputs, **changes)
            self._fits[key, outputs, seed] = judged_fit(self.X(scale), self.y, RECIPE, seed, **parameters)
        return self._fits[key, outputs, seed]

    def at_best_C(self, outputs: str, seeds: Sequence[int]) -> tuple[float, list[Values]]:
        """The C of highest mean accuracy, which known classes choose, and the values of each run with it."""
        X, parameters, key = self.X(FIRST), self.parameters(outputs), (outputs, tuple(seeds))
        if key not in self._chosen:
            C = best_complexity(
                C_GRID, seeds, lambda seed: accuracies(X, self.y, RECIPE, seed, "C", C_GRID, **parameters)
            )
            runs = [judged_fit(X, self.y, RECIPE, seed, **parameters, solver__C=C) for seed in seeds]
            self._chosen[key] = C, runs
        return self._chosen[key]

    def regression(self, nodes: str, scale: str, outputs: str, seed: int) -> Values:
        """Values of the labels that a ridge regression on the known classes gives, without iterations and balance."""
        key = f"regression, {nodes}, {scale}"
        if (key, outputs, seed) not in self._fits:
            timed = timed_fit(lambda: self._outputs(nodes, scale, seed))
            k = int(self.y.max()) + 1
            labels = {
                "multi": timed.fitted[:, :k].argmax(axis=1),
                "single": np.clip(np.rint(timed.fitted[:, k]), 1, k).astype(int) - 1,
            }
            for name, read in labels.items():
                of_names = {"accuracy": 100.0 * float(np.mean(read == self.y)), "seconds": timed.seconds}
                self._fits[key, name, seed] = {**judge(self.y, read), **of_names}
        return self._fits[key, outputs, seed]

    def _outputs(self, nodes: str, scale: str, seed: int) -> np.ndarray:
        """Fitted values (n, k + 1): an output for each class, then one output with the targets 1..k."""
        X, y = self.X(scale), self.y
        L = int(self.parameters("single")["featuremap__n_hidden"])
        named = {"width": 1.0, **{key.partition("__")[2]: value for key, value in NODES[nodes].items()}}
        stage = Elm(n_hidden=L, scale=None, **named)  # type: ignore[arg-type]
        H = stage.space_of(X, Task(len(X), None), np.random.default_rng(seed)).rows()
        T = np.column_stack([np.eye(int(y.max()) + 1)[y], y + 1.0])
        B = np.linalg.solve(H.T @ H + np.eye(L) / PRINTED_C_OF_TABLES, H.T @ T)
        fitted: np.ndarray = H @ B
        return fitted


def distances(plan: Plan) -> list[Job]:
    """All readings on every data set, and what they say about the printed value; a quick run has one data set."""
    jobs = []
    for name in QUICK_SETS if plan.quick else SETS:
        fits, seeds = DistantSet(DATA_SETS[name]), plan.seeds(RUNS)
        for outputs in OUTPUTS:
            if (name, f"{outputs} Acc") in printed("emmc-distances"):
                jobs += _of_outputs(fits, outputs, seeds)
    return jobs


def _of_outputs(fits: DistantSet, outputs: str, seeds: Sequence[int]) -> list[Job]:
    def of(fit: Callable[[int], Values], what: str, **more: Any) -> Job:
        return _job(fits, outputs, what, partial_runs(fit), seeds, **more)

    def partial_runs(fit: Callable[[int], Values]) -> Callable[[Step], Measurements]:
        def run(step: Step) -> Measurements:
            runs = []
            for seed in seeds:
                runs.append(fit(seed))
                step(f"{fits.data_set.name}, {outputs}, seed {seed}")
            return Measurements(runs)

        return run

    jobs = [of(lambda seed, what=what: fits.fit(what, outputs, seed), what) for what in VARIANTS]
    jobs[0] = attrs.evolve(jobs[0], as_described=True)
    jobs += [
        _job(
            fits, outputs, f"{RECIPE}, best run", lambda step: _best_run(fits, outputs, seeds, step), seeds, labels=True
        ),
        _job(
            fits,
            outputs,
            f"{RECIPE}, C by labels",
            lambda step: _by_labels(fits, outputs, seeds, step),
            seeds,
            labels=True,
        ),
        of(lambda seed: fits.from_classes(outputs, seed), f"{RECIPE} from the classes", labels=True),
    ]
    jobs += [
        of(
            lambda seed, nodes=nodes, scale=scale: fits.regression(nodes, scale, outputs, seed),
            f"regression on the classes, {nodes}, {scale}",
            labels=True,
        )
        for nodes in NODES
        for scale in SCALES
    ]
    return [*jobs, _conclusion(fits, outputs, seeds)]


def _job(
    fits: DistantSet,
    outputs: str,
    what: str,
    run: Callable[[Step], Measurements],
    seeds: Sequence[int],
    *,
    labels: bool = False,
) -> Job:
    name = fits.data_set.name
    cells = (Cell(f"{outputs} Acc", "accuracy"),)
    return Job(name, f"{name}: {what}", cells, run, len(seeds), uses_labels=labels)


def _best_run(fits: DistantSet, outputs: str, seeds: Sequence[int], step: Step) -> Measurements:
    runs = []
    for seed in seeds:
        runs.append(fits.fit(RECIPE, outputs, seed))
        step(f"{fits.data_set.name}, {outputs}, seed {seed}")
    best = max(runs, key=lambda values: values["accuracy"])
    return Measurements([best], f"the best of {len(runs)} runs by labels")


def _by_labels(fits: DistantSet, outputs: str, seeds: Sequence[int], step: Step) -> Measurements:
    C, runs = fits.at_best_C(outputs, seeds)
    for seed in seeds:
        step(f"{fits.data_set.name}, {outputs}, C = {C:g}, seed {seed}")
    return Measurements(runs, f"C = {C:g} {by_labels('C', C_GRID, len(seeds))}")


def _conclusion(fits: DistantSet, outputs: str, seeds: Sequence[int]) -> Job:
    """What the rows together say about the printed value."""
    name = fits.data_set.name
    row = f"{name}: what the rows show, {outputs}"

    def run(step: Step) -> Measurements:
        def mean(fit: Callable[[int], Values]) -> float:
            return statistics.fmean(fit(seed)["accuracy"] for seed in seeds)

        best = max((mean(lambda seed, what=what: fits.fit(what, outputs, seed)), what) for what in VARIANTS)
        trained = max(
            mean(lambda seed, nodes=nodes, scale=scale: fits.regression(nodes, scale, outputs, seed))
            for nodes in NODES
            for scale in SCALES
        )
        stays = mean(lambda seed: fits.from_classes(outputs, seed))
        step(row)
        value = printed("emmc-distances")[name, f"{outputs} Acc"].value
        assert value is not None
        C, runs = fits.at_best_C(outputs, seeds)
        chosen = mean_accuracy(runs), f"the C that known classes choose, {C:g}"
        values = {"best": best[0], "stays": stays, "trained": trained, "seconds": 0.0}
        return Measurements([values], answer(value, best, chosen, stays, trained))

    cells = (
        Cell(f"{outputs}: best without labels", "best"),
        Cell(f"{outputs}: from the classes", "stays"),
        Cell(f"{outputs}: best regression on the classes", "trained"),
    )
    return Job(name, row, cells, run, 1, uses_labels=True)


def answer(value: float, best: tuple[float, str], chosen: tuple[float, str], stays: float, trained: float) -> str:
    """The verdict on a printed accuracy (%), from clusterings without labels and with the best C, and from the classes.

    Parameters
    ----------
    value : float
        The printed accuracy.
    best, chosen : tuple of (float, str)
        The best clustering without labels and the one with the C of highest accuracy: accuracy and name.
    stays, trained : float
        Accuracy of iterations that start from the classes, and of the best regression on them.

    Examples
    --------
    >>> by_labels = (68.0, "the C that known classes choose, 1")
    >>> answer(94.9, (66.8, "emmc-paper"), by_labels, 89.6, 98.4)
    '94.9 in print is unexplained: the nodes can tell the classes apart (98.4), and the iterations leave them (89.6)'
    >>> answer(94.5, (33.0, "emmc-paper"), by_labels, 31.0, 53.9)
    '94.5 in print is out of reach: a regression on the classes themselves names 53.9 % of the rows'
    >>> answer(68.7, (69.1, "emmc-paper"), by_labels, 99.0, 99.0)
    '68.7 in print is reached by emmc-paper (69.1)'
    >>> answer(68.3, (67.1, "emmc-paper"), by_labels, 99.0, 99.0)
    '68.3 in print is reached here with the C that known classes choose, 1 (68.0)'
    """
    tolerance = MEASURES["accuracy"].tolerance
    if best[0] >= value - tolerance:
        return f"{value:.1f} in print is reached by {best[1]} ({best[0]:.1f})"
    if chosen[0] >= value - tolerance:
        return f"{value:.1f} in print is reached here with {chosen[1]} ({chosen[0]:.1f})"
    if trained < value - tolerance:
        trained_alone = f"a regression on the classes themselves names {trained:.1f} % of the rows"
        return f"{value:.1f} in print is out of reach: {trained_alone}"
    how = "leave them" if stays < value - tolerance else "stay there, but no start without them comes near"
    apart = f"the nodes can tell the classes apart ({trained:.1f}), and the iterations {how} ({stays:.1f})"
    return f"{value:.1f} in print is unexplained: {apart}"
