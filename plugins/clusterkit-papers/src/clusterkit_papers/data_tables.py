"""Tables of data sets: the printed sizes beside those of the data that the other tables run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from clusterkit_papers.jobs import Cell, Job, Measurements, Step

__all__ = ["PARAMETER", "SIZES", "parameter_job", "sizes_job"]

SIZES = (Cell("N", "samples"), Cell("d", "attributes"), Cell("classes", "classes"))
"""The columns of a table of data sets: numbers of samples, of attributes, and of classes that occur."""

PARAMETER = "samples"
"""The measure of a parameter: like a count, it is the printed one or not."""


def sizes_job(
    printed_row: str,
    row: str,
    load: Callable[[], tuple[np.ndarray, np.ndarray]],
    *,
    more: Callable[[np.ndarray], dict[str, float]] | None = None,
    cells: Sequence[Cell] = (),
    note: str = "",
) -> Job:
    """A job that counts the samples, attributes and classes of a data set.

    Parameters
    ----------
    printed_row, row : str
        See `Job`.
    load : callable
        Returns samples (n, d) and classes (n,).
    more : callable, optional
        Takes the classes; returns further values by measure.
    cells : sequence of Cell
        The columns of the further values.
    note : str
    """

    def run(step: Step) -> Measurements:
        X, y = load()
        step(row)
        sizes = {"samples": X.shape[0], "attributes": X.shape[1], "classes": len(np.unique(y))}
        values = {name: float(size) for name, size in sizes.items()}
        return Measurements([{**values, **({} if more is None else more(y)), "seconds": 0.0}])

    return Job(printed_row, row, (*SIZES, *cells), run, 1, note=note, as_described=True)


def parameter_job(
    printed_row: str, row: str, column: str, value: Callable[[], float], note: str = "", *, as_described: bool = True
) -> Job:
    """A job whose value is a parameter of the fits of other tables."""

    def run(step: Step) -> Measurements:
        step(row)
        return Measurements([{PARAMETER: value(), "seconds": 0.0}])

    return Job(printed_row, row, (Cell(column, PARAMETER),), run, 1, note=note, as_described=as_described)
