"""``clusterkit fit``: cluster the rows of a table.

A table is read into memory (`_of_table`), or if its file is too large for that, block by block (`_of_blocks`); what
follows is the same for both.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import click

from clusterkit.cli import data as source
from clusterkit.cli import early, options, outputs, report
from clusterkit.cli.failures import INTERRUPTED, BadInput
from clusterkit.cli.options import NUMBER, check_number, estimator

if TYPE_CHECKING:
    from clusterkit.cli.data import TableOptions
    from clusterkit.contracts.arguments import NumberLike
    from clusterkit.contracts.links import Links
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.samples.rows import Rows
    from clusterkit.tables import Preparation, Table

SHARE = 3
"""Files whose numbers would take more than this fraction, 1 / 3, of the memory cap are read block by block."""

ENDINGS = (".npy", ".parquet", ".pq", ".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
"""Files that can be read block by block; text is parsed once into a temporary file of numbers."""

HEAPS = 2
"""Number of heaps of a command that reads a file block by block: large arrays are few, so that threads seldom wait for
one."""

M_ARENA_MAX = -8
"""The number of the setting in `mallopt` of the GNU C library."""


def is_large(data: str) -> bool:
    """Whether a file is too large to be read at once, and has an ending of `ENDINGS`."""
    path = Path(data)
    if path.suffix.lower() not in ENDINGS or not path.is_file():
        return False
    from clusterkit.samples import memory

    allowed = memory.cap() // SHARE
    if path.suffix.lower() == ".npy":
        if path.stat().st_size <= allowed // 2:  # float32 may become float64
            return False
        from clusterkit.tables.reading.opening import NpyRows

        rows = NpyRows.of(data)
        return 8 * rows.n * rows.d > allowed
    if path.suffix.lower() not in (".parquet", ".pq"):
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        return not compressed and path.stat().st_size > allowed  # the text itself would be in memory too
    _reserve_nothing()
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_metadata
    except ImportError:
        return False
    try:
        footer = read_metadata(data)
    except (ArrowException, OSError):  # the reader of the table reports the error
        return False
    return 8 * footer.num_rows * footer.num_columns > min(allowed, memory.unpacked_cap())


def _reserve_nothing() -> None:
    """Let pyarrow take memory as it needs it, unless its environment variable says otherwise.

    Its own allocator reserves 1 GiB with the first byte. Under a limit of memory, OpenBLAS then finds no room for its
    buffers, and tries again without end. The variable is read when pyarrow is imported, and is this command's own.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def _share_heaps() -> None:
    """Let the threads of the command share `HEAPS` heaps; does nothing with other C libraries than that of GNU.

    Each pass starts threads, and each may get a heap of its own, which keeps freed memory for later threads.
    """
    if sys.platform == "linux":
        allocator = ctypes.CDLL(None)
        if hasattr(allocator, "mallopt"):
            allocator.mallopt(M_ARENA_MAX, HEAPS)


def rows_of(data: str, options: TableOptions) -> Rows:
    """The rows of a file that is too large to be read at once.

    Parameters
    ----------
    data : str
        The DATA argument.
    options : TableOptions
        Columns to use or to leave out, and how a text is read.
    """
    from clusterkit.tables import NotNumeric
    from clusterkit.tables.reading.opening import NpyRows

    _share_heaps()
    path = Path(data)
    if path.suffix.lower() == ".npy":
        if options.columns or options.drop:
            raise BadInput(f"{data} is too large to be read at once, and its columns have no names to choose from")
        return NpyRows.of(data)
    try:
        return _parquet(data, options) if path.suffix.lower() in (".parquet", ".pq") else _spooled(data, options)
    except NotNumeric as error:
        raise BadInput(
            f"{error} The file is read block by block, because it is too large, and takes columns of numbers only: "
            f"--drop {','.join(error.columns)}"
        ) from error


def _parquet(data: str, options: TableOptions) -> Rows:
    """The rows of a Parquet file."""
    from pyarrow.parquet import read_schema

    from clusterkit.tables.reading.opening import ParquetRows

    names = read_schema(data).names
    return ParquetRows.of([data], [names[j] for j in options.chosen(names, data)])


def _spooled(data: str, options: TableOptions) -> Rows:
    """The numbers of a text, in a temporary file."""
    from clusterkit.tables.cells.column_names import check_distinct
    from clusterkit.tables.reading.chunks import text_form
    from clusterkit.tables.reading.opening import spooled_text

    reading = options.reading()
    form, _ = text_form(data, **reading)
    chosen = [form.names[j] for j in options.chosen(form.names, data)]
    check_distinct(chosen, form.shared, form.names, data)
    return spooled_text([data], chosen, **reading)


def fits(model: object) -> TypeGuard[Pipeline]:
    """Whether an estimator can be fitted to rows that are read block by block."""
    from clusterkit.errors import NeedsClusters
    from clusterkit.estimators.pipeline import Pipeline
    from clusterkit.fitting.device_paths import row_problems

    if not isinstance(model, Pipeline):
        return False
    try:
        composition = model.composition()
        return model.tuner is None and not list(row_problems(composition))
    except NeedsClusters:  # the fit says so
        return True


class _Task(NamedTuple):
    """Rows to fit to.

    Parameters
    ----------
    fit : callable
        Fits the model, and gives the rows as a picture takes them.
    named : bool
        Whether the columns have names.
    table, whole : Table or None
        The table that was fitted, and all columns, for ``--with-data``; None if the rows are not in memory.
    notes : sequence of str
        Notices about the rows, for the summary.
    facts : callable
        Of what ``fit`` gave, entries of the summary.
    """

    fit: Callable[[], Any]
    named: bool
    table: Table | None
    whole: Table | None
    notes: Sequence[str]
    facts: Callable[[Any], dict[str, object]]


def _of_blocks(
    data: str,
    model: Any,
    table_options: TableOptions,
    preparation: options.PreparationOptions | None,
    cache: str | None,
) -> _Task:
    """A file that is read block by block; without a preparation its columns are numbers, and taken as they are."""
    from clusterkit.drivers.compose import is_open
    from clusterkit.estimators.mixed_blocks import fit_blocks
    from clusterkit.estimators.same_place import shown
    from clusterkit.tables.reading.chunks import table_chunks
    from clusterkit.tables.reading.opening import cached

    reading = table_options.reading()
    note: str | None = "numbers and codes in a temporary file"
    if preparation is None:
        rows = rows_of(data, table_options)
        if is_open(getattr(model, "n_clusters", None)):
            raise BadInput(
                f"-k auto and ranges compare fits of all rows in memory, and {data} is read block by block, because it "
                "is too large. Give one number with -k N, or choose it on a part of the rows"
            )
        note, named, width = None, rows.names is not None, rows.d
        if cache is not None:
            model.composition()  # a missing number of clusters is said before rows are copied
            with shown(True):
                rows, note = cached(rows, cache), f"from their copy in {cache}"

        def fit() -> None:
            model.fit(rows)

    else:
        first = next(table_chunks(data, **reading))
        named, spec, width = first.named, preparation.spec(first, table_options), 0

        def fit() -> None:
            fit_blocks(model, lambda: table_chunks(data, **reading), spec)

    def facts(_: None) -> dict[str, object]:
        columns = width or len(model.preparation_.names_of_codes)
        return {
            "read": "block by block",
            "copy": note,
            "doubts": None,  # doubts need all rows in memory
            "bytes": 8 * len(model.labels_) * columns,
        }

    return _Task(fit, named, None, None, (), facts)


def _of_table(
    data: str,
    model: Any,
    table_options: TableOptions,
    preparation: options.PreparationOptions,
    clusters: NumberLike,
    metric: str | None,
    links_file: str | None,
    seeds_of: str | None,
) -> _Task:
    """A table in memory, with what is known about its rows."""
    import attrs

    from clusterkit.estimators.preparing import fit_prepared
    from clusterkit.profiles.doubts import doubts

    whole = table = table_options.open(data)
    seeds: Any = None
    names: Sequence[str] = ()
    notes = table.notes
    if seeds_of is not None:
        seeds, names, table = _seeds(table, seeds_of, clusters if isinstance(clusters, int) else None)
        if names:
            notes = (*notes, "numbers of the seeds: " + ", ".join(f"{j} {name}" for j, name in enumerate(names)))
    links = None if links_file is None else _links(links_file, table.n_rows)
    spec = preparation.spec(table, table_options)
    if metric == "precomputed":
        spec = _of_pairs(spec, table)
    elif metric == "haversine":
        spec = attrs.evolve(spec, keep=tuple(name for name in table.names if name not in spec.drop))

    def fit() -> Any:
        X = fit_prepared(model, table, spec, links, seeds)
        if names:
            present = set(model.labels_.tolist())
            model.rename({j: name for j, name in enumerate(names) if j in present})
        return X

    return _Task(fit, table.named, table, whole, notes, lambda X: {"doubts": doubts(model, table, X).sentences})


def check(options: Mapping[str, object]) -> None:
    """Raise `BadInput` for options that need all rows at once, by their values, for a file read block by block."""
    if used := [name for name, value in options.items() if value]:
        raise BadInput(f"{used[0]} needs all rows in memory; the file is read block by block, because it is too large")


EPILOG = """\b
Examples:
  clusterkit fit customers.xlsx -o labels.csv --save customers.clusterkit
  clusterkit fit customers.csv -k 4 --drop notes --as-category zip -o labels.csv
  clusterkit fit customers.csv --recipe kmeans -k 2-8 --report page.html
  clusterkit fit digits.csv --recipe emmc -k 10
  clusterkit fit points.tsv --recipe svc --set featuremap.gamma=2 --plot points.png
  clusterkit fit wine.csv -k 3 --json
  cat points.csv | clusterkit fit - -k 2 -o - > labels.csv
"""
"""Examples below the help; the backspace keeps click from rewrapping them."""


@click.command(epilog=EPILOG, short_help="Cluster the rows of a table.")
@click.argument("data")
@click.option(
    "-r",
    "--recipe",
    "name",
    help="Algorithm; `clusterkit recipes` lists them.  [default: auto]",
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
@outputs.beside_options
@click.option(
    "--report",
    "page",
    metavar="FILE",
    help="File for a page about this clustering, as `clusterkit report` writes it: .html.",
)
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
@click.option("--set", "settings", multiple=True, metavar="SLOT.PARAM=VALUE", help="Change a stage or a parameter.")
@options.device
@click.option(
    "--links",
    "links_file",
    metavar="FILE",
    help="Pairs of rows that are in one cluster, or in two: a table with the numbers of two rows, counted from 1, 1 "
    "or -1 in each line.",
)
@click.option(
    "--seeds",
    "seeds_of",
    metavar="COLUMN",
    help="Column with the known clusters of some rows, as numbers from 0 or as names, empty where not known; it is no "
    "attribute then.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="How rows are compared: euclidean; cosine, for embeddings of texts and images; haversine, for latitude and "
    "longitude in degrees; precomputed, for a square table of distances, or of a kernel. With the last three, columns "
    "are not scaled.  [default: that of the recipe]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
@options.options
@source.options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def fit(
    data: str,
    name: str | None,
    clusters: NumberLike,
    path: str | None,
    beside: outputs.BesideOptions,
    page: str | None,
    save: str | None,
    picture: str | None,
    cache: str | None,
    settings: tuple[str, ...],
    links_file: str | None,
    seeds_of: str | None,
    metric: str | None,
    seed: int,
    table_options: source.TableOptions,
    preparation: options.PreparationOptions,
    as_json: bool,
) -> None:
    """Cluster the rows of DATA and print a summary.

    DATA is a CSV, TSV, Excel, Parquet or NPY file (CSV and TSV may be compressed: .gz, .bz2, .xz,
    .zip), or - for CSV on standard input. Columns are prepared: gaps,
    categories, dates and units; the options --as-category to --gaps decide otherwise. A file too large for the memory
    is read block by block, if the recipe can be fitted so (text after it was parsed once into a temporary file); its
    columns are used as they are. The recipes auto and mixture take such files with categories and gaps: auto clusters a
    sample, from which all rows have their labels; mixture finds roles and number on one, and then uses all rows.

    Labels are whole numbers from 0; -1 marks noise. After Ctrl-C the best labels so far are written and the
    exit code is 130.
    """
    from clusterkit.cli import models, summary
    from clusterkit.cli.failures import watching
    from clusterkit.errors import NeedsClusters
    from clusterkit.estimators.same_place import shown

    outputs.check({"-o": path, "--save": save, "--plot": picture, "--cache": cache, "--report": page}, [data])
    outputs.check_ending(cache, (".npy",), "a copy of rows")
    beside.check(path)
    models.check(save)
    outputs.check_picture(picture)
    name = early.check(data, name, settings)
    report.check(page)
    large = is_large(data)
    model: Any = estimator(name, clusters, seed, settings, metric)
    preparation = preparation.of_metric(metric)
    if clusters is not None:
        check_number(name, model, clusters)
    takes_tables = large and _takes_tables(model)
    large = large and (takes_tables or fits(model))
    if large:
        check(beside.used() | {"--plot": picture, "--report": page, "--links": links_file, "--seeds": seeds_of})
    elif cache is not None:
        raise BadInput("--cache is for files that are read block by block; this one is read at once")
    try:
        if large:
            task = _of_blocks(data, model, table_options, preparation if takes_tables else None, cache)
        else:
            task = _of_table(data, model, table_options, preparation, clusters, metric, links_file, seeds_of)
        began = time.perf_counter()
        with watching() as interrupt, shown(True):
            X = task.fit()
    except NeedsClusters as error:
        way_out = "" if large else ", or let it be chosen with -k auto"
        raise BadInput(f"{error}. Give it with -k N{way_out}.") from error
    seconds = time.perf_counter() - began
    chooses = "criterion_of_number" in model.resolved_.get("solver", {})
    if isinstance(clusters, tuple) and not chooses and not hasattr(model, "candidates_"):
        _tell_of_range(name)

    def write() -> None:
        beside.write(str(path), model.labels_, task.whole, model, task.table)

    # files come first, because printing the summary may fail (a closed pipe)
    if path is not None and path != outputs.STDOUT:
        write()
    if save is not None:
        models.save(save, model, name, named=task.named)
    drawn = _made(
        picture, lambda: outputs.draw_picture(str(picture), model, X, model.preparation_.features, data, name)
    )
    written = _made(page, lambda: report.write(str(page), data, task.table, model=model, seed=seed))
    interrupted = interrupt.pressed or model.interrupted_ or not (drawn and written)
    facts = summary.of_fit(data, name, model, seconds, task.notes) | task.facts(X)
    facts |= {
        "interrupted": interrupted,
        "labels_file": path,
        "model_file": save,
        "plot_file": picture if drawn else None,
        "report_file": page if written else None,
    }
    summary.show(facts, as_json=as_json, err=path == outputs.STDOUT)
    if path == outputs.STDOUT:
        write()
    if interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def _takes_tables(model: Any) -> bool:
    """Whether an estimator takes the columns of a table that is read block by block."""
    from clusterkit.estimators.auto import Auto
    from clusterkit.estimators.preparing import stages_of_tables

    return isinstance(model, Auto) or stages_of_tables(model) is not None


def _of_pairs(spec: Preparation, table: Table) -> Preparation:
    """The preparation of a matrix of pairs: all columns of numbers are used as they are, names of rows are left out.

    Raises
    ------
    BadInput
        If there are not as many columns of numbers as rows.
    """
    import attrs

    numbers = tuple(
        column.name for column in table.columns() if column.kind == "number" and column.name not in spec.drop
    )
    if len(numbers) != table.n_rows:
        raise BadInput(
            f"--metric precomputed: {table.title} is to have a column of numbers for each of its {table.n_rows} rows, "
            f"and there are {len(numbers)}; --drop leaves columns out"
        )
    gap = next((its.name for its in table.columns() if its.name in numbers and its.missing().any()), None)
    if gap is not None:
        raise BadInput(
            f"--metric precomputed: column {gap!r} has a gap, and a matrix of pairs has a value for each pair"
        )
    others = tuple(name for name in table.names if name not in numbers and name not in spec.drop)
    return attrs.evolve(spec, as_number=numbers, keep=numbers, drop=(*spec.drop, *others), scale="none", gaps="typical")


def _links(path: str, n: int) -> Links:
    """The links of a file, in which rows are counted from 1."""
    import attrs

    from clusterkit.contracts.links import Links
    from clusterkit.tables import read_table

    source.check_file(path)
    table = read_table(path)
    if len(table.names) != 3:
        raise BadInput(
            f"--links {path}: a table of links has three columns, the numbers of two rows and 1 or -1; this one has "
            f"{len(table.names)}"
        )
    rows = table.numbers()
    for line, (one, other, sign) in enumerate(rows.tolist()):
        for number in (one, other):
            if number != int(number) or not 1 <= number <= n:
                raise BadInput(f"--links {path}: {table.line_of(line)} names row {number:g}; rows are counted 1..{n}")
        if sign not in (1, -1):
            raise BadInput(
                f"--links {path}: {table.line_of(line)} has the sign {sign:g}; it is 1 for one cluster, -1 for two"
            )
    pairs = [(int(one) - 1, int(other) - 1, int(sign)) for one, other, sign in rows.tolist()]
    return attrs.evolve(Links.of(pairs, n), names=range(1, n + 1))


def _seeds(table: Table, name: str, k: int | None) -> tuple[Any, tuple[str, ...], Table]:
    """Seeds of the rows, the names that they have in the table if they are no numbers, and the table without them."""
    import numpy as np

    from clusterkit.contracts.links import checked_seeds
    from clusterkit.tables import select
    from clusterkit.tables.cells.readings import as_levels

    positions = select(table.names, [name], [], f"--seeds: {table.title}")
    if len(positions) != 1 or len(table.names) < 2:
        raise BadInput(f"--seeds {name}: seeds are one column, and the others are clustered")
    j = positions[0]
    column = table.columns()[j]
    rest = table.pick([i for i in range(len(table.names)) if i != j])
    gaps = column.missing()
    if column.kind == "number":
        seeds = np.where(gaps, -1.0, column.values)
        return checked_seeds(seeds, table.n_rows, k, title=f"--seeds {name}", row=table.line_of), (), rest
    texts = ["" if text is None else str(text) for text in as_levels(column.with_words())]
    names = sorted({text for text, gap in zip(texts, gaps, strict=True) if not gap and text})
    if k is not None and len(names) > k:
        raise BadInput(
            f"--seeds {name}: the column has {len(names)} names, from {names[0]!r} to {names[-1]!r}, and -k asks for "
            f"{k} clusters"
        )
    number = {text: place for place, text in enumerate(names)}
    return np.array([number.get(text, -1) for text in texts], dtype=float), tuple(names), rest


def _tell_of_range(name: str) -> None:
    """Warn that a range of numbers had no effect."""
    import warnings

    from clusterkit.errors import ClusterkitWarning

    warnings.warn(
        f"the range of -k is not used: recipe {name} finds the number of clusters itself, or makes one number only",
        ClusterkitWarning,
        stacklevel=2,
    )


def _made(path: str | None, make: Callable[[], object]) -> bool:
    """Make a file, if one is asked for; False if Ctrl-C ended that, which does not affect the fit."""
    import warnings

    from clusterkit.errors import ClusterkitWarning

    try:
        if path is not None:
            make()
    except KeyboardInterrupt:
        warnings.warn(f"interrupted while {path} was made: the fit is kept", ClusterkitWarning, stacklevel=2)
        return False
    return True
