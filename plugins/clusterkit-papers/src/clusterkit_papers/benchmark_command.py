"""``clusterkit benchmark``: recipes and installed peers on a folder of labelled data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from clusterkit.cli import console, outputs
from clusterkit.cli.failures import INTERRUPTED, BadInput
from clusterkit.files import replacing

if TYPE_CHECKING:
    from clusterkit_papers.benchmarking import Cell, Ranking

__all__ = ["benchmark"]

EPILOG = """\b
Examples:
  clusterkit benchmark shapes --recipes kmeans,spectral,hdbscan --max-rows 1000
  clusterkit benchmark ../my-sets --journal cells.jsonl -o page.md --plot ranks.png
  clusterkit benchmark tables --recipes mixture,auto,kmeans
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""

SIDES = {"given": True, "found": False}
"""Comparison that the picture shows: with the number of clusters, or without."""


@click.command(epilog=EPILOG, short_help="Compare recipes and peers on labelled data sets.")
@click.argument("folder")
@click.option("--recipes", "names", metavar="NAME,NAME,...", help="Recipes to fit.  [default: all]")
@click.option("--sets", metavar="NAME,NAME,...", help="Data sets of the folder.  [default: all]")
@click.option("--max-rows", type=click.IntRange(min=1), help="Leave out sets with more rows.")
@click.option(
    "--tables/--arrays",
    default=None,
    help="Whether columns stay as they are, with categories, gaps and units.  [default: if a file has such columns]",
)
@click.option("--peers/--no-peers", default=True, help="Whether to fit what is installed of other libraries.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of every fit.")
@click.option("--journal", metavar="FILE", help="File for finished fits; those already in it are not made again.")
@click.option("-o", "--output", "page", metavar="FILE", help="File for the results as Markdown: .md.")
@click.option(
    "--append", is_flag=True, help="Keep the page and add the results as its last part, named after the folder."
)
@click.option("--note", "notes", multiple=True, metavar="TEXT", help="Paragraph for the top of the page; repeatable.")
@click.option("--plot", "plot_file", metavar="FILE", help="File for a picture of the mean ranks: .png .pdf .svg.")
@click.option(
    "--side",
    type=click.Choice(list(SIDES)),
    default="given",
    show_default=True,
    help="Whether the picture compares fits that were given the number of clusters, or those that found it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print every fit as JSON.")
def benchmark(
    folder: str,
    names: str | None,
    sets: str | None,
    max_rows: int | None,
    tables: bool | None,
    peers: bool,
    seed: int,
    journal: str | None,
    page: str | None,
    append: bool,
    notes: tuple[str, ...],
    plot_file: str | None,
    side: str,
    as_json: bool,
) -> None:
    """Fit recipes and peers to every labelled data set of FOLDER and compare the labels with the classes.

    FOLDER is a path or the name of a folder among the data sets (CLUSTERKIT_DATA). It holds NAME.csv.gz or NAME.csv
    with a column `label` (-1: noise), or NAME.data.gz beside NAME.labels0.gz (0: noise). Noise is clustered but not
    judged. Of tables recipes prepare the columns by themselves, and peers get them standardised and coded.

    Printed are the mean adjusted Rand index (ARI) and adjusted asymmetric accuracy (AAA) over the sets, on how many the
    number of clusters is right, and processor seconds. A fit without labels counts as 0.

    After Ctrl-C the finished fits are printed and written, and the exit code is 130.
    """
    import numpy as np

    from clusterkit.cli.failures import watching
    from clusterkit.estimators.same_place import shown
    from clusterkit_papers import benchmarking

    outputs.check({"--journal": journal, "-o": page, "--plot": plot_file})
    outputs.check_ending(page, (".md", ".markdown"), "the page")
    outputs.check_ending(journal, ("", ".json", ".jsonl"), "finished fits")
    if outputs.STDOUT in (journal, page):
        raise BadInput("--journal and -o need files")
    outputs.check_picture(plot_file)
    if append and page is None:
        raise BadInput("--append needs -o, the page to add to")
    place = benchmarking.folder_of(folder)
    data_sets = benchmarking.read_sets(place, _split(sets), max_rows=max_rows, as_tables=tables)
    of_tables = not isinstance(data_sets[0].X, np.ndarray)
    others = benchmarking.peers(of_tables=of_tables) if peers else []
    methods = benchmarking.recipe_methods(_split(names), of_tables=of_tables) + others
    with watching() as interrupt, shown(True):
        cells = benchmarking.run(data_sets, methods, seed=seed, journal=journal)
    if page is not None:
        text = _page(cells, Path(folder).name, notes, Path(page) if append else None)
        with replacing(page) as part:
            part.write_text(text, encoding="utf-8")
    if plot_file is not None and cells:
        _draw(plot_file, benchmarking.rank(cells, k_known=SIDES[side]))
    if as_json:
        console.as_json([attrs.asdict(cell) for cell in cells])
    else:
        _show(cells)
    if interrupt.pressed:
        raise click.exceptions.Exit(INTERRUPTED)


def _page(cells: Sequence[Cell], name: str, notes: Sequence[str], before: Path | None) -> str:
    """The text of the page; with an earlier page, this one with the results as its last part."""
    from clusterkit_papers.benchmarking import as_markdown

    if before is None:
        return as_markdown(cells, title=f"Benchmark on {name}", notes=notes)
    title = name[:1].upper() + name[1:]
    earlier = before.read_text(encoding="utf-8") if before.exists() else ""
    earlier = earlier.partition(f"\n## {title}\n")[0].rstrip("\n")
    return f"{earlier}\n\n{as_markdown(cells, title=title, notes=notes, level=2)}".lstrip("\n")


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _draw(path: str, ranking: Ranking) -> None:
    """Write the picture of the mean ranks."""
    from matplotlib.figure import Figure

    from clusterkit_papers.benchmarking.diagram import rank_diagram

    figure = Figure(figsize=(7.4, 1.6 + 0.22 * len(ranking.methods)), layout="constrained")
    rank_diagram(ranking, ax=figure.subplots())
    outputs.write_picture(path, figure)


def _show(cells: Sequence[Cell]) -> None:
    """Print the means over the sets, for each of the two comparisons."""
    from clusterkit_papers.benchmarking.page import SIDES as HEADINGS
    from clusterkit_papers.benchmarking.page import means

    for k_known, heading in HEADINGS:
        chosen = [cell for cell in cells if cell.k_known == k_known]
        if chosen:
            console.table(
                ["method", "library", "sets", "mean ARI", "mean AAA", "right number", "seconds"],
                [
                    [name, library, str(n), f"{ari:.3f}", f"{accuracy:.3f}", str(right), f"{seconds:.1f}"]
                    for name, library, n, ari, accuracy, right, seconds in means(chosen)
                ],
                title=heading,
            )
    failed = sum(bool(cell.error) for cell in cells)
    if failed:
        console.text(f"{failed} of {len(cells)} fits have no labels; -o or --json says why.")
