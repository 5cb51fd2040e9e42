"""Latitudes and longitudes: which columns are these, and what their distances over the ground are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import attrs
import numpy as np

from clusterkit._typing import Array, Mask
from clusterkit.errors import InvalidData, TableError, shortened
from clusterkit.tables.preparing.plans import ColumnPlan, NumberColumn
from clusterkit.tables.preparing.sums import ColumnSums
from clusterkit.tables.reading.row_sample import RowSample

LATITUDE = re.compile(r"(^|[\W_])(lat|latitude|breitengrad)([\W_]|$)")
"""Names of latitudes, in lower case."""

LONGITUDE = re.compile(r"(^|[\W_])(lon|lng|long|longitude|längengrad)([\W_]|$)")
"""Names of longitudes, in lower case."""

DEGREES = 180.0 / math.pi
"""Radius of a sphere on which a degree over the ground is as long as 1, as it is where degrees are numbers."""


def places(plans: Sequence[ColumnPlan]) -> list[tuple[NumberColumn, NumberColumn]]:
    """The plans of the columns that are latitude and longitude of one place."""
    numbers = {plan.name: plan for plan in plans if isinstance(plan, NumberColumn) and plan.sphere}
    return [(plan, numbers[plan.partner]) for plan in numbers.values() if plan.sphere == "latitude"]


def paired(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums], plain: frozenset[str]) -> list[ColumnPlan]:
    """The plans, in which latitudes and longitudes by names and ranges are halves of places.

    Names must be alike but for the words themselves, as start_lat and start_lon are, and each be the only one of its
    kind. Numbers between -90 and 90, and between -180 and 360, of columns with such names are not proven to be degrees;
    where they are others near 0, such as standardised ones, the sphere is nearly the plane that they were.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
    plain : frozenset of str
        Columns that the user wants as numbers.
    """
    latitudes: dict[str, list[int]] = {}
    longitudes: dict[str, list[int]] = {}
    sides = (latitudes, LATITUDE, -90.0, 90.0), (longitudes, LONGITUDE, -180.0, 360.0)
    for j, (plan, column) in enumerate(zip(plans, sums, strict=True)):
        if not isinstance(plan, NumberColumn) or plan.clock or plan.flag or plan.name in plain:
            continue
        numbers, name = column.as_number()[1], plan.name.lower()
        for side, pattern, low, high in sides:
            if plan.unit in ("", "°") and pattern.search(name) and low <= numbers.low and numbers.high <= high:
                side.setdefault(pattern.sub(" ", name), []).append(j)
    out = list(plans)
    for stem, (j, *more) in latitudes.items():
        i, *others = longitudes.get(stem, [j])
        latitude, longitude = plans[j], plans[i]
        if not (more or others or i == j):
            assert isinstance(latitude, NumberColumn)
            assert isinstance(longitude, NumberColumn)
            out[j] = attrs.evolve(latitude, sphere="latitude", partner=longitude.name)
            out[i] = attrs.evolve(longitude, sphere="longitude", partner=latitude.name)
    return out


def with_spheres(plans: Sequence[ColumnPlan], rows: RowSample, scale: str) -> tuple[ColumnPlan, ...]:
    """The plans, with the radius of each sphere and the middle of longitudes.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    rows : RowSample
        Sample of rows with the same columns.
    scale : str
    """
    at, out = {plan.name: j for j, plan in enumerate(plans)}, list(plans)
    for latitude, longitude in places(plans):
        halves = [plan.read(rows.columns[at[plan.name]]).values for plan in (latitude, longitude)]
        degrees = np.stack(halves, axis=1)
        points = points_of(degrees[np.isfinite(degrees).all(axis=1)], 1.0)
        middle, radius = longitude.fill, 0.5 if scale == "minmax" else DEGREES
        if len(points):
            x, y, _ = points.mean(axis=0)
            middle = math.degrees(math.atan2(y, x))
            spread = math.sqrt(float(points.var(axis=0).sum()))
            if scale == "zscore" and spread > 0:
                radius = math.sqrt(2.0) / spread  # as far apart as two numbers of variance 1
        out[at[latitude.name]] = attrs.evolve(latitude, radius=radius)
        out[at[longitude.name]] = attrs.evolve(longitude, radius=radius, fill=middle)
    return tuple(out)


def check_order(names: Sequence[object]) -> None:
    """Refuse columns whose names say that the longitude comes first: ``metric="haversine"`` reads them by position.

    Parameters
    ----------
    names : sequence
        Names of the columns, in their order.

    Raises
    ------
    InvalidData
        If the first of two names is one of a longitude, and the second one of a latitude.
    """
    first, second = map(str, names) if len(names) == 2 else ("", "")
    if LONGITUDE.search(first.lower()) and LATITUDE.search(second.lower()):
        raise InvalidData(
            f"the columns are {first!r} and {second!r}, and metric='haversine' takes the latitude first: pass "
            f"[{second!r}, {first!r}] of them, in this order"
        )


def points_of(degrees: Array, radius: float) -> Array:
    """Points (n, 3) on a sphere, of latitudes and longitudes (n, 2)."""
    latitude, longitude = np.radians(degrees.astype(np.float64)).T
    across = radius * np.cos(latitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), radius * np.sin(latitude)], axis=1)


def write_points(plans: Sequence[ColumnPlan], out: Array, gaps: Mask) -> None:
    """Replace degrees in the features of used columns, (n, features), by points: x and y of longitudes, z of latitudes.

    Where one half of a place is a gap, (n, columns), the other becomes one.

    Raises
    ------
    TableError
        If a latitude is beyond a pole.
    """
    at, first = {}, 0
    for plan in plans:
        at[plan.name] = first
        first += len(plan.features)
    for latitude, longitude in places(plans):
        z, x = at[latitude.name], at[longitude.name]
        beyond = out[np.abs(out[:, z]) > 90.0, z]
        if len(beyond):
            raise TableError(f"column {shortened(latitude.name)!r} has latitudes, and {beyond[0]:g} is none")
        out[:, [x, x + 1, z]] = points_of(out[:, [z, x]], latitude.radius)
        halves = [plans.index(latitude), plans.index(longitude)]
        gaps[:, halves] = gaps[:, halves].any(axis=1, keepdims=True)
