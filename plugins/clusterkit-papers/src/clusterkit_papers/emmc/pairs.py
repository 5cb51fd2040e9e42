"""EMMC with complexity and start chosen without labels, on the digit pairs of table 4 and on pairs not used for it.

The constants of `emmc`, `emmc-multistart` and `emmc-auto` were found on the 45 digit pairs. The other pairs, of USPS
digits and of letters, had no part in that; the paper has neither. Printed values are those of table 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from clusterkit_papers.emmc.starts import PAIRS, SLACK
from clusterkit_papers.fits import averaged, judged_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values

__all__ = ["PAIR_SETS", "PairSet", "pairs"]

MOST = 180
"""First rows of each class of the held-out sets: about as many as the digits have."""

BETTER = 0.5
"""Points of error by which a pair counts as better or worse than `emmc`."""

WIDE: Mapping[str, object] = {
    "degrees": (12.0, 16.0, 20.0, 25.0, 30.0, 35.0),
    "widths": (0.125, 0.5, 2.0),
}
"""The longer lists of complexities and widths with which the held-out pairs were fitted first."""

METHODS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "kmeans": ("kmeans", {}),
    "emmc": ("emmc", {}),
    "emmc-multistart": ("emmc-multistart", {}),
    "emmc-auto": ("emmc-auto", {}),
    "emmc-auto, wide lists": ("emmc-auto", WIDE),
}
"""Rows of each set: recipe and its changes."""

QUICK_PAIRS = ((0, 1), (1, 7), (5, 9))
"""Places of the pairs of a quick run, for the methods with many starts."""

ONLY_WHOLE = ("emmc-auto, wide lists",)
"""Rows that a quick run leaves out."""

CELLS = (
    Cell("error (%)", "mean_error"),
    Cell("pairs better than emmc", "better"),
    Cell("pairs worse than emmc", "worse"),
    Cell("CPU (s)", "cpu"),
)
"""Mean over the pairs, and the number of pairs that differ by more than half a point."""


@attrs.frozen
class PairSet:
    """A data set whose classes are taken two at a time.

    Parameters
    ----------
    name : str
        Name in the rows.
    dataset : str
        Name for `clusterkit_papers.datasets.load`.
    classes : tuple
        The ten classes.
    scale : callable
        Applied to the samples.
    most : int or None
        First rows of each class; None takes all.
    runs : int
    words : str
        The preparation, for notes.
    """

    name: str
    dataset: str
    classes: tuple[object, ...]
    scale: Callable[[np.ndarray], np.ndarray]
    most: int | None
    runs: int
    words: str

    def pairs(self) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]:
        """Samples and classes by the places of the two classes in `classes`."""
        from clusterkit_papers.datasets import load

        dataset = load(self.dataset)
        rows = [np.flatnonzero(dataset.target == name)[: self.most] for name in self.classes]
        X = self.scale(np.asarray(dataset.data, dtype=np.float64))
        both = {pair: np.sort(np.concatenate([rows[i] for i in pair])) for pair in PAIRS}
        return {pair: (X[taken], dataset.target[taken]) for pair, taken in both.items()}


PAIR_SETS = (
    PairSet("digits", "digits", tuple(range(10)), lambda X: X / 16.0, None, 3, "grey levels / 16, L = n, l = 0.03 n"),
    PairSet(
        "USPS, held out", "usps", tuple(range(10)), lambda X: X, MOST, 1,
        f"first {MOST} rows of each class, pixels in [-1, 1], L = n, l = 0.03 n",
    ),
    PairSet(
        "letters A to J, held out", "letter", tuple("ABCDEFGHIJ"), lambda X: X / 15.0, MOST, 1,
        f"first {MOST} rows of each class, attributes / 15, L = n, l = 0.03 n",
    ),
)  # fmt: skip
"""The digits, and the sets that had no part in the choice of any constant."""


def pairs(plan: Plan) -> list[Job]:
    """All 45 pairs of each set; a quick run has three pairs where a method has many starts."""
    return [
        job
        for pair_set in PAIR_SETS
        for job in _jobs(PairRuns(pair_set), plan)
        if not plan.quick or job.row.partition(": ")[2] not in ONLY_WHOLE
    ]


@attrs.define(eq=False)
class PairRuns:
    """The fits to the pairs of a set, each made once, because every row is compared with that of `emmc`.

    Parameters
    ----------
    pair_set : PairSet
    """

    pair_set: PairSet
    _pairs: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = attrs.field(factory=dict, init=False)
    _fits: dict[tuple[str, tuple[int, int], int], Values] = attrs.field(factory=dict, init=False)

    def fit(self, method: str, pair: tuple[int, int], seed: int) -> Values:
        """Values measured for a method on a pair."""
        if not self._pairs:
            self._pairs.update(self.pair_set.pairs())
        key = (method, pair, seed)
        if key not in self._fits:
            X, y = self._pairs[pair]
            recipe, changes = METHODS[method]
            margin: dict[str, Any] = (
                {} if recipe == "kmeans" else {"featuremap__n_hidden": len(X), "balancer__slack": SLACK}
            )
            self._fits[key] = judged_fit(X, y, recipe, seed, **margin, **changes)
        return self._fits[key]


def _jobs(fits: PairRuns, plan: Plan) -> list[Job]:
    return [_job(fits, method, plan) for method in METHODS]


def _job(fits: PairRuns, method: str, plan: Plan) -> Job:
    pair_set, seeds = fits.pair_set, plan.seeds(fits.pair_set.runs)
    some = plan.quick and METHODS[method][0] in ("emmc-multistart", "emmc-auto")
    taken: Sequence[tuple[int, int]] = QUICK_PAIRS if some else PAIRS
    row = f"{pair_set.name}: {method}"

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            values = []
            for pair in taken:
                values.append(fits.fit(method, pair, seed))
                step(f"{row}, {pair_set.classes[pair[0]]} and {pair_set.classes[pair[1]]}, seed {seed}")
            gains = [
                fits.fit("emmc", pair, seed)["error"] - of["error"] for pair, of in zip(taken, values, strict=True)
            ]
            better, worse = sum(gain > BETTER for gain in gains), sum(gain < -BETTER for gain in gains)
            runs.append(averaged(_common(values)) | {"better": float(better), "worse": float(worse)})
        return Measurements(runs)

    lists = "df from 12, 16, 20, 25, 30, 35, widths 0.125, 0.5, 2" if METHODS[method][1] else ""
    quick = f"quick: {len(taken)} of {len(PAIRS)} pairs" if some else ""
    note = "; ".join(text for text in (pair_set.words, lists, quick) if text)
    return Job(row, row, CELLS, run, len(taken) * len(seeds), note=note, comparable=not some)


def _common(values: Sequence[Values]) -> list[Values]:
    """The measures that every fit has: the agreement of maps is not one of kmeans."""
    names = set.intersection(*(set(one) for one in values))
    return [{name: one[name] for name in sorted(names)} for one in values]
