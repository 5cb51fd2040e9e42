"""Profiles: what is planted is named, the numbers are those of the formulas, any table is taken."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import clusterkit
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.profiles.naming import MOST, PLAIN, short_between
from clusterkit.testing.pytest_plugin import deep

SETS = 100 if deep() else 40


def planted(seed):
    """Noise columns, and for each cluster one or two columns of its own in which it is high or low."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 6)), int(rng.integers(8, 25))
    sizes = rng.integers(40, 200, size=k)
    labels = np.repeat(np.arange(k), sizes)
    X = rng.normal(size=(len(labels), d))
    columns = rng.permutation(d)
    truth, used = [], 0
    for cluster in range(k):
        count = int(rng.integers(1, 3))
        mine = {}
        for column in columns[used : used + count]:
            sign = int(rng.choice([-1, 1]))
            X[labels == cluster, column] += sign * rng.uniform(3.0, 6.0)
            mine[f"x{column}"] = "high" if sign > 0 else "low"
        truth.append(mine)
        used += count
    if k == 2:  # what distinguishes one of two clusters distinguishes the other too
        turned = [{name: "low" if where == "high" else "high" for name, where in mine.items()} for mine in truth]
        truth = [truth[0] | turned[1], truth[1] | turned[0]]
    X = X * 10.0 ** rng.integers(-3, 4, size=d) + rng.normal(size=d)
    order = rng.permutation(len(labels))
    return X[order], labels[order], truth


def named(cluster):
    """The columns in the name of a cluster, with their position."""
    words = [word.partition(" ") for word in cluster.name.split(", ")]
    return {column: position for position, _, column in words}


def test_planted_features_are_named():
    right = 0
    for seed in range(SETS):
        X, labels, truth = planted(seed)
        profile = clusterkit.profile(labels, X, n_bootstraps=50)
        right += all(
            named(cluster) == mine if len(mine) <= MOST else named(cluster).items() <= mine.items()
            for cluster, mine in zip(profile.clusters, truth, strict=True)
        )
    assert right >= 0.95 * SETS


def test_data_without_differences_have_no_names():
    rng = np.random.default_rng(0)
    profile = clusterkit.profile(rng.integers(3, size=400), rng.normal(size=(400, 8)))
    assert [cluster.name for cluster in profile.clusters] == [PLAIN] * 3


class TestNumbers:
    def test_auc_is_that_of_mann_and_whitney(self):
        rng = np.random.default_rng(1)
        X, labels = np.round(rng.normal(size=(300, 4)), 1), rng.integers(3, size=300)
        X[rng.random(X.shape) < 0.1] = np.nan
        for cluster in clusterkit.profile(labels, X).clusters:
            for feature in cluster.features:
                if feature.level is None:
                    column = X[:, int(feature.column[1:])]
                    here, there = column[labels == cluster.label], column[labels != cluster.label]
                    here, there = here[~np.isnan(here)], there[~np.isnan(there)]
                    expected = mannwhitneyu(here, there).statistic / (len(here) * len(there))
                    assert feature.auc == pytest.approx(expected, abs=1e-12)
                    assert feature.inside == pytest.approx(here.mean())
                    whole = column[~np.isnan(column)]
                    assert feature.difference == pytest.approx((here.mean() - there.mean()) / whole.std())

    @pytest.mark.parametrize("there", [0, 1])
    def test_a_cluster_without_values_has_no_mean_of_others(self, there):
        rng = np.random.default_rng(2)
        labels = np.repeat([0, 1], [60, 20])
        X = np.column_stack([rng.normal(13, 1, 80), rng.normal(size=80) + 5 * labels])
        X[60 + there :, 0] = np.nan
        by_column = {f.text: f for f in clusterkit.profile(labels, X).clusters[1].features}
        feature = by_column["x0"]
        compared = [feature.difference, feature.low, feature.high, feature.auc, feature.contrast, feature.closeness]
        assert (feature.position, feature.strength) == ("same", 0.0)
        assert by_column["x0: missing"].strength > 0.9
        if there:  # resamples without the one value say nothing about it
            difference = (X[60, 0] - X[:60, 0].mean()) / X[:61, 0].std()
            assert feature.inside == pytest.approx(X[60, 0])
            assert feature.difference == pytest.approx(difference)
            assert feature.low <= difference <= feature.high
            assert not feature.low <= 0 <= feature.high or abs(difference) < 0.5
        else:
            assert np.isnan([feature.inside, *compared]).all()
            assert feature.outside == pytest.approx(X[:60, 0].mean())

    def test_the_interval_covers_the_difference_of_the_population(self):
        covered, inside = 0, 1 / np.sqrt(1.25)  # one of a standard deviation of sqrt(1 + 1/4)
        for seed in range(60):
            rng = np.random.default_rng(seed)
            labels = np.repeat([0, 1], 150)
            X = rng.normal(size=(300, 1)) + labels[:, None]
            feature = clusterkit.profile(labels, X).clusters[1].features[0]
            covered += feature.low <= inside <= feature.high
        assert 51 <= covered <= 60  # 95 % of 60 is 57; fewer than 51 has a probability of .001

    def test_units_do_not_matter(self):
        X, labels, _ = planted(3)
        one = clusterkit.profile(labels, X).clusters
        other = clusterkit.profile(labels, 1024 * X).clusters
        for a, b in zip(one, other, strict=True):
            assert a.name == b.name
            assert [f.auc for f in a.features] == [f.auc for f in b.features]
            assert [f.difference for f in a.features] == pytest.approx([f.difference for f in b.features], rel=1e-9)

    def test_a_sample_estimates_what_all_rows_say(self):
        rng = np.random.default_rng(5)
        labels = np.repeat([0, 1, 2], [60_000, 30_000, 300])
        X = rng.normal(size=(len(labels), 3)) + np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]])[labels]
        whole = clusterkit.profile(labels, X, max_rows=len(labels), n_bootstraps=10)
        part = clusterkit.profile(labels, X, max_rows=4000, n_bootstraps=10)
        assert part.n_profiled < 4500
        for a, b in zip(whole.clusters, part.clusters, strict=True):
            assert (a.size, named(a)) == (b.size, named(b))
            for feature in a.features:
                twin = next(one for one in b.features if one.column == feature.column)
                assert twin.auc == pytest.approx(feature.auc, abs=0.06)
                assert twin.outside == pytest.approx(feature.outside, abs=0.2)

    def test_a_cluster_between_the_others_is_medium(self):
        rng = np.random.default_rng(0)
        labels = np.repeat([0, 1, 2], 100)
        X = np.column_stack([rng.normal(size=300) + 8 * labels, rng.normal(size=300)])
        assert [cluster.name for cluster in clusterkit.profile(labels, X).clusters] == [
            "low x0",
            "medium x0",
            "high x0",
        ]


class TestRules:
    def test_precision_and_recall_are_those_of_the_written_rule(self):
        X, labels, _ = planted(7)
        for cluster in clusterkit.profile(labels, X).clusters:
            rule = cluster.rule
            assert 1 <= len(rule.conditions) <= 3
            holds = np.ones(len(X), dtype=bool)
            for condition in rule.conditions:
                column = X[:, int(condition.column[1:])]
                holds &= (column > (-np.inf if condition.above is None else condition.above)) & (
                    column <= (np.inf if condition.at_most is None else condition.at_most)
                )
            inside = labels == cluster.label
            assert rule.precision == pytest.approx((holds & inside).sum() / holds.sum())
            assert rule.recall == pytest.approx((holds & inside).sum() / inside.sum())

    def test_it_is_at_least_as_good_as_the_best_leaf_but_for_brevity(self):
        X, labels, _ = planted(11)
        for cluster in clusterkit.profile(labels, X).clusters:
            inside = labels == cluster.label
            tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=max(1, len(X) // 100), class_weight="balanced")
            leaves = tree.fit(X, inside).apply(X)
            shares = [((leaves == leaf) & inside).sum() * 2 / ((leaves == leaf).sum() + inside.sum())
                      for leaf in np.unique(leaves)]  # fmt: skip
            rule = cluster.rule
            assert 2 * rule.precision * rule.recall / (rule.precision + rule.recall) >= max(shares) - 0.05

    @pytest.mark.parametrize(("low", "high", "short"), [(0.1, 0.3, 0.2), (-5.0, 5.0, 0.0), (99.0, 101.0, 100.0)])
    def test_short_numbers(self, low, high, short):
        assert short_between(low, high) == short

    @pytest.mark.parametrize("seed", range(20))
    def test_short_numbers_separate(self, seed):
        rng = np.random.default_rng(seed)
        low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-9, 9))
        assert low <= short_between(low, high) < high


class TestTables:
    def columns(self):
        rng = np.random.default_rng(2)
        labels = np.repeat([0, 1], 60)
        return labels, {
            "income": np.where(labels == 1, 90.0, 30.0) + rng.normal(size=120),
            "city": [("Paris", "Rome")[(label + (i % 10 == 0)) % 2] for i, label in enumerate(labels)],
            "member": [bool(i % 2) for i in range(120)],
            "day": (np.datetime64("2024-01-01") + np.where(labels == 1, 300, 0) + np.arange(120) % 50).astype(
                "datetime64[us]"
            ),
            "id": [f"customer {i}" for i in range(120)],
            "same": [1] * 120,
        }

    @pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
    def test_data_frames(self, library):
        frames = pytest.importorskip(library)
        labels, columns = self.columns()
        make = frames.table if library == "pyarrow" else frames.DataFrame
        profile = clusterkit.profile(labels, make(columns))
        assert set(profile.left_out) == {"id", "same"}
        words = profile.clusters[1].name.split(", ")
        assert set(words[:2]) == {"high income", "late day"}
        city = next(one for one in profile.clusters[1].features if (one.column, one.level) == ("city", "Rome"))
        assert (city.position, city.inside) == ("more", pytest.approx(0.9))
        assert city.lift == pytest.approx(0.9 / 0.5)
        frame = profile.to_frame(library)
        assert type(frame).__module__.partition(".")[0] == library
        assert frame.shape[0] == sum(len(cluster.features) for cluster in profile.clusters)

    def test_gaps_are_a_level(self):
        pandas = pytest.importorskip("pandas")
        labels = np.repeat([0, 1], 50)
        frame = pandas.DataFrame({"a": np.where(labels == 0, np.nan, 1.0), "b": [None, "x"] * 50})
        frame.loc[0, "a"] = 2.0
        first = clusterkit.profile(labels, frame).clusters[0]
        assert (first.features[0].text, first.features[0].position) == ("a: missing", "more")
        assert first.name == "a is missing"

    def test_lists_of_mixed_rows_and_sparse_matrices(self):
        from scipy.sparse import csr_array

        mixed = clusterkit.profile([0, 0, 1, 1] * 9, [[1, "a"], [2, "a"], [9, "b"], [8, "b"]] * 9)
        assert set(mixed.clusters[0].name.split(", ")) == {"x1 is a", "low x0"}
        X = np.eye(6)
        assert clusterkit.profile([0, 0, 0, 1, 1, 1], csr_array(X)) == clusterkit.profile([0, 0, 0, 1, 1, 1], X)

    def test_hostile_names_stay_text(self):
        pandas = pytest.importorskip("pandas")
        name = "<script>alert(1)</script>\x1b[31m"
        frame = pandas.DataFrame({name: [0.0, 1.0, 9.0, 8.0] * 9})
        assert name in clusterkit.profile([0, 0, 1, 1] * 9, frame).clusters[0].name


class TestModels:
    def test_one_cluster_and_noise(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        only = clusterkit.profile(np.zeros(30, dtype=int), X)
        assert (only.clusters[0].name, only.clusters[0].rule) == (PLAIN, None)
        none = clusterkit.profile(np.full(30, -1), X)
        assert (none.clusters, none.n_noise) == ((), 30)

    def test_errors(self):
        X = np.zeros((4, 2))
        with pytest.raises(NotFittedError, match="not fitted"):
            clusterkit.profile(KMeans(2), X)
        with pytest.raises(InvalidParameter, match="2 columns, got 3"):
            clusterkit.profile([0, 1, 1, 0], X, names=["a", "b", "c"])
        with pytest.raises(InvalidData, match="shape"):
            clusterkit.profile([0, 1], [1.0, 2.0])
        with pytest.raises(KeyError, match="no cluster 7"):
            clusterkit.profile([0, 1, 1, 0], X)[7]


def test_numbers_beyond_single_precision_have_rules_and_truth_values_names():
    y = np.arange(40) % 2
    large = clusterkit.profile(y, {"a": (y + np.linspace(0, 0.5, 40)) * 1e50})
    assert [cluster.rule.precision for cluster in large.clusters] == [1.0, 1.0]
    table = {"member": y == 1, "x": np.random.default_rng(0).normal(size=40)}
    model = clusterkit.Auto(2, pool=["kmeans"], random_state=0).fit(table)
    names = [cluster.name for cluster in clusterkit.profile(y, table).clusters]
    assert names == ["member is False", "member is True"]
    model.labels_ = y
    assert [cluster.name for cluster in clusterkit.profile(model, table).clusters] == names


def test_shares_are_never_below_nothing():
    """Sums of weights round: a share of no row was printed as -0 %."""
    labels = np.repeat([0, 1, 2], [97, 109, 94])
    city = np.array(["München", "Lübeck", "Köln"], dtype=object)[labels]
    for cluster in clusterkit.profile(labels, {"city": city, "x": np.arange(300.0)}).clusters:
        for feature in cluster.features:
            if feature.level is not None:
                assert not np.signbit([feature.inside, feature.outside, feature.lift]).any()


def test_rules_on_times_of_day_are_those_of_a_clock():
    """The day of these times begins at ten, and they are counted from there: "time ≤ 29" said no hour."""
    clock = np.array([*[f"22:{i:02d}" for i in range(60)], *[f"04:{i:02d}" for i in range(60)]], dtype=object)
    table = {"time": clock, "x": np.arange(120) % 7.0}
    model = clusterkit.recipe("mixture", n_clusters=2, random_state=0).fit(table)
    texts = {one.rule.text for one in clusterkit.profile(model, table).clusters}
    assert all(" < time ≤ " in text and ":" in text for text in texts)
