"""``clusterkit predict``: assign new rows to the clusters of a saved model; ``explain``: why they are there.

A file too large to be read at once is read piece by piece (`labels_by_pieces`).
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clusterkit.cli import data as source
from clusterkit.cli import fit, options, outputs
from clusterkit.cli.data import TableOptions
from clusterkit.cli.failures import BadInput
from clusterkit.cli.models import ModelFile, decimal_of, labels_of, rows_of
from clusterkit.errors import counted

if TYPE_CHECKING:
    from clusterkit._typing import Labels


@click.command(short_help="Assign new rows to the clusters of a saved model.")
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    default="-",
    help="File for the labels, as in `fit`.  [default: standard output]",
)
@outputs.beside_options
@options.device
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def predict(
    model_file: str,
    data: str,
    path: str,
    beside: outputs.BesideOptions,
    table_options: source.TableOptions,
    as_json: bool,
) -> None:
    """Assign the rows of DATA to the clusters of MODEL.

    MODEL is a file that `clusterkit fit --save`, or the method save of an estimator, wrote. It holds data only and
    runs no code.

    The rows are prepared as those of the fit were. Columns are matched by name, so their order does not matter and
    further columns are ignored. A table without names must have the same columns as the data of the fit. A file too
    large for the memory is read piece by piece.
    """
    from clusterkit.cli import console, models, summary
    from clusterkit.contracts.labelings import cluster_sizes

    outputs.check({"-o": path}, [model_file, data])
    large = fit.is_large(data)
    beside.check(path)
    if large:
        fit.check(beside.used())
    source.check(data)
    model = models.load(model_file)
    pipeline = model["pipeline"]
    reason = pipeline._why_not_inductive()
    if reason is not None:
        raise BadInput(f"{model_file} cannot label new rows: {reason}")
    to_stdout = path == outputs.STDOUT
    table, rows = None, None
    if large:
        labels = labels_by_pieces(model, data, table_options)
    else:
        table = table_options.open(data)
        rows = models.rows_of(model, table, table_options)
        labels = models.labels_of(model, rows)
    beside.write(path, labels, table, pipeline, rows)
    counts, n = cluster_sizes(labels), len(labels)
    noise = n - sum(counts.values())
    if as_json:
        facts = {"data": data, "model": model_file, "recipe": model["recipe"], "rows": n}
        console.as_json(
            {**facts, "sizes": counts, "noise": noise, "labels_file": None if to_stdout else path}, err=to_stdout
        )
    elif not to_stdout:
        console.heading(f"{data}: {counted(n, 'row')} labelled by {model_file} ({model['recipe']})")
        console.facts({"noise": f"{noise:,}" if noise else "none", "labels in": path})
        summary.show_sizes(counts, n, err=False)


@click.command(short_help="Say why rows are in the clusters of a saved model.")
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@click.option(
    "--row", "rows", type=click.IntRange(min=1), multiple=True, help="Only this row, from 1; may be repeated."
)
@source.options
def explain(model_file: str, data: str, rows: tuple[int, ...], table_options: source.TableOptions) -> None:
    """Say why rows of DATA are in their clusters of MODEL.

    For each row: its cluster and the next one, how certain that is, and the columns that decide, in the units of the
    table.
    """
    import numpy as np

    from clusterkit.cli import console, models
    from clusterkit.profiles import explain

    source.check(data)
    model, table = models.load(model_file), table_options.open(data)
    chosen = np.array(rows or range(1, table.n_rows + 1))
    if chosen.max() > table.n_rows:
        raise BadInput(f"--row {chosen.max()}: {data} has {counted(table.n_rows, 'row')}")
    answer = explain(model["pipeline"], models.rows_of(model, table.take(chosen - 1), table_options))
    for row, one in zip(chosen, answer.rows, strict=True):
        console.text(f"row {row}: {one.sentence}")


VARYING = re.compile(r"(?<!column )'(?:[^'\\]|\\.)*'|\d[\d,.]*|cells? (?:is|are)|rows?")
"""Parts that differ between warnings of one kind about several pieces: cells and numbers, but not the name of a
column."""


def labels_by_pieces(model: ModelFile, data: str, options: TableOptions) -> Labels:
    """The labels of the rows of a file with an ending of `clusterkit.cli.fit.ENDINGS`, which is read in pieces."""
    import numpy as np

    from clusterkit.tables.reading.chunks import TEXT_ENDINGS, table_chunks, text_form

    reading = options.reading()
    # if the file does not show its decimal mark, that of the fit is used
    if Path(data).suffix.lower() in TEXT_ENDINGS and text_form(data, **reading)[0].decimal is None:
        reading["decimal"] = decimal_of(model)
    once = _Once()
    parts: list[Labels] = []
    try:
        for table in table_chunks(data, **reading):
            with once:
                parts.append(labels_of(model, rows_of(model, table, options)))
    finally:
        once.warn()
    return np.concatenate(parts)


class _Once:
    """Collects the warnings about the rows of several pieces, of which those of one kind become one."""

    def __init__(self) -> None:
        self.kinds: dict[str, tuple[str, int]] = {}

    def __enter__(self) -> None:
        self._catching = warnings.catch_warnings(record=True)
        self._caught = self._catching.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, *failure: object) -> None:
        from clusterkit.tables import TableWarning

        self._catching.__exit__(None, None, None)
        for one in self._caught or ():
            if not issubclass(one.category, TableWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
                continue
            text = str(one.message)
            kind = VARYING.sub("", text)
            first, count = self.kinds.get(kind, (text, 0))
            self.kinds[kind] = first, count + 1

    def warn(self) -> None:
        """Warn of each kind once: the first warning, and how many there were."""
        from clusterkit.tables import TableWarning

        for text, count in self.kinds.values():
            others = count - 1
            more = f" (and likewise in {others:,} other piece{'s' * (others > 1)} of the file)" if others else ""
            warnings.warn(text + more, TableWarning, stacklevel=2)
