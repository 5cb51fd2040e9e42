"""Methods compared over data sets, as Markdown.

The page has a table of means for each side, the ranking in words, and the index on every set. The ranking (`rank`) is
by mean ranks, and by the difference that chance alone would seldom make.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from clusterkit.errors import InvalidParameter
from clusterkit_papers.benchmarking.run import Cell

__all__ = [
    "Ranking",
    "as_markdown",
    "means",
    "rank",
]


@attrs.frozen
class Ranking:
    """Mean ranks of methods over the same data sets; 1 is the best, ties share the mean of their places.

    Parameters
    ----------
    methods : tuple of str
        Names by mean rank, the best first.
    ranks, means : tuple of float
        Mean rank and mean index of each.
    n_sets : int
    critical_difference : float
        Two methods whose mean ranks are less apart than this do not differ at the level of 5 % (Nemenyi's test).
    p_value : float
        p-value of Friedman's test: the chance of ranks so unequal if all methods were alike.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    means: tuple[float, ...]
    n_sets: int
    critical_difference: float
    p_value: float


def rank(
    cells: Sequence[Cell],
    *,
    k_known: bool,
    index: Literal["adjusted_rand", "asymmetric_accuracy"] = "adjusted_rand",
    level: float = 0.05,
) -> Ranking:
    """Rank the methods that have a value on every set.

    Parameters
    ----------
    cells : sequence of Cell
        A fit that failed counts as 0.
    k_known : bool
        The fits that were given the number of clusters, or those that found it.
    index : {"adjusted_rand", "asymmetric_accuracy"}, default "adjusted_rand"
    level : float, default 0.05
        Level of significance of the critical difference.

    Raises
    ------
    InvalidParameter
        If fewer than two methods have a value on every set.

    Notes
    -----
    ``CD = q √(m (m + 1) / (6 N))`` for m methods and N sets, q the studentised range over √2. Source: Demšar (2006),
    Statistical comparisons of classifiers over multiple data sets, JMLR 7.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    chosen = [cell for cell in cells if cell.k_known == k_known]
    sets = sorted({cell.data_set for cell in chosen})
    values = {(cell.method, cell.data_set): getattr(cell, index) for cell in chosen}
    methods = [
        method
        for method in dict.fromkeys(cell.method for cell in chosen)
        if all((method, data_set) in values for data_set in sets)
    ]
    if len(methods) < 2:
        raise InvalidParameter(f"a ranking needs two methods with a value on every set, there are {len(methods)}")
    table = np.array([[values[method, data_set] for method in methods] for data_set in sets])
    # indices that differ by rounding only are tied
    mean_ranks = rankdata(-np.round(table, 9), axis=1).mean(axis=0)
    order = np.argsort(mean_ranks, kind="stable")
    m, n = len(methods), len(sets)
    q = float(studentized_range.ppf(1 - level, m, np.inf)) / math.sqrt(2)
    p_value = float(friedmanchisquare(*table.T).pvalue) if m > 2 and n > 1 else math.nan
    return Ranking(
        tuple(methods[place] for place in order),
        tuple(float(mean_ranks[place]) for place in order),
        tuple(float(table[:, place].mean()) for place in order),
        n,
        q * math.sqrt(m * (m + 1) / (6 * n)),
        p_value,
    )


SIDES = ((True, "With the number of clusters given"), (False, "Without a number of clusters"))
"""The two comparisons and their headings."""


def as_markdown(cells: Sequence[Cell], *, title: str, notes: Sequence[str] = (), level: int = 1) -> str:
    """The page of a benchmark.

    Parameters
    ----------
    cells : sequence of Cell
    title : str
    notes : sequence of str
        Paragraphs after the title, for instance which sets chose constants of the methods.
    level : int, default 1
        Level of the title; 2 for a part of a page.
    """
    marks = "#" * level
    parts = [f"{marks} {title}", *notes]
    for k_known, heading in SIDES:
        chosen = [cell for cell in cells if cell.k_known == k_known]
        if chosen:
            parts += [f"{marks}# {heading}", _mean_table(chosen), *_ranking(cells, k_known), _set_table(chosen)]
    failures = dict.fromkeys(f"- {cell.method}, {cell.data_set}: {cell.error}" for cell in cells if cell.error)
    if failures:
        parts += [f"{marks}# Fits without labels", "\n".join(failures)]
    return "\n\n".join(parts) + "\n"


def means(cells: Sequence[Cell]) -> list[tuple[str, str, int, float, float, int, float]]:
    """Method, library, sets, mean of both indices, sets with the right number of clusters, seconds; best first."""
    rows = []
    for method in dict.fromkeys(cell.method for cell in cells):
        of_method = [cell for cell in cells if cell.method == method]
        n = len(of_method)
        rows.append((
            method,
            f"{of_method[0].library} {of_method[0].version}",
            n,
            sum(cell.adjusted_rand for cell in of_method) / n,
            sum(cell.asymmetric_accuracy for cell in of_method) / n,
            sum(cell.n_clusters == cell.n_classes for cell in of_method),
            sum(cell.seconds for cell in of_method),
        ))  # fmt: skip
    return sorted(rows, key=lambda row: -row[3])


def _mean_table(cells: Sequence[Cell]) -> str:
    lines = [
        "| method | library | sets | mean ARI | mean AAA | right number | seconds |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {name} | {library} | {n} | {ari:.3f} | {accuracy:.3f} | {right} | {seconds:.1f} |"
        for name, library, n, ari, accuracy, right, seconds in means(cells)
    ]
    return "\n".join(lines)


def _ranking(cells: Sequence[Cell], k_known: bool) -> list[str]:
    try:
        ranking = rank(cells, k_known=k_known)
    except InvalidParameter:
        return []
    places = ", ".join(f"{name} {value:.2f}" for name, value in zip(ranking.methods, ranking.ranks, strict=True))
    return [
        f"Mean ranks by ARI over {ranking.n_sets} sets: {places}. Ranks less than {ranking.critical_difference:.2f} "
        "apart do not differ at the level of 5 % (Nemenyi's test)."
    ]


def _set_table(cells: Sequence[Cell]) -> str:
    methods = [row[0] for row in means(cells)]
    values = {(cell.method, cell.data_set): cell for cell in cells}
    sets = {cell.data_set: cell.n_classes for cell in cells}
    lines = [
        f"| ARI on | classes | {' | '.join(methods)} |",
        f"|---|--:|{'--:|' * len(methods)}",
    ]
    for name in sorted(sets):
        row = [values.get((method, name)) for method in methods]
        shown = ["" if cell is None else "failed" if cell.error else f"{cell.adjusted_rand:.2f}" for cell in row]
        lines.append(f"| {name} | {sets[name]} | {' | '.join(shown)} |")
    return "\n".join(lines)
