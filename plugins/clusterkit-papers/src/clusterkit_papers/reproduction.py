"""Runs the jobs of a table and puts their values beside the printed ones."""

from __future__ import annotations

import importlib
import math
import statistics
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from clusterkit.errors import ClusterkitWarning, InvalidParameter, UnknownName, nearest_names
from clusterkit.samples.limits import Report, notify
from clusterkit_papers.datasets import DatasetNotFound
from clusterkit_papers.jobs import QUICK_RUNS, Cell, Job, Measurements, NotRun, Plan
from clusterkit_papers.journals import Journal
from clusterkit_papers.printed_tables import Printed, catalogue, printed
from clusterkit_papers.verdicts import verdict, with_fillers

__all__ = ["arranged", "planned", "reproduce", "run_jobs"]

UNDEFINED = "not defined for the labels found"
"""Verdict where an index is nan, such as the separation of a single cluster."""

UNPLANNED = "not run"
"""Verdict of a printed cell that no job fills, where the printed table does not say why."""

MISSING = {
    "slow": "not run: the paper has none either, too slow",
    "two-class": "not run: a method for two clusters",
}
"""Verdict of a printed cell that no job fills, by its mark."""


def reproduce(
    name: str,
    *,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
    journal: Journal | None = None,
) -> list[dict[str, object]]:
    """Run a table of a paper.

    Parameters
    ----------
    name : str
        A key of `tables()`.
    quick : bool, default False
        Whether to run only a part, once, which takes a minute at most; the notes say which. A row with fewer runs or
        data than in the whole table gets no verdict, because it could be another one there.
    runs : int, optional
        Number of runs per cell, each with its own seed; by default the table decides (3, in some tables 10 or 20), and
        it is 1 if `quick`.
    seed : int, default 0
        Seed of the first run; the others count up from it.
    progress : callable, optional
        Called as ``progress(done, total, text)`` after each unit of work. `clusterkit.samples.limits` reports the same.
    journal : Journal, optional
        Keeps the rows of the jobs that are done; jobs that it has already are not run again.

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
    jobs = planned(name, quick=quick, runs=runs, seed=seed)
    whole = () if not quick else planned(name, quick=False, runs=runs, seed=seed)
    return run_jobs(name, jobs, whole=whole, progress=progress, journal=journal)


def planned(name: str, *, quick: bool = False, runs: int | None = None, seed: int = 0) -> Sequence[Job]:
    """The jobs of a table; planning runs nothing.

    Raises
    ------
    UnknownName
        If there is no such table.
    InvalidParameter
        If `runs` is less than 1.
    """
    by_name = catalogue()
    if name not in by_name:
        raise UnknownName(f"no table named {name!r}. {nearest_names(name, by_name)}")
    if runs is not None and runs < 1:
        raise InvalidParameter(f"runs must be an integer >= 1 or None, got {runs!r}")
    module, _, function = by_name[name].protocol.partition(":")
    protocol: Callable[[Plan], Sequence[Job]] = getattr(importlib.import_module(module), function)
    return protocol(Plan(quick, runs, seed))


def run_jobs(
    table: str,
    jobs: Sequence[Job],
    *,
    whole: Sequence[Job] = (),
    progress: Callable[[int, int, str], None] | None = None,
    journal: Journal | None = None,
) -> list[dict[str, object]]:
    """Run jobs one after the other and return the rows, in the order of the printed table.

    A missing data set and a job that cannot run give rows with the reason. Ctrl-C keeps the rows of the finished jobs,
    with a warning.

    Parameters
    ----------
    table : str
        Name of the table.
    jobs : sequence of Job
        The jobs to run.
    whole : sequence of Job
        The jobs of the whole table, where `jobs` is a quick part of it. A row with other runs than there gets no
        verdict, because that of the whole table could be another one.
    progress : callable, optional
        Called as ``progress(done, total, text)`` after each unit of work.
    journal : Journal, optional
        Keeps the rows of the jobs that are done. Jobs that it has already are not run again.

    Returns
    -------
    list of dict
        See `clusterkit_papers.reproduce`. Printed cells that no job fills have rows that say why.
    """
    units = {job.key: job.units for job in whole}
    jobs = [
        attrs.evolve(job, comparable=False, part=QUICK_RUNS)
        if job.comparable and units.get(job.key, job.units) != job.units
        else job
        for job in jobs
    ]
    total, done = sum(job.units for job in jobs), 0

    def step(text: str) -> None:
        nonlocal done
        done += 1
        notify(Report(table, done, total))
        if progress is not None:
            progress(done, total, text)

    rows: list[tuple[str, dict[str, Any]]] = []
    for number, job in enumerate(jobs):
        start = done
        try:
            if journal is not None and job.key in journal.rows:
                rows += [(job.printed_row, row) for row in journal.rows[job.key]]
                done = start + job.units
                continue
            filled = _rows(table, job, job.run(step))
            rows += [(job.printed_row, row) for row in filled]
            if journal is not None:
                journal.add(job.key, filled)
        except DatasetNotFound as error:
            reason = f"data set not found: {str(error).splitlines()[0]} CLUSTERKIT_DATA names a folder of data sets"
            rows += [(job.printed_row, row) for row in _without(table, job, reason)]
            done = start + job.units
        except NotRun as error:
            filled = _without(table, job, f"not run: {error}")
            rows += [(job.printed_row, row) for row in filled]
            if journal is not None:
                journal.add(job.key, filled)
            done = start + job.units
        except KeyboardInterrupt:
            if journal is not None:
                journal.interrupted = True
            warnings.warn(
                f"{table} interrupted: {number} of {len(jobs)} pieces are done", ClusterkitWarning, stacklevel=3
            )
            break
    return arranged(table, rows, jobs, whole=whole)


def arranged(
    table: str, rows: Sequence[tuple[str, dict[str, object]]], jobs: Sequence[Job], *, whole: Sequence[Job] = ()
) -> list[dict[str, object]]:
    """Rows, each with the printed row that it belongs to, in printed order, with the printed cells that no job fills.

    Cells whose job was interrupted are not among those.
    """
    rows = list(rows)
    filled, possible = _filled(jobs), _filled(whole)
    for where, cell in printed(table).items():
        if where not in filled:
            reason = "not run: quick leaves it out" if where in possible else MISSING.get(cell.mark, UNPLANNED)
            rows.append((cell.row, _row(table, cell.row, cell.column, cell, reason)))
    order = {row: index for index, row in reversed(list(enumerate(cell.row for cell in printed(table).values())))}
    in_order = [row for _, row in sorted(rows, key=lambda pair: order.get(pair[0], len(order)))]
    return with_fillers(table, in_order, jobs)


def _rows(table: str, job: Job, measurements: Measurements) -> list[dict[str, Any]]:
    """Rows of a job that ran: the mean of its runs beside the printed value, a row for each cell."""
    rows = []
    for cell in job.cells:
        beside = _beside(table, job, cell)
        values = [run[cell.measure] for run in measurements.runs if cell.measure in run]
        if any(math.isnan(value) for value in values):
            notes = (job.note, measurements.note)
            rows.append(_row(table, job.row, cell.column, beside, UNDEFINED, job=job, notes=notes))
            continue
        ours = statistics.fmean(values)
        judgement = verdict(cell.measure, beside, ours, measurements.cap)
        if measurements.doubt and beside is not None and beside.value is not None:
            judgement = f"{measurements.doubt}; {judgement}"
        if not job.comparable and beside is not None and beside.value is not None and beside.mark != "impossible":
            judgement = f"not comparable: {job.part}"
        rows.append(
            _row(
                table,
                job.row,
                cell.column,
                beside,
                judgement,
                ours=ours,
                sd=statistics.stdev(values) if len(values) > 1 else None,
                runs=len(values),
                seconds=statistics.fmean(run["seconds"] for run in measurements.runs),
                job=job,
                notes=(job.note, measurements.note),
            )
        )
    return rows


def _without(table: str, job: Job, reason: str) -> list[dict[str, Any]]:
    """Rows of a job that did not run."""
    return [
        _row(
            table,
            job.row,
            cell.column,
            _beside(table, job, cell),
            reason,
            job=job,
            notes=(job.note,),
        )
        for cell in job.cells
    ]


def _filled(jobs: Sequence[Job]) -> set[tuple[str, str]]:
    """Row and column of the printed cells that the jobs fill."""
    return {(job.printed_row, cell.column) for job in jobs for cell in job.cells}


def _beside(table: str, job: Job, cell: Cell) -> Printed | None:
    """The printed cell that a cell of the job is compared with, or None."""
    return printed(table).get((job.printed_row, cell.column))


def _row(
    table: str,
    row: str,
    column: str,
    beside: Printed | None,
    judgement: str,
    *,
    ours: float | None = None,
    sd: float | None = None,
    runs: int = 0,
    seconds: float = 0.0,
    job: Job | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "table": table,
        "row": row,
        "column": column,
        "printed": None if beside is None else beside.value,
        "ours": ours,
        "sd": sd,
        "runs": runs,
        "seconds": seconds,
        "uses_labels": job is not None and job.uses_labels,
        "as_described": job is not None and job.as_described,
        "verdict": judgement,
    }
    note = "; ".join(note for note in notes if note)
    return {**entry, "note": note} if note else entry
