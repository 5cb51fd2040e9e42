"""Mutated files and the functions that read them: an answer that is whole, or the documented error.

`FILES` has an entry for each kind of file: the bytes of a good one, and the function that reads a path. A further
kind of file is a further entry.
"""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.errors import ClusterkitWarning, InvalidModelFile
from clusterkit_campaign.findings import DOCUMENTED, SILENT, Problem, of_error
from clusterkit_campaign.mutators import mutated

__all__ = ["BATCH", "FILES", "FileKind", "check_files"]

BATCH = 34
"""Mutated files of one case."""

Reader: TypeAlias = Callable[[Path], str | None]
"""Reads a file; a text says what is wrong with what was read, None is a good answer."""


@final
@attrs.frozen(eq=False)
class FileKind:
    """A kind of file.

    Parameters
    ----------
    ending : str
    content : callable
        The bytes of a good file; called once.
    read : callable
        Reads a path and looks at what it gets.
    errors : callable
        The exceptions that refuse a file.
    """

    ending: str
    content: Callable[[], bytes]
    read: Reader
    errors: Callable[[], tuple[type[Exception], ...]]


def check_files(kind: str, counts: Counter[str], seed: int) -> list[tuple[Problem, str]]:
    """Read a batch of mutated files of one kind; the problems with the programs that show them."""
    import warnings

    problems: list[tuple[Problem, str]] = []
    each = FILES[kind]
    good = _good(kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{each.ending}"
        for position in range(BATCH):
            rng = np.random.default_rng([seed, position])
            content, names = mutated(good, rng)
            path.write_bytes(content)
            counts["files"] += 1
            problem = None
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    warnings.simplefilter("ignore", ClusterkitWarning)
                    wrong = each.read(path)
                if wrong is not None:
                    problem = Problem(SILENT, f"a mutated file is read, but {wrong}", ", ".join(names))
            except Exception as error:
                problem = of_error(error, documented=(*DOCUMENTED, *each.errors()))
            if problem is not None:
                problems.append((problem, _program(kind, each.ending, content)))
    return problems


@cache
def _good(kind: str) -> bytes:
    return FILES[kind].content()


def _program(kind: str, ending: str, content: bytes) -> str:
    return (
        "from pathlib import Path\nfrom clusterkit_campaign.hostile_files import FILES\n"
        f"path = Path('mutated{ending}')\npath.write_bytes({content!r})\nprint(FILES[{kind!r}].read(path))"
    )


def _table(rng: Rng) -> str:
    rows = rng.standard_normal((9, 3)).round(3)
    return (
        "\n".join(["name,height,width,depth", *(f"r{i}," + ",".join(map(str, row)) for i, row in enumerate(rows))])
        + "\n"
    )


def _text() -> bytes:
    return _table(np.random.default_rng(0)).encode()


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.random.default_rng(0).standard_normal((6, 2)))
    return file.getvalue()


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"a": [1.0, 2.0, 3.0], "b": [1, 2, 3]})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


def _read_table(path: Path) -> str | None:
    from clusterkit.tables import Preparation, read_table

    table = read_table(path)
    fitted = Preparation().fit(table)
    rows = fitted.transform(table)
    if rows.shape != (table.n_rows, len(fitted.features)) or not np.isfinite(rows).all():
        return f"its features are not finite or of shape {rows.shape} for {len(fitted.features)} names"
    return None


def _table_errors() -> tuple[type[Exception], ...]:
    from clusterkit.tables import TableError

    return (TableError,)


def _search(path: Path) -> dict[str, object]:
    """A search that is written to, and continued from, a file."""
    from clusterkit.estimators.search import search

    X = np.random.default_rng(0).standard_normal((12, 2))
    answer = search("kmeans", {"n_clusters": [2, 3], "n_init": [1]}, X, "silhouette", resume=path, random_state=0)
    return {"best": answer.best_params, "labels": answer.best_labels.tolist()}


def _resume() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.jsonl"
        _search(path)
        return path.read_bytes()


@cache
def _fresh_search() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return json.dumps(_search(Path(folder) / "search.jsonl"), default=str)


def _continue(path: Path) -> str | None:
    """Continue a search from a mutated file: the answer must be that of a search without it."""
    answer = json.dumps(_search(path), default=str)
    return None if answer == _fresh_search() else f"it gives {answer} instead of {_fresh_search()}"


def _model() -> bytes:
    import clusterkit

    X = np.random.default_rng(0).standard_normal((12, 2))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clusterkit"
        clusterkit.recipe("emmc", n_clusters=2, random_state=0).fit(X).save(path)
        return path.read_bytes()


@cache
def _labels_of_model(content: bytes) -> tuple[int, ...]:
    import clusterkit

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.clusterkit"
        path.write_bytes(content)
        return tuple(clusterkit.load(path).labels_.tolist())


def _load(path: Path) -> str | None:
    """Load a mutated model: the check sum leaves no other labels than those that were saved."""
    import clusterkit

    labels = tuple(clusterkit.load(path).labels_.tolist())
    saved = _labels_of_model(_good("model"))
    return None if labels == saved else f"it has the labels {labels} instead of {saved}"


FILES: Mapping[str, FileKind] = {
    "table of text": FileKind(".csv", _text, _read_table, _table_errors),
    "table with tabs": FileKind(".tsv", lambda: _text().replace(b",", b"\t"), _read_table, _table_errors),
    "compressed table": FileKind(".csv.gz", lambda: gzip.compress(_text(), mtime=0), _read_table, _table_errors),
    "npy": FileKind(".npy", _npy, _read_table, _table_errors),
    "parquet": FileKind(".parquet", _parquet, _read_table, _table_errors),
    "model": FileKind(".clusterkit", _model, _load, lambda: (InvalidModelFile,)),
    "search": FileKind(".jsonl", _resume, _continue, tuple),
}
"""The kinds of files by name."""
