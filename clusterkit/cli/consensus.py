"""``clusterkit consensus``: combine several labellings into one."""

from __future__ import annotations

import time
from typing import Any

import click

from clusterkit.cli import data as source
from clusterkit.cli import outputs
from clusterkit.cli.failures import BadInput
from clusterkit.errors import counted

__all__ = ["consensus"]

COLUMN = "label"
"""The column of labels that ``clusterkit fit -o`` writes."""

EPILOG = """\b
Examples:
  clusterkit consensus a.csv b.csv c.csv -o labels.csv
  clusterkit consensus members.csv --method coassociation -k 3 --set linkage=single -o labels.csv
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""


@click.command(epilog=EPILOG, short_help="Combine several labellings into one.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "-m",
    "--method",
    default="diclens",
    show_default=True,
    help="Consensus function; `clusterkit stages consensus` lists them.",
)
@click.option("-k", "--clusters", type=click.IntRange(min=1), help="Number of clusters, if the method needs it.")
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    default="-",
    help="File for the labels, as in `fit`.  [default: standard output]",
)
@click.option("--set", "settings", multiple=True, metavar="PARAM=VALUE", help="Change a parameter of the method.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed, for methods that draw at random.",
)
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def consensus(
    files: tuple[str, ...],
    method: str,
    clusters: int | None,
    path: str,
    settings: tuple[str, ...],
    seed: int,
    table_options: source.TableOptions,
    as_json: bool,
) -> None:
    """Combine the labellings in FILES into one.

    Each file contributes its column `label`, as `clusterkit fit -o` writes it. If it has no such column, every column
    is a labelling; --columns and --drop choose others. Labels are whole numbers from 0; -1 marks noise, rows about
    which a labelling says nothing. All files must have the same rows in the same order.
    """
    for file in files:
        source.check(file)
    from clusterkit import metrics
    from clusterkit.cli import console, summary
    from clusterkit.cli.options import parsed
    from clusterkit.consensus import combine
    from clusterkit.contracts.labelings import cluster_sizes
    from clusterkit.contracts.registry import registry

    outputs.check({"-o": path}, files)
    outputs.check_labels(path)
    try:
        stage = registry.get("consensus", method)().with_parameters(**parsed(settings))
    except ValueError as error:
        raise BadInput(f"--set {' '.join(settings)}: {error}" if settings else str(error)) from error
    members, names = _members(files, table_options)
    began = time.perf_counter()
    labels = combine(members, stage, n_clusters=clusters, random_state=seed, names=names)
    seconds = time.perf_counter() - began
    counts = cluster_sizes(labels)
    agreement = metrics.anmi(labels, members)
    to_stdout = path == outputs.STDOUT
    if not to_stdout:
        outputs.write(path, labels)
    facts: dict[str, Any] = {
        "members": names,
        "method": method,
        "parameters": stage.parameters(),
        "rows": len(labels),
        "n_clusters": len(counts),
        "sizes": counts,
        "noise": len(labels) - sum(counts.values()),
        "agreement": agreement,
        "seconds": round(seconds, 3),
        "labels_file": None if to_stdout else path,
    }
    if as_json:
        console.as_json(facts, err=to_stdout)
    else:
        console.heading(
            f"{counted(len(counts), 'cluster')} by {method} of {counted(len(names), 'labelling')}", err=to_stdout
        )
        shown = {
            "rows": f"{len(labels):,}",
            "agreement": f"{agreement:.3f} (mean normalised mutual information with them)",
            "noise": f"{facts['noise']:,}" if facts["noise"] else "none",
            "time": f"{seconds:.2f} s",
            "labels in": "" if to_stdout else path,
        }
        console.facts(shown, err=to_stdout)
        summary.show_sizes(counts, len(labels), err=to_stdout)
    if to_stdout:
        outputs.write(path, labels)


def _members(files: tuple[str, ...], table_options: source.TableOptions) -> tuple[list[Any], list[str]]:
    """The label vectors in the files, and a name for each."""
    members: list[Any] = []
    names: list[str] = []
    for file in files:
        opened = table_options.open(file)
        chosen = table_options.chosen(opened.names, opened.title)
        if not table_options.columns and opened.named and COLUMN in opened.names:
            chosen = [list(opened.names).index(COLUMN)]
        table = opened.pick(chosen)
        members += list(table.numbers().T)
        names += [file] if len(chosen) == 1 else [f"{file}, column {name}" for name in table.names]
    return members, names
