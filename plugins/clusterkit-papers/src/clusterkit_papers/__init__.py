"""Tables of papers, run again: the printed value beside ours, and what that says.

>>> import clusterkit_papers as papers
>>> next(iter(papers.tables()))
'emmc-table3'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["reproduce", "tables"]


def tables() -> dict[str, str]:
    """Titles of the tables by name, in the order of the paper.

    Examples
    --------
    >>> tables()["emmc-table4"]
    'EMMC, table 4: error (%) and CPU seconds of starts, mean of 45 digit pairs'
    """
    from clusterkit_papers.printed_tables import catalogue

    return {name: entry.title for name, entry in catalogue().items()}


def reproduce(
    name: str,
    *,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[dict[str, Any]]:
    """Run a table of a paper.

    Parameters
    ----------
    name : str
        One of `tables()`.
    quick : bool, default False
        One run of a part that takes a minute at most; the notes say which part.
    runs : int, optional
        Seeds of each cell; by default the number the table wants (3, here and there 10; 1 if quick).
    seed : int, default 0
        Of the first run; the others count up from it.
    progress : callable, optional
        Called as ``progress(done, total, text)`` after each unit of work. The same goes to `clusterkit.core.progress`.

    Returns
    -------
    list of dict
        ``table, row, column`` say where; ``printed, ours, sd`` are values (None where there is none, `sd` over runs),
        ``runs`` how many runs, ``seconds`` the mean wall time of one, ``uses_labels`` whether known classes chose
        a parameter, ``verdict`` the comparison. ``note`` is there only if something is to be added. Ctrl-C keeps the
        rows so far, with a warning.

    Raises
    ------
    UnknownName
        If there is no such table; the nearest ones are offered.
    """
    from clusterkit_papers.reproduction import reproduce as run

    return run(name, quick=quick, runs=runs, seed=seed, progress=progress)
