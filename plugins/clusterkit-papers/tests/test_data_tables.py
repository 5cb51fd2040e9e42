"""Tables of data sets and parameters, and the picture of printed values beside ours."""

from __future__ import annotations

import pytest
from clusterkit_papers import pictures, reproduce, tables
from clusterkit_papers.elm.data_sets import DATA_SETS as ELM_SETS
from clusterkit_papers.emmc.data_sets import DATA_SETS
from clusterkit_papers.printed_tables import printed

from clusterkit.errors import UnknownName

PRINTED = """
Ionosphere      351  34  2
LetterA-B      1555  16  2
SatelliteC1-C2 2236  36  2
Svmguide1-a    3089   4  2
Ringnorm       7000  20  2
Digits0689      713  64  4
Digits1279      718  64  4
LetterABCD     3096  16  4
USPS           9298 256 10
"""


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    """Scikit-learn's sets are enough, and what is missing is missing everywhere."""
    monkeypatch.delenv("CLUSTERKIT_DATA", raising=False)
    monkeypatch.delenv("CLUSTERKIT_DATA_URL", raising=False)


def test_table_2_of_emmc_is_as_printed():
    lines = [line.split() for line in PRINTED.split("\n") if line]
    cells = printed("emmc-table2")
    assert len(cells) == 3 * len(lines)
    for name, *values in lines:
        assert [cells[name, column].value for column in ("N", "d", "classes")] == list(map(float, values))
        assert name in DATA_SETS


def test_sizes_of_what_is_here_and_reasons_for_the_rest():
    rows = reproduce("emmc-table2")
    digits = [row for row in rows if row["row"].startswith("Digits0689: ")]
    assert [(row["column"], row["ours"], row["verdict"]) for row in digits] == [
        ("N", 713.0, "the same"), ("d", 64.0, "the same"), ("classes", 4.0, "the same"),
    ]  # fmt: skip
    usps = [row for row in rows if row["row"].startswith("USPS")]
    assert {row["verdict"].partition(":")[0] for row in usps} == {"data set not found"}
    caps = {row["row"].partition(":")[0]: row["ours"] for row in rows if row["column"].startswith("highest")}
    assert caps["Digits3-9"] == 100.0
    assert "Digits0689" not in caps


def test_parameters_are_those_of_the_fits():
    rows = [row for row in reproduce("elm-table1") if row["row"].endswith("as run")]
    assert len(rows) == 4 * len(ELM_SETS)
    assert {row["verdict"] for row in rows} == {"the same"}
    nodes = next(row for row in rows if row["row"] == "TDT2: elm-nmf as run")
    assert (nodes["printed"], nodes["ours"]) == (2000, 2000)


def test_a_table_of_sizes_of_edsvc():
    rows = [row for row in reproduce("edsvc-table1") if row["row"].startswith("Wine: ")]
    assert [row["ours"] for row in rows] == [178, 13, 3]


def test_printed_values_are_drawn_beside_ours(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [
        {"row": row, "column": column, "printed": value, "ours": ours, "sd": sd}
        for row, column, value, ours, sd in (
            ("a", "error", 2.0, 3.0, 0.5), ("b", "error", None, 4.0, None), ("b", "own", None, 4.0, None),
            ("c", "error", 1.0, None, None),
        )
    ]  # fmt: skip
    [axis] = pictures.beside(str(tmp_path / "figure.png"), rows)
    lines = {line.get_label(): line for line in axis.lines}
    assert lines["printed"].get_xdata().tolist() == [2.0]
    assert lines["ours"].get_xdata().tolist() == [3.0, 4.0]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["a", "b"]


def test_every_table_has_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    assert set(pictures.PICTURES) <= set(tables())
    path = tmp_path / "figure.png"
    pictures.draw("edsvc-table1", str(path), reproduce("edsvc-table1"))
    assert path.stat().st_size > 0
    with pytest.raises(UnknownName, match="emmc-table2"):
        pictures.draw("emmc-tables2", str(path))
