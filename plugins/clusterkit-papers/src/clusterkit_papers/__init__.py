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
pictures         Pictures of tables and figures; `axes` has their parts.
impossible       Which printed indices no clustering can have.
verdicts         How a printed value and ours compare, and which rows are fillers.
summary          How a table and its methods stand as a whole.
reproduction     Runs the jobs and returns the rows.
records          What a run leaves behind: rows, command, machine, times; `journals` lets a long one go on.
command          ``clusterkit reproduce``; `plugin` tells clusterkit about it.
benchmarking     ``clusterkit benchmark``: recipes and other libraries on a folder of labelled data sets.
===============  ======================================================================================================

>>> import clusterkit_papers as papers
>>> next(iter(papers.tables()))
'emmc-table2'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterkit_papers.recording import record, record_missing
    from clusterkit_papers.reproduction import reproduce

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


def __getattr__(name: str) -> object:  # on first use: clusterkit imports this package to read its hooks
    if name in __all__:
        home = "reproduction" if name == "reproduce" else "recording"
        return getattr(import_module(f"clusterkit_papers.{home}"), name)
    raise AttributeError(f"module 'clusterkit_papers' has no attribute {name!r}")
