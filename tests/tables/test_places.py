"""Latitudes and longitudes are no coordinates of a flat map: they become points on a sphere, or a fit says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics.pairwise import haversine_distances

from clusterkit import Auto, recipe
from clusterkit.errors import TableError
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.tables import Preparation

RNG = np.random.default_rng(0)
LATITUDES = RNG.normal(0.0, 0.3, 60)
SIDES = np.where(np.arange(60) % 2, 1.0, -1.0)
LONGITUDES = SIDES * (180.0 - RNG.uniform(0.01, 0.2, 60))
ELSEWHERE = {"lat": np.r_[LATITUDES, 47 + LATITUDES], "lon": np.r_[LONGITUDES, 8 + LATITUDES]}


@pytest.mark.parametrize(
    "names", [("lat", "lon"), ("start_latitude", "Start_Longitude"), ("Breitengrad", "Längengrad"), ("lat.", "lng.")]
)
def test_places_by_names_and_ranges_are_points_on_a_sphere_with_distances_over_the_ground(names):
    fitted = Preparation().fit(dict(zip(names, (LATITUDES, LONGITUDES), strict=True)))
    X = fitted.transform(dict(zip(names, (LATITUDES, LONGITUDES), strict=True)))
    angles = np.degrees(haversine_distances(np.radians(np.stack([LATITUDES, LONGITUDES], axis=1))))
    chords = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(chords, angles, rtol=1e-3, atol=1e-6)  # a degree is as long as 1
    assert fitted.resolved()["places"] == dict([names])
    assert f"180° is no border: {names[0]} and {names[1]}, as points on a sphere; --no-sphere" in fitted.paragraph()


def test_places_weigh_as_much_as_two_numbers_beside_others():
    table = {**ELSEWHERE, "turnover": RNG.normal(0, 4000, 120)}
    X = Preparation().fit(table).transform(table)
    np.testing.assert_allclose(X.var(axis=0)[[0, 1, 2]].sum(), 2.0, rtol=1e-9)
    again = {**table, "lon": table["lon"] % 360}
    np.testing.assert_allclose(Preparation().fit(again).transform(again), X, atol=1e-12)


def test_a_gap_of_one_half_is_a_gap_of_the_place():
    table = {name: values.copy() for name, values in ELSEWHERE.items()} | {"depth": np.arange(120) + 0.5}
    table["lat"][3] = np.nan
    X = Preparation().fit(table).transform(table)
    assert np.isfinite(X).all()
    others = np.delete(X, 3, axis=0)
    assert (others[:, :3] == X[3, :3]).all(axis=1).any()  # the whole place of another row
    X = Preparation(gaps="typical").fit(table).transform(table)
    assert np.isfinite(X).all()


@pytest.mark.parametrize("name", ["kmeans", "mixture"])
def test_clusters_at_the_date_line_are_whole(name):
    model = recipe(name, n_clusters=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_prepared(model, ELSEWHERE)
    assert len(set(model.labels_[:60])) == len(set(model.labels_[60:])) == 1
    assert model.resolved_["preparation"]["places"] == {"lat": "lon"}


def test_auto_takes_places_of_a_table():
    pytest.importorskip("pandas")
    model = Auto(n_clusters=2, random_state=0).fit(ELSEWHERE)
    assert len(set(model.labels_[:60])) == len(set(model.labels_[60:])) == 1
    assert model.predict({"lat": np.array([0.0]), "lon": np.array([180.0])})[0] == model.labels_[0]


def test_latitudes_of_new_rows_end_at_the_poles():
    with pytest.raises(TableError, match="column 'lat' has latitudes, and 95 is none"):
        Preparation().fit(ELSEWHERE).transform({"lat": np.full(3, 95.0), "lon": np.zeros(3)}, quiet=True)


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (ELSEWHERE, {"sphere": False}),
        (ELSEWHERE, {"as_number": ("lon",)}),
        (ELSEWHERE, {"scale": "spread"}),
        ({"lat": LATITUDES, "lon": LONGITUDES * 1000}, {}),
        ({"lat": LATITUDES + 95, "lon": LONGITUDES}, {}),
        ({"lat": LATITUDES, "end_lon": LATITUDES}, {}),
        ({"y": LATITUDES, "x": LATITUDES[::-1]}, {}),
        ({"lat": LATITUDES, "lon": LATITUDES[::-1], "long": LATITUDES**2}, {}),
        ({"lat": LATITUDES, "length": LATITUDES[::-1]}, {}),
    ],
)
def test_other_columns_stay_numbers(table, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = Preparation(**options).fit(table)
    assert fitted.resolved()["places"] == {}
    assert set(fitted.features) == set(table)
