"""Columns of one name: refused where two of them are used, because a new table may have them in another order."""

from __future__ import annotations

import numpy as np
import pytest

from clusterkit import Auto
from clusterkit.tables import Preparation, TableError, columns_of, read_table

pandas = pytest.importorskip("pandas")

X = np.random.default_rng(0).normal(size=(20, 4)) ** 3


@pytest.fixture(params=["pandas", "pyarrow"])
def frame(request):
    """Columns a, b, c, c."""
    module = pytest.importorskip(request.param)
    if request.param == "pandas":
        return module.DataFrame(X, columns=["a", "b", "c", "c"])
    return module.Table.from_arrays(list(X.T.copy()), names=["a", "b", "c", "c"])


class TestFrames:
    def test_used_twice(self, frame):
        with pytest.raises(TableError, match=r"the table: the columns 3, 4 have one name, 'c', .* called c, c\.2"):
            Preparation().fit(frame)

    def test_not_used(self, frame):
        fitted = Preparation(drop="c").fit(frame)
        assert fitted.used == ("a", "b")
        np.testing.assert_array_equal(fitted.transform(frame), X[:, :2])

    def test_one_of_them(self, frame):
        fitted = Preparation(drop="b").fit({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
        with pytest.raises(TableError, match="the table has 2 columns named 'c', and the model uses one"):
            fitted.transform(frame)
        np.testing.assert_array_equal(
            fitted.transform(pandas.DataFrame(X[:, [1, 1, 0, 2]], columns=["b", "b", "a", "c"])), X[:, [0, 2]]
        )

    def test_constant_or_empty(self):
        frame = pandas.DataFrame(np.c_[X[:, :2], np.zeros(20), np.ones(20)], columns=["a", "b", "c", "c"])
        assert Preparation().fit(frame).left_out == {"c": "always 0", "c.2": "always 1"}

    def test_auto(self):
        rows = np.r_[X, X + 50]
        frame = pandas.DataFrame(rows, columns=["a", "b", "c", "c"])
        with pytest.raises(TableError, match="have one name, 'c'"):
            Auto(n_clusters=2, pool=["kmeans"]).fit(frame)
        model = Auto(n_clusters=2, pool=["kmeans"], preparation=Preparation(drop="c")).fit(frame)
        np.testing.assert_array_equal(model.predict(frame), model.labels_)

    def test_names_of_columns(self, frame):
        assert [(column.name, column.header) for column in columns_of(frame)] == [
            ("a", ""), ("b", ""), ("c", "c"), ("c.2", "c"),
        ]  # fmt: skip


class TestFiles:
    @pytest.fixture
    def path(self, tmp_path):
        file = tmp_path / "t.csv"
        file.write_text("a,c,b,c\n" + "\n".join(",".join(map(str, row)) for row in X.tolist()))
        return file

    def test_text(self, path):
        with pytest.raises(TableError, match=r"t\.csv: the columns 2, 4 have one name, 'c'"):
            Preparation().fit(read_table(path))
        for drop, used in (("c", ("a", "b", "c.2")), ("c.2", ("a", "c", "b"))):
            assert Preparation(drop=drop).fit(read_table(path)).used == used

    def test_spreadsheets_and_parquet(self, tmp_path, path):
        pytest.importorskip("openpyxl")
        pa = pytest.importorskip("pyarrow")
        from pyarrow.parquet import write_table

        frame = pandas.DataFrame(X, columns=["a", "c", "b", "c"])
        frame.to_excel(tmp_path / "t.xlsx", index=False)
        write_table(pa.Table.from_arrays(list(X.T.copy()), names=["a", "c", "b", "c"]), tmp_path / "t.parquet")
        for name in ("t.xlsx", "t.parquet"):
            table = read_table(tmp_path / name)
            assert dict(table.shared) == {"c": "c", "c.2": "c"}
            with pytest.raises(TableError, match="have one name, 'c'"):
                Preparation().fit(table)
