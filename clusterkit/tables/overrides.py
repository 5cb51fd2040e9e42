"""What a user may decide about a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import attrs

from clusterkit.tables.selection import no_such_column

__all__ = ["SCALES", "Overrides"]

SCALES = ("auto", "none", "zscore", "spread", "minmax")
"""What may be done about units."""


@final
@attrs.frozen
class Overrides:
    """What the user decided.

    Parameters
    ----------
    as_category, as_number, as_date, keep, drop : frozenset of str
    scale : str
    na : str
    """

    as_category: frozenset[str]
    as_number: frozenset[str]
    as_date: frozenset[str]
    keep: frozenset[str]
    drop: frozenset[str]
    scale: str
    na: str = "auto"

    def check(self, names: Sequence[str]) -> None:
        """Raise `TableError` for a column that does not exist."""
        for name in sorted(self.as_category | self.as_number | self.as_date | self.keep | self.drop):
            if name not in names:
                raise no_such_column(name, names, "the table")
