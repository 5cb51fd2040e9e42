"""Latitudes and longitudes are no coordinates of a flat map, and a fit says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from clusterkit.tables import Preparation, TableWarning

RNG = np.random.default_rng(0)
LATITUDES = RNG.normal(0.0, 0.3, 60)
SIDES = np.where(np.arange(60) % 2, 1.0, -1.0)
LONGITUDES = SIDES * (180.0 - RNG.uniform(0.01, 0.2, 60))


@pytest.mark.parametrize("names", [("lat", "lon"), ("start_latitude", "Start_Longitude"), ("y", "x")])
def test_a_place_at_the_date_line_is_told(names):
    table = dict(zip(names, (LATITUDES, LONGITUDES), strict=True))
    with pytest.warns(
        TableWarning, match="longitudes on both sides of 180°, .* cut in two: add 360 to those below zero"
    ):
        Preparation().fit(table)
    table[names[1]] = LONGITUDES % 360
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Preparation().fit(table)


def test_a_place_at_greenwich_is_told_where_longitudes_end_there():
    with pytest.warns(TableWarning, match="both sides of 360°, .*: subtract 360 from those above 180"):
        Preparation().fit({"lat": LATITUDES, "lng": (180.0 + LONGITUDES) % 360})


def test_degrees_far_from_the_equator_are_told():
    with pytest.warns(TableWarning, match=r"'lat' and 'long' .* 0\.50 times as long as one of latitude there"):
        Preparation().fit({"lat": 60 + LATITUDES, "long": 10 + RNG.normal(size=60)})


@pytest.mark.parametrize(
    "table",
    [
        {"lat": LATITUDES, "lon": 10 + RNG.normal(size=60)},
        {"x": RNG.uniform(-180, 180, 60), "y": RNG.uniform(-90, 90, 60)},
        {"angle": SIDES * 175, "y": LATITUDES},
        {"plate": LATITUDES + 60, "belong": LONGITUDES % 360},
    ],
)
def test_other_columns_are_not(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Preparation().fit(table)
