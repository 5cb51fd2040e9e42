"""``clusterkit predict``: new rows to the clusters of a saved model."""

from __future__ import annotations

import click

from clusterkit.cli import data as source
from clusterkit.cli import labels as output
from clusterkit.cli.failures import BadInput

__all__ = ["predict"]


@click.command(short_help="Label new rows by a saved model.")
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@click.option("-o", "--output", "path", metavar="FILE", default="-", help="As in `fit`.  [default: standard output]")
@click.option("--with-data", is_flag=True, help="Write the labels as a last column of the data.")
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def predict(model_file: str, data: str, path: str, with_data: bool, reading: source.Reading, as_json: bool) -> None:
    """Label the rows of DATA by a MODEL that `clusterkit fit --save` wrote.

    Columns are found by name, so their order does not matter and further columns are passed over; tables
    without names must have the columns of the fit. A model file runs code when it is read: use those you
    trust.
    """
    from clusterkit.cli import console, models, summary

    output.check(path, with_data=with_data)
    model = models.load(model_file)
    pipeline = model["pipeline"]
    reason = pipeline.why_not_inductive()
    if reason is not None:
        raise BadInput(f"{model_file} cannot label new rows: {reason}")
    opened, _ = reading.open(data)
    chosen = models.matched(model, opened, reading.chosen(opened))
    table = source.read(opened, chosen, keep_rows=with_data)
    labels = pipeline.predict(table.data)
    to_stdout = path == output.STDOUT
    output.write(path, labels, table if with_data else None)
    counts = summary.sizes(labels)
    noise = len(labels) - sum(counts.values())
    if as_json:
        facts = {"data": data, "model": model_file, "recipe": model["recipe"], "rows": len(labels)}
        console.as_json(
            {**facts, "sizes": counts, "noise": noise, "labels_file": None if to_stdout else path}, err=to_stdout
        )
    elif not to_stdout:
        console.heading(f"{data}: {len(labels):,} rows labelled by {model_file} ({model['recipe']})")
        console.facts({"noise": f"{noise:,}" if noise else "none", "labels in": path})
        summary.show_sizes(counts, len(labels), err=False)
