"""``clusterkit search``: choose the parameters of a recipe without known classes."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import click

from clusterkit.cli import data as source
from clusterkit.cli import early, options, outputs
from clusterkit.cli import picture as plot
from clusterkit.cli.failures import INTERRUPTED, BadInput
from clusterkit.cli.options import NUMBER, check_number, estimator, parsed
from clusterkit.errors import counted

if TYPE_CHECKING:
    from clusterkit.contracts.arguments import NumberLike

__all__ = ["search"]

MOST_ROWS = 20
"""Number of candidates in the printed table."""

MOST_TIES = 3
"""Number of ties that the summary names."""

SCORES = ("auto", "anmi", "ami", "stability", "silhouette", "dbcv", "evidence", "objective")
"""Scores of `clusterkit.search`."""

EPILOG = """\b
Examples:
  clusterkit search customers.csv --recipe kmeans -k 2-6 --score silhouette
  clusterkit search points.csv --recipe emmc -k 2 --grid solver.df=6,12,25 --score stability -o labels.csv
  clusterkit search points.tsv --recipe svc --grid featuremap.gamma=1,4,16 --grid solver.nu=0.05,0.2 \\
      --score dbcv --table scores.csv --plot scores.png -j 2
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""


@click.command(epilog=EPILOG, short_help="Choose parameters without known classes.")
@click.argument("data")
@click.option(
    "-r", "--recipe", "name", default="emmc", show_default=True, help="Algorithm; `clusterkit recipes` lists them."
)
@click.option(
    "--grid",
    "axes",
    multiple=True,
    metavar="SLOT.PARAM=VALUE,VALUE,...",
    help="Values to try; several --grid are combined in every way. A chain of maps is written in brackets.",
)
@click.option(
    "--score",
    type=click.Choice(SCORES),
    default="auto",
    show_default=True,
    help="Score that ranks the candidates; higher is better, except for objective.",
)
@click.option(
    "-k",
    "--clusters",
    type=NUMBER,
    help="Number of clusters, or a range to try, such as 2-8; leave out if the recipe finds it or the grid has it.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="SLOT.PARAM=VALUE", help="Fix a parameter for all candidates."
)
@click.option(
    "--noise",
    type=click.Choice(["cluster", "singletons", "exclude"]),
    help="How the score treats noise rows (label -1).",
)
@click.option(
    "--keep-all", is_flag=True, help="Also score candidates with one cluster or with more than sqrt(n) clusters."
)
@click.option(
    "-j",
    "--jobs",
    type=int,
    default=1,
    show_default=True,
    help="Number of fits at the same time; -1 uses all processors.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="How rows are compared, by the fits and by the score: euclidean, cosine or haversine, as in `fit`.  [default: "
    "that of the recipe]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@click.option("-o", "--output", "path", metavar="FILE", help="File for the labels of the best candidate, as in `fit`.")
@click.option(
    "--table",
    "scores",
    metavar="FILE",
    help="File for the table of all candidates: .csv .tsv (.gz); - is standard output.",
)
@click.option("--plot", "picture", metavar="FILE", help="File for a picture of the scores: .png .pdf .svg.")
@options.options
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def search(
    data: str,
    name: str,
    axes: tuple[str, ...],
    score: str,
    clusters: NumberLike,
    settings: tuple[str, ...],
    noise: str | None,
    keep_all: bool,
    jobs: int,
    metric: str | None,
    seed: int,
    path: str | None,
    scores: str | None,
    picture: str | None,
    table_options: source.TableOptions,
    preparation: options.PreparationOptions,
    as_json: bool,
) -> None:
    """Fit DATA with every combination of the values of --grid and print which is best, without known classes.

    Scores: auto is the criterion of recipe auto, for clusters of any shape and number; it tells ties, how sure the
    answer is, and whether there may be one cluster only. anmi and ami measure the agreement with an ensemble of k-means
    clusterings, stability the agreement of fits to parts of the rows, silhouette the separation of round clusters, dbcv
    that of clusters of any shape. evidence is how much more likely the columns that matter are with the clusters; auto
    means it where all candidates take the columns of tables as they are. objective compares only candidates that differ
    in the start.

    After Ctrl-C the best candidate so far is printed and the exit code is 130.
    """
    source.check(data)
    outputs.check({"-o": path, "--table": scores, "--plot": picture}, [data])
    outputs.check_labels(path)
    if scores is not None and outputs.text_table(scores) is None:
        raise BadInput(f"{scores}: the table can be .csv, .tsv, .txt (each also .gz)")
    if outputs.STDOUT == path == scores:
        raise BadInput("standard output (-) takes either the labels or the table")
    plot.check(picture)
    grid = _grid(axes)
    if "n_clusters" in grid and clusters is not None:
        raise BadInput("-k and --grid n_clusters: use one of them")
    if clusters == "auto":
        raise BadInput("search compares the numbers that it is given: write a range, such as -k 2-8")
    if isinstance(clusters, tuple):
        grid["n_clusters"] = list(range(clusters[0], clusters[1] + 1))
        clusters = None
    if not grid:
        raise BadInput("nothing to search: give values with --grid SLOT.PARAM=VALUE,VALUE, or -k 2-8")
    early.check(data, name, settings)
    model = estimator(name, clusters, seed, settings, metric)
    preparation = preparation.of_metric(metric)
    known = model.get_params()  # the search tells the nearest of them
    varied = any(key not in known or key.split("__")[0] in ("labeler", "solver") for key in grid)
    check_number(name, model, grid.get("n_clusters", [clusters])[0], varied=varied)
    table = table_options.open(data)
    from clusterkit.estimators.preparing import prepared_for, stages_of_tables
    from clusterkit.estimators.search import search as run

    spec = preparation.spec(table, table_options)
    fitted = prepared_for(model, table, spec)
    as_it_is = stages_of_tables(model) is not None
    X: Any = table if as_it_is else fitted.transform(table, quiet=True)
    began = time.perf_counter()
    ranking = run(
        model, grid, X, score, n_jobs=jobs, random_state=seed, noise=noise, exclude=not keep_all,
        refit=False, verbose=True, preparation=spec if as_it_is else None,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    if path is not None and path != outputs.STDOUT:
        outputs.write(path, ranking.best_labels)
    if scores is not None and scores != outputs.STDOUT:
        outputs.write_table(scores, _cells(ranking))
    if picture is not None:
        _draw(picture, ranking)
    to_stderr = outputs.STDOUT in (path, scores)
    _show(ranking, data, name, fitted, seconds, as_json=as_json, err=to_stderr)
    if path == outputs.STDOUT:
        outputs.write(path, ranking.best_labels)
    if scores == outputs.STDOUT:
        outputs.write_table(scores, _cells(ranking))
    if ranking.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _grid(axes: tuple[str, ...]) -> dict[str, list[Any]]:
    """The values to try, by nested name."""
    grid: dict[str, list[Any]] = {}
    for axis in axes:
        key, sign, words = axis.partition("=")
        name = key.strip().replace(".", "__")
        if not sign or not name or not words.strip():
            raise BadInput(f"--grid {axis!r}: write SLOT.PARAMETER=VALUE,VALUE, for example solver.C=1,10")
        if name in grid:
            raise BadInput(f"--grid has {key.strip()!r} twice; write all its values after one =")
        grid[name] = [parsed([f"{name}={word}"])[name] for word in _split(words)]
    return grid


def _split(words: str) -> list[str]:
    """The words between commas that are outside brackets.

    Examples
    --------
    >>> _split("elm,[zscore,rbf], 3")
    ['elm', '[zscore,rbf]', '3']
    """
    parts, depth = [""], 0
    for letter in words:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise BadInput(f"--grid: brackets do not match in {words!r}")
    return [part.strip() for part in parts]


def _show(ranking: Any, data: str, name: str, fitted: Any, seconds: float, *, as_json: bool, err: bool) -> None:
    from clusterkit.cli import console
    from clusterkit.contracts.labelings import cluster_sizes

    best = ranking.candidates[ranking.best_index]
    if as_json:
        facts = {
            "data": data, "recipe": name, "score": ranking.score, "best_params": ranking.best_params,
            "best_score": ranking.best_score, "n_clusters": best.n_clusters,
            "sizes": cluster_sizes(ranking.best_labels), "noise": best.n_noise, "distinct": len(ranking.distinct),
            "tied_with": [ranking.candidates[i].params for i in ranking.ties], **ranking.facts,
            "interrupted": ranking.interrupted, "seconds": round(seconds, 3),
            "preparation": fitted.resolved(), "table": ranking.table,
        }  # fmt: skip
        console.as_json(facts, err=err)
        return
    chosen = _words(ranking.best_params)
    console.heading(f"{data}: {ranking.score} {ranking.best_score:.4g} with {chosen}", err=err)
    statuses = [candidate.status for candidate in ranking.candidates]
    counts = [f"{statuses.count(status)} {status}" for status in ("scored", "excluded", "failed", "not run")]
    scored, n_distinct = statuses.count("scored"), len(ranking.distinct)
    if n_distinct < scored:
        counts[0] += f" ({n_distinct} distinct)"
    facts = {
        "prepared": fitted.paragraph(options=True),
        "candidates": ", ".join(count for count in counts if not count.startswith("0 ")),
        "clusters": str(best.n_clusters),
        "noise": f"{best.n_noise:,}" if best.n_noise else "none",
        **_judgement(ranking),
        "time": f"{seconds:.2f} s",
    }
    console.facts(facts, err=err)
    console.text(err=err)
    varied = ranking.varied or list(ranking.best_params)
    sign = 1.0 if ranking.lower_is_better else -1.0
    ranked = sorted(ranking.candidates, key=lambda c: math.inf if math.isnan(c.score) else sign * c.score)
    rows = [
        [
            *(console.number(candidate.params.get(key)) for key in varied),
            "–" if math.isnan(candidate.score) else f"{candidate.score:.4f}",
            "–" if candidate.n_clusters < 0 else str(candidate.n_clusters),
            "–" if candidate.n_noise < 0 else str(candidate.n_noise),
            f"{candidate.status}: {candidate.reason}"
            if candidate.status in ("excluded", "failed")
            else candidate.reason or candidate.status,
        ]
        for candidate in ranked[:MOST_ROWS]
    ]
    console.table([*varied, ranking.score, "clusters", "noise", "status"], rows, err=err)
    if len(ranked) > MOST_ROWS:
        console.text(f"and {len(ranked) - MOST_ROWS} more; --table writes all of them", err=err)


def _judgement(ranking: Any) -> dict[str, str]:
    """Lines on what else may be right: ties, and what the score "auto" reports."""
    lines = {}
    tied = [_words(ranking.candidates[i].params) for i in ranking.ties]
    if tied:
        more = f"; and {len(tied) - MOST_TIES} more" if len(tied) > MOST_TIES else ""
        lines["tied with"] = "; ".join(tied[:MOST_TIES]) + more
    facts = ranking.facts
    if "compared_in" in facts:
        lines["compared in"] = facts["compared_in"]
        lines["confidence"] = (
            "none: there is nothing to compare a single candidate with"
            if math.isnan(facts["confidence"])
            else f"{facts['confidence']:.2f} in the structure, which need not be your classes"
        )
    if "second_n_clusters" in facts:
        lines["second number"] = counted(facts["second_n_clusters"], "cluster")
    if facts.get("perhaps_one_cluster"):
        lines["perhaps one"] = "the tests show no more than one cluster"
    return lines


def _words(params: Any) -> str:
    """Parameters of a candidate on one line."""
    from clusterkit.cli import console

    return ", ".join(f"{key}={console.number(value)}" for key, value in params.items())


def _cells(ranking: Any) -> list[list[Any]]:
    """The table of all candidates, with its header; a missing score is empty."""
    table = ranking.table
    rows = [["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row.values()] for row in table]
    return [list(table[0]), *rows]


def _draw(path: str, ranking: Any) -> None:
    from matplotlib.figure import Figure

    from clusterkit import plots
    from clusterkit.plots.figure import SIZE

    figure = Figure(figsize=SIZE, layout="constrained")
    plots.search_curve(ranking, ax=figure.subplots())
    plot.write(path, figure)
