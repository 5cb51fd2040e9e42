"""The number of clusters left to the criterion: what a user may write for it, and what the choice reports."""

from __future__ import annotations

from collections.abc import Mapping

from clusterkit.contracts.params import check_count, is_count
from clusterkit.drivers import compose
from clusterkit.errors import InvalidParameter

__all__ = ["REPORT", "checked_number", "is_open", "limits_of", "set_report"]

REPORT = ("candidates", "confidence", "perhaps_one_cluster", "second_n_clusters")
"""Entries of the report on a chosen number of clusters, each an attribute with an underscore after the name."""

PLACEHOLDER = 3
"""Number of clusters with which the stages are checked where the number is chosen by the fit: above the two that some
labelers are for."""


def is_open(value: object) -> bool:
    """Whether the number of clusters is to be chosen: "auto", or a pair (least, most).

    Examples
    --------
    >>> is_open("auto"), is_open((2, 8)), is_open(3), is_open(None)
    (True, True, False, False)
    """
    return (isinstance(value, str) and value == compose.AUTO) or isinstance(value, tuple | list)


def limits_of(value: object, fewest: int = 2) -> tuple[int, int] | None:
    """The least and the most number of clusters to choose from; None for "auto", which has no limits.

    Raises
    ------
    InvalidParameter
        If the pair is none of integers in ascending order, from `fewest` on.
    """
    if isinstance(value, str) or value is None:
        return None
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    if len(pair) == 2 and is_count(pair[0], fewest) and is_count(pair[1], int(pair[0])):
        return int(pair[0]), int(pair[1])
    one = len(pair) == 2 and pair[0] == 1 < fewest
    why = ". One cluster is compared with several by recipe 'mixture' on a table; see perhaps_one_cluster_ elsewhere"
    raise InvalidParameter(
        f"n_clusters as a range must be two integers (least, most) with {fewest} <= least <= most, got "
        f"{value!r}{why if one else ''}"
    )


def checked_number(value: object) -> int | None:
    """A given number of clusters, or None.

    Raises
    ------
    InvalidParameter
        If the value is anything else; says what may be written.
    """
    if value is None or is_count(value):
        return check_count("n_clusters", value, optional=True)
    shown = f"a {type(value).__name__}; samples are for fit" if getattr(value, "shape", ()) else repr(value)
    raise InvalidParameter(f"n_clusters must be an integer >= 1, 'auto', a range (least, most) or None, got {shown}")


def set_report(estimator: object, report: Mapping[str, object]) -> None:
    """Set every entry of a report as an attribute, with an underscore; those of a choice before are removed."""
    for name in REPORT:
        vars(estimator).pop(f"{name}_", None)
    for name, value in report.items():
        setattr(estimator, f"{name}_", value)
