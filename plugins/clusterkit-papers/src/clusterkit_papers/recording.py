"""Runs a table, or the rows that its record lacks, and writes the record."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import attrs

from clusterkit.errors import InvalidData
from clusterkit_papers.journals import Journal
from clusterkit_papers.records import Record, Surroundings, command_line, record_path
from clusterkit_papers.reproduction import arranged, planned, reproduce, run_jobs

__all__ = ["record", "record_missing"]

Progress = Callable[[int, int, str], None]
"""Called as ``progress(done, total, text)`` after each unit of work."""


def record(
    name: str,
    folder: str | os.PathLike[str],
    *,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
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
    planned(name, quick=quick, runs=runs, seed=seed)  # its errors come before the first file
    surroundings, command = Surroundings.now(), command_line(name, quick=quick, runs=runs, seed=seed)
    journal = Journal(Path(folder) / f"{name}.partial", command)
    rows = reproduce(name, quick=quick, runs=runs, seed=seed, progress=progress, journal=journal)
    if not journal.interrupted:
        cpu, wall = journal.seconds
        Record(name, command, surroundings, cpu, wall, rows).write(Path(folder))
        journal.close()
    return rows


def record_missing(
    name: str, folder: str | os.PathLike[str], *, rows: str = "", progress: Progress | None = None
) -> list[dict[str, object]]:
    """Run what the record of a table lacks, and add the rows to it; what it has is not run again.

    A row that was not run, for whatever reason, is tried again, and stays as it is where the reason is the same. Rows
    that the table has no more are left out. The record says where and when the added rows were run. After Ctrl-C
    the rows of the jobs that are done are added, and the others stay missing.

    Parameters
    ----------
    name : str
        A key of `tables()`.
    folder : path
        Has the file ``name.json``.
    rows : str, default ""
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
    path = record_path(Path(folder), name)
    jobs, command, now = planned(name), command_line(name), Surroundings.now()
    if not path.exists():
        raise InvalidData(f"there is no record {path.name} to add rows to: record the whole table first")
    old = Record.read(path)
    if old.command != command:
        raise InvalidData(f"{path.name} was made by {old.command!r}: rows can be added to a whole table only")
    journal = Journal(Path(folder) / f"{name}.partial", f"{command} --missing")
    wanted = [job for job in old.without_values(jobs) if rows in job.row or job.key in journal.rows]
    run_jobs(name, wanted, progress=progress, journal=journal)
    place = len(old.added) + 1
    recorded = {(row["row"], row["column"]): row for row in old.rows}
    fresh = {
        key: [{**row, "added": place} for row in made]
        for key, made in journal.rows.items()
        if any(row["verdict"] != recorded.get((row["row"], row["column"]), {}).get("verdict") for row in made)
    }
    pairs = [
        (job.printed_row, row)
        for job in jobs
        for row in fresh.get(job.key)
        or [recorded[job.row, cell.column] for cell in job.cells if (job.row, cell.column) in recorded]
    ]
    cpu, wall = journal.seconds
    new = attrs.evolve(
        old,
        rows=arranged(name, pairs, jobs),
        added=[*old.added, now] if fresh else old.added,
        cpu_seconds=(old.cpu_seconds or 0.0) + cpu if fresh else old.cpu_seconds,
        wall_seconds=(old.wall_seconds or 0.0) + wall if fresh else old.wall_seconds,
    )
    new.write(Path(folder))
    journal.close()
    return [dict(row) for row in new.rows]
