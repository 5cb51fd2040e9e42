"""``clusterkit reproduce``: a table of a paper, the printed values beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from clusterkit.cli import console, outputs
from clusterkit.cli.failures import INTERRUPTED, BadInput
from clusterkit.files import replacing

__all__ = ["reproduce"]


@click.command(short_help="Run a table of a paper and print its values beside ours.")
@click.argument("table", required=False)
@click.option("--quick", is_flag=True, help="Run a part of the table, in a minute at most.")
@click.option("--runs", type=click.IntRange(min=1), help="Number of runs per cell.  [default: depends on the table]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the first run.")
@click.option(
    "--record",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Write the rows, versions, machine and times to FOLDER/TABLE.json; goes on where an earlier call was "
    "interrupted.",
)
@click.option(
    "--missing", is_flag=True, help="With --record: run only the rows that FOLDER/TABLE.json lacks, and add them."
)
@click.option("--rows", default="", metavar="TEXT", help="With --missing: only rows whose name contains TEXT.")
@click.option(
    "--plot",
    "plot_file",
    metavar="FILE",
    help="File for a picture: the curves of a figure, or the printed values beside ours. .png .pdf .svg.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def reproduce(
    table: str | None,
    quick: bool,
    runs: int | None,
    seed: int,
    record: str | None,
    missing: bool,
    rows: str,
    plot_file: str | None,
    as_json: bool,
) -> None:
    """Run a TABLE of a paper and print its values beside ours. Without TABLE, list the tables."""
    import clusterkit_papers as papers
    from clusterkit.errors import UnknownName, nearest_names

    titles: Mapping[str, str] = papers.tables()
    if missing and (record is None or quick or runs is not None or seed):
        raise BadInput(
            "--missing adds rows to the record of a whole table: it needs --record, without --quick, --runs, --seed"
        )
    if rows and not missing:
        raise BadInput("--rows needs --missing")
    if plot_file is not None:
        if table is None:
            raise BadInput("--plot needs the name of a table")
        outputs.check({"--plot": plot_file})
        outputs.check_picture(plot_file)
    if table is None:
        if as_json:
            console.as_json([{"table": name, "title": title} for name, title in titles.items()])
        else:
            console.table(["table", "title"], [[name, title] for name, title in titles.items()])
        return
    if table not in titles:
        raise UnknownName(f"no table named {table!r}. {nearest_names(table, titles)}")
    from clusterkit.cli.failures import watching
    from clusterkit.estimators.same_place import shown

    with watching() as interrupt, shown(True):  # a progress bar for the runs
        options: dict[str, Any] = {"quick": quick, "runs": runs, "seed": seed}
        if record is None:
            made = papers.reproduce(table, **options)
        elif missing:
            made = papers.record_missing(table, record, rows=rows)
        else:
            made = papers.record(table, record, **options)
    # the picture comes first, because printing the table may fail (a closed pipe)
    has_values = any(row["ours"] is not None for row in made)
    if plot_file is not None and has_values and not interrupt.pressed:
        from clusterkit_papers.pictures import draw

        with replacing(plot_file) as part:
            draw(table, str(part), made, seed=seed)
    if as_json:
        console.as_json(made)
    else:
        _show(table, made, titles[table])
    if interrupt.pressed:
        raise click.exceptions.Exit(INTERRUPTED)
    if plot_file is not None and not has_values:
        raise BadInput(f"--plot: {table} has no value to draw, so {plot_file} was not written; the verdicts say why")


def _show(table: str, rows: Sequence[Mapping[str, Any]], title: str) -> None:
    """Print the rows but those that a quick run leaves out, then the notes, and how the table stands as a whole."""
    from clusterkit_papers.summary import closing_line, standing

    everything, rows = rows, [row for row in rows if standing(row["verdict"]) != "left out by quick"]
    # numbered, since many rows share one
    notes = list(dict.fromkeys(row["note"] for row in rows if row.get("note")))
    console.heading(f"{table}: {title}")
    console.table(
        ["row", "column", "printed", "ours", "runs", "time", "labels", "verdict", "note"],
        [
            [
                str(row["row"]),
                str(row["column"]),
                _value(row["printed"]),
                _value(row["ours"]) + ("" if row["sd"] is None or row["runs"] < 2 else f" ± {_value(row['sd'])}"),
                str(row["runs"] or ""),
                f"{row['seconds']:.2f} s" if row["runs"] else "",
                ("used" if row["uses_labels"] else "not used") if row["runs"] else "",
                str(row["verdict"]),
                f"({notes.index(row['note']) + 1})" if row.get("note") else "",
            ]
            for row in rows
        ],
    )
    for place, note in enumerate(notes, 1):
        console.text(f"({place}) {note}")
    console.text(closing_line(table, everything))


def _value(value: Any) -> str:
    """Three decimals for indices, two for percentages and seconds; counts as they are."""
    if value is None or value != value:
        return "–"
    if not isinstance(value, float):
        return str(value)
    if abs(value) < 2:
        return f"{value:.3f}"
    return f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"
