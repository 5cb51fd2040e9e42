"""``clusterkit report``: a page about the clusters of a table."""

from __future__ import annotations

import datetime
import hashlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clusterkit.cli import console, models, options, outputs
from clusterkit.cli import data as source
from clusterkit.cli.failures import BadInput
from clusterkit.cli.options import NUMBER
from clusterkit.errors import counted
from clusterkit.files import replacing

if TYPE_CHECKING:
    from clusterkit.contracts.arguments import NumberLike
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.report import Analysis
    from clusterkit.tables import Table

ENDINGS = (".html", ".htm")
"""Endings of a page."""

SAME_ROWS = 0.5
"""Adjusted Rand index of predicted labels and those of a fit from which its rows are these, in this order. Labels that
keep sizes, or call rows noise, differ from predicted ones in some rows; those of other rows agree by chance, near 0."""

MOST_CLUSTERS = 10
"""Clusters that are named below the verdict."""

EPILOG = """\b
Examples:
  clusterkit report customers.xlsx -o customers.html
  clusterkit report customers.csv -o customers.html -k 2-8 --drop notes
  clusterkit report wine.csv -o wine.html -k 3 --methods kmeans,emmc,svc
  clusterkit report customers.csv -o customers.html --model customers.clusterkit
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""


@click.command(epilog=EPILOG, short_help="Cluster a table and write a page about it.")
@click.argument("data")
@click.option("-o", "--output", "path", required=True, metavar="FILE", help="File for the page: .html.")
@click.option(
    "--model",
    "model_file",
    metavar="FILE",
    help="A model of `clusterkit fit --save`, whose clusters are described; it is not fitted again.",
)
@click.option(
    "-k",
    "--clusters",
    type=NUMBER,
    help="Number of clusters, auto, or a range to choose in, such as 2-8.  [default: auto]",
)
@click.option(
    "-r",
    "--methods",
    "--recipe",
    "methods",
    metavar="NAMES",
    default="",
    help="Recipes to choose among and to compare, separated by commas.  [default: the pool of auto]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@options.options
@source.options
def report(
    data: str,
    path: str,
    model_file: str | None,
    clusters: NumberLike,
    methods: str,
    seed: int,
    table_options: source.TableOptions,
    preparation: options.PreparationOptions,
) -> None:
    """Cluster the rows of DATA and write a page that says what is in the clusters.

    The page has a verdict and how sure it is, what was done to the data, a profile of each cluster with a name, a
    rule and typical rows, several methods side by side, the number of clusters, a map, and the rows to look at. It is
    one file, which needs no network and can be printed. DATA is as in `clusterkit fit`, which writes the page too, by
    its option --report.
    """
    outputs.check({"-o": path}, [data] if model_file is None else [data, model_file])
    source.check(data)
    names = tuple(name.strip() for name in methods.split(",") if name.strip())
    from clusterkit.contracts.registry import registry

    for name in names:
        registry.get("recipe", name)
    check(path)
    if model_file is None:
        table = table_options.open(data)
        facts: dict[str, Any] = {"n_clusters": clusters, "preparation": preparation.spec(table, table_options)}
    elif clusters is not None or preparation != options.PreparationOptions():
        raise BadInput("--model: the number of clusters and what is done to columns are those of the model")
    else:
        model = models.load(model_file)
        table = table_options.open(data)
        places = models.places_of(model, table, table_options)
        facts = {"model": _of_rows(model, table, table_options)}
        if not hasattr(model["pipeline"], "preparation_"):
            table = table.pick(places)
    tell(write(path, data, table, methods=names, seed=seed, **facts), path)


def _of_rows(model: models.ModelFile, table: Table, table_options: source.TableOptions) -> Pipeline | Driven:
    """The estimator of a model, with predicted labels if the rows of a table are not those of its fit."""
    import warnings

    from clusterkit.errors import ClusterkitWarning
    from clusterkit.metrics import adjusted_rand

    pipeline = model["pipeline"]
    if pipeline._why_not_inductive() is None:
        labels = models.labels_of(model, models.rows_of(model, table, table_options))
        if len(labels) != len(pipeline.labels_) or adjusted_rand(labels, pipeline.labels_) < SAME_ROWS:
            if (labels == labels[0]).all():
                raise BadInput(
                    f"{table.title}: all rows are in one cluster of the model, and a report compares several"
                )
            warnings.warn(
                f"{table.title}: the rows are not those of the fit, and their clusters are predicted; what is said of "
                "confidence is that of the fit",
                ClusterkitWarning,
                stacklevel=2,
            )
            pipeline.labels_ = labels
    return pipeline


def check(path: str | None) -> None:
    """Raise `BadInput` before the fit for a page that could not be written after it."""
    if path is None:
        return
    outputs.check_ending(path, ENDINGS, "a report")
    from clusterkit.report.page import need_libraries

    need_libraries()


def write(path: str, data: str, table: object, **options: object) -> Analysis:
    """Write the page about a table, as `make_report` makes it with these options."""
    from clusterkit.estimators.same_place import shown
    from clusterkit.report import make_report

    facts: Any = options | {"fingerprint": _fingerprint(data), "made": datetime.date.today().isoformat()}
    with shown(True):
        text, analysis = make_report(table, command=_command(), **facts)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return analysis


def tell(analysis: Analysis, path: str) -> None:
    """Print what the page at a path says first."""
    from clusterkit.report.sentences import is_single, main_sentences, tests_of_one_cluster

    for sentence in main_sentences(analysis):
        console.text(sentence)
    clusters = [] if is_single(analysis) else analysis.clusters.clusters
    for cluster in clusters[:MOST_CLUSTERS]:
        console.text(f"  cluster {cluster.label}: {cluster.name} ({counted(cluster.size, 'row')})")
    if len(clusters) > MOST_CLUSTERS:
        console.text(f"  and {counted(len(clusters) - MOST_CLUSTERS, 'more cluster')}, on the page")
    if tests := tests_of_one_cluster(analysis):
        console.text(tests)
    console.text(f"Report: {path}")


def _command() -> str:
    """The line that was typed, as a shell takes it again."""
    return shlex.join(["clusterkit", *(word for word in sys.argv[1:] if word != "--debug")])


def _fingerprint(data: str) -> str:
    """The SHA-256 of a file; empty for standard input."""
    if data == source.STDIN or not Path(data).is_file():
        return ""
    with Path(data).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
