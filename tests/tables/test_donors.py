"""Gaps take the value of the most similar row that the fit keeps."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Auto, recipe
from clusterkit.errors import InvalidParameter
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.metrics import adjusted_rand
from clusterkit.saving import Content, pack, unpack
from clusterkit.tables import Preparation, TableWarning, columns_of, read_table
from clusterkit.tables.preparing.plans import MOST_DONORS, CategoryColumn, Donors, NumberColumn, value_features
from clusterkit.tables.reading.row_sample import MOST_ROWS, RowSample

pytestmark = pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")


def blobs(n, d, k, share, seed, category=False):
    """Separated clusters in numbers, with gaps at random; columns and clusters."""
    rng = np.random.default_rng(seed)
    centres = 10.0 * np.array([np.arange(d) % k == j for j in range(k)])
    y = rng.permutation(np.arange(n) % k)
    X = (centres[y] + rng.normal(size=(n, d))) * 10.0 ** rng.integers(0, 4, d)
    X[rng.random(X.shape) < share] = np.nan
    columns = {f"x{j}": X[:, j] for j in range(d)}
    if category:
        town = rng.choice(np.array(["Ulm", "Bonn", "Köln"], dtype=object), n)
        columns["town"] = np.where(rng.random(n) < share, None, town)
    return columns, y


def cut(table, rows):
    return {name: values[rows] for name, values in table.items()}


def naively_filled(donors, X, gaps, plans):
    """What `Donors.fill` says it does, row by row."""
    features = value_features(plans)
    filled = X.copy()
    for i, missing in enumerate(gaps):
        present = [f for j, its in enumerate(features) if not missing[j] for f in its]
        if not present:
            continue
        distances = [sum((float(X[i, f]) - float(row[f])) ** 2 for f in present) for row in donors.features]
        for j in np.flatnonzero(missing):
            able = [r for r in range(len(donors)) if donors.has[r, j]]
            if able:
                nearest = min(able, key=distances.__getitem__)
                filled[i, features[j]] = donors.features[nearest, features[j]]
    return filled


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_a_plain_double_loop_gives_the_same(n_donors, p, seed, whole):
    """Whole numbers make many ties."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, p)
    plans = [
        (
            NumberColumn(f"x{j}", 0.0),
            NumberColumn(f"x{j}", 0.0, told_by="other"),
            CategoryColumn(f"x{j}", ("a", "b", "c"), 0, 0),
        )[kind]
        for j, kind in enumerate(kinds)
    ]
    d = sum(len(plan.features) for plan in plans)
    draw = (
        (lambda *shape: rng.integers(0, 3, shape).astype(float)) if whole else (lambda *shape: rng.normal(size=shape))
    )
    donors = Donors(draw(n_donors, d), rng.random((n_donors, p)) < 0.6)
    X, gaps = draw(9, d), rng.random((9, p)) < 0.4
    expected = naively_filled(donors, X, gaps, plans)
    donors.fill(X, gaps, plans)
    np.testing.assert_array_equal(X, expected)


class TestWhatIsFilled:
    @pytest.fixture(params=[False, True])
    def table(self, request):
        return blobs(120, 4, 3, 0.1, 0, category=request.param)[0]

    def test_values_are_those_of_other_rows(self, table):
        fitted = Preparation().fit(table)
        X = fitted.transform(table)
        for j in range(4):
            gap = np.isnan(table[f"x{j}"])
            assert gap.any()
            assert set(X[gap, j]) <= set(X[~gap, j])
        typical = Preparation(gaps="typical").fit(table).transform(table)
        complete = np.all([its.notna() for its in map(_series, table.values())], axis=0)
        np.testing.assert_array_equal(X[complete], typical[complete])
        assert (X[~complete] != typical[~complete]).any(axis=1).mean() > 0.8  # the most frequent level may be right

    def test_complete_tables_are_as_before(self, table):
        whole = {name: np.where(_series(values).isna(), values[0], values) for name, values in table.items()}
        whole = {name: values.astype(table[name].dtype) for name, values in whole.items()}
        if _series(table["x0"]).isna()[0]:
            pytest.fail("the first row must be complete")
        similar, typical = (Preparation(gaps=choice).fit(whole) for choice in ("similar", "typical"))
        assert similar.donors is None
        assert similar.plans == typical.plans
        np.testing.assert_array_equal(similar.transform(whole), typical.transform(whole))
        assert "kept" not in similar.paragraph()

    def test_gaps_of_new_rows_alone_are_typical(self, table):
        whole = {name: np.asarray(values)[~_series(values).isna()][:60] for name, values in table.items()}
        new = {name: values[:2].copy() for name, values in whole.items()}
        new["x1"] = np.array([np.nan, new["x1"][1]])
        fitted = Preparation().fit(whole)
        typical = Preparation(gaps="typical").fit(whole)
        np.testing.assert_array_equal(fitted.transform(new), typical.transform(new))

    def test_a_column_that_had_no_gap_is_filled_too(self, table):
        table["x3"] = np.arange(120.0) ** 1.1
        fitted = Preparation().fit(table)
        new = cut(table, slice(0, 5)) | {"x3": np.full(5, np.nan)}
        with pytest.warns(TableWarning, match="counts as the value of the most similar kept row of the fit"):
            X = fitted.transform(new)
        assert set(X[:, 3]) <= set(fitted.donors.features[:, 3])

    def test_rows_without_a_value_are_typical(self, table):
        table = {name: np.concatenate([values, values[:0], [None]]) for name, values in table.items()}
        table = {name: v if name == "town" else v.astype(float) for name, v in table.items()}
        X, typical = (Preparation(gaps=choice).fit(table).transform(table)[-1] for choice in ("similar", "typical"))
        np.testing.assert_array_equal(X, typical)

    def test_one_row(self, table):
        fitted = Preparation().fit(table)
        X = fitted.transform(table)
        for i in range(0, 120, 17):
            np.testing.assert_array_equal(fitted.transform(cut(table, slice(i, i + 1)), quiet=True)[0], X[i])

    def test_unknown_levels_are_gaps_and_rare_ones_none(self):
        table, _ = blobs(300, 3, 3, 0.0, 0)
        table["kind"] = np.array(["a", "b", "c"], dtype=object)[np.argsort(np.argsort(table["x0"])) // 100]
        table["x1"][::9] = np.nan
        fitted = Preparation().fit(table)
        at = [fitted.features.index(f"kind={level}") for level in "abc"]
        new = cut(table, slice(0, 300))
        new["kind"] = np.full(300, "new", dtype=object)
        X = fitted.transform(new, quiet=True)
        assert np.mean((X[:, at] > 0) == (fitted.transform(table)[:, at] > 0)) > 0.5
        assert len(np.unique(X[:, at], axis=0)) == 3
        table["kind"][:2], table["kind"][2:4] = "rare", "rarer"
        fitted = Preparation().fit(table)
        assert (fitted.transform(new, quiet=True)[:, fitted.features.index("kind=(other)")] > 0).all()

    def test_gaps_that_say_something_are_a_feature_as_before(self):
        table, y = blobs(200, 3, 2, 0.0, 0)
        table["x0"][(y == 1) & (np.arange(200) % 3 > 0)] = np.nan
        fitted = Preparation().fit(table)
        X = fitted.transform(table)
        assert "x0 is a gap" in fitted.features
        np.testing.assert_array_equal(X[:, 1] > 0, np.isnan(table["x0"]))
        means = [X[y == label, 0].mean() for label in (0, 1)]
        other = [X[(y == label) & np.isnan(table["x0"]), 0] for label in (0, 1)][1]
        assert (np.abs(other - means[1]) < np.abs(other - means[0])).all()

    def test_dates_are_filled_with_their_parts(self):
        hours = 60_000_000 * np.r_[np.arange(100) * 1440 + 540, np.arange(100) * 1440 + 1200]
        when = np.datetime64("2024-01-01", "us") + hours.astype("timedelta64[us]")
        when[::7] = np.datetime64("NaT")
        table = {"when": when, "x": np.r_[np.linspace(0, 1, 100), np.linspace(9, 10, 100)]}
        fitted = Preparation().fit(table)
        X = fitted.transform(table)
        angle = X[:, fitted.features.index("when hour (sin)")]
        assert set(angle[:100].round(9)) != set(angle[100:].round(9))
        assert len(set(angle.round(9))) == 2

    def test_a_value_or_a_gap_is_no_gap(self):
        table, _ = blobs(200, 2, 2, 0.05, 0)
        table["vip"] = np.array(["yes", None] * 100, dtype=object)
        fitted = Preparation().fit(table)
        np.testing.assert_array_equal(fitted.transform(table)[:, -1] > 0, table["vip"] == "yes")
        assert "Gaps: vip (100: not 'yes'). Gaps in x0 (" in fitted.paragraph()

    def test_all_gaps(self):
        """Every row lacks something, so that no donor has all columns."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(90, 3))
        X[np.arange(90), np.arange(90) % 3] = np.nan
        table = {f"x{j}": X[:, j] for j in range(3)}
        fitted = Preparation().fit(table)
        assert not fitted.donors.has.all(axis=1).any()
        X = fitted.transform(table)
        plans = [plan for plan in fitted.plans if plan.used]
        typical = Preparation(gaps="typical").fit(table).transform(table)
        gaps = np.column_stack([np.isnan(values) for values in table.values()])
        np.testing.assert_array_equal(X, naively_filled(fitted.donors, typical, gaps, plans))
        new = {"x0": np.array([0.3]), "x1": np.array([np.nan]), "x2": np.array([np.nan])}
        row = fitted.transform(new, quiet=True)[0]
        assert row[1] in fitted.donors.features[fitted.donors.has[:, 1], 1]
        assert row[2] in fitted.donors.features[fitted.donors.has[:, 2], 2]

    def test_wide_tables(self):
        rng = np.random.default_rng(0)
        y = np.arange(50) % 2
        X = rng.normal(size=(50, 2000)) + 3 * y[:, None]
        X[rng.random(X.shape) < 0.02] = np.nan
        X = Preparation().fit({f"x{j}": X[:, j] for j in range(2000)}).transform(X)
        assert np.abs(X.mean(axis=1) - 3 * y).max() < 0.1


def _series(values):
    import pandas

    return pandas.Series(values)


class TestOrderAndPieces:
    def test_blocks_and_orders_keep_the_same_rows(self):
        table, _ = blobs(5000, 3, 3, 0.1, 0, category=True)
        table["since"] = np.datetime64("2020-01-01", "us") + 86_400_000_000 * np.arange(5000)
        whole = RowSample.of(columns_of(table))
        assert len(whole.keys) == MOST_ROWS
        rng = np.random.default_rng(1)
        order = rng.permutation(5000)
        parts = [RowSample.of(columns_of(cut(table, rows))) for rows in np.array_split(order, 7)]
        for blocks in (parts, parts[::-1]):
            merged = blocks[0]
            for block in blocks[1:]:
                merged = merged + block
            np.testing.assert_array_equal(merged.keys, whole.keys)
            for one, other in zip(merged.columns, whole.columns, strict=True):
                np.testing.assert_array_equal(one.values, other.values)

    def test_features_too(self):
        table, _ = blobs(3000, 4, 3, 0.1, 0)
        fitted = Preparation(scale="none").fit(table)
        assert len(fitted.donors) == MOST_DONORS
        X = fitted.transform(table)
        order = np.random.default_rng(1).permutation(3000)
        again = Preparation(scale="none").fit_blocks(cut(table, rows) for rows in np.array_split(order, 5))
        assert again.donors == fitted.donors
        np.testing.assert_array_equal(again.transform(cut(table, order)), X[order])
        pieces = [fitted.transform(cut(table, slice(i, i + 700)), quiet=True) for i in range(0, 3000, 700)]
        np.testing.assert_array_equal(np.concatenate(pieces), X)

    @pytest.mark.parametrize("column", ["town", "since", "x0"])
    def test_a_block_with_gaps_alone(self, column):
        table, _ = blobs(90, 2, 2, 0.1, 0, category=True)
        table["since"] = np.datetime64("2020-01-01", "us") + 86_400_000_000 * np.arange(90)
        table[column][:30] = {"town": None, "since": np.datetime64("NaT"), "x0": np.nan}[column]
        parts = [cut(table, slice(i, i + 30)) for i in (0, 30, 60)]
        parts[0][column] = np.full(30, None, dtype=object)  # of another kind than the other blocks
        whole = Preparation(scale="none").fit(table)
        for blocks in (parts, parts[::-1]):
            assert Preparation(scale="none").fit_blocks(blocks).donors == whole.donors

    def test_other_processes_keep_the_same(self):
        code = (
            "import numpy as np; from clusterkit.tables import columns_of;"
            "from clusterkit.tables.reading.row_sample import RowSample;"
            "table = {'a': np.array([1.5, np.nan, -0.0]), 'b': np.array(['x', None, 'y'], dtype=object)};"
            "print(RowSample.of(columns_of(table)).keys.tolist())"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        keys = {
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True,
                env={**environment, "PYTHONHASHSEED": seed},
            ).stdout
            for seed in ("1", "2")
        }  # fmt: skip
        assert len(keys) == 1
        assert len(next(iter(keys)).split(",")) == 3

    def test_equal_rows_are_kept_once_and_columns_in_any_order(self):
        table = {"a": np.array([1.0, 2.0, 1.0, -0.0, 0.0]), "b": np.array([2.0, 1.0, 2.0, 5.0, 5.0])}
        keys = RowSample.of(columns_of(table)).keys
        assert len(keys) == 3
        np.testing.assert_array_equal(RowSample.of(columns_of({"b": table["b"], "a": table["a"]})).keys, keys)

    def test_rows_of_a_cluster_that_always_has_a_gap_are_donors(self):
        """Else there would be enough complete rows of the other clusters."""
        table, y = blobs(6000, 4, 3, 0.01, 0)
        table["x0"][y == 1] = np.nan
        fitted = Preparation().fit(table)
        share = np.mean(~fitted.donors.has[:, fitted.used.index("x0")])
        assert 0.1 < share < 0.3
        X = fitted.transform(table)
        filled = (y == 1) & np.isnan(table["x1"])
        j = fitted.features.index("x1")
        middles = [np.median(X[y == label, j]) for label in range(3)]
        assert filled.any()
        assert (np.abs(X[filled, j][:, None] - middles).argmin(axis=1) == 1).all()


class TestModels:
    def test_the_saved_preparation_is_the_same(self):
        table, _ = blobs(100, 3, 2, 0.1, 0, category=True)
        fitted = Preparation().fit(table)
        packed = pack(fitted)
        again = unpack(Content({**packed.tree()}, packed.tensors), "file")
        assert again == fitted
        assert again != Preparation().fit(cut(table, slice(0, 90)))
        np.testing.assert_array_equal(again.transform(table), fitted.transform(table))

    @pytest.mark.parametrize(
        ("features", "has", "message"),
        [
            (np.zeros((2, 9)), np.ones((2, 3), dtype=bool), "must have the features"),
            (np.zeros((2, 3)), np.ones((1, 3), dtype=bool), "donors is 2 in features"),
            (np.full((2, 3), np.nan), np.ones((2, 3), dtype=bool), "finite"),
            (np.zeros((0, 3)), np.ones((0, 3), dtype=bool), "one of them"),
        ],
    )
    def test_what_a_file_must_not_hold(self, features, has, message):
        import attrs

        fitted = Preparation().fit(blobs(60, 3, 2, 0.1, 0)[0])
        with pytest.raises(ValueError, match=message):
            attrs.evolve(fitted, donors=Donors(features, has))

    @pytest.mark.parametrize("name", ["kmeans", "mixture", "genie"])
    def test_training_rows_get_their_labels_again(self, name):
        table, _ = blobs(150, 4, 3, 0.15, 3, category=True)
        model = recipe(name, n_clusters=3, random_state=0)
        fit_prepared(model, table)
        np.testing.assert_array_equal(model.predict(table), model.labels_)

    @pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.deep) for s in range(1, 5))])
    def test_three_clusters_are_found(self, seed):
        pandas = pytest.importorskip("pandas")
        table, y = blobs(240, 4, 3, 0.08, seed)
        model = Auto(random_state=0).fit(pandas.DataFrame(table))
        assert model.n_clusters_ == 3
        assert adjusted_rand(y, model.labels_) >= 0.95


class TestWords:
    TABLE = blobs(100, 2, 2, 0.1, 0, category=True)[0]

    def test_in_both_modes(self):
        similar, typical = (Preparation(gaps=choice).fit(self.TABLE) for choice in ("similar", "typical"))
        counts = {name: int(_series(values).isna().sum()) for name, values in self.TABLE.items()}
        names = "; ".join(f"{name} ({count})" for name, count in counts.items())
        rows = len(similar.donors)
        assert f"Gaps in {names} take the value of the most similar of {rows} kept rows." in similar.paragraph()
        assert "the mean" not in similar.paragraph()
        assert similar.resolved()["gaps"]["town"] == f"{counts['town']}"
        assert similar.resolved()["rows_that_fill_gaps"] == rows
        assert f"Gaps: x0 ({counts['x0']}: " in typical.paragraph()
        assert "the mean" in typical.paragraph()
        assert "kept row" not in typical.paragraph() + str(typical.resolved())
        assert typical.donors is None
        assert "--gaps" in similar.paragraph(options=True)

    def test_a_wrong_choice(self):
        with pytest.raises(InvalidParameter, match="gaps must be one of"):
            Preparation(gaps="mean")

    def test_one_column_has_nothing_to_be_compared_by(self):
        values = np.r_[np.arange(50.0) ** 2, np.nan]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            assert Preparation().fit({"a": values}).donors is None

    def test_texts_are_read_as_in_the_whole_table(self, tmp_path):
        rng = np.random.default_rng(0)
        rows = ["a;b;when"]
        for i in range(60):
            a = f"{rng.normal():.3f}".replace(".", ",")
            rows.append(f"{a if i % 7 else ''};{i * i},5;{1 + i % 12:02d}/{1 + i % 28:02d}/2024")
        (tmp_path / "t.csv").write_text("\n".join(rows))
        table = read_table(tmp_path / "t.csv")
        fitted = Preparation().fit(table)
        X = fitted.transform(table)
        complete = {tuple(row) for row in X[np.arange(60) % 7 > 0].tolist()}
        whole = fitted.donors.has.all(axis=1)
        assert {tuple(row) for row in fitted.donors.features[whole].tolist()} <= complete
