"""``clusterkit reproduce``: tables of papers, printed beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from clusterkit.cli import console

__all__ = ["reproduce"]


@click.command(short_help="Run a table of a paper, printed values beside ours.")
@click.argument("table", required=False)
@click.option("--quick", is_flag=True, help="A subset that takes a minute at most.")
@click.option("--runs", type=click.IntRange(min=1), help="Seeds a cell.  [default: the table's own]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the first run.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def reproduce(table: str | None, quick: bool, runs: int | None, seed: int, as_json: bool) -> None:
    """Run a TABLE of a paper and print its values beside ours; without TABLE list what there is."""
    from clusterkit import papers
    from clusterkit.core.errors import UnknownName, nearest_names

    known: Mapping[str, str] = papers.tables()
    if table is None:
        if as_json:
            console.as_json([{"table": name, "title": title} for name, title in known.items()])
        else:
            console.table(["table", "title"], [[name, title] for name, title in known.items()])
        return
    if table not in known:
        raise UnknownName(f"no table named {table!r}. {nearest_names(table, known)}")
    from clusterkit.estimators.bars import shown

    with shown(True):
        rows: list[dict[str, Any]] = papers.reproduce(table, quick=quick, runs=runs, seed=seed, progress=True)
    if as_json:
        console.as_json(rows)
        return
    console.heading(f"{table}: {known[table]}")
    console.table(
        ["row", "column", "printed", "ours", "runs", "time", "labels", "verdict"],
        [
            [
                str(row["row"]),
                str(row["column"]),
                _value(row["printed"]),
                _value(row["ours"]) + (f" ± {_value(row['sd'])}" if row["sd"] is not None else ""),
                str(row["runs"]),
                f"{row['seconds']:.2f} s",
                "uses labels" if row["uses_labels"] else "no labels",
                str(row["verdict"]),
            ]
            for row in rows
        ],
    )


def _value(value: Any) -> str:
    return "–" if value is None or value != value else f"{value:.2f}" if isinstance(value, float) else str(value)
