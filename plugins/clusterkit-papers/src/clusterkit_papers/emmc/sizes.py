"""EMMC, table 2: sizes of the data sets, and what the printed slack l allows on them."""

from __future__ import annotations

import attrs

from clusterkit_papers.data_tables import sizes_job
from clusterkit_papers.emmc.data_sets import DATA_SETS, EmmcDataSet
from clusterkit_papers.jobs import Cell, Job, Plan

__all__ = ["table2"]

CAP = Cell("highest accuracy that l allows (%)", "cap")
"""Column for two classes of different sizes: l bounds the difference of the sizes of the clusters."""

ABSENT = "the paper uses it and has no row for it in this table"
"""A remark on the pairs of digits."""


def table2(plan: Plan) -> list[Job]:
    """All data sets of the paper; a quick run has the same rows."""
    three_nine = attrs.evolve(DATA_SETS["Digits1-7"], name="Digits3-9", dataset="digits-3-9")
    return [_sizes(data_set) for data_set in (*DATA_SETS.values(), three_nine)]


def _sizes(data_set: EmmcDataSet) -> Job:
    capped = data_set.classes == 2
    notes = [f"l = {data_set.slack:g} n", ABSENT if "-" in data_set.name and data_set.name[0] == "D" else ""]
    return sizes_job(
        data_set.name,
        f"{data_set.name}: data set {data_set.dataset}",
        data_set.load,
        more=(lambda y: {"cap": data_set.cap(y) or 100.0}) if capped else None,
        cells=(CAP,) if capped else (),
        note="; ".join(note for note in notes if note),
    )
