"""``clusterkit search``: the parameters of a recipe, chosen without known classes."""

from __future__ import annotations

import csv
import io
import math
import time
from pathlib import Path
from typing import Any

import click

from clusterkit.cli import data as source
from clusterkit.cli import labels as output
from clusterkit.cli import picture as plot
from clusterkit.cli.failures import INTERRUPTED, BadInput

__all__ = ["search"]

MOST_ROWS = 20
SCORES = ("anmi", "ami", "stability", "silhouette", "dbcv", "objective")
EPILOG = """\b
Examples:
  clusterkit search customers.csv --recipe kmeans --grid n_clusters=2,3,4,5,6 --score ami
  clusterkit search points.csv --recipe emmc -k 2 --grid solver.df=6,12,25 --score stability -o labels.csv
  clusterkit search points.tsv --recipe svc --grid featuremap.gamma=1,4,16 --grid solver.nu=0.05,0.2 \\
      --score dbcv --table scores.csv --plot scores.png --resume done.jsonl -j 2
"""


@click.command(epilog=EPILOG, short_help="Choose parameters without known classes.")
@click.argument("data")
@click.option("-r", "--recipe", "name", default="emmc", show_default=True, help="See `clusterkit recipes`.")
@click.option("--grid", "axes", multiple=True, required=True, metavar="SLOT.PARAM=VALUE,VALUE,...",
              help="Values to try; of several every combination. A chain of maps stands in brackets.")  # fmt: skip
@click.option(
    "--score", type=click.Choice(SCORES), default="anmi", show_default=True, help="What the best has most of."
)
@click.option("-k", "--clusters", type=click.IntRange(min=1), help="How many, unless the recipe or the grid says it.")
@click.option("--set", "settings", multiple=True, metavar="SLOT.PARAM=VALUE", help="Change what is not in the grid.")
@click.option("--noise", type=click.Choice(["cluster", "singletons", "exclude"]), help="What noise is to the score.")
@click.option("--keep-all", is_flag=True, help="Also score one cluster, or more than the root of the rows.")
@click.option("-j", "--jobs", type=int, default=1, show_default=True, help="Fits at a time; -1 is all processors.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all random choices.")
@click.option("--resume", metavar="FILE", help="Keep finished candidates there, and take them from there.")
@click.option("-o", "--output", "path", metavar="FILE", help="Where the labels of the best go, as in `fit`.")
@click.option("--table", "scores", metavar="FILE", help="Where the table of all candidates goes, as CSV; - is stdout.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the scores: .png .pdf .svg.")
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def search(
    data: str,
    name: str,
    axes: tuple[str, ...],
    score: str,
    clusters: int | None,
    settings: tuple[str, ...],
    noise: str | None,
    keep_all: bool,
    jobs: int,
    seed: int,
    resume: str | None,
    path: str | None,
    scores: str | None,
    picture: str | None,
    reading: source.Reading,
    as_json: bool,
) -> None:
    """Fit DATA with every combination of the values of --grid and say which is best, without known classes.

    Scores: anmi and ami, agreement with an ensemble of k-means clusterings; stability, agreement of fits to parts of
    the rows; silhouette; dbcv, for clusters of any shape; objective, only where nothing but the start varies.

    Ctrl-C ends the search: the best so far is told and the exit code is 130.
    """
    from clusterkit.cli.fit import _estimator
    from clusterkit.estimators.search import search as run

    for each in (path, scores, resume):
        output.check(each)
    if output.STDOUT in (path, scores) and (path == scores or resume == output.STDOUT):
        raise BadInput("standard output (-) takes either the labels or the table")
    if resume == output.STDOUT:
        raise BadInput("--resume needs a file")
    plot.check(picture, (path, scores, resume))
    grid = _grid(axes)
    if "n_clusters" in grid and clusters is not None:
        raise BadInput("-k and --grid n_clusters: give one of them")
    model = _estimator(name, clusters, seed, settings)
    opened, _ = reading.open(data)
    table = source.read(opened, reading.chosen(opened))
    began = time.perf_counter()
    found = run(
        model, grid, table.data, score, n_jobs=jobs, random_state=seed, noise=noise, exclude=not keep_all,
        resume=resume, refit=False, verbose=True,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    if path is not None and path != output.STDOUT:
        output.write(path, found.best_labels)
    if scores is not None and scores != output.STDOUT:
        with Path(scores).open("w", newline="", encoding="utf-8") as file:
            _write(file, found)
    if picture is not None:
        _draw(picture, found)
    to_stderr = output.STDOUT in (path, scores)
    _show(found, data, name, seconds, as_json=as_json, err=to_stderr)
    if path == output.STDOUT:
        output.write(path, found.best_labels)
    if scores == output.STDOUT:
        buffer = io.StringIO(newline="")
        _write(buffer, found)
        click.echo(buffer.getvalue(), nl=False)
    if found.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _grid(axes: tuple[str, ...]) -> dict[str, list[Any]]:
    """Lists of values by nested name."""
    from clusterkit.cli.settings import parsed

    grid: dict[str, list[Any]] = {}
    for axis in axes:
        key, sign, words = axis.partition("=")
        name = key.strip().replace(".", "__")
        if not sign or not name or not words.strip():
            raise BadInput(f"--grid {axis!r}: write SLOT.PARAMETER=VALUE,VALUE, for example solver.C=1,10")
        if name in grid:
            raise BadInput(f"--grid gives {key.strip()!r} twice; write all its values behind one =")
        grid[name] = [parsed([f"{name}={word}"])[name] for word in _split(words)]
    return grid


def _split(words: str) -> list[str]:
    """At commas outside brackets.

    Examples
    --------
    >>> _split("elm,[zscore,rbf], 3")
    ['elm', '[zscore,rbf]', '3']
    """
    parts, depth = [""], 0
    for letter in words:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise BadInput(f"--grid: brackets do not match in {words!r}")
    return [part.strip() for part in parts]


def _show(found: Any, data: str, name: str, seconds: float, *, as_json: bool, err: bool) -> None:
    from clusterkit.cli import console
    from clusterkit.cli.summary import sizes

    best = found.candidates[found.best_index]
    if as_json:
        facts = {
            "data": data, "recipe": name, "score": found.score, "best_params": found.best_params,
            "best_score": found.best_score, "n_clusters": best.n_clusters, "sizes": sizes(found.best_labels),
            "noise": best.n_noise, "interrupted": found.interrupted, "seconds": round(seconds, 3), "table": found.table,
        }  # fmt: skip
        console.as_json(facts, err=err)
        return
    what = ", ".join(f"{key}={console.number(value)}" for key, value in found.best_params.items())
    console.heading(f"{data}: {found.score} {found.best_score:.4g} with {what}", err=err)
    statuses = [each.status for each in found.candidates]
    counts = [f"{statuses.count(each)} {each}" for each in ("scored", "excluded", "failed", "not run")]
    facts = {
        "candidates": ", ".join(each for each in counts if not each.startswith("0 ")),
        "clusters": str(best.n_clusters),
        "noise": f"{best.n_noise:,}" if best.n_noise else "none",
        "time": f"{seconds:.2f} s",
    }
    console.facts(facts, err=err)
    console.text(err=err)
    varied = found.varied or list(found.best_params)
    sign = 1.0 if found.lower_is_better else -1.0
    ranked = sorted(found.candidates, key=lambda each: math.inf if math.isnan(each.score) else sign * each.score)
    rows = [
        [
            *(console.number(each.params.get(key)) for key in varied),
            "–" if math.isnan(each.score) else f"{each.score:.4f}",
            "–" if each.n_clusters < 0 else str(each.n_clusters),
            "–" if each.n_noise < 0 else str(each.n_noise),
            f"{each.status}: {each.reason}" if each.status in ("excluded", "failed") else each.reason or each.status,
        ]
        for each in ranked[:MOST_ROWS]
    ]
    console.table([*varied, found.score, "clusters", "noise", "status"], rows, err=err)
    if len(ranked) > MOST_ROWS:
        console.text(f"and {len(ranked) - MOST_ROWS} more; --table writes all", err=err)


def _write(file: Any, found: Any) -> None:
    table = found.table
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table[0])
    writer.writerows(
        ["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row.values()] for row in table
    )


def _draw(path: str, found: Any) -> None:
    from matplotlib.figure import Figure

    from clusterkit import plots
    from clusterkit.plots._figure import SIZE

    figure = Figure(figsize=SIZE, layout="constrained")
    plots.search_curve(found, ax=figure.subplots())
    figure.savefig(path, dpi=plot.DOTS_PER_INCH)
