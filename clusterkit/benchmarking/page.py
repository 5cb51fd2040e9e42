"""The results as Markdown: a table of means for each side, the ranking in words, and the index on every set."""

from __future__ import annotations

from collections.abc import Sequence

from clusterkit.benchmarking.ranks import rank
from clusterkit.benchmarking.run import Cell
from clusterkit.core.errors import InvalidParameter

__all__ = ["as_markdown", "means"]

SIDES = ((True, "With the number of clusters given"), (False, "Without a number of clusters"))
"""The two comparisons and their headings."""


def as_markdown(cells: Sequence[Cell], *, title: str, notes: Sequence[str] = ()) -> str:
    """The page of a benchmark.

    Parameters
    ----------
    cells : sequence of Cell
    title : str
    notes : sequence of str
        Paragraphs after the title, for instance which sets chose constants of the methods.
    """
    parts = [f"# {title}", *notes]
    for k_known, heading in SIDES:
        chosen = [cell for cell in cells if cell.k_known == k_known]
        if chosen:
            parts += [f"## {heading}", _mean_table(chosen), *_ranking(cells, k_known), _set_table(chosen)]
    failures = dict.fromkeys(f"- {cell.method}, {cell.data_set}: {cell.error}" for cell in cells if cell.error)
    if failures:
        parts += ["## Fits without labels", "\n".join(failures)]
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
