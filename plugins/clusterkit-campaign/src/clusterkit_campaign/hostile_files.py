"""Mutated files and the functions that read them: an answer that is whole, or the documented error.

`MUTATORS` are changes to the bytes of a file: what disks, editors, transfers and enemies do to one. `FILES` has an
entry for each kind of file: the bytes of a good one, and the function that reads a path. A further kind of file is a
further entry.
"""

from __future__ import annotations

import gzip
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.errors import ClusterkitWarning, InvalidModelFile
from clusterkit_campaign.findings import DOCUMENTED, SILENT, Problem, of_error

__all__ = ["BATCH", "FILES", "MUTATORS", "FileKind", "Mutator", "check_files", "mutated"]

Mutator: TypeAlias = Callable[[bytes, Rng], bytes]
"""Function from the bytes of a file to other bytes."""

TOKENS = (
    b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"", b"-", b"0x10", b"1_000", "١٢".encode(), b"NaN()", b"1e",
    b"true",
    b"9" * 400, b"-0", b"1.5.2", b"\"", b"\"\"\"", b"'", b"\x00", b"\x1b[31m", b"\xff\xfe", b"\xef\xbb\xbf", b"\r",
    b"\n\n",
    b",,,,", b"\t", b";", b"=1+1", b"{}", b"[]", b"null", b"[" * 3000, b"{\"a\":" * 500, b"-1",
    b"18446744073709551616",
    b"shape", b"(1,)", b"'<f8'", b"'|O'", b"True", b"../../x", "\u202e".encode(), "\u2028".encode(),
)  # fmt: skip
"""Texts that parsers meet rarely."""

LONGEST = 2**16
"""Bytes of a mutated file at most, unless it is a bomb on purpose."""


def _at(content: bytes, rng: Rng) -> int:
    return int(rng.integers(len(content) + 1))


def _span(content: bytes, rng: Rng) -> tuple[int, int]:
    low, high = sorted((_at(content, rng), _at(content, rng)))
    return low, high


def _flip_bit(content: bytes, rng: Rng) -> bytes:
    if not content:
        return b"\x01"
    changed = bytearray(content)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _set_bytes(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        if changed:
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed)


def _truncate(content: bytes, rng: Rng) -> bytes:
    return content[: _at(content, rng)]


def _drop_beginning(content: bytes, rng: Rng) -> bytes:
    return content[_at(content, rng) :]


def _delete(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[:low] + content[high:]


def _repeat(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[:high] + content[low:high] * int(rng.integers(1, 4)) + content[high:]


def _zero(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[:low] + bytes(high - low) + content[high:]


def _swap(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[high:] + content[low:high] + content[:low]


def _insert(content: bytes, rng: Rng) -> bytes:
    place = _at(content, rng)
    return content[:place] + TOKENS[int(rng.integers(len(TOKENS)))] + content[place:]


def _overwrite(content: bytes, rng: Rng) -> bytes:
    place, token = _at(content, rng), TOKENS[int(rng.integers(len(TOKENS)))]
    return content[:place] + token + content[place + len(token) :]


def _replace_digits(content: bytes, rng: Rng) -> bytes:
    places = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return _insert(content, rng)
    place, token = places[int(rng.integers(len(places)))], TOKENS[int(rng.integers(len(TOKENS)))]
    return content[:place] + token + content[place + 1 :]


def _noise(content: bytes, rng: Rng) -> bytes:
    return rng.bytes(int(rng.integers(0, 300)))


def _lines(content: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    order = rng.permutation(len(lines))
    return b"\n".join(lines[i] for i in order)


def _line_ends(content: bytes, rng: Rng) -> bytes:
    ends = (b"\r", b"\r\n", b"\n\r", b"\x0b", b"\x0c", "\u2028".encode())
    return content.replace(b"\n", ends[int(rng.integers(len(ends)))])


def _encoded(content: bytes, rng: Rng) -> bytes:
    encodings = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7")
    return content.decode("latin-1").encode(encodings[int(rng.integers(len(encodings)))], "replace")


def _compressed(content: bytes, rng: Rng) -> bytes:
    packed = gzip.compress(content, mtime=0)
    return packed if rng.random() < 0.5 else packed[: _at(packed, rng)]


MUTATORS: Mapping[str, Mutator] = {
    "a bit": _flip_bit,
    "some bytes": _set_bytes,
    "truncated": _truncate,
    "without its beginning": _drop_beginning,
    "a part deleted": _delete,
    "a part repeated": _repeat,
    "a part zeroed": _zero,
    "parts swapped": _swap,
    "a token inserted": _insert,
    "a token written over": _overwrite,
    "a token for a digit": _replace_digits,
    "noise": _noise,
    "lines shuffled": _lines,
    "other line ends": _line_ends,
    "another encoding": _encoded,
    "compressed": _compressed,
    "empty": lambda content, rng: b"",
    "unchanged": lambda content, rng: content,
}
"""The changes by name."""


def mutated(content: bytes, rng: Rng) -> tuple[bytes, tuple[str, ...]]:
    r"""One to three changes after another, and their names.

    Examples
    --------
    >>> import numpy as np
    >>> content, names = mutated(b"1,2\n3,4\n", np.random.default_rng(5))
    >>> len(names) >= 1
    True
    """
    names = [str(name) for name in rng.choice(list(MUTATORS), size=int(rng.integers(1, 4)))]
    for name in names:
        content = MUTATORS[name](content, rng)[:LONGEST]
    return content, tuple(names)


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
}
"""The kinds of files by name."""
