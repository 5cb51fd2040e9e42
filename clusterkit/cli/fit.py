"""``clusterkit fit``: cluster the rows of a table."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from clusterkit.cli import by_rows, device, early, outputs
from clusterkit.cli import data as source
from clusterkit.cli import labels as output
from clusterkit.cli import picture as plot
from clusterkit.cli import preparation as prepare
from clusterkit.cli.failures import INTERRUPTED, BadInput
from clusterkit.cli.number import NUMBER
from clusterkit.cli.settings import check_number, estimator

if TYPE_CHECKING:
    from clusterkit._typing import NumberLike
    from clusterkit.tables import Preparation, Table

__all__ = ["fit"]

DEFAULT, BY_ROWS = "auto", "emmc"
"""The recipe where none is named: the one that takes clusters of any shape and size; for a number of clusters of rows
that are read block by block, which it does not take, the one that the library is about."""

EPILOG = """\b
Examples:
  clusterkit fit customers.xlsx -o labels.csv --save customers.clusterkit
  clusterkit fit customers.csv -k 4 --drop notes --as-category zip -o labels.csv
  clusterkit fit customers.csv --recipe kmeans -k 2-8
  clusterkit fit digits.csv --recipe emmc -k 10
  clusterkit fit points.tsv --recipe svc --set featuremap.gamma=2 --plot points.png
  clusterkit fit data:wine -k 3 --json
  cat points.csv | clusterkit fit - -k 2 -o - > labels.csv
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""


@click.command(epilog=EPILOG, short_help="Cluster the rows of a table.")
@click.argument("data")
@click.option(
    "-r",
    "--recipe",
    "name",
    help="Algorithm; `clusterkit recipes` lists them.  [default: auto; emmc for -k N of a file read block by block]",
)
@click.option(
    "-k",
    "--clusters",
    type=NUMBER,
    help="Number of clusters, auto, or a range to choose in, such as 2-8.  [default: the recipe finds it]",
)
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    help="File for the labels: .csv .tsv .txt (.gz) .parquet .xlsx .npy; - is standard output.",
)
@click.option("--with-data", is_flag=True, help="Write the data too, with the labels as the last column.")
@output.escape_option
@click.option("--save", metavar="FILE", help="File for the fitted model, for `clusterkit predict`: .clusterkit.")
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    help="File for a picture: the clusters, and the border of a domain. .png .pdf .svg",
)
@click.option(
    "--cache",
    metavar="FILE",
    help="Copy a file that is read block by block here first, as float32 (.npy), and read the copy; it is kept.",
)
@click.option(
    "--spool/--no-spool",
    default=True,
    show_default=True,
    help="Copy Parquet that is read block by block to a temporary file beside the output, instead of decoding it in "
    "every pass. It takes no more than half of the free disk, and the labels are the same.",
)
@click.option("--set", "settings", multiple=True, metavar="SLOT.PARAM=VALUE", help="Change a stage or a parameter.")
@device.option
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@prepare.options
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def fit(
    data: str,
    name: str | None,
    clusters: NumberLike,
    path: str | None,
    with_data: bool,
    escape_formulas: bool,
    save: str | None,
    picture: str | None,
    cache: str | None,
    spool: bool,
    settings: tuple[str, ...],
    seed: int,
    table_options: source.TableOptions,
    preparation: prepare.PreparationOptions,
    as_json: bool,
) -> None:
    """Cluster the rows of DATA and print a summary.

    DATA is a CSV, TSV, Excel, Parquet, Feather, JSON, NPY or NPZ file (CSV and TSV may be compressed: .gz, .bz2, .xz,
    .zip), - for CSV on standard input, or data:NAME for a known data set such as data:wine. Columns are prepared: gaps,
    categories, dates and units; the options --as-category to --gaps decide otherwise. A file too large for the memory
    is read block by block, if the recipe can be fitted so (text after it was parsed once into a temporary file); its
    columns are used as they are.

    Labels are whole numbers from 0; -1 marks noise. After Ctrl-C the best labels so far are written and the
    exit code is 130.
    """
    from clusterkit.cli import models, summary
    from clusterkit.cli.interrupt import watching
    from clusterkit.estimators.bars import shown
    from clusterkit.profiles.doubts import doubts

    outputs.check({"-o": path, "--save": save, "--plot": picture, "--cache": cache}, [data])
    outputs.check_ending(cache, (".npy",), "a copy of rows")
    by_number = BY_ROWS if isinstance(clusters, int) else DEFAULT
    large_name = name or by_number
    if by_rows.is_large(data) and by_rows.fits(large := estimator(large_name, clusters, seed, settings)):
        by_rows.check(with_data=with_data, picture=picture)
        output.check(path, escape_formulas=escape_formulas)
        models.check(save)
        by_rows.fit(
            by_rows.rows_of(data, table_options),
            data,
            large_name,
            large,
            path,
            save,
            cache=cache,
            spool=spool,
            instead_of=DEFAULT if name is None else None,
            as_json=as_json,
        )
        return
    if cache is not None:
        raise BadInput("--cache is for files that are read block by block; this one is read at once")
    output.check(path, with_data=with_data, escape_formulas=escape_formulas)
    models.check(save)
    plot.check(picture)
    if name is None:
        name = DEFAULT
        early.check_unnamed(name, settings)
    early.check(data, name, settings)
    model = estimator(name, clusters, seed, settings)
    if clusters is not None:
        check_number(name, model, clusters)
    table, classes = table_options.open(data)
    spec = preparation.spec(table, table_options)
    began = time.perf_counter()
    with watching() as interrupt, shown(True):
        X = _fit(model, table, spec)
    seconds = time.perf_counter() - began
    interrupted = interrupt.pressed or model.interrupted_
    if isinstance(clusters, tuple) and not hasattr(model, "candidates_"):
        _tell_of_range(name)
    # files come first, because printing the summary may fail (a closed pipe)
    if path is not None and path != output.STDOUT:
        output.write(path, model.labels_, table if with_data else None, escape_formulas=escape_formulas)
    if save is not None:
        models.save(save, model, table, name)
    drawn = picture is None or _drawn(picture, model, X, data, name)
    interrupted = interrupted or not drawn
    facts = summary.of_fit(data, model.preparation_.used, name, model, seconds, table.notes, classes)
    facts |= {
        "doubts": doubts(model, table, X).sentences,
        "interrupted": interrupted,
        "labels_file": path,
        "model_file": save,
        "plot_file": picture if drawn else None,
    }
    summary.show(facts, as_json=as_json, err=path == output.STDOUT)
    if path == output.STDOUT:
        output.write(path, model.labels_, table if with_data else None, escape_formulas=escape_formulas)
    if interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _tell_of_range(name: str) -> None:
    """Warn that a range of numbers chose nothing."""
    import warnings

    from clusterkit.core.errors import ClusterkitWarning

    warnings.warn(
        f"the range of -k is not used: recipe {name} finds the number of clusters itself, or makes one number only",
        ClusterkitWarning,
        stacklevel=2,
    )


def _drawn(path: str, model: Any, X: Any, data: str, name: str) -> bool:
    """Draw the picture; False if Ctrl-C ended that, which takes nothing from the fit."""
    import warnings

    from clusterkit.core.errors import ClusterkitWarning

    try:
        plot.draw(path, model, X, model.preparation_.features, data, name)
    except KeyboardInterrupt:
        warnings.warn(
            f"interrupted while {path} was drawn: there is no picture, the fit is kept", ClusterkitWarning, stacklevel=2
        )
        return False
    return True


def _fit(model: Any, table: Table, spec: Preparation) -> Any:
    """Fit to the prepared rows, and return them; the error about a missing number of clusters names the option."""
    from clusterkit.core.errors import NeedsClusters
    from clusterkit.estimators.preparing import fit_prepared

    try:
        return fit_prepared(model, table, spec)
    except NeedsClusters as error:
        raise BadInput(f"{error}. Give it with -k N, or let it be chosen with -k auto.") from error
