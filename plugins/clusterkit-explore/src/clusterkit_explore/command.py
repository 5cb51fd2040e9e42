"""``clusterkit explore``: correct a clustering on a page of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from clusterkit.cli import console, early, models, options, outputs
from clusterkit.cli import data as source
from clusterkit.cli.failures import BadInput
from clusterkit.cli.fit import is_large
from clusterkit.cli.options import NUMBER, check_number, estimator

if TYPE_CHECKING:
    from clusterkit.contracts.arguments import NumberLike

__all__ = ["explore"]

EPILOG = """\b
Examples:
  clusterkit explore customers.csv --out-labels labels.csv --out-model customers.clusterkit
  clusterkit explore customers.xlsx -r kmeans -k 4 --drop notes --out-labels labels.csv
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""

OF_THE_PAGE = frozenset({"name", "clusters", "labels_file", "model_file", "port"})
"""Parameters that `clusterkit fit` does not have, or that the page decides."""


@click.command(epilog=EPILOG, short_help="Correct a clustering on a page of this machine.")
@click.argument("data", metavar="FILE")
@click.option("-r", "--recipe", "name", help="Algorithm; `clusterkit recipes` lists them.  [default: auto]")
@click.option("-k", "--clusters", type=NUMBER, help="Number of clusters to begin with, auto, or a range such as 2-8.")
@click.option("--out-labels", "labels_file", metavar="FILE", help="File for clusters and their names: .csv .tsv .txt.")
@click.option("--out-model", "model_file", metavar="FILE", help="File for the fitted model: .clusterkit.")
@click.option("--set", "settings", multiple=True, metavar="SLOT.PARAM=VALUE", help="Change a stage or a parameter.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page.  [default: a free one]")
@options.options
@source.options
@click.pass_context
def explore(
    context: click.Context,
    data: str,
    name: str | None,
    clusters: NumberLike,
    labels_file: str | None,
    model_file: str | None,
    settings: tuple[str, ...],
    seed: int,
    port: int,
    table_options: source.TableOptions,
    preparation: options.PreparationOptions,
) -> None:
    """Cluster the rows of FILE, and serve a page on which the clusters are joined, split, named and fitted again.

    The page is for a browser on this machine, at the address that is printed, which holds a secret. What is said there
    becomes links, left-out columns and the number of clusters of the next fit, and can be undone. Only the two files
    of the options are written, when the page is told to save. Ctrl-C ends it.
    """
    if data == outputs.STDOUT:
        raise BadInput("explore reads a file, because it gives a command that reads it again")
    outputs.check({"--out-labels": labels_file, "--out-model": model_file}, [data])
    if labels_file is not None and outputs.text_table(labels_file) is None:
        raise BadInput(f"{labels_file}: clusters and their names can be .csv, .tsv or .txt, each also .gz")
    models.check(model_file)
    name = early.check(data, name, settings)
    if is_large(data):
        raise BadInput(
            f"{data} is too large to be read at once, and a page needs all rows in memory: take a sample of them"
        )
    model = estimator(name, clusters, seed, settings)
    check_number(name, model, clusters)
    try:
        check_number(name, model, 2)
        takes_number = True
    except BadInput:
        takes_number = False
    from clusterkit_explore.server import Server
    from clusterkit_explore.session import Files, Method, Session

    table = table_options.open(data)
    method = Method(name, clusters, takes_number, settings, seed, list(_words(context)))
    session = Session(table, preparation.spec(table, table_options), method, Files(labels_file, model_file), data)
    server = Server(session, port)
    session.fit()
    console.text(f"{data}: open {server.address}")
    console.text("The address holds a secret: who has it sees the rows. Ctrl-C ends the page.")
    try:
        server.run()
    finally:
        server.close()


def _words(context: click.Context) -> Iterator[str]:
    """The options of the command line that `clusterkit fit` has too."""
    for option in context.command.params:
        typed = option.name and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
        if not typed or option.name in OF_THE_PAGE or not isinstance(option, click.Option):
            continue
        value = context.params[str(option.name)]
        if option.is_flag:
            yield option.opts[0] if value else option.secondary_opts[0]
            continue
        for each in value if option.multiple else [value]:
            yield from (option.opts[0], str(each))
