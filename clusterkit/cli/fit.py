"""``clusterkit fit``: rows of a table to clusters."""

from __future__ import annotations

import time
from typing import Any

import click

from clusterkit.cli import data as source
from clusterkit.cli import labels as output
from clusterkit.cli import picture as plot
from clusterkit.cli.failures import INTERRUPTED, BadInput

__all__ = ["fit"]

EPILOG = """\b
Examples:
  clusterkit fit customers.csv -k 4 --drop id -o labels.csv
  clusterkit fit points.tsv --recipe svc --set featuremap.gamma=2 --plot points.png
  clusterkit fit data:wine -k 3 --json
  cat points.csv | clusterkit fit - -k 2 -o - > labels.csv
"""


@click.command(epilog=EPILOG, short_help="Cluster the rows of a table.")
@click.argument("data")
@click.option("-r", "--recipe", "name", default="emmc", show_default=True, help="See `clusterkit recipes`.")
@click.option("-k", "--clusters", type=click.IntRange(min=1), help="How many, unless the recipe finds it.")
@click.option("-o", "--output", "path", metavar="FILE", help="Where labels go: .csv .tsv (.gz) .npy, - is stdout.")
@click.option("--with-data", is_flag=True, help="Write the labels as a last column of the data.")
@click.option("--save", metavar="FILE", help="Keep the fitted model, for `clusterkit predict`.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the clusters: .png .pdf .svg; a domain gets its border.")
@click.option("--set", "settings", multiple=True, metavar="SLOT.PARAM=VALUE", help="Change a stage or parameter.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all random choices.")
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def fit(
    data: str,
    name: str,
    clusters: int | None,
    path: str | None,
    with_data: bool,
    save: str | None,
    picture: str | None,
    settings: tuple[str, ...],
    seed: int,
    reading: source.Reading,
    as_json: bool,
) -> None:
    """Cluster the rows of DATA and print a summary.

    DATA is a CSV, TSV, Parquet or NPY file (CSV and TSV also gzipped), - for CSV on standard input, or
    data:NAME for a known data set such as data:wine. Columns are used as they are; recipes scale them if
    their method wants that.

    Labels are numbers from 0; -1 is noise. Ctrl-C stops the search: the best labels so far are written and
    the exit code is 130.
    """
    from clusterkit.cli import models, summary
    from clusterkit.cli.interrupt import watching
    from clusterkit.estimators.bars import shown

    output.check(path, with_data=with_data)
    output.check(save)
    plot.check(picture, (path, save))
    model = _estimator(name, clusters, seed, settings)
    opened, classes = reading.open(data)
    table = source.read(opened, reading.chosen(opened), keep_rows=with_data)
    began = time.perf_counter()
    with watching() as interrupt, shown(True):
        _fitted(model, table.data)
    seconds = time.perf_counter() - began
    interrupted = interrupt.yes or model.interrupted_
    # files first: what follows may fail, such as a summary into a closed pipe
    if path is not None and path != output.STDOUT:
        output.write(path, model.labels_, table if with_data else None)
    if save is not None:
        models.save(save, model, table, name)
    if picture is not None:
        plot.draw(picture, model, table, data, name)
    facts = summary.of_fit(data, table, name, model, seconds, classes)
    facts |= {"interrupted": interrupted, "labels_file": path, "model_file": save, "plot_file": picture}
    summary.show(facts, as_json=as_json, err=path == output.STDOUT)
    if path == output.STDOUT:
        output.write(path, model.labels_, table if with_data else None)
    if interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _estimator(name: str, clusters: int | None, seed: int, settings: tuple[str, ...]) -> Any:
    from clusterkit.cli.settings import parsed
    from clusterkit.estimators.build import recipe

    recipe(name)  # an unknown recipe is told before what is wrong with --set
    changes = parsed(settings)
    for key, value, option in (("n_clusters", clusters, "-k"), ("random_state", None, "--seed")):
        if key in changes and (value is not None or key == "random_state"):
            raise BadInput(f"--set {key}: give it with {option}")
    try:
        return recipe(name, **{"n_clusters": clusters, "random_state": seed, **changes})
    except ValueError as error:
        raise BadInput(f"--set {' '.join(settings)}: {error}" if settings else str(error)) from error


def _fitted(model: Any, X: Any) -> None:
    from clusterkit.core.errors import NeedsClusters

    try:
        model.fit(X)
    except NeedsClusters as error:
        raise BadInput(f"{error}. Give it with -k N.") from error
