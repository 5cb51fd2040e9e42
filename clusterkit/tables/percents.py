"""Cells of spreadsheets that are formatted as percent: the file has fractions, the sheet and its CSV show 5 %."""

from __future__ import annotations

import re
import zipfile

import numpy as np
from numpy.typing import NDArray

__all__ = ["has_percents", "is_percent", "with_percents"]

STYLES = "xl/styles.xml"
"""The member of an XLSX file that lists the formats of its cells."""

FORMATS = re.compile(rb"numFmtId=\"(?:9|10)\"|formatCode=\"[^\"]*%")
"""A format of percent: 9 and 10 are those without a text, 0% and 0.00% (ECMA-376, part 1, 18.8.30)."""

QUOTED = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]")
"""Parts of a format in which a percent sign is no more than a sign."""

DIGITS = 12
"""Significant digits of a percentage: a fraction times 100 is rounded in the last of the sixteen that floats have."""


def is_percent(number_format: str | None) -> bool:
    """Whether a format of numbers shows them as percent.

    Examples
    --------
    >>> is_percent("0.0 %"), is_percent('0.0" %"'), is_percent("General")
    (True, False, False)
    """
    return "%" in QUOTED.sub("", number_format or "")


def with_percents(cells: NDArray[np.object_], rows: NDArray[np.intp]) -> NDArray[np.object_]:
    """A column whose fractions in these rows are texts such as 5 %, as they are in the CSV of the sheet.

    Examples
    --------
    >>> with_percents(np.array([0.05, 0.07, None, "n/a"], dtype=object), np.array([0, 1])).tolist()
    ['5 %', '7 %', None, 'n/a']
    """
    shown = cells.copy()
    for i in rows:
        if isinstance(cells[i], int | float) and np.isfinite(cells[i]):
            shown[i] = f"{100 * cells[i]:.{DIGITS}g} %"
    return shown


def has_percents(title: str) -> bool:
    """Whether some format of the file is of percent; most files have none, and their cells need not be asked."""
    try:
        with zipfile.ZipFile(title) as archive:
            return FORMATS.search(archive.read(STYLES)) is not None
    except (OSError, KeyError, zipfile.BadZipFile):
        return False
