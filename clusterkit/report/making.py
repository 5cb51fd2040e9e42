"""From a table to the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clusterkit._typing import NumberLike
from clusterkit.report.analysis import Analysis, analyse
from clusterkit.report.page import page
from clusterkit.tables import Preparation, Table, read_table
from clusterkit.tables.files import table_of_arrays
from clusterkit.tables.frames import is_frame

__all__ = ["make_report", "need_libraries"]


def make_report(
    data: object,
    *,
    n_clusters: NumberLike = None,
    methods: Sequence[str] = (),
    preparation: Preparation | None = None,
    seed: int = 0,
    command: str = "",
    fingerprint: str = "",
    made: str = "",
) -> tuple[str, Analysis]:
    """Cluster a table and write what was found as one page of HTML.

    Parameters
    ----------
    data : str, Table, data frame, mapping of str to array, or array of shape (n, d)
        A file, or what was read from it.
    n_clusters : int, pair of int, "auto" or None, default None
        Number of clusters; None and "auto" choose it, a pair (2, 8) says among which.
    methods : sequence of str, default ()
        Recipes to compare.
    preparation : Preparation, optional
        What to do about gaps, categories, dates and units.
    seed : int, default 0
    command : str, default ""
        What repeats the report, for its last section.
    fingerprint : str, default ""
        Of the file, so that one can tell whether it is the same.
    made : str, default ""
        The date.

    Returns
    -------
    page : str
        Self-contained: no network, no JavaScript. The same data give the same page.
    analysis : Analysis
        The numbers behind it, with the fitted model.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is missing.
    TableError, InvalidData, UnknownName, OSError
        If the table cannot be used, or a recipe does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterkit.report import make_report
    >>> from clusterkit.tables import table_of_arrays
    >>> rng = np.random.default_rng(0)
    >>> columns = {"age": np.r_[rng.normal(25, 2, 60), rng.normal(60, 2, 60)], "height": rng.normal(170, 9, 120)}
    >>> page, analysis = make_report(columns, methods=["kmeans", "genie"])
    >>> analysis.clusters.clusters[0].name in page, len(page) < 2_000_000
    (True, True)
    """
    need_libraries()
    if isinstance(data, Table):
        table = data
    elif isinstance(data, str):
        table = read_table(data)
    elif isinstance(data, np.ndarray) and data.ndim == 2:
        table = table_of_arrays("an array", data)
    else:
        from clusterkit.tables.frames import columns_of

        columns = {column.name: column for column in columns_of(data)}
        table = Table("a data frame" if is_frame(data) else "a table", columns, tuple(columns))
    analysis = analyse(table, n_clusters=n_clusters, methods=methods, preparation=preparation, seed=seed)
    return page(analysis, command=command, fingerprint=fingerprint, made=made), analysis


def need_libraries() -> None:
    """Raise ImportError, with what to install, if jinja2 or matplotlib is missing."""
    for library in ("jinja2", "matplotlib"):
        try:
            __import__(library)
        except ImportError as error:
            raise ImportError(
                f"a report needs {library}: install it, or clusterkit-toolkit with the extra 'report'"
            ) from error
