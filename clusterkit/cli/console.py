"""Output of commands, as tables and facts: with rich on a terminal, as plain aligned text in a pipe, or as JSON.

Commands of plugins may use it, so that their output looks the same.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from clusterkit.errors import STEERING, escaped

__all__ = ["as_json", "facts", "heading", "number", "printable", "table", "text"]

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


def _rich(err: bool) -> Any:
    """A rich console if the stream is a terminal, else None."""
    stream = sys.stderr if err else sys.stdout
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None
    from rich.console import Console

    return Console(stderr=err, highlight=False)


def text(line: str = "", *, err: bool = False, dim: bool = False) -> None:
    """Print a line."""
    line = printable(line)
    console = _rich(err)
    if console is None:
        click.echo(line, err=err)
    else:
        console.print(line, style="dim" if dim else None, markup=False)


def heading(line: str, *, err: bool = False) -> None:
    """Print a line, in bold on a terminal."""
    line = printable(line)
    console = _rich(err)
    if console is None:
        click.echo(line, err=err)
    else:
        console.print(line, style="bold cyan", markup=False)


def facts(pairs: Mapping[str, str], *, err: bool = False) -> None:
    """Print names and values below each other; pairs with an empty value are left out."""
    filled = {printable(name): printable(value) for name, value in pairs.items() if value}
    width = max(map(len, filled), default=0)
    console = _rich(err)
    if console is None:
        for name, value in filled.items():
            click.echo(f"{name:<{width}}  {value}", err=err)
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in filled.items():
        grid.add_row(name, Text(value))
    console.print(grid)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, err: bool = False, title: str = "") -> None:
    """Print rows under column names; columns of numbers are aligned to the right."""
    columns, title = [printable(name) for name in columns], printable(title)
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    right = [all(_NUMERIC.fullmatch(row[j]) for row in cells) for j in range(len(columns))]
    console = _rich(err)
    if console is None:
        if title:
            click.echo(title, err=err)
        widths = [max(len(row[j]) for row in [list(columns), *cells]) for j in range(len(columns))]
        for row in [list(columns), *cells]:
            parts = [
                f"{cell:>{width}}" if flush else f"{cell:<{width}}"
                for cell, width, flush in zip(row, widths, right, strict=True)
            ]
            click.echo("  ".join(parts).rstrip(), err=err)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        box=box.SIMPLE_HEAD, title=title or None, title_justify="left", header_style="bold cyan", pad_edge=False
    )
    for j, name in enumerate(columns):
        grid.add_column(
            name, justify="right" if right[j] else "left", style="bold" if j == 0 else None, overflow="fold"
        )
    for row in cells:
        grid.add_row(*map(Text, row))
    console.print(grid)


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
