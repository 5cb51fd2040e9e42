"""The verdict on a printed value and ours: reached, better or short by how much, another experiment, not comparable."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from clusterkit_papers.jobs import Job
from clusterkit_papers.printed_tables import Printed, beside, catalogue, printed

__all__ = ["COMPARED", "FILLER", "MEASURES", "Measure", "accuracy_cap", "verdict", "with_fillers"]


@attrs.frozen
class Measure:
    """How values of one kind compare.

    Parameters
    ----------
    better : {1, -1, 0}
        Whether larger values are better, or smaller ones; with 0 values are not judged.
    tolerance : float
        Differences up to this count as "reached".
    unit : str
        Written after a difference.
    decimals : int
        Number of decimals of a difference.
    ratio : bool
        Whether values are compared by their ratio: times, which were taken on different machines.
    count : bool
        Whether the value is a count that the data decide, which is either the same as the printed one or not.
    another : float
        What is better by more than this is no reproduction of the printed value, but another experiment.
    """

    better: int
    tolerance: float = 0.0
    unit: str = ""
    decimals: int = 1
    ratio: bool = False
    count: bool = False
    another: float = math.inf


MEASURES: Mapping[str, Measure] = {
    "accuracy": Measure(1, 0.5, " points", another=10.0),
    "error": Measure(-1, 0.5, " points", another=10.0),
    "mean_error": Measure(-1, 0.1, " points", 2, another=10.0),  # over 45 pairs: chance has averaged out
    "rand": Measure(1, 0.01, "", 2, another=0.1),
    "cpu": Measure(-1, ratio=True),
    "iterations": Measure(0),
    "agreement": Measure(0),
    "purity": Measure(1, 0.01, "", 2, another=0.1),
    "purity_percent": Measure(1, 1.0, " points", another=10.0),
    "purity_by_class": Measure(1, 0.01, "", 2, another=0.1),
    "nmi": Measure(1, 0.01, "", 2, another=0.1),
    "ari": Measure(1, 0.01, "", 2, another=0.1),
    "exact": Measure(0),
    "compactness": Measure(0),  # in the unit of the data, and how the paper scaled them is not said
    "davies_bouldin": Measure(-1, 0.01, "", 2, another=0.5),
    "training": Measure(-1, ratio=True),
    "labelling": Measure(-1, ratio=True),
    "partition": Measure(-1, ratio=True),
    "clusters": Measure(0),
    "samples": Measure(0, count=True),
    "attributes": Measure(0, count=True),
    "classes": Measure(0, count=True),
}
"""How each measure compares. Accuracy, error, purity_percent and agreement are percentages; rand is the Rand index;
cpu, training, labelling and partition are seconds."""


FILLER = "filler, "
"""Start of the verdict on a row that is no method, or whose clusters are nearly the rows themselves."""

COMPARED = ("reached", "better", "short", "another experiment")
"""How the verdict begins on a value that is compared with a printed one in which there is no doubt."""

MOST_CLUSTERS = 0.5
"""Part of the rows that clusters may number before their indices say nothing: purity, Rand index and NMI grow with the
number of clusters by themselves."""


def accuracy_cap(sizes: np.ndarray, slack: float | int) -> float:
    """Highest accuracy (%) that two clusters can have whose sizes differ by at most the slack.

    Parameters
    ----------
    sizes : ndarray of shape (2,)
        Sizes of the two known classes.
    slack : float or int
        The largest difference l of the cluster sizes, as in the balancers: a float is a fraction of n, an integer
        counts rows.

    Returns
    -------
    float
        ``100 (1 - max(0, |n_1 - n_2| - l) / 2n)``, with the numerator's half rounded up to a whole number of samples.

    Examples
    --------
    >>> round(accuracy_cap(np.array([1533, 703]), 0.15), 1)
    88.9
    """
    n = int(sizes.sum())
    rows = slack if isinstance(slack, int) else slack * n
    wrong = math.ceil(max(0.0, abs(int(sizes[0]) - int(sizes[1])) - rows) / 2 - 1e-9)
    return 100.0 * (1.0 - wrong / n)


def verdict(measure: str, printed: Printed | None, ours: float, cap: float | None = None) -> str:
    """Compare our value with the printed one, in words.

    Parameters
    ----------
    measure : str
        A key of `MEASURES`.
    printed : Printed or None
        None if the paper has no such cell.
    ours : float
    cap : float, optional
        Highest accuracy (%) that the printed balance allows.

    Examples
    --------
    >>> cell = Printed("LetterA-B", "EMMC Acc", "accuracy", 95.06)
    >>> verdict("accuracy", cell, 91.13), verdict("accuracy", cell, 94.9), verdict("accuracy", cell, 97.0)
    ('short by 3.9 points', 'reached', 'better by 1.9 points')
    >>> verdict("accuracy", Printed("Libras", "NMF Acc", "accuracy", 73.0), 93.9)
    'another experiment: better by 20.9 points'
    >>> verdict("accuracy", cell, 88.0, cap=90.0)
    'impossible: capped at 90.0 by the printed balance'
    >>> verdict("rand", Printed("Flame", "FSVC Rand", "rand", 0.03, "impossible", "it is at least 0.460"), 0.9)
    'printed value impossible: it is at least 0.460'
    """
    if printed is None or printed.value is None:
        return "no printed value"
    if printed.mark == "impossible":
        return f"printed value impossible: {printed.remark}"
    kind = MEASURES[measure]
    if kind.count:
        return _counted(printed, ours)
    if cap is not None:
        limit = _limit(measure, cap)
        if limit is not None and printed.value > limit + kind.tolerance:
            return f"impossible: capped at {limit:.{kind.decimals}f} by the printed balance"
    compared = _compared(kind, printed.value, ours)
    if printed.mark in ("low-ri", "contradiction"):
        return f"printed value contradicts itself ({printed.remark}); {compared}"
    return compared


def with_fillers(table: str, rows: Sequence[Mapping[str, object]], jobs: Sequence[Job]) -> list[dict[str, object]]:
    """The rows of a table, where the verdict on a filler says that it is one.

    A filler is a row of a job that says so, and, where a column or the note has the number of clusters, one with a
    single cluster (whose purity by the shares of classes is 1), or with more clusters than `MOST_CLUSTERS` of the
    samples that the paper counts.

    Parameters
    ----------
    table : str
    rows : sequence of mapping
        Rows of `clusterkit_papers.reproduce`.
    jobs : sequence of Job
        The jobs of the table.
    """
    declared = {job.row for job in jobs if job.filler}
    sizes = f"{table.partition('-')[0]}-table1"
    cells = printed(sizes) if sizes in catalogue() else {}
    clusters: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        column, ours = str(row["column"]), row["ours"]
        if column.endswith("clusters") and isinstance(ours, float | int):
            clusters.setdefault(str(row["row"]), []).append((column.removesuffix("clusters").strip(), ours))
    marked = []
    for row in rows:
        name, column, text = (str(row[key]) for key in ("row", "column", "verdict"))
        cell, words = beside(table, name, column), ""
        if cell is not None and not MEASURES[cell.measure].ratio and text.startswith(COMPARED):
            n = cells[cell.row, "N"].value if (cell.row, "N") in cells else None
            noted = re.findall(r"(?:^|; )([^;:]+): [^;]*\(([\d.]+) clusters\)", str(row.get("note", "")))
            numbers = [k for method, k in clusters.get(name, ()) if column.startswith(method)]
            many = max((*numbers, *(float(k) for index, k in noted if column.endswith(f" {index}"))), default=0.0)
            if name in declared:
                words = "no method"
            elif many == 1:
                words = "one cluster"
            elif n and many > MOST_CLUSTERS * n:
                words = f"{many:,.0f} clusters for {n:,.0f} rows"
        marked.append({**row, "verdict": f"{FILLER}{words}: {text}"} if words else dict(row))
    return marked


def _limit(measure: str, cap: float) -> float | None:
    """The highest value of a measure that follows from the highest accuracy (%), or None if nothing follows."""
    if measure == "accuracy":
        return cap
    if measure == "rand":
        return (cap / 100) ** 2 + (1 - cap / 100) ** 2
    return None


def _compared(kind: Measure, printed: float, ours: float) -> str:
    if kind.better == 0:
        return "not judged"
    if kind.ratio:
        return _ratio(printed, ours)
    gain = kind.better * (ours - printed)
    if abs(gain) <= kind.tolerance + 1e-9:  # the printed value is exact, ours a mean
        return "reached"
    compared = f"{'better' if gain > 0 else 'short'} by {abs(gain):.{kind.decimals}f}{kind.unit}"
    return f"another experiment: {compared}" if gain > kind.another else compared


def _counted(printed: Printed, ours: float) -> str:
    if printed.value is None or ours == printed.value:
        return "the same"
    more = ours - printed.value
    difference = f"{abs(more):g} {'more' if more > 0 else 'fewer'} than printed"
    return f"{difference}: {printed.remark}" if printed.remark else difference


def _ratio(printed: float, ours: float) -> str:
    if ours <= 0:  # below the clock's step
        return "reached"
    factor = printed / ours
    if factor >= 1:
        return f"better by a factor of {factor:.1f} (another machine)"
    return f"short by a factor of {1 / factor:.1f} (another machine)"
