"""A piece of a table: which cells it fills, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

__all__ = ["Cell", "Findings", "Job", "NotRun", "Plan", "Values"]

Values = dict[str, float]
"""What one run measured, by measure; "seconds" is its wall time."""

Step = Callable[[str], None]


class NotRun(Exception):
    """Raised by a job that finds that it cannot run: its rows give the reason, and the table goes on."""


@attrs.frozen
class Plan:
    """What the caller asked for.

    Parameters
    ----------
    quick : bool
    runs : int or None
        None is the table's own number.
    seed : int
    """

    quick: bool = False
    runs: int | None = None
    seed: int = 0

    def seeds(self, usual: int = 3) -> range:
        """Seeds of the runs."""
        wanted = self.runs if self.runs is not None else 1 if self.quick else usual
        return range(self.seed, self.seed + wanted)


@attrs.frozen
class Cell:
    """A column that a job fills.

    Parameters
    ----------
    column : str
    measure : str
        Which of the measured values goes there.
    """

    column: str
    measure: str


@attrs.frozen
class Findings:
    """What a job measured.

    Parameters
    ----------
    runs : sequence of Values
        One a run.
    note : str
        What only the run could tell.
    cap : float or None
        Highest accuracy that the printed balance allows, %.
    doubt : str
        Why the values cannot be held against print, where only the run could tell; said before the verdict.
    """

    runs: Sequence[Values]
    note: str = ""
    cap: float | None = None
    doubt: str = ""


@attrs.frozen
class Job:
    """A piece of a table.

    Parameters
    ----------
    of : str
        Row of the printed table that it stands beside.
    row : str
        Its own name: what was run.
    cells : tuple of Cell
    run : callable
        Takes ``step(text)``, to be called after each of the `units`.
    units : int
        Units of work, for progress.
    uses_labels : bool
        Whether known classes choose a parameter.
    note : str
    comparable : bool
        False where a part of the data cannot be held against the printed whole.
    part : str
        Which part.
    """

    of: str
    row: str
    cells: tuple[Cell, ...]
    run: Callable[[Step], Findings]
    units: int
    uses_labels: bool = False
    note: str = ""
    comparable: bool = True
    part: str = "quick takes a part"
