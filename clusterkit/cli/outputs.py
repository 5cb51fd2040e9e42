"""The files that commands write: checked before the work begins, and written whole or not at all.

Labels go to a file or to standard output (`write`), the picture of a fit to a file (`draw_picture`).
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from clusterkit.cli import data
from clusterkit.cli.failures import BadInput
from clusterkit.errors import need
from clusterkit.files import replacing, same_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from clusterkit._typing import AnyArray, Array, Labels
    from clusterkit.estimators.base import FittedAttributes
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.tables import Table

STDOUT = "-"
"""The path for standard output, and for standard input."""

TABLES = ("", ".csv", ".txt", ".tsv", ".tab")
"""Endings of delimited text; the last two have tabs, the others commas. A file without an ending has commas."""

TABS = (".tsv", ".tab")
"""Endings of text with tabs between the cells."""


PICTURES = (".pdf", ".png", ".svg")
"""Endings of picture files: the formats that matplotlib writes without further packages."""

DOTS_PER_INCH = 150
"""Resolution of PNG files: sharp on a screen and in print at half a page."""

MOST_COORDINATES = 2
"""Number of coordinates up to which the border of a domain can be drawn."""


def check(outputs: Mapping[str, str | None], inputs: Iterable[str] = ()) -> None:
    """Raise `BadInput` before the work for a file that cannot or must not be written.

    Parameters
    ----------
    outputs : mapping of str to str or None
        The option to the file that it names; None if it is not used.
    inputs : iterable of str
        Files that are read. An output that is one of them, or another output, is refused, by whatever name or link.
    """
    taken = [("is read by this command", source) for source in inputs]
    for option, path in outputs.items():
        if path == STDOUT and sys.stdout is None:
            raise BadInput(f"{option} -: standard output is closed")
        if path is None or path == STDOUT:
            continue
        for what, other in taken:
            if _same(path, other):
                raise BadInput(f"{path}: {option} needs a file of its own, this one {what}")
        _check_place(path)
        taken.append((f"is that of {option}", path))


def _check_place(path: str) -> None:
    """Raise `BadInput` if no file can be written there."""
    target = Path(path)
    if target.is_dir():
        raise BadInput(f"{path} cannot be written: it is a folder")
    parent = Path(os.path.realpath(target)).parent
    if not parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no such folder")
    is_device = target.exists() and not target.is_file()
    if (target.exists() and not os.access(target, os.W_OK)) or not (is_device or os.access(parent, os.W_OK)):
        raise BadInput(f"{path} cannot be written: no permission")


def _same(path: str, other: str) -> bool:
    """Whether two names are of one file. `STDOUT` as `other` is standard input, which may come from a file."""
    try:
        if other == STDOUT:
            return os.path.samestat(os.stat(path), os.fstat(sys.stdin.fileno()))
        return same_file(path, other)
    except (OSError, ValueError, AttributeError):  # no such file, or no standard input
        return False


def check_ending(path: str | None, endings: Collection[str], what: str) -> None:
    """Raise `BadInput` for a file whose ending is of another kind of content, and for standard output."""
    if path is None:
        return
    if path == STDOUT:
        raise BadInput(f"{what} needs a file; standard output (-) takes labels only")
    ending = Path(path).suffix.lower()
    if ending not in endings:
        known = ", ".join(sorted(each for each in endings if each))
        raise BadInput(f"{path}: {what} can be {known}, not {ending or 'without an ending'}")


def text_table(path: str) -> str | None:
    """The ending, without ``.gz``, of a file of delimited text; None if the ending is of something else."""
    name = path.lower().removesuffix(".gz")
    ending = Path(name).suffix
    return ending if ending in TABLES else None


def write_table(path: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as delimited text, a piece of them at once and not all of them as texts in memory.

    The ending decides the delimiter and whether the file is compressed.

    Raises
    ------
    OSError
        If writing fails, with the path and the reason; nothing is changed then.
    """
    texts = _texts(iter(rows), "\t" if text_table(path) in TABS else ",")
    if path == STDOUT:
        for text in texts:
            click.echo(text, nl=False)
        return
    opened: Any = gzip.open if path.lower().endswith(".gz") else open
    with replacing(path) as part, opened(part, "wt", encoding="utf-8", newline="") as file:
        file.writelines(texts)


def _texts(rows: Iterator[Sequence[object]], delimiter: str) -> Iterator[str]:
    while piece := list(islice(rows, data.WRITTEN_ROWS)):
        buffer = io.StringIO(newline="")
        csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(piece)
        yield buffer.getvalue()


FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of formulas in spreadsheets that open delimited text."""


class BesideOptions(NamedTuple):
    """What is written beside labels: the values of the options that `beside_options` adds."""

    with_data: bool
    names: bool
    certainty: bool
    escape_formulas: bool

    def used(self) -> dict[str, object]:
        """The options that need all rows in memory."""
        return {"--with-data": self.with_data, "--certainty": self.certainty}

    def check(self, path: str | None) -> None:
        """Raise `BadInput` before the fit if the ending of the file is none of labels, or what writes it is missing."""
        if self.escape_formulas and not (self.with_data or self.names):
            raise BadInput("--escape-formulas is about the texts that --with-data and --names write")
        beside = next((name for name, value in {**self.used(), "--names": self.names}.items() if value), "")
        if path is None and beside:
            raise BadInput(f"{beside} needs -o FILE, or -o - for standard output")
        if path is None or path == STDOUT:
            return
        ending = Path(path).suffix.lower()
        if ending == ".npy":
            if beside:
                raise BadInput(f"{path}: {beside} writes a table, so the file cannot be .npy")
        elif ending in data.WRITERS:
            data.check_typed(path)
        elif text_table(path) is None:
            raise BadInput(f"{path}: labels can be .csv, .tsv, .txt (each also .gz), .parquet, .xlsx or .npy")

    def write(self, path: str, labels: Labels, table: Table | None, model: FittedAttributes, rows: object) -> None:
        """Write labels to a file, as `write` does, of a table; and what the model says of its rows."""
        more: dict[str, AnyArray] = {}
        if self.names:
            import numpy as np

            names = {**model.names_, -1: "noise"}
            if self.escape_formulas:
                names = dict(zip(names, without_formulas(names.values()), strict=True))
            more["name"] = np.array([names[label] for label in labels.tolist()], dtype=object)
        if self.certainty:
            from clusterkit.profiles.rows import certainties

            both = zip(("certainty", "distance"), certainties(model, rows, labels), strict=True)
            more |= {name: values.round(DECIMALS) for name, values in both}
        write(path, labels, table if self.with_data else None, more, escape_formulas=self.escape_formulas)


def beside_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about what is written beside labels; the command receives them as `beside`."""
    choices = (
        click.option(
            "--escape-formulas",
            is_flag=True,
            help="With --with-data or --names: an apostrophe before texts that begin with = + - @ and are no numbers, "
            "which spreadsheets would run as formulas.",
        ),
        click.option(
            "--certainty",
            is_flag=True,
            help="Write two more columns after the labels: how certain the cluster of a row is, from 0 to 1, and its "
            "distance from the rows around it, of which 2.5 and more is an outlier.",
        ),
        click.option("--names", is_flag=True, help="Write the names of the clusters after the labels."),
        click.option("--with-data", is_flag=True, help="Write the data too, before the labels."),
    )
    return data.grouped(command, "beside", BesideOptions, choices)


DECIMALS = 4
"""Digits after the point of certainties and distances in files."""


def write(
    path: str,
    labels: Labels,
    table: Table | None = None,
    more: Mapping[str, AnyArray] = MappingProxyType({}),
    *,
    escape_formulas: bool = False,
) -> None:
    """Write one label per row under the header ``label``, the whole file or none.

    Parameters
    ----------
    path : str
        Path whose ending decides the format: ``.tsv`` has tabs, ``.npy`` is an array, ``.parquet`` and ``.xlsx`` are
        tables, ``.gz`` is compressed, all others have commas. `STDOUT` is standard output.
    labels : ndarray of shape (n,)
        Labels; as text they are written piece by piece, and may be a file.
    table : Table, optional
        Table whose cells are written before the labels.
    more : mapping of str to ndarray, optional
        Columns of numbers or texts that are written after the labels.
    escape_formulas : bool, default False
        Whether cells of text that a spreadsheet would run as formulas get an apostrophe.
    """
    ending = Path(path).suffix.lower()
    columns: dict[str, Any] = {}
    for name, values in {"label": labels, **more}.items():
        while table is not None and name in table.names:  # the data may be the output of this command
            name += "_"
        columns[name] = values
    if ending in data.WRITERS:
        from clusterkit.tables import Column

        typed = [
            Column(name, "text" if values.dtype == object else "number", values) for name, values in columns.items()
        ]
        with replacing(path) as part:
            data.WRITERS[ending](part, [*(() if table is None else table.columns()), *typed])
    elif ending == ".npy":
        import numpy as np

        with replacing(path) as part, part.open("wb") as file:
            np.save(file, labels, allow_pickle=False)
    else:
        shown = without_formulas if escape_formulas else list
        names: list[str] = [*columns]
        rows: Iterator[Sequence[object]] = zip(*map(_cells, columns.values()), strict=True)
        if table is not None:
            names = [*shown(table.names), *names]
            rows = ((*shown(cells), *beside) for cells, beside in zip(table.cells(), rows, strict=True))
        write_table(path, chain([names], rows))


def _cells(values: AnyArray) -> Iterator[float | str]:
    """Numbers, and empty texts for gaps, of which a piece is in memory at once."""
    for start in range(0, len(values), data.WRITTEN_ROWS):
        for value in values[start : start + data.WRITTEN_ROWS].tolist():
            yield "" if value != value else value


def without_formulas(cells: Iterable[str]) -> list[str]:
    """Cells with an apostrophe before those that a spreadsheet would take for a formula; numbers are none.

    Examples
    --------
    >>> without_formulas(["=1+1", "-3.5", "-3,5", "@sum", "+49 30", "a=b", "-"])
    ["'=1+1", '-3.5', '-3,5', "'@sum", "'+49 30", 'a=b', '-']
    """
    from clusterkit.tables.cells.parsing import number

    return [
        f"'{cell}"
        if len(cell) > 1 and cell.startswith(FORMULAS) and number(cell, ".") is None and number(cell, ",") is None
        else cell
        for cell in cells
    ]


def check_picture(path: str | None) -> None:
    """Raise `BadInput` before the fit for a picture that could not be drawn after it."""
    if path is not None:
        check_ending(path, PICTURES, "a picture")
        need("matplotlib", "--plot", "plots")


def draw_picture(path: str, model: Pipeline | Driven, X: Array, names: Sequence[str], data: str, name: str) -> None:
    """Draw the contours of a domain with one or two coordinates, and the clusters of all other models.

    Parameters
    ----------
    path : str
        Path whose ending decides the format.
    model : fitted estimator
    X : ndarray of shape (n, d)
        The samples that the model was fitted on.
    names : sequence of str
        Names of the columns of X.
    data, name : str
        Data set and recipe, for the title.
    """
    from matplotlib.figure import Figure

    from clusterkit import plots
    from clusterkit.contracts.outcomes import Domain
    from clusterkit.plots.figure import SIZE, fit_height

    space, outcome = model.space_, model.outcome_
    has_border = isinstance(outcome, Domain) and space is not None and space.points.shape[1] <= MOST_COORDINATES
    function = plots.contours if has_border else plots.clusters
    figure = Figure(figsize=SIZE, layout="constrained")  # no pyplot: nothing global, no display
    ax = figure.subplots()
    function(model, X, ax=ax, names=names)
    ax.set_title(f"{Path(data).name}, recipe {name}\n" + ax.get_title(loc="left"), loc="left", fontsize=10.5)
    fit_height(ax)
    write_picture(path, figure)


def write_picture(path: str, figure: Figure) -> None:
    """Write a figure, the whole file or none; its ending decides the format."""
    with replacing(path) as part:
        figure.savefig(part, dpi=DOTS_PER_INCH, format=Path(path).suffix.lower().removeprefix("."))
