"""The unit of work of a table, `Job`: which cells it fills, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

__all__ = ["Cell", "Job", "Measurements", "NotRun", "Plan", "Values"]

Values = dict[str, float]
"""Values measured in one run, by measure (a key of `clusterkit_papers.verdicts.MEASURES`); "seconds" is its wall
time."""

Step = Callable[[str], None]
"""A function that a job calls with a text after each unit of work, for progress."""


QUICK_PART = "quick takes a part"
"""`Job.part` of the jobs that a quick run makes smaller."""

QUICK_RUNS = "quick has fewer runs"
"""`Job.part` of the jobs that a quick run runs less often."""


class NotRun(Exception):
    """Raised by a job that cannot run, with the reason: its rows show the reason, and the table goes on."""


@attrs.frozen
class Plan:
    """How much of a table is run, and with which seeds.

    Parameters
    ----------
    quick : bool, default False
        Whether only a part is run, which takes a minute at most.
    runs : int, optional
        Number of runs per cell; by default the table decides, and it is 1 if `quick`.
    seed : int, default 0
        Seed of the first run.
    """

    quick: bool = False
    runs: int | None = None
    seed: int = 0

    def seeds(self, usual: int = 3) -> range:
        """Seeds of the runs; `usual` is the number of runs that the table has by default."""
        n_runs = self.runs if self.runs is not None else 1 if self.quick else usual
        return range(self.seed, self.seed + n_runs)


@attrs.frozen
class Cell:
    """A column that a job fills.

    Parameters
    ----------
    column : str
    measure : str
        Name of the measured value in this column.
    """

    column: str
    measure: str


@attrs.frozen
class Measurements:
    """Values measured by a job.

    Parameters
    ----------
    runs : sequence of Values
        The values of each run.
    note : str
        A remark on the row that depends on the runs, such as the chosen parameters.
    cap : float or None
        Highest accuracy that the printed balance allows, in percent.
    doubt : str
        Reason why the values cannot be compared with the printed ones, where that depends on the runs; it begins the
        verdict.
    """

    runs: Sequence[Values]
    note: str = ""
    cap: float | None = None
    doubt: str = ""


@attrs.frozen
class Job:
    """One row of our table: a method on a data set.

    Parameters
    ----------
    printed_row : str
        The row of the printed table that this one is compared with.
    row : str
        The name of our row: what is run.
    cells : tuple of Cell
        The columns that the job fills.
    run : callable
        Function that does the work and returns `Measurements`. It takes a function `Step`, which it calls after each of
        the `units`.
    units : int
        Number of units of work, for progress.
    uses_labels : bool
        Whether known classes choose a parameter.
    note : str
        A remark on the row that is known before it runs.
    comparable : bool
        False where only a part of the data is used, so that the values cannot be compared with the printed ones.
    part : str
        Name of that part of the data; shown in the verdict if not `comparable`.
    as_described : bool
        Whether the row is the paper's own: the method, data and protocol that its text describes, with one reading of
        what the text leaves open. No printed cell has two such rows.
    filler : bool
        Whether the row is no method but what any method has to be read against, such as one cluster for every sample.
    """

    printed_row: str
    row: str
    cells: tuple[Cell, ...]
    run: Callable[[Step], Measurements]
    units: int
    uses_labels: bool = False
    note: str = ""
    comparable: bool = True
    part: str = QUICK_PART
    as_described: bool = False
    filler: bool = False

    @property
    def key(self) -> str:
        """The job among those of its table: its row and columns."""
        return " | ".join((self.row, *(cell.column for cell in self.cells)))
