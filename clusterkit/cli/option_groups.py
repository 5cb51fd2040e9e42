"""Options that several commands share, which arrive as one record."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["grouped"]


def grouped(
    command: Callable[..., None],
    keyword: str,
    record: type[NamedTuple],
    options: Sequence[Callable[[Callable[..., None]], Callable[..., None]]],
) -> Callable[..., None]:
    """Add options to a command.

    Parameters
    ----------
    command : callable
    keyword : str
        The argument of the command that receives the record.
    record : type of named tuple
        Its fields are the names of the options.
    options : sequence of decorators of click
        The last one stands first in the help.
    """
    make: Any = record

    @functools.wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        filled = make(**{name: values.pop(name) for name in record._fields})
        return command(*args, **{keyword: filled}, **values)

    extended: Callable[..., None] = wrapped
    for option in options:
        extended = option(extended)
    return extended
