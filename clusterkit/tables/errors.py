"""What may be wrong with a table."""

from __future__ import annotations

from collections.abc import Sequence

from clusterkit.core.errors import ClusterkitWarning, InvalidData

__all__ = ["NotNumeric", "TableError", "TableWarning"]


class TableError(InvalidData):
    """A file is no table, or a table does not suit what is done with it; names the table, the column and the row."""


class NotNumeric(TableError):
    """Columns contain cells that are missing or not numbers; `columns` has the names of these columns."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


class TableWarning(ClusterkitWarning):
    """Cells of new rows are not as those of the fit, and were read as gaps."""
