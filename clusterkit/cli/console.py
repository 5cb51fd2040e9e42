"""Output of commands, as tables and facts: aligned text, in the width of a terminal, or JSON.

Commands of plugins may use it, so that their output looks the same.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import click

from clusterkit.errors import STEERING, escaped

_CONTROL = re.compile(f"[{STEERING}]")
"""Characters that are not printed as they are."""

_NUMERIC = re.compile(r"[-+−]?\d[\d.,e+-]*( ?%| s)?( ± [\d.]+)?|–|")
"""A cell that is empty or a number with its unit and spread; columns of such cells are aligned to the right."""


def printable(text: str, *, lines: bool = False) -> str:
    r"""The text with control characters as escapes, so that it can be printed whatever it came from.

    Parameters
    ----------
    text : str
    lines : bool, default False
        Whether line ends stay; the lines after the first are then indented, so that none looks like a message.

    Examples
    --------
    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    """
    if lines:
        first, *others = text.split("\n")
        rest = [line if line.startswith("  ") or not line else f"  {line}" for line in map(printable, others)]
        return "\n".join([printable(first), *rest])
    return escaped(text, _CONTROL)


NARROWEST = 12
"""Characters to which a column of a table is folded where a terminal is narrow."""


def _columns(err: bool) -> int:
    """Characters of a line of the terminal; 0 if the stream is none."""
    stream = sys.stderr if err else sys.stdout
    is_terminal = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    return shutil.get_terminal_size().columns if is_terminal else 0


def _say(line: str, *, err: bool, indent: int = 0, **style: Any) -> None:
    """Print a line; on a terminal its words are not broken, and the lines after the first one are indented."""
    columns = _columns(err)
    if columns:
        indent = min(indent, columns // 2)
        line = textwrap.fill(line, columns, subsequent_indent=" " * indent)
        line = click.style(line, **style) if style and "NO_COLOR" not in os.environ else line
    click.echo(line, err=err)


def text(line: str = "", *, err: bool = False) -> None:
    """Print a line."""
    _say(printable(line), err=err)


def heading(line: str, *, err: bool = False) -> None:
    """Print a line, in bold on a terminal."""
    _say(printable(line), err=err, bold=True, fg="cyan")


def facts(pairs: Mapping[str, str], *, err: bool = False) -> None:
    """Print names and values below each other; pairs with an empty value are left out."""
    filled = {printable(name): printable(value) for name, value in pairs.items() if value}
    width = max(map(len, filled), default=0)
    for name, value in filled.items():
        _say(f"{name:<{width}}  {value}", err=err, indent=width + 2)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, err: bool = False, title: str = "") -> None:
    """Print rows under column names; columns of numbers are aligned to the right."""
    columns, title = [printable(name) for name in columns], printable(title)
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    right = [all(_NUMERIC.fullmatch(row[j]) for row in cells) for j in range(len(columns))]
    if title:
        _say(title, err=err)
    widths = [max(len(row[j]) for row in [columns, *cells]) for j in range(len(columns))]
    room = (_columns(err) or math.inf) - 2 * len(widths) + 2
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    for i, row in enumerate([columns, *cells]):
        parts = [textwrap.wrap(cell, w) if len(cell) > w else [cell] for cell, w in zip(row, widths, strict=True)]
        for line in zip_longest(*parts, fillvalue=""):
            texts = [
                f"{part:>{width}}" if flush else f"{part:<{width}}"
                for part, width, flush in zip(line, widths, right, strict=True)
            ]
            (_say if i else heading)("  ".join(texts).rstrip(), err=err)


def as_json(value: object, *, err: bool = False) -> None:
    """Print indented JSON. nan and infinity become null, arrays become lists."""
    lines = json.dumps(_plain(value), indent=2, ensure_ascii=False).split("\n")
    click.echo("\n".join(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", line) for line in lines), err=err)


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # numpy, which need not be imported for this
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def number(value: object) -> str:
    """A value as text, floats with four significant digits."""
    if isinstance(value, float) or (hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0):
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    return str(value)
