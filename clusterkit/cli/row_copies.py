"""Copies of rows that every pass of a fit would decode anew: in the file of --cache, or in a temporary one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from clusterkit.core import memory

if TYPE_CHECKING:
    from clusterkit.core.rows import Rows
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["copied"]

IN_MEMORY = frozenset({"tmpfs", "ramfs"})
"""File systems whose files lie in memory, so that a copy would take what reading block by block saves."""

FREE_SHARE = 2
"""A copy takes no more than this part of what is free on the disk."""


def copied(rows: Rows, model: Pipeline, cache: str | None, beside: str | None) -> tuple[Rows, str | None]:
    """The rows to read in the passes of a fit, and what the summary says of them.

    Parameters
    ----------
    rows : Rows
    model : Pipeline
        The estimator that is to be fitted.
    cache : str or None
        The file of --cache.
    beside : str or None
        A file that will be written, in whose folder a temporary copy may lie; None where it may not.

    Returns
    -------
    rows : Rows
        A copy of them, or where one would not help or has no room the rows themselves. The labels are the same, except
        that the file of --cache has rounded numbers of float64.
    note : str or None
    """
    from clusterkit.core.errors import NeedsSpace
    from clusterkit.datasets.opening import ParquetRows
    from clusterkit.datasets.raw_rows import cached, spooled

    if cache is not None:
        return cached(rows, cache), f"from their copy in {cache}"
    # a fit by a sample makes few passes
    if beside is None or not isinstance(rows, ParquetRows) or model.fits_by_sample():
        return rows, None
    folder = str(Path(os.path.realpath(beside)).parent)
    if (reason := _no_copy(rows, folder)) is None:
        try:
            return spooled(rows, folder), f"from a temporary copy in {folder}"
        except NeedsSpace:
            reason = f"the disk of {folder} became full"
        except OSError as error:  # one of the Parquet comes again, from the fit
            reason = f"{folder} takes no temporary file: {error.strerror}"
    return rows, f"decoded in every pass, because {reason}"


def _no_copy(rows: Rows, folder: str) -> str | None:
    """Why a folder gets no copy of the rows; None if it may."""
    from clusterkit.core.rows_file import missing_room

    n_bytes = rows.n * rows.d * rows.dtype.itemsize
    if _lies_in_memory(folder):
        return f"{folder} lies in memory"
    if missing_room(n_bytes * FREE_SHARE, folder) is not None:
        return f"a copy of {memory.human(n_bytes)} would take more than half of what is free in {folder}"
    return None


def _lies_in_memory(folder: str, table: str = "/proc/mounts") -> bool:
    """Whether the file system of a folder is one of `IN_MEMORY`, where the kernel tells."""
    try:
        lines = Path(table).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    mounted = [line.split()[1:3] for line in lines if len(line.split()) > 2]
    inside = [(place, kind) for place, kind in mounted if os.path.commonpath([place, folder]) == place]
    # the last of several mounts on one place is the one that is seen
    return max(reversed(inside), key=lambda each: len(each[0]), default=("", ""))[1] in IN_MEMORY
