"""``clusterkit predict``: assign new rows to the clusters of a saved model."""

from __future__ import annotations

import click

from clusterkit.cli import by_rows, device, outputs
from clusterkit.cli import data as source
from clusterkit.cli import labels as output
from clusterkit.cli.failures import BadInput
from clusterkit.core.wording import counted

__all__ = ["predict"]


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
@click.option("--with-data", is_flag=True, help="Write the data too, with the labels as the last column.")
@output.escape_option
@click.option(
    "--allow-pickle", is_flag=True, help="Read a model of version 0.1 too. That runs any code that is in the file."
)
@device.option
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def predict(
    model_file: str,
    data: str,
    path: str,
    with_data: bool,
    escape_formulas: bool,
    allow_pickle: bool,
    table_options: source.TableOptions,
    as_json: bool,
) -> None:
    """Assign the rows of DATA to the clusters of MODEL.

    MODEL is a file that `clusterkit fit --save`, or the method save of an estimator, wrote. It holds data only and
    runs no code.

    The rows are prepared as those of the fit were. Columns are matched by name, so their order does not matter and
    further columns are ignored. A table without names must have the same columns as the data of the fit. A file too
    large for the memory is read piece by piece, and its labels are written as they come.
    """
    from clusterkit.cli import console, models, predict_pieces, summary
    from clusterkit.core.labelings import cluster_sizes

    outputs.check({"-o": path}, [model_file, data])
    large = by_rows.is_large(data)
    output.check(path, with_data=with_data, escape_formulas=escape_formulas)
    if large:
        by_rows.check(with_data=with_data, picture=None)
        predict_pieces.check(path)
    source.check(data)
    model = models.load(model_file, allow_pickle=allow_pickle)
    pipeline = model["pipeline"]
    reason = pipeline.why_not_inductive()
    if reason is not None:
        raise BadInput(f"{model_file} cannot label new rows: {reason}")
    to_stdout = path == output.STDOUT
    if large:
        counts, noise = predict_pieces.predict(model, data, table_options, path)
    else:
        table, _ = table_options.open(data)
        labels = models.labels_of(model, table, table_options.chosen(table))
        output.write(path, labels, table if with_data else None, escape_formulas=escape_formulas)
        counts = cluster_sizes(labels)
        noise = len(labels) - sum(counts.values())
    n = noise + sum(counts.values())
    if as_json:
        facts = {"data": data, "model": model_file, "recipe": model["recipe"], "rows": n}
        console.as_json(
            {**facts, "sizes": counts, "noise": noise, "labels_file": None if to_stdout else path}, err=to_stdout
        )
    elif not to_stdout:
        console.heading(f"{data}: {counted(n, 'row')} labelled by {model_file} ({model['recipe']})")
        console.facts({"noise": f"{noise:,}" if noise else "none", "labels in": path})
        summary.show_sizes(counts, n, err=False)
