"""The mixture of mixed columns as people meet it: by recipe, on tables and frames, in a chain of maps."""

import warnings

import attrs
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline, load, recipe
from clusterkit.errors import (
    ClusterkitWarning,
    IncompatibleStages,
    Infeasible,
    InvalidData,
    InvalidParameter,
    TableError,
)
from clusterkit.estimators import mixed_blocks
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.families.mixtures.columns import mixed_columns
from clusterkit.families.mixtures.relevant import roles_of
from clusterkit.samples.mixed_space import NumberPart
from clusterkit.tables import Preparation


def _frame(n=240, seed=0, gaps=0.0):
    """Three clusters in two numbers and a category, a number and a category that say nothing, and a site."""
    rng = np.random.default_rng(seed)
    y, site = rng.integers(3, size=n), rng.integers(2, size=n)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[y] + rng.standard_normal((n, 2)) + 8.0 * site[:, None]
    frame = pd.DataFrame(
        {
            "length": X[:, 0],
            "weight": 1000.0 * X[:, 1],
            "kind": np.where(rng.random(n) < 0.8, np.array(["a", "b", "c"])[y], "a"),
            "noise": rng.standard_normal(n),
            "colour": np.array(["red", "green"])[rng.integers(2, size=n)],
            "site": np.array(["north", "south"])[site],
        }
    )
    if gaps:
        frame = frame.mask(rng.random(frame.shape) < gaps)
    return frame, y


@pytest.fixture(scope="module")
def fitted():
    frame, y = _frame()
    return recipe("mixture", n_clusters=3, random_state=0).fit(frame), frame, y


def test_of_many_categories_those_that_say_most_may_be_covariates(fitted, monkeypatch):
    model, frame, _ = fitted
    monkeypatch.setattr("clusterkit.families.mixtures.mixed_table.MOST_COVARIATES", 2)  # kind and site
    again = recipe("mixture", n_clusters=3, random_state=0).fit(frame)
    assert again.column_roles_ == model.column_roles_


def test_columns_get_their_roles(fitted):
    model, _, y = fitted
    assert adjusted_rand_score(y, model.labels_) > 0.9
    roles = model.column_roles_
    assert roles == {
        "length": "cluster-dependent", "weight": "cluster-dependent", "kind": "cluster-dependent",
        "noise": "irrelevant", "colour": "irrelevant", "site": "covariate",
    }  # fmt: skip


def test_new_rows_get_labels_and_probabilities_in_any_order_of_columns(fitted):
    model, frame, _ = fitted
    assert (model.predict(frame) == model.labels_).all()
    some = frame.iloc[50:60, ::-1]
    np.testing.assert_array_equal(model.predict(some), model.labels_[50:60])
    probabilities = model.predict_proba(some)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(probabilities, model.memberships_[50:60])
    unseen = some.assign(kind="never seen", length=np.nan)
    with pytest.warns(UserWarning, match="never seen"):
        assert np.isfinite(model.predict_proba(unseen)).all()
    assert -1.0 <= model.score(frame) <= 1.0


def test_frames_of_all_libraries_mappings_and_clones_give_the_same_labels(fitted):
    model, frame, _ = fitted
    for table in (pl.from_pandas(frame), {name: frame[name].to_numpy() for name in frame}):
        np.testing.assert_array_equal(clone(model).fit(table).labels_, model.labels_)
    coded = frame.astype({"kind": "category", "site": "category"})
    np.testing.assert_array_equal(clone(model).fit(coded).labels_, model.labels_)


def test_units_change_nothing(fitted):
    model, frame, _ = fitted
    other = frame.assign(weight=frame["weight"] / 1024.0, length=4.0 * frame["length"] + 64.0)
    np.testing.assert_array_equal(clone(model).fit(other).labels_, model.labels_)


def test_arrays_are_fitted_by_the_gaussian_mixture_as_before():
    X = _frame()[0][["length", "weight"]].to_numpy()
    model = recipe("mixture", n_clusters=3, random_state=0).fit(X)
    plain = Pipeline("zscore", {"name": "lapgmm", "smoothness": 0.0}, "argmax", n_clusters=3, n_init=5, random_state=0)
    np.testing.assert_array_equal(model.memberships_, plain.fit(X).memberships_)
    assert not hasattr(model, "column_roles_")


@pytest.mark.deep  # `Auto` finds it in a table in test_auto_tables.py
def test_the_number_of_clusters_is_chosen_where_it_is_open():
    frame, y = _frame(150)
    model = recipe("mixture", random_state=0).fit(frame)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.9
    values = model.resolved_["solver"]["criterion_of_number"]
    assert max(values, key=values.get) == 3
    model = recipe("mixture", n_clusters=(2, 2), random_state=0).fit(frame)
    assert set(model.resolved_["solver"]["criterion_of_number"]) == {2}


def test_near_copies_of_a_column_are_no_reason_for_clusters():
    """An empty cluster beside all rows gained 100 and more, by the prior of several clusters alone."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 1))
    frame = pd.DataFrame(x + 0.05 * rng.normal(size=(120, 8))).rename(columns="x{}".format)
    values = recipe("mixture", random_state=0).fit(frame).resolved_["solver"]["criterion_of_number"]
    assert max(values, key=values.get) == 1


def test_rows_without_clusters_are_one_cluster():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.standard_normal(200), "kind": rng.choice(["a", "b", "c"], 200)})
    model = recipe("mixture", n_clusters="auto", random_state=0).fit(frame)
    assert model.n_clusters_ == 1
    assert set(model.column_roles_.values()) == {"irrelevant"}
    assert (model.predict(frame) == 0).all()


def test_gaps_cost_little():
    frame, y = _frame(n=400, gaps=0.2)
    frame["site"] = _frame(n=400)[0]["site"]
    model = recipe("mixture", n_clusters=3, random_state=0).fit(frame)
    assert adjusted_rand_score(y, model.labels_) > 0.6
    assert "Gaps count nowhere" in model.preparation_.paragraph()
    assert (model.predict(frame) == model.labels_).all()


def test_a_changed_recipe_and_weights_are_refused_on_tables():
    frame, _ = _frame(60)
    for changes, named in (
        ({"solver__covariance": "diag"}, "solver__covariance='diag' is"),
        ({"metric": "cosine", "n_init": 3}, "metric='cosine', n_init=3 are"),
    ):
        with pytest.raises(IncompatibleStages, match=f"takes tables with texts.*'mixed_mixture'.*{named} not meant"):
            recipe("mixture", n_clusters=2, **changes).fit(frame)
    with pytest.raises(IncompatibleStages, match="counts rows"):
        recipe("mixture", n_clusters=2).fit(frame, sample_weight=np.arange(60.0))


def test_clusters_of_a_table_have_equal_sizes_on_wish():
    model = recipe("mixture", n_clusters=3, balancer="transport", random_state=0)
    model.fit(_frame(60)[0].drop(columns="site"))
    assert model.preparation_.coded
    assert np.bincount(model.labels_).tolist() == [20, 20, 20]


def test_wrong_parameters_are_refused():
    with pytest.raises(InvalidParameter, match="least_clusters = 4 is more than most_clusters = 3"):
        Pipeline("columns", {"name": "mixed_mixture", "least_clusters": 4, "most_clusters": 3}).fit(np.eye(5))
    with pytest.raises(InvalidData, match="kinds has 1 entries for 5 columns"):
        Pipeline({"name": "columns", "kinds": ("number",)}, "mixed_mixture").fit(np.eye(5))


def test_a_column_can_be_said_to_be_something_else():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    frame = pd.DataFrame({"grade": y + 1.0, "x": 4.0 * y + rng.standard_normal(150)})
    as_level = Preparation(as_category="grade").fit(frame)
    assert as_level.kinds_of_codes == ("category", "auto")
    assert Preparation(as_number="grade").fit(frame).kinds_of_codes == ("number", "auto")
    assert Preparation(as_ordered="grade").fit(frame).kinds_of_codes == ("ordered", "auto")
    texts = frame.assign(grade=np.array(["10-19", "2-9", "20-29"])[y])
    ordered = Preparation(as_ordered="grade").fit(texts)
    assert ordered.plans[0].levels == ("2-9", "10-19", "20-29")
    model = recipe("mixture", n_clusters=3, random_state=0)
    with pytest.warns(ClusterkitWarning, match="restate the column 'grade' .* at least as likely if it is a covariate"):
        fit_prepared(model, texts, Preparation(as_ordered="grade"))
    assert model.resolved_["solver"]["other_reading"]["role"] == "covariate"
    assert model.space_.columns.levels[0].form == "ordered"
    assert (model.predict(texts) == model.labels_).all()
    with pytest.raises(TableError, match="do not show an order"):
        Preparation(as_ordered="grade").fit(frame.assign(grade=np.array(["low", "mid", "high"])[y]))


def test_ordered_categoricals_are_ordered_levels_and_their_features_stay():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    names = ["low", "middle", "high", "never"]
    place = np.clip(y + (rng.random(240) < 0.2), 0, 2)
    frame = pd.DataFrame(
        {"grade": np.array(names)[place], "marks": place.astype(str), "x": rng.standard_normal(240) + y}
    )
    coded = frame.astype({"grade": pd.CategoricalDtype(names, ordered=True)})
    coded["marks"] = frame["marks"].astype(int).astype(pd.CategoricalDtype([0, 1, 2], ordered=True))
    plain, fitted = Preparation().fit(frame), Preparation().fit(coded)
    np.testing.assert_array_equal(plain.transform(frame), fitted.transform(coded))
    assert fitted.kinds_of_codes == ("ordered", "ordered", "auto")
    assert "grade: 3 levels in order" in fitted.paragraph()
    assert Preparation(as_category=("grade",)).fit(coded).kinds_of_codes[0] == "category"
    np.testing.assert_array_equal(attrs.evolve(fitted, coded=True).transform(coded)[:, 0], place)
    blocks = Preparation().fit_blocks([coded.iloc[:100], coded.iloc[100:]])
    assert blocks.kinds_of_codes == fitted.kinds_of_codes
    model = recipe("mixture", n_clusters=3, random_state=0).fit(coded)
    assert [part.form for part in model.space_.columns.levels] == ["ordered", "ordered"]
    assert (model.predict(frame) == model.labels_).all()  # by the text of the level


def test_columns_become_numbers_levels_and_atoms_by_their_values():
    rng = np.random.default_rng(0)
    n = 400
    X = np.column_stack(
        [
            rng.integers(2, size=n),  # two values
            2007 + rng.integers(3, size=n),  # years: levels
            np.round(3 + 1.5 * rng.standard_normal(n)),  # grades near a Gaussian: numbers on a grid
            np.where(rng.random(n) < 0.5, 0.0, rng.gamma(3.0, size=n)),  # an atom and a number beside it
            np.exp(2.0 * rng.standard_normal(n)),
            rng.standard_t(1.5, size=n),
            np.full(n, 3.0),
            rng.poisson(np.where(rng.random(n) < 0.5, 2.0, 9.0)),
        ]
    )
    columns = mixed_columns(X)
    levels = {part.column: part for part in columns.levels}
    numbers = {part.column: part for part in columns.numbers}
    assert set(levels) == {0, 1, 3, 7}
    assert levels[7].form == "count"
    assert levels[7](np.array([4.0, 99.0, 2.5])).tolist()[:2] == [4.0, levels[7].n_levels - 1]
    assert levels[3].is_atom
    assert set(numbers) == {2, 3, 4, 5}
    assert numbers[2].grid > 0.0
    assert (numbers[4].form, numbers[5].form) == ("log", "asinh")
    points = columns(X)
    assert np.isnan(points[X[:, 3] == 0.0, 1]).all()
    assert np.nanmax(np.abs(points[:, :4])) <= 5.0
    unseen = X[:1].copy()
    unseen[0, 1] = 1999.0
    assert np.isnan(columns(unseen)[0, len(numbers) + 1])


@given(
    seed=st.integers(0, 100), law=st.sampled_from(["lognormal", "gamma", "count", "clusters"]),
    unit=st.sampled_from([-2.0, -1.0, 0.01, 1.0, 3.0]), zero=st.sampled_from([-50.0, 0.0, 0.3, 7.0, 1000.0]),
)  # fmt: skip
def test_a_column_in_another_unit_stays_a_linear_function_of_it(seed, law, unit, zero):
    rng = np.random.default_rng(seed)
    x = {
        "lognormal": np.exp(rng.standard_normal(120)),
        "gamma": rng.gamma(2.0, size=120),
        "count": rng.poisson(4.0, 120) * 1.0,
        "clusters": 5.0 * (np.arange(120) % 3 == 1) + rng.standard_normal(120) + 2.0,
    }[law]
    X = np.column_stack([x, rng.standard_normal(120), unit * x + zero])
    columns = mixed_columns(X)
    cells = columns(X)
    kinds = {part.column: part for part in columns.parts}
    if isinstance(kinds[0], NumberPart):
        assert abs(np.corrcoef(cells[:, 0], cells[:, 2])[0, 1]) > 1.0 - 1e-9
    else:  # the same levels, in one order or the other
        assert len(set(zip(cells[:, 0], cells[:, 2], strict=True))) == len(set(cells[:, 0]))
    assert type(kinds[2]) is type(kinds[0])


def test_a_copy_in_a_unit_with_another_zero_is_redundant():
    rng = np.random.default_rng([1, 77])
    G = np.array([[0, 0, 0], [5, 0, 3], [0, 5, -3]])[np.arange(150) % 3] + rng.standard_normal((150, 3))
    X = np.column_stack([G, 3.0 * (G[:, 0] - G[:, 0].min()) + 0.5])  # positive and skewed, so that a logarithm fits
    roles = roles_of(X, (), (), 3, np.random.default_rng(0))
    assert sorted(roles.values()) == ["cluster-dependent"] * 3 + ["redundant"]


def test_relevant_columns_stand_before_any_map():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    good = np.array([[0, 0, 0], [6, 0, 0], [0, 6, 0]])[y] + rng.standard_normal((150, 3))
    X = np.hstack([good[:, :2], 1.0 + 5.0 * rng.standard_normal((150, 20))])
    plain = recipe("kmeans", n_clusters=3, featuremap="zscore", random_state=0).fit(X)
    model = recipe("kmeans", n_clusters=3, featuremap=["relevant", "zscore"], random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95 > adjusted_rand_score(y, plain.labels_)
    assert [name for name, role in model.column_roles_.items() if role == "cluster-dependent"] == ["x1", "x2"]
    assert (model.predict(X) == model.labels_).all()


def test_where_no_column_is_relevant_all_are_kept():
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = recipe("kmeans", n_clusters=2, featuremap=["relevant", "zscore"], random_state=0).fit(X)
    assert model.resolved_["featuremap"]["n_relevant"] in (1, 2, 3)
    assert model.n_clusters_ == 2


def test_blocks_of_a_table_end_at_the_mixture_of_all_rows(monkeypatch):
    frame, _ = _frame(400)
    frame["kind"] = frame["kind"].mask(np.arange(400) % 9 == 0)
    monkeypatch.setattr(mixed_blocks, "SAMPLE", 250)
    model = recipe("mixture", n_clusters=3, random_state=0)
    mixed_blocks.fit_blocks(model, lambda: (frame.iloc[start : start + 90] for start in range(0, 400, 90)))
    whole = recipe("mixture", n_clusters=3, random_state=0).fit(frame)
    assert len(model.labels_) == 400
    assert adjusted_rand_score(whole.labels_, model.labels_) > 0.9
    assert model.column_roles_ == whole.column_roles_
    assert (model.predict(frame) == model.labels_).all()
    assert model.resolved_["solver"]["rows_of_sample"] == 250
    changing = iter([[frame], [frame.iloc[:9]]])
    with pytest.raises(InvalidData, match="had 400 rows, and 9 when they were read again"):
        mixed_blocks.fit_blocks(model, lambda: next(changing))
    with pytest.raises(InvalidData, match="takes features only"):
        mixed_blocks.fit_blocks(recipe("kmeans", n_clusters=2), lambda: [frame])


def test_each_pass_over_blocks_raises_the_likelihood(monkeypatch):
    frame, y = _frame(600)
    numbers = frame[["length", "weight", "noise", "site"]]
    monkeypatch.setattr(mixed_blocks, "SAMPLE", 240)
    model = recipe("mixture", n_clusters=3, random_state=0)
    mixed_blocks.fit_blocks(model, lambda: [numbers.iloc[:300], numbers.iloc[300:]])
    assert len(model.history_) > 1
    assert (np.diff(model.history_) < 1e-9).all()
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_model_with_an_open_number_is_loaded_and_a_lazy_frame_is_refused_as_one(tmp_path):
    frame, _ = _frame(150)
    model = recipe("mixture", random_state=0).fit(frame[["length", "kind"]])
    model.save(tmp_path / "m.clusterkit")
    np.testing.assert_array_equal(load(tmp_path / "m.clusterkit").predict(frame[["length", "kind"]]), model.labels_)
    with pytest.raises(InvalidData, match=r"collect\(\)"):
        recipe("mixture").fit(pl.from_pandas(frame).lazy())


def test_an_open_number_begins_at_the_fewest_clusters_that_links_allow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.standard_normal(60), "kind": rng.choice(["a", "b"], 60)})
    apart = [(i, j, -1) for i in range(3) for j in range(i)]
    model = recipe("mixture", random_state=0).fit(frame, links=apart)
    assert len(set(model.labels_[:3])) == 3
    assert min(model.resolved_["solver"]["criterion_of_number"]) == 3
    with pytest.raises(Infeasible, match=r"more than 2 clusters: rows 1 and 0 apart.*n_clusters=\(3, 6\) tries more"):
        recipe("mixture", n_clusters=(2, 2), random_state=0).fit(frame, links=apart)


def test_one_cluster_has_roles_of_columns_and_a_model_that_is_not_fitted_says_so():
    frame, _ = _frame(100)
    model = recipe("mixture", n_clusters=1, random_state=0)
    for name in ("column_roles_", "layers_"):
        with pytest.raises(NotFittedError, match=f"no {name} before the fit"):
            getattr(model, name)
    model.fit(frame)
    assert model.n_clusters_ == 1
    assert model.column_roles_["noise"] == "irrelevant"
    assert (model.predict(frame) == 0).all()
    assert recipe("kmeans", n_clusters=1, featuremap="relevant").fit(frame[["noise"]]).column_roles_


def test_near_copies_of_a_column_are_redundant_without_a_warning():
    frame, _ = _frame(150)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterkitWarning)
        model = recipe("mixture", n_clusters=3, random_state=0).fit(frame.assign(inches=frame["length"] / 2.54))
    assert "redundant" in (model.column_roles_["inches"], model.column_roles_["length"])
