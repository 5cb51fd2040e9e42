"""Places on a sphere: distances order as great circles do, 180° is no border, and wrong columns are named."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import haversine_distances

from clusterkit import Auto, recipe
from clusterkit.errors import InvalidData
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.families.shared.sphere import SpherePoints


def places(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)])


def test_distances_order_as_those_over_the_ground():
    X = places(120)
    chords = np.linalg.norm(SpherePoints(1.0)(X)[:, None] - SpherePoints(1.0)(X)[None], axis=2)
    angles = haversine_distances(np.radians(X))
    np.testing.assert_allclose(2 * np.arcsin(np.clip(chords / 2, 0, 1)), angles, atol=1e-7)
    one, other = np.triu_indices(120, 1)
    order = np.argsort(angles[one, other])
    assert (np.diff(chords[one, other][order]) >= -1e-9).all()


def test_places_on_both_sides_of_180_degrees_are_one_cluster_with_a_centre_between_them():
    rng = np.random.default_rng(0)
    island = np.column_stack([rng.normal(-17, 1, 60), (rng.normal(180, 1.5, 60) + 180) % 360 - 180])
    X = np.concatenate([island, np.column_stack([rng.normal(47, 1, 60), rng.normal(8, 1.5, 60)])])
    model = recipe("kmeans", n_clusters=2, metric="haversine", random_state=0).fit(X)
    assert len(set(model.labels_[:60])) == len(set(model.labels_[60:])) == 1
    centre = model.cluster_centers_[model.labels_[0]]
    assert centre == pytest.approx([-17, np.sign(centre[1]) * 180], abs=1.0)
    assert (recipe("hdbscan", metric="haversine").fit(X).labels_[:60] == 0).mean() > 0.9


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.eye(3), "takes two columns, latitude and longitude in degrees, and there are 3"),
        (np.array([[100.0, 20], [3, 4], [5, 6]]), "column 1 has values from 3 to 100, and latitudes are -90 to 90"),
        (np.array([[100.0, 20], [3, 4], [5, 6]]), "The columns may be in the wrong order"),
        (np.array([[1.0, 20], [3, 400], [5, 6]]), "column 2 has values from 6 to 400, and longitudes are -180 to 360"),
    ],
)
def test_other_columns_are_refused(X, message):
    with pytest.raises(InvalidData, match=message):
        recipe("kmeans", n_clusters=2, metric="haversine").fit(X)


def test_trees_of_unit_rows_are_those_of_normalised_rows():
    X = np.random.default_rng(0).normal(size=(300, 5)) + 2.0 * np.repeat(np.eye(5)[:3], 100, axis=0)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    for name, parameters in (("hdbscan", {}), ("genie", {"n_clusters": 3}), ("mass-cut", {"n_clusters": 3})):
        by_metric = recipe(name, metric="cosine", **parameters).fit(X)
        np.testing.assert_array_equal(by_metric.labels_, recipe(name, **parameters).fit(rows).labels_)


def test_longitudes_beyond_a_turn_are_refused_with_what_takes_it_off():
    with pytest.raises(InvalidData, match=r"from -269 to 180, .* off by \(x \+ 180\) % 360 - 180"):
        recipe("kmeans", n_clusters=2, metric="haversine").fit([[10.0, -269.0], [12.0, 180.0], [11.0, 0.0]])


def test_a_frame_with_the_longitude_first_is_refused():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([10, 178], 1, (40, 2)), rng.normal([50, 20], 1, (40, 2))])
    X[:, 1] = (X[:, 1] + 180) % 360 - 180
    frame = pd.DataFrame(X, columns=["lat", "lon"])
    for model in (recipe("kmeans", n_clusters=2, metric="haversine"), Auto(2, metric="haversine")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Auto does not doubt what the metric takes
            assert adjusted_rand_score(model.fit(frame).labels_, np.repeat([0, 1], 40)) == 1
        with pytest.raises(InvalidData, match="'lon' and 'lat', and metric='haversine' takes the latitude first"):
            model.fit(frame[["lon", "lat"]])
    with pytest.raises(InvalidData, match="'lon' and 'lat', and metric='haversine' takes the latitude first"):
        fit_prepared(recipe("kmeans", n_clusters=2, metric="haversine"), frame[["lon", "lat"]])
