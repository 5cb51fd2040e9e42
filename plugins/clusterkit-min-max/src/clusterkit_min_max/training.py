"""The training of the modules of a min-max classifier: each part is cut out once, here or where the rows lie."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts.arguments import SamplesLike
from clusterkit.fitting.samples import engine_for
from clusterkit.samples import memory
from clusterkit.samples.engines import Engine
from clusterkit.samples.rows import Rows, place_of
from clusterkit.samples.survey import Extremes

__all__ = ["TrainedModule", "Training", "collected", "rows_of_engine", "train_here", "train_there"]


@final
@attrs.frozen(eq=False)
class TrainedModule:
    """The support vectors of one trained machine.

    Parameters
    ----------
    support : ndarray of shape (s,)
        Numbers of its support vectors: in the two parts, the negative one first, or in the training set.
    coefficients : ndarray of shape (s,)
    intercept : float
    seconds : float
        Processor time of the training.
    """

    support: Indices
    coefficients: Array
    intercept: float
    seconds: float


@final
@attrs.frozen
class Training:
    """Trains a machine that separates two parts; it travels to where the parts are.

    Parameters
    ----------
    C, gamma, tol, cache_size : float
        Parameters of `sklearn.svm.SVC`.
    """

    C: float
    gamma: float
    tol: float
    cache_size: float

    def __call__(self, negative: Array, positive: Array) -> TrainedModule:
        """The machine of parts (m, d) and (p, d); its support vectors are numbered in both, the negative one first."""
        from sklearn.svm import SVC

        begin = time.thread_time()
        target = np.repeat([0, 1], [len(negative), len(positive)])
        machine = SVC(kernel="rbf", **attrs.asdict(self))
        machine.fit(np.concatenate([negative, positive], dtype=np.float64), target)
        seconds = time.thread_time() - begin
        return TrainedModule(machine.support_, machine.dual_coef_[0], float(machine.intercept_[0]), seconds)


def rows_of_engine(X: SamplesLike) -> tuple[Rows | None, Engine | None]:
    """The rows of a collection and the engine that trains on them; None and None for all else."""
    engine = engine_for(X)
    return (engine.rows(X), engine) if engine is not None and engine.trains_pairs else (None, None)


def collected(rows: Rows) -> Array:
    """All rows in the memory of this process, (n, d): partitions compare them.

    Raises
    ------
    NeedsMemory
        If the memory cap does not allow it.
    InvalidData
        If a value is no finite number, by column and row.
    """
    memory.require(
        8 * rows.n * rows.d,
        f"a copy of all {rows.n} x {rows.d} rows in this process",
        "They are split here, because partitions compare them. Fit a part of the rows.",
    )
    X = rows.read(slice(0, rows.n))
    if len(X):
        Extremes.of(slice(0, rows.n), X).check(rows.names, place_of(rows))
    return X


def train_here(
    training: Training, X: Array, rows: Sequence[Indices], pairs: Sequence[tuple[int, int]], n_jobs: int | None
) -> list[TrainedModule]:
    """The machines of pairs of parts, by joblib; `rows` are those of each part.

    Each part is one array that all its machines share. Backends that know arrays by their identity, as that of Dask,
    send it once.
    """
    from joblib import Parallel, delayed

    parts = [X[index] for index in rows]
    # "prefer" is a hint only: libsvm releases the lock of the interpreter, and threads need no copies
    machines = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(training)(parts[a], parts[b]) for a, b in pairs)
    return _numbered(machines, rows, pairs)


def train_there(
    training: Training,
    engine: Engine,
    source: Rows,
    part_of: Labels,
    rows: Sequence[Indices],
    pairs: Sequence[tuple[int, int]],
) -> list[TrainedModule]:
    """Train a machine for each pair of parts where an engine's rows lie; `part_of` is the part of each row, (n,)."""
    return _numbered(engine.of_pairs(training, source, part_of, pairs), rows, pairs)


def _numbered(
    machines: Sequence[TrainedModule], rows: Sequence[Indices], pairs: Sequence[tuple[int, int]]
) -> list[TrainedModule]:
    """Machines whose support vectors have their numbers in the training set."""
    return [
        attrs.evolve(machine, support=np.concatenate([rows[a], rows[b]])[machine.support])
        for machine, (a, b) in zip(machines, pairs, strict=True)
    ]
