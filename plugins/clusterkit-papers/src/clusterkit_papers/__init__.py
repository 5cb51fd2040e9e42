"""Tables and figures of the published clustering algorithms, run again: printed values beside ours.

A sub-package holds a paper (`emmc`, `elm`, `svc`, `edsvc`, `min_max`); `claims` answers what the papers claim. Each
table is a function from a `Plan` to a list of `Job`, and a job fills cells of the printed table:

===============  ======================================================================================================
jobs             `Plan`, `Job`, `Measurements`: what a table consists of.
fits             `timed_fit` and the other helpers of a measured fit.
scalings         Scalings that the papers leave open.
data_tables      Jobs of tables of data sets and parameters.
distances        Readings that may explain the largest distances to print, and the verdict on each distance.
printed_tables   The printed values and the list of tables, from the CSV files in the folder printed.
pictures         Pictures of tables and figures; `log_axes` has their axes.
impossible       Which printed indices no clustering can have.
verdicts         How a printed value and ours compare, and which rows are fillers.
summary          How a table and its methods stand as a whole.
reproduction     Runs the jobs and returns the rows.
records          What a run leaves behind: rows, command, machine, times; `journals` lets a long one go on.
command          ``clusterkit reproduce``; `plugin` tells clusterkit about it.
===============  ======================================================================================================

>>> import clusterkit_papers as papers
>>> next(iter(papers.tables()))
'emmc-table2'
"""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["record", "record_missing", "reproduce", "tables"]


def tables() -> dict[str, str]:
    """Titles of the tables by name, paper by paper.

    Examples
    --------
    >>> tables()["emmc-table4"]
    'EMMC, table 4: error (%) and CPU seconds of starts, mean of 45 digit pairs'
    """
    from clusterkit_papers.printed_tables import catalogue

    return {name: table.title for name, table in catalogue().items()}


def reproduce(
    name: str,
    *,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[dict[str, object]]:
    """Run a table of a paper.

    Parameters
    ----------
    name : str
        A key of `tables()`.
    quick : bool, default False
        Whether to run only a part that takes a minute at most, once; the notes say which part.
    runs : int, optional
        Number of runs per cell, each with its own seed; by default the table decides (3, in some tables 10 or 20), and
        it is 1 if `quick`.
    seed : int, default 0
        Seed of the first run; the others count up from it.
    progress : callable, optional
        Called as ``progress(done, total, text)`` after each unit of work. `clusterkit.samples.limits` reports the same.

    Returns
    -------
    list of dict
        The keys ``table``, ``row`` and ``column`` name the cell. ``printed``, ``ours`` and ``sd`` are the printed
        value, our mean and our standard deviation over runs, None where there is none. ``runs`` is the number of runs,
        ``seconds`` the mean wall time of one, ``uses_labels`` whether known classes chose a parameter, ``as_described``
        whether the row is the method as the paper describes it, ``verdict`` the comparison in words. ``note`` is
        present only if there is a remark. Ctrl-C keeps the rows so far, with a
        warning.

    Raises
    ------
    UnknownName
        If there is no such table; the message offers the nearest names.
    InvalidParameter
        If `runs` is less than 1.
    """
    from clusterkit_papers.reproduction import reproduce as run

    return run(name, quick=quick, runs=runs, seed=seed, progress=progress)


def record(
    name: str,
    folder: str | os.PathLike[str],
    *,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[dict[str, object]]:
    """Run a table of a paper and write a record of it: rows, command line, versions, machine, load, date and times.

    The rows of finished jobs are kept in ``folder/name.partial`` until the table is done, so that a call with the same
    arguments goes on where another one was interrupted.

    Parameters
    ----------
    name : str
        A key of `tables()`.
    folder : path
        Gets the file ``name.json``; it is created if necessary.
    quick, runs, seed, progress
        Passed to `reproduce`.

    Returns
    -------
    list of dict
        The rows of `reproduce`. After Ctrl-C no record is written.

    Raises
    ------
    UnknownName
        If there is no such table.
    InvalidParameter
        If `runs` is less than 1.
    InvalidData
        If the finished jobs in the folder are those of another command.
    """
    from clusterkit_papers.recording import record as run

    return run(name, folder, quick=quick, runs=runs, seed=seed, progress=progress)


def record_missing(
    name: str,
    folder: str | os.PathLike[str],
    *,
    rows: str = "",
    progress: Callable[[int, int, str], None] | None = None,
) -> list[dict[str, object]]:
    """Run what the record of a table lacks, and add the rows to it; what it has is not run again.

    Rows that the table has no more are left out. The record says where and when the added rows were run. After Ctrl-C
    the rows of the jobs that are done are added, and the others stay missing.

    Parameters
    ----------
    name : str
        A key of `tables()`.
    folder : path
        Has the file ``name.json``.
    rows : str
        Only missing rows whose name contains this text.
    progress : callable, optional
        Passed to `reproduce`.

    Returns
    -------
    list of dict
        All rows of the record.

    Raises
    ------
    UnknownName
        If there is no such table.
    InvalidData
        If there is no record, or it is not that of the whole table with its usual runs.
    """
    from clusterkit_papers.recording import record_missing as run

    return run(name, folder, rows=rows, progress=progress)
