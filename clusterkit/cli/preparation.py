"""The options that overrule what the preparation of a table decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import click

from clusterkit.cli.data import TableOptions, keys_of
from clusterkit.cli.option_groups import grouped

if TYPE_CHECKING:
    from clusterkit.tables import Preparation, Table

__all__ = ["PreparationOptions", "options"]

SCALES = ("auto", "none", "zscore", "spread", "minmax")
"""What may be done about units; those of `clusterkit.tables.Preparation`, which is not imported for the help."""

NA_CHOICES = ("auto", "level", "gap")
"""What texts such as NA may be, likewise."""

GAP_CHOICES = ("similar", "typical")
"""What fills gaps, likewise."""

OVERRULED = ("as_category", "as_number", "as_date", "keep")
"""Options that name columns."""


class PreparationOptions(NamedTuple):
    """The values of the options that `options` adds.

    Parameters
    ----------
    as_category, as_number, as_date, keep : tuple of str
        Columns, written as in --columns.
    scale : str
    na : str
    gaps : str
    """

    as_category: tuple[str, ...] = ()
    as_number: tuple[str, ...] = ()
    as_date: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    scale: str = "auto"
    na: str = "auto"
    gaps: str = "similar"

    def spec(self, table: Table, table_options: TableOptions) -> Preparation:
        """The preparation of a table, without the columns that --columns and --drop leave out."""
        from clusterkit.tables import Preparation
        from clusterkit.tables.selection import positions

        chosen = {table.names[j] for j in table_options.chosen(table)}
        uses = {
            option: tuple(
                table.names[j]
                for key in keys_of(getattr(self, option), table.names)
                for j in positions(key, table.names, table.title)
            )
            for option in OVERRULED
        }
        drop = tuple(name for name in table.names if name not in chosen)
        # the table has the mark before decimals and the order of dates, which are not those of every table to come
        return Preparation(
            **uses, drop=drop, scale=self.scale, decimal=None, day_first=None, na=self.na, gaps=self.gaps
        )


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; the command receives them as `preparation`."""
    choices = (
        click.option(
            "--gaps",
            type=click.Choice(GAP_CHOICES),
            default="similar",
            show_default=True,
            help="What fills gaps: the value of the most similar of up to 500 rows, which the model keeps; or the mean "
            "or most frequent level of the column.",
        ),
        click.option(
            "--na",
            type=click.Choice(NA_CHOICES),
            default="auto",
            show_default=True,
            help="Whether texts such as NA, None or ? are levels; auto: NA beside codes of countries, None beside few "
            "other levels, ? and - in columns of --as-category.",
        ),
        click.option(
            "--scale",
            type=click.Choice(SCALES),
            default="auto",
            show_default=True,
            help="Units: auto is zscore where they differ, else none; spread subtracts nothing.",
        ),
        click.option("--keep", multiple=True, metavar="COLS", help="Columns to use though they look like identifiers."),
        click.option("--as-date", multiple=True, metavar="COLS", help="Columns to read as dates."),
        click.option("--as-number", multiple=True, metavar="COLS", help="Columns to read as numbers."),
        click.option(
            "--as-category", multiple=True, metavar="COLS", help="Columns whose values are names, not numbers."
        ),
    )
    return grouped(command, "preparation", PreparationOptions, choices)
