"""Runs a table and writes its record."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from clusterkit_papers.journals import Journal
from clusterkit_papers.records import Record, Surroundings, command_line
from clusterkit_papers.reproduction import planned, reproduce

__all__ = ["record"]


def record(
    name: str,
    folder: str | os.PathLike[str],
    *,
    quick: bool,
    runs: int | None,
    seed: int,
    progress: Callable[[int, int, str], None] | None,
) -> list[dict[str, object]]:
    """Run a table, keep its finished jobs in a journal, and write the record; see `clusterkit_papers.record`."""
    planned(name, quick=quick, runs=runs, seed=seed)  # its errors come before the first file
    surroundings, command = Surroundings.now(), command_line(name, quick=quick, runs=runs, seed=seed)
    journal = Journal(Path(folder) / f"{name}.partial", command)
    rows = reproduce(name, quick=quick, runs=runs, seed=seed, progress=progress, journal=journal)
    if not journal.interrupted:
        cpu, wall = journal.seconds
        Record(name, command, surroundings, cpu, wall, rows).write(Path(folder))
        journal.close()
    return rows
