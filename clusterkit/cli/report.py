"""``clusterkit report``: a page about the clusters of a table."""

from __future__ import annotations

import datetime
import hashlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clusterkit.cli import console, options, outputs
from clusterkit.cli import data as source
from clusterkit.cli.failures import BadInput
from clusterkit.cli.options import NUMBER
from clusterkit.errors import counted
from clusterkit.files import replacing

if TYPE_CHECKING:
    from clusterkit.contracts.arguments import NumberLike

__all__ = ["report"]

ENDINGS = (".html", ".htm")
"""Endings of a page."""

MOST_CLUSTERS = 10
"""Clusters that are named below the verdict."""

EPILOG = """\b
Examples:
  clusterkit report customers.xlsx -o customers.html
  clusterkit report customers.csv -o customers.html -k 2-8 --drop notes
  clusterkit report wine.csv -o wine.html -k 3 --methods kmeans,emmc,svc
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""


@click.command(epilog=EPILOG, short_help="Cluster a table and write a page about it.")
@click.argument("data")
@click.option("-o", "--output", "path", required=True, metavar="FILE", help="File for the page: .html.")
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
    clusters: NumberLike,
    methods: str,
    seed: int,
    table_options: source.TableOptions,
    preparation: options.PreparationOptions,
) -> None:
    """Cluster the rows of DATA and write a page that says what is in the clusters.

    The page has a verdict and how sure it is, what was done to the data, a profile of each cluster with a name, a
    rule and typical rows, several methods side by side, the number of clusters, a map, and the rows to look at. It is
    one file, which needs no network and can be printed. DATA is as in `clusterkit fit`.
    """
    outputs.check({"-o": path}, [data])
    outputs.check_ending(path, ENDINGS, "a report")
    source.check(data)
    names = tuple(name.strip() for name in methods.split(",") if name.strip())
    from clusterkit.contracts.registry import registry
    from clusterkit.estimators.same_place import shown
    from clusterkit.report import make_report
    from clusterkit.report.page import need_libraries

    for name in names:
        registry.get("recipe", name)
    try:
        need_libraries()
    except ImportError as error:
        raise BadInput(str(error)) from error
    table = table_options.open(data)
    spec = preparation.spec(table, table_options)
    with shown(True):
        text, analysis = make_report(
            table,
            n_clusters=clusters,
            methods=names,
            preparation=spec,
            seed=seed,
            command=_command(),
            fingerprint=_fingerprint(data),
            made=datetime.date.today().isoformat(),
        )
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    _tell(analysis, path)


def _tell(analysis: Any, path: str) -> None:
    from clusterkit.profiles.naming import PLAIN
    from clusterkit.report.sentences import is_single, main_sentences, tests_of_one_cluster

    for sentence in main_sentences(analysis):
        console.text(sentence)
    clusters = [] if is_single(analysis) else analysis.clusters.clusters
    if len(clusters) > MOST_CLUSTERS and all(cluster.name == PLAIN for cluster in clusters):
        console.text(f"  {PLAIN} in any of the {len(clusters)} clusters")
        clusters = []
    for cluster in clusters[:MOST_CLUSTERS]:
        console.text(f"  cluster {cluster.label}: {cluster.name} ({counted(cluster.size, 'row')})")
    if len(clusters) > MOST_CLUSTERS:
        console.text(f"  and {counted(len(clusters) - MOST_CLUSTERS, 'more cluster')}, on the page")
    if tests := tests_of_one_cluster(analysis):
        console.text(tests)
    console.text(f"Report: {path}")


def _command() -> str:
    """The line that was typed, as a shell takes it again."""
    words = [word for word in sys.argv[1:] if word != "--debug"]
    return shlex.join(["clusterkit", *words])


def _fingerprint(data: str) -> str:
    """The SHA-256 of a file; empty for standard input."""
    if data == source.STDIN or not Path(data).is_file():
        return ""
    digest = hashlib.sha256()
    with Path(data).open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()
