"""Every method on every set: judged by the known classes, with the time, and written to a journal as it comes."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np

from clusterkit.benchmarking.methods import Method
from clusterkit.benchmarking.sets import LabeledSet
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.progress import Report, tell

__all__ = ["Cell", "run"]

WARM_ROWS = 200
"""Rows of the fit before the clock of a method starts, so that imports and compilation are not counted."""


@attrs.frozen
class Cell:
    """One method on one set.

    Parameters
    ----------
    data_set : str
    digest : str
        Of the data, so that a journal is not taken for other data of the same name.
    method, library, version : str
    k_known : bool
        Whether the method was given the number of classes.
    seed : int
    n_classes, n_clusters : int
        Classes of the set, and clusters of the labels without noise.
    adjusted_rand, asymmetric_accuracy : float
        Agreement of the labels with the classes, over the rows that belong to a class. Noise of the method is one
        cluster more.
    seconds : float
        Wall time of the fit.
    error : str
        Why there are no labels; the two indices are 0 then.
    """

    data_set: str
    digest: str
    method: str
    library: str
    version: str
    k_known: bool
    seed: int
    n_classes: int
    n_clusters: int = 0
    adjusted_rand: float = 0.0
    asymmetric_accuracy: float = 0.0
    seconds: float = 0.0
    error: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What a journal knows the cell by."""
        return self.digest, self.method, self.library, self.version, self.k_known, self.seed


def run(
    sets: Sequence[LabeledSet],
    methods: Sequence[Method],
    *,
    seed: int = 0,
    journal: str | Path | None = None,
) -> list[Cell]:
    """Fit every method to every set, with the number of classes where it takes one and without where it finds it.

    Parameters
    ----------
    sets : sequence of LabeledSet
    methods : sequence of Method
    seed : int, default 0
        Random seed of every fit.
    journal : path, optional
        File to which every finished cell is added as a line of JSON; cells in it are not computed again.

    Returns
    -------
    list of Cell
        After Ctrl-C those that were finished.

    Raises
    ------
    InvalidParameter
        If the journal holds something else.
    """
    known = {} if journal is None else read_journal(journal)
    warm: set[str] = set()
    cells: list[Cell] = []
    try:
        plans = list(_plan(sets, methods, seed))
        for place, (plan, method, data_set) in enumerate(plans):
            tell(Report("benchmark", place, len(plans)))
            if plan.key in known:
                cells.append(known[plan.key])
                continue
            if method.name not in warm:
                _fit(plan, method, _rows_for_warming(data_set))
                warm.add(method.name)
            cells.append(_fit(plan, method, data_set))
            if journal is not None:
                with Path(journal).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(attrs.asdict(cells[-1])) + "\n")
    except KeyboardInterrupt:
        warnings.warn(f"interrupted: {len(cells)} fits are kept", ClusterkitWarning, stacklevel=2)
    return cells


def read_journal(path: str | Path) -> Mapping[tuple[object, ...], Cell]:
    """The cells of a journal; a last line that was cut short is left out."""
    file = Path(path)
    if not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    cells = {}
    for place, line in enumerate(lines, 1):
        try:
            cell = Cell(**json.loads(line))
        except (ValueError, TypeError) as error:
            if place == len(lines) and not line.endswith("\n"):
                file.write_text("".join(lines[:-1]), encoding="utf-8")
                break
            raise InvalidParameter(f"{path}, line {place}: not the journal of a benchmark: {error}") from error
        cells[cell.key] = cell
    return cells


def _plan(
    sets: Sequence[LabeledSet], methods: Sequence[Method], seed: int
) -> Iterator[tuple[Cell, Method, LabeledSet]]:
    """The cells to come, a method after the other, the small sets first."""
    digests = {data_set.name: data_set.digest for data_set in sets}
    for method in methods:
        for data_set in sorted(sets, key=lambda each: len(each.X)):
            for k_known in (True, False):
                if method.suits(data_set.n_classes, k_known):
                    identity = (data_set.name, digests[data_set.name], method.name, method.library, method.version)
                    yield Cell(*identity, k_known, seed, data_set.n_classes), method, data_set


def _rows_for_warming(data_set: LabeledSet) -> LabeledSet:
    step = max(1, len(data_set.X) // WARM_ROWS)
    return LabeledSet(data_set.name, data_set.X[::step], data_set.classes[::step])


def _fit(plan: Cell, method: Method, data_set: LabeledSet) -> Cell:
    from clusterkit.metrics import adjusted_asymmetric_accuracy, adjusted_rand

    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = method.labels(data_set.X, data_set.n_classes if plan.k_known else None, plan.seed)
    except Exception as error:
        return attrs.evolve(plan, error=f"{type(error).__name__}: {error}".splitlines()[0][:200])
    seconds = time.perf_counter() - begin
    classes, labels = data_set.classes[data_set.known], np.asarray(labels)[data_set.known]
    return attrs.evolve(
        plan,
        n_clusters=len(np.unique(labels[labels >= 0])),
        adjusted_rand=adjusted_rand(classes, labels),
        asymmetric_accuracy=adjusted_asymmetric_accuracy(classes, labels),
        seconds=seconds,
    )
