"""Columns that say the same, in other units or words: it counts twice in every distance."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clusterkit.errors import TableWarning, shortened
from clusterkit.tables.cells.readings import as_levels
from clusterkit.tables.preparing.plans import CategoryColumn, ColumnPlan, DateColumn, NumberColumn
from clusterkit.tables.reading.frames import Column
from clusterkit.tables.reading.row_sample import RowSample


class RepeatedColumns(TableWarning):
    """Columns say the same; a mixture, which has no distances, makes all but one of them redundant by itself."""


MOST_COLUMNS = 300
"""Columns up to which each is compared with all others; wider tables, of pixels or spectra, are alike by nature."""

MOST_CATEGORIES = 50
"""Categories up to which each is compared with all others, pair by pair."""

FIRST_ROWS = 100
"""Rows in which categories are compared first: most pairs differ there."""

ALIKE = 0.999
"""Absolute correlation, of the values and of their ranks, above which two columns of numbers say the same."""

FIRST_LOOK = 0.9
"""Absolute correlation of columns with filled gaps from which the correlation without gaps is computed."""

FEWEST = 20
"""Rows with both values that are needed: fewer may agree by chance."""

SHOWN = 5
"""Pairs that the sentence names."""

Codes: TypeAlias = NDArray[np.intp]
"""The levels of a category by number, -1 for gaps."""


def of_redundant_columns(plans: Sequence[ColumnPlan], rows: RowSample, keep: Sequence[str] = ()) -> Iterator[str]:
    """A sentence about columns that say the same, in one row after another.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    rows : RowSample
        Sample of rows with the same columns.
    keep : sequence of str, default ()
        Columns that are wanted; nothing is said of them.

    Notes
    -----
    O(m p²) time for p used columns, at most `MOST_COLUMNS`, and m rows.
    """
    if len(plans) > MOST_COLUMNS:
        return
    pairs = [(plan, it) for plan, it in zip(plans, rows.columns, strict=True) if plan.name not in keep]
    numbers = {
        plan.name: plan.read(it).values
        for plan, it in pairs
        if isinstance(plan, NumberColumn | DateColumn) and not getattr(plan, "sphere", "")
    }
    codes = {
        plan.name: _codes(column)
        for plan, column in pairs
        if isinstance(plan, CategoryColumn) or (isinstance(plan, NumberColumn) and plan.flag)
    }
    places = {plan.name: j for j, plan in enumerate(plans)}
    redundant = [*_correlated(numbers), *_corresponding(codes, frozenset(numbers))]
    if redundant:
        redundant.sort(key=lambda pair: places[pair[1]])
        shown = "; ".join(f"{shortened(a)!r} and {shortened(b)!r} ({why})" for a, b, why in redundant[:SHOWN])
        more = f"; and {len(redundant) - SHOWN} more pairs" if len(redundant) > SHOWN else ""
        drop = [b for _, b, _ in redundant[:SHOWN]]
        yield (
            f"columns that say the same count twice in every distance: {shown}{more}; --drop {as_option(drop)} (drop="
            f"{drop!r} in Python) leaves one of each out"
        )


def as_option(names: Sequence[str]) -> str:
    """Names as the value of an option of the command line.

    Examples
    --------
    >>> as_option(["a", "b"]), as_option(["a", "b c"])
    ('a,b', "'a,b c'")
    """
    keys = ",".join('"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name for name in names)
    return shlex.quote(keys)


def _correlated(numbers: dict[str, NDArray[np.float64]]) -> list[tuple[str, str, str]]:
    """Pairs of correlated columns: each column with the first one before it that is not such a second column itself."""
    names = list(numbers)
    if len(names) < 2:
        return []
    values = np.column_stack([numbers[name] for name in names])
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    count = np.maximum(known.sum(axis=0), 1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # sums of the largest numbers overflow
        filled = np.where(known, values - filled.sum(axis=0) / count, 0.0)
        filled /= np.sqrt(np.square(filled).sum(axis=0))
        likely = np.abs(filled.T @ filled) > FIRST_LOOK
    redundant: list[tuple[str, str, str]] = []
    second: set[int] = set()
    for j in range(len(names)):
        for i in np.flatnonzero(likely[j, :j]).tolist():
            if i in second:
                continue
            both = known[:, i] & known[:, j]
            r = _correlation(values[both, i], values[both, j]) if both.sum() >= FEWEST else 0.0
            # a far row that both share makes the correlation, that of the ranks it leaves alone
            if abs(r) > ALIKE and abs(_correlation(_ranks(values[both, i]), _ranks(values[both, j]))) > ALIKE:
                redundant.append((names[i], names[j], f"correlation {r:.4f}"))
                second.add(j)
                break
    return redundant


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0.0 else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks, of equal values their mean; half a rank below those that count from 1."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - counts / 2)[place])


def _corresponding(codes: dict[str, Codes], numbers: frozenset[str]) -> list[tuple[str, str, str]]:
    """Pairs of categories whose levels correspond one to one; flags are compared as numbers."""
    names = list(codes) if len(codes) <= MOST_CATEGORIES else []
    redundant: list[tuple[str, str, str]] = []
    second: set[str] = set()
    for j, name in enumerate(names):
        for other in names[:j]:
            if other in second or (name in numbers and other in numbers):
                continue
            if _one_to_one(codes[other], codes[name]):
                redundant.append((other, name, "each value of one goes with one value of the other"))
                second.add(name)
                break
    return redundant


def _one_to_one(a: Codes, b: Codes) -> bool:
    both = (a >= 0) & (b >= 0)
    if both.sum() < FEWEST:
        return False
    of_a, of_b = a[both], b[both]
    parts = ((of_a[:FIRST_ROWS], of_b[:FIRST_ROWS]), (of_a, of_b))
    return bool(of_a.min() < of_a.max()) and all(len(set(_levels(*part))) == 1 for part in parts)


def _levels(a: Codes, b: Codes) -> tuple[int, int, int]:
    """Number of the levels of both, and of their pairs."""
    return len(np.unique(a)), len(np.unique(b)), len(np.unique(a * (int(b.max()) + 1) + b))


def _codes(column: Column) -> Codes:
    levels = as_levels(column)
    gaps = column.missing()
    codes = np.full(len(levels), -1, dtype=np.intp)
    codes[~gaps] = np.unique(levels[~gaps].astype(str), return_inverse=True)[1]
    return codes
