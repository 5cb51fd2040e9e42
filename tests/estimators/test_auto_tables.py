"""`Auto` prepares data frames and nothing else; models of tables apply their preparation again, loaded too."""

import warnings

import attrs
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

import clusterkit
from clusterkit import Auto, load, recipe, search
from clusterkit.contracts import DriverResult
from clusterkit.contracts.labelings import by_appearance
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter
from clusterkit.estimators import auto_tables
from clusterkit.estimators.mixed_blocks import fit_blocks
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.fitting.fit import fit as run_fit
from clusterkit.metrics import adjusted_rand
from clusterkit.numerics.selection import sample_rows
from clusterkit.profiles.doubts import doubts
from clusterkit.tables import Preparation, TableError
from clusterkit.testing.compare import small_blocks, small_groups

pandas = pytest.importorskip("pandas")


@pytest.fixture
def planted():
    return np.repeat([0, 1, 2], 30)


@pytest.fixture
def frame(planted):
    rng = np.random.default_rng(0)
    income = 30_000 + 20_000 * (planted == 1) + 1500 * rng.normal(size=90)
    income[::89] = np.nan
    return pandas.DataFrame(
        {
            "key": [f"k{i}" for i in range(90)],
            "income": income,
            "share": 0.1 + 0.2 * (planted == 2) + 0.01 * rng.normal(size=90),
            "plan": np.array(["a", "b", "c"], dtype=object)[planted],
        }
    )


def test_a_data_frame_is_prepared(frame, planted, tmp_path):
    model = Auto(random_state=0).fit(frame)
    assert adjusted_rand(planted, model.labels_) > 0.95
    assert model.feature_names_in_.tolist() == list(frame)
    assert model.n_features_in_ == 4
    assert model.preparation_.left_out == {"key": "an identifier: 90 different values in 90 rows"}
    assert model.resolved_["preparation"]["scale"] == "none"  # a mixture takes columns as they are
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    np.testing.assert_array_equal(model.predict(frame[["plan", "share", "income"]]), model.labels_)
    model.save(tmp_path / "m.clusterkit")
    again = load(tmp_path / "m.clusterkit")
    assert again.preparation_ == model.preparation_
    np.testing.assert_array_equal(again.predict(frame), model.labels_)
    clusterkit.save(again, tmp_path / "n.clusterkit")
    assert (tmp_path / "m.clusterkit").read_bytes() == (tmp_path / "n.clusterkit").read_bytes()
    with pytest.raises(TableError, match="lacks 1 of the 3 columns that the model uses: plan"):
        again.predict(frame[["income", "share"]])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_libraries(frame, library):
    module = pytest.importorskip(library)
    other = module.table(frame) if library == "pyarrow" else module.DataFrame(frame.to_dict("list"), strict=False)
    expected = Auto(n_clusters=3, pool=["kmeans"], random_state=0).fit(frame)
    model = Auto(n_clusters=3, pool=["kmeans"], random_state=0).fit(other)
    assert adjusted_rand(expected.labels_, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(other), model.labels_)


def test_an_array_is_not(frame):
    X = frame[["share"]].to_numpy()
    model = Auto(n_clusters=2, pool=["kmeans"], random_state=0).fit(frame[["share"]]).fit(X)
    assert not hasattr(model, "preparation_")
    assert "preparation" not in model.resolved_
    with pytest.raises(ValueError, match="NaN"):
        Auto().fit(frame[["income", "share"]].to_numpy())


def test_the_preparation_can_be_chosen(frame):
    spec = Preparation(drop="plan", scale="minmax")
    model = clone(Auto(n_clusters=2, pool=["kmeans"], preparation=spec, random_state=0)).fit(frame)
    assert model.preparation_.features == ("income", "share")
    assert model.preparation_.scale == "minmax"
    assert "column_roles" not in model.resolved_["auto"]  # a pool of the user is asked alone
    with pytest.raises(InvalidParameter, match="preparation must be a Preparation or None"):
        Auto(preparation="zscore").fit(frame)


def test_any_recipe_by_hand(frame, planted, tmp_path):
    model = recipe("kmeans", n_clusters=3, random_state=0)
    fit_prepared(model, frame)
    assert adjusted_rand(planted, model.labels_) > 0.95
    model.save(tmp_path / "m.clusterkit")
    np.testing.assert_array_equal(clusterkit.load(tmp_path / "m.clusterkit").predict(frame), model.labels_)
    model.fit(frame[["share"]].to_numpy())
    assert not hasattr(model, "preparation_")


def test_methods_without_negative_numbers_get_none(frame):
    model = recipe("nmf", n_clusters=2, featuremap="identity", random_state=0)
    X = fit_prepared(model, frame)
    assert X.min() >= 0
    assert model.preparation_.scale == "spread"
    assert model.preparation_.preparation == Preparation(sphere=False)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_a_mapping_of_columns_is_a_table(frame):
    """As `predict` and `profile` take it."""
    columns = {name: frame[name].to_numpy() for name in frame}
    model = Auto(pool=["kmeans"], random_state=0).fit(columns)
    assert model.feature_names_in_.tolist() == list(frame)
    np.testing.assert_array_equal(model.labels_, clone(model).fit(frame).labels_)
    np.testing.assert_array_equal(model.predict(columns), model.labels_)
    rows = frame.iloc[:4].to_dict("records")  # as web services get them
    np.testing.assert_array_equal(model.predict(rows), model.labels_[:4])
    np.testing.assert_array_equal(model.predict(rows[3]), model.labels_[3:4])


class TestMoreColumnsThanRows:
    def test_the_same_clusters_in_fewer_coordinates(self, tmp_path):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], 15)
        X = rng.normal(size=(30, 200)) + 3.0 * y[:, None] * (np.arange(200) < 20)
        model = Auto(random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) == 1.0
        assert model.space_ is None or model.space_.points.shape[1] < 30
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        model.save(tmp_path / "m.clusterkit")
        new = rng.normal(size=(6, 200)) + 3.0 * (np.arange(200) < 20)
        again = load(tmp_path / "m.clusterkit")
        np.testing.assert_array_equal(again.predict(new), model.predict(new))
        assert set(model.predict(new)) == set(model.labels_[15:])

    def test_distances_stay(self):
        from clusterkit.estimators.samples import RowSpan

        X = np.random.default_rng(0).normal(size=(10, 50))
        Z = RowSpan.of(X)(X)
        assert Z.shape == (10, 9)
        np.testing.assert_allclose(
            np.linalg.norm(Z[:, None] - Z[None], axis=2), np.linalg.norm(X[:, None] - X[None], axis=2), atol=1e-10
        )


def test_a_search_takes_the_tables_that_auto_takes():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 30)
    frame = pandas.DataFrame(
        {
            "age": 20 + 15 * groups + rng.normal(size=90),
            "plan": np.array(["free", "basic", "full"])[groups],
            "since": pandas.to_datetime("2020-01-01")
            + pandas.to_timedelta(300 * groups + rng.integers(0, 50, 90), "D"),
        }
    )
    frame.loc[4, "age"] = np.nan
    ranking = search(Auto(pool=["kmeans", "genie"], random_state=0), {"n_clusters": [2, 3, 4]}, frame)
    assert ranking.best_params == {"n_clusters": 3}
    assert ranking.best_estimator.preparation_.columns == ("age", "plan", "since")
    assert adjusted_rand(groups, ranking.best_estimator.predict(frame)) == 1.0
    ranking = search("kmeans", {"n_clusters": [2, 3]}, frame, random_state=0)
    assert adjusted_rand(groups, ranking.best_estimator.predict(frame)) == 1.0


def test_clusters_that_restate_a_column_are_told_unless_the_other_columns_confirm_them():
    rng = np.random.default_rng(0)
    year = np.repeat([2007.0, 2008.0, 2009.0], 60)
    table = pandas.DataFrame({"year": year, "a": rng.normal(size=180), "b": rng.normal(size=180)})
    with pytest.warns(
        ClusterkitWarning, match="the clusters restate the column 'year' .* without it there are 3 others"
    ):
        model = Auto(3, random_state=0).fit(table)
    facts = model.resolved_["auto"]["restates"]
    assert facts["agreement"] >= 0.99
    assert facts["similarity_without"] <= 0.1
    assert model.confidence_ <= 0.5
    assert "--drop year" in doubts(model, table, model.preparation_.transform(table)).of_column
    table[["a", "b"]] += 9.0 * (year[:, None] - 2008.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterkitWarning)
        model = Auto(3, random_state=0).fit(table)
    assert model.resolved_["auto"]["restates"]["similarity_without"] == 1.0
    assert model.confidence_ >= 0.9


def test_pairs_of_clusters_that_one_column_divides_restate_it():
    rng = np.random.default_rng(0)
    group, year = np.repeat([0, 1], 120), np.tile([2007.0, 2008.0, 2009.0], 80)
    table = pandas.DataFrame({"year": year, **{name: rng.normal(size=240) + 4.0 * group for name in "abc"}})
    with pytest.warns(ClusterkitWarning, match="the clusters restate the column 'year'"):
        assert Auto(6, random_state=0).fit(table).confidence_ <= 0.5


class TestColumns:
    """Tables are judged by their columns."""

    @pytest.fixture
    def mixed(self):
        """Three groups that numbers and categories show, a site that shifts the numbers, gaps, and columns of noise."""
        rng = np.random.default_rng(4)
        groups, site = rng.integers(3, size=300), rng.integers(3, size=300)
        centres = np.array([[-2.2, 0.0], [2.2, 0.0], [0.0, 3.0]])
        shifts = np.array([[0.0, 0.0], [5.0, 4.0], [-4.0, 6.0]])
        numbers = centres[groups] + shifts[site] + rng.normal(size=(300, 2))
        drawn = np.where(rng.random((300, 2)) < (0.8, 0.72), groups[:, None], rng.integers(3, size=(300, 2)))
        table = pandas.DataFrame(numbers, columns=["a", "b"])
        table["c"], table["d"] = np.array(list("xyz"))[drawn[:, 0]], np.array(list("uvw"))[drawn[:, 1]]
        table["site"] = np.array(["north", "south", "east"])[site]
        for j in range(4):
            table[f"noise {j}"] = rng.normal(size=300)
        table["year"] = 2007 + rng.integers(3, size=300)
        table.loc[::17, "a"] = np.nan
        return table, groups

    @pytest.mark.parametrize("k", [pytest.param(3, marks=pytest.mark.deep), None])
    def test_groups_beside_a_site_noise_and_gaps_are_found_with_the_roles_of_the_columns(self, mixed, k, tmp_path):
        table, groups = mixed
        model = Auto(k, random_state=0).fit(table)
        assert model.n_clusters_ == 3
        assert adjusted_rand(groups, model.labels_) >= 0.85
        assert model.resolved_["auto"]["recipe"] == "mixture"
        roles = model.column_roles_
        assert {roles[name] for name in "abcd"} == {"cluster-dependent"}
        assert roles["site"] == "covariate"
        assert {roles[f"noise {j}"] for j in range(4)} | {roles["year"]} == {"irrelevant"}
        assert np.array_equal(model.predict(table), model.labels_)
        path = tmp_path / "model"
        model.save(path)
        assert np.array_equal(load(path).predict(table[:50]), model.labels_[:50])

    def test_shapes_beside_columns_of_noise_are_left_to_the_pool(self):
        X, groups = make_moons(400, noise=0.05, random_state=0)
        rng = np.random.default_rng(0)
        table = pandas.DataFrame({"x": X[:, 0], "y": X[:, 1], "u": rng.choice(list("ab"), 400)})
        model = Auto(2, random_state=0).fit(table)
        assert model.resolved_["auto"]["recipe"] != "mixture"
        assert adjusted_rand(groups, model.labels_) == 1.0
        assert np.array_equal(model.predict(table), model.labels_)

    def test_families_that_agree_on_shapes_overrule_a_stable_mixture(self):
        X, groups = make_moons(400, noise=0.07, random_state=1)
        rng = np.random.default_rng(1)
        X = np.hstack([X, rng.normal(0.0, 0.4, (400, 2))]) @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
        assert adjusted_rand(groups, Auto(2, random_state=0).fit(X).labels_) > 0.9


@pytest.fixture(scope="module")
def fitted_to_many_columns():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    X = np.hstack([centres[y] + rng.normal(size=(120, 2)), rng.normal(size=(120, 8))])
    X = X / X.std(axis=0)
    return Auto(random_state=0).fit(X), X, y


class TestArraysOfManyColumns:
    def test_irrelevant_columns_do_not_hide_clusters(self, fitted_to_many_columns, tmp_path):
        model, X, y = fitted_to_many_columns
        facts = model.resolved_["auto"]
        assert facts["recipe"] == "mixture"
        assert adjusted_rand(y, model.labels_) > 0.9
        assert [name for name, role in facts["column_roles"].items() if role == "cluster-dependent"] == [
            "column 1",
            "column 2",
        ]
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        model.save(tmp_path / "m.clusterkit")
        np.testing.assert_array_equal(load(tmp_path / "m.clusterkit").predict(X), model.labels_)

    def test_the_next_best_number_stands_beside_it(self, fitted_to_many_columns):
        model, *_ = fitted_to_many_columns
        chosen, second = model.candidates_
        assert chosen["n_clusters"] == 3
        assert second["n_clusters"] == model.second_n_clusters_ != 3
        assert chosen["score"] >= second["score"]
        assert 0 < second["similarity"] < chosen["similarity"] == 1

    def test_a_range_holds_for_the_mixture(self, fitted_to_many_columns):
        _, X, _ = fitted_to_many_columns
        model = Auto((4, 5), random_state=0).fit(X)
        assert int(model.labels_.max()) + 1 in (4, 5)


def test_clusters_that_restate_a_category_are_seen_without_its_rare_levels():
    """Rare levels have one feature together, in which clusters and levels no longer agree."""
    places = np.repeat(np.arange(6), 20)
    codes = np.where(places < 4, places, 4.0)
    columns = {"number": slice(0, 1), "place": slice(1, 6)}
    rows = np.hstack([np.random.default_rng(0).normal(size=(120, 1)), np.eye(5)[codes.astype(int)]])
    apart = np.where(places < 4, 0, places - 3)  # clusters of which the first one holds all frequent levels but one
    apart[places == 0] = 3
    known = np.where(codes < 4, codes, np.nan)
    assert auto_tables.restated_column(apart, rows, columns, {"place": known}) == ("place", 1.0)


def test_draws_agree_with_clusters_as_far_as_these_lie_apart():
    certain = np.eye(2)[np.repeat([0, 1], 50)]

    def agreement(memberships):
        fit = attrs.make_class("Fit", ["memberships"])(memberships)
        return auto_tables.attainable(fit)

    assert agreement(certain) == pytest.approx(1.0)
    assert agreement(0.2 * certain + 0.4) == pytest.approx(0.04, abs=0.02)
    assert agreement(None) == 1.0


def test_a_confidence_is_low_where_one_cluster_is_said():
    X = np.random.default_rng(1).uniform(size=(120, 2))
    model = Auto(random_state=0).fit(X)
    assert model.perhaps_one_cluster_
    assert model.confidence_ <= 0.5


def test_the_pool_is_never_sure_of_a_lattice(monkeypatch):
    """Gaps between answers from 1 to 5 are no borders."""
    rng = np.random.default_rng(0)
    places = np.repeat([2.0, 4.0], 60)[:, None] + 0.6 * rng.normal(size=(120, 6))
    monkeypatch.setattr(auto_tables, "_confidence", lambda answer: 1.0)
    monkeypatch.setattr(auto_tables, "rand_index", lambda one, other: 0.0)
    of_answers = Auto(2, random_state=0).fit(np.clip(np.round(places), 1, 5))
    assert of_answers.resolved_["auto"]["recipe"] == "mixture"
    assert Auto(2, random_state=0).fit(places).resolved_["auto"]["recipe"] != "mixture"


def test_a_core_and_its_heavy_tails_are_one_cluster(monkeypatch):
    class Stopped(Exception):
        pass

    def mixture_alone(court):
        raise Stopped(court.best_mixture())

    monkeypatch.setattr(auto_tables.Court, "answer", mixture_alone)
    rng = np.random.default_rng(6)
    planted = np.repeat([0, 1, 2], 60)
    X = 6 * np.eye(3, 5)[planted] + rng.standard_t(3, (180, 5))
    with pytest.raises(Stopped) as caught:
        Auto(random_state=0).fit(X)
    [best] = caught.value.args
    assert adjusted_rand(planted, best.fit.labels) > 0.9
    assert list(best.scores) == [2, 3]  # of four clusters one is the tails of the others


@pytest.mark.parametrize("confidence", [0.81, pytest.param(0.99, marks=pytest.mark.deep)])
def test_fewer_clusters_that_a_surer_mixture_divides_do_not_stand_against_it(monkeypatch, confidence):
    rng = np.random.default_rng(0)
    planted = np.repeat([0, 1, 2], 40)
    table = pandas.DataFrame(4.0 * np.eye(3)[planted] + rng.normal(scale=0.4, size=(120, 3))).rename(
        columns="x{}".format
    )
    table["plan"] = np.array(["a", "b", "c"])[np.where(rng.random(120) < 0.6, planted, rng.integers(3, size=120))]
    run_pool = auto_tables.Court.pool_on

    def of_two(court, k, index):
        answer = run_pool(court, 2, index)
        return attrs.evolve(answer, report={**answer.report, "confidence": confidence if k is None else 0.1})

    monkeypatch.setattr(auto_tables.Court, "pool_on", of_two)
    monkeypatch.setattr(auto_tables.Court, "restates", lambda court, pool: False)
    model = Auto(random_state=0).fit(table)
    assert model.n_clusters_ == (3 if confidence == 0.81 else 2)


def many(n, spread=2.5):
    """Blobs and their classes; of the usual spread distances do not part them."""
    return make_blobs(n, n_features=5, centers=3, cluster_std=spread, random_state=0)


@pytest.fixture
def few_are_many(monkeypatch):
    """More than 400 rows are judged by 250."""
    monkeypatch.setattr("clusterkit.estimators.auto.MOST_ROWS", 400)
    monkeypatch.setattr("clusterkit.estimators.auto.SAMPLE", 250)
    return {"max_rows": 100, "random_state": 0}


def test_all_rows_have_labels_by_what_was_fitted_to_a_sample(few_are_many, monkeypatch):
    seen = []

    def quick(self, data):
        seen.append(data.rows)
        fit = run_fit(recipe("kmeans", n_clusters=3).composition(), data.rows, Seeds.of(0))
        fit = attrs.evolve(fit, resolved={"auto": {}})
        return auto_tables.TableAnswer(DriverResult(fit, {"candidates": []}), None)

    monkeypatch.setattr(Auto, "_answer", quick)
    X, _ = many(1000)
    with pytest.warns(ClusterkitWarning, match="1000 rows were clustered by a sample of 250"):
        model = Auto(**few_are_many).fit(X)
    assert len(seen[0]) == model.resolved_["auto"]["rows_judged"] == 250
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    for rows, many_columns in ((X[:400], X.shape[1]), (X[:, :3], 3)):  # few rows, and columns that are not judged
        assert Auto(**few_are_many).fit(rows).labels_.shape == (len(rows),)
        assert seen[-1].shape == (len(rows), many_columns)


@pytest.mark.deep
def test_more_rows_than_are_judged_have_labels_from_a_sample_wherever_they_lie(few_are_many, tmp_path):
    X, y = many(1000)
    np.save(tmp_path / "rows.npy", X)
    model = Auto(3, **few_are_many)
    with pytest.warns(ClusterkitWarning, match="1000 rows were clustered by a sample of 250") as caught:
        labels = model.fit(X).labels_
    assert len(caught) == 1
    assert adjusted_rand(y, labels) > 0.85
    assert model.resolved_["auto"]["rows_judged"] == 250
    assert model.exact_on_training_
    np.testing.assert_array_equal(model.predict(X), labels)
    chosen = sample_rows(1000, 250, Seeds.of(0).stream("rows of a sample"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        np.testing.assert_array_equal(model.fit(X[chosen]).labels_, by_appearance(labels[chosen]))
        with small_groups(150), small_blocks():
            np.testing.assert_array_equal(model.fit(clusterkit.open(tmp_path / "rows.npy")).labels_, labels)


@pytest.mark.deep
@pytest.mark.parametrize("number", [None, 3])
def test_tables_with_categories_and_gaps_too(few_are_many, number):
    X, y = many(1000, spread=1.5)
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(X, columns=list("abcde"))
    table["a"] = table["a"].mask(rng.random(1000) < 0.1)
    table["kind"] = np.where(rng.random(1000) < 0.8, np.array(["x", "y", "z"])[y], "x")
    model, blocks = Auto(number, **few_are_many), Auto(number, **few_are_many)
    with pytest.warns(ClusterkitWarning, match="by a sample of 250"):
        labels = model.fit(table).labels_
    assert adjusted_rand(y, labels) > 0.8
    np.testing.assert_array_equal(model.predict(table), labels)
    with pytest.warns(ClusterkitWarning, match="by a sample of 250"):
        fit_blocks(blocks, lambda: [table.iloc[:300], table.iloc[300:]])
    np.testing.assert_array_equal(blocks.labels_, labels)
    np.testing.assert_array_equal(blocks.predict(table), labels)


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::clusterkit.errors.ClusterkitWarning")
@pytest.mark.parametrize("n", [3000, 250_000, 1_000_000])
def test_any_number_of_rows_has_the_clusters_of_its_first_thousands(n, tmp_path):
    X, y = make_blobs(n, n_features=10, centers=6, cluster_std=3, random_state=0)
    np.save(tmp_path / "rows.npy", X)
    model = Auto(random_state=0).fit(clusterkit.open(tmp_path / "rows.npy") if n == 1_000_000 else X)
    assert model.n_clusters_ == 6
    assert adjusted_rand(y, model.labels_) > 0.97


def test_a_number_of_numpy_is_a_number_for_seeds_too():
    X, _ = many(30)
    for number in (2, np.int64(2)):
        with pytest.raises(InvalidData, match="seed"):
            Auto(number, random_state=0).fit(X, seeds=[0, 1, 2, *[-1] * 27])
