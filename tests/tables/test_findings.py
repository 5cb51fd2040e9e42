"""What is said of a table is true: each finding is counted again from the raw cells, by other means."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import sys
import warnings
from pathlib import Path

import attrs
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from tables import messy_files

from clusterkit import recipe
from clusterkit.errors import shortened
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.tables import Preparation, TableWarning, read_table
from clusterkit.tables.preparing.findings import SAYS, WARNS, of_plan

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data" / "tables"
RNG = np.random.default_rng(0)
N = 60
OTHER = (RNG.normal(size=N) ** 3).round(4)


def mixed():
    """A column for each kind of finding."""
    number = [f"{value:.3f}" for value in RNG.normal(size=N) * 5 + 40]
    dates = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d} {i % 7 + 9}:30" for i in range(N)]
    return {
        "kg": [f"{text} kg" if i % 9 else text for i, text in enumerate(number)],
        "unread": ["broken" if i in (3, 5) else "" if i % 8 == 0 else text for i, text in enumerate(number)],
        "infinite": ["inf" if i in (2, 4, 8) else text for i, text in enumerate(number)],
        "sparse": [text if i % 3 == 0 else "" for i, text in enumerate(number)],
        "foreign": [f"{text} €" if i % 20 else f"{text} $" for i, text in enumerate(number)],
        "grade": [("a", "b", "NA")[i % 3] for i in range(N)],
        "vip": ["yes" if i % 2 else "" for i in range(N)],
        "when": dates,
        "code": [str(10 + i % 4) for i in range(N)],
        "flag": [str(i % 2) for i in range(N)],
        "key": [f"k{i * i}q" for i in range(N)],
        "radius": [f"~{40 + i * i}" for i in range(N)],
        "partly": [text if i % 4 else f"word {i}" for i, text in enumerate(number)],
        "note": [" ".join(RNG.permutation(messy_files.WORDS)[:6]) for _ in range(N)],
        "b": [str(value) for value in OTHER],
    }


def tables():
    """Names and cells of the tables: one with every kind, those that people have, and those of the data folder."""
    yield pytest.param("mixed", id="mixed")
    for name in messy_files.FILES:
        if name not in ("excel", "utf16", "wide", "long"):
            yield pytest.param(name, id=name, marks=[] if name in ("gaps", "identifiers") else [pytest.mark.deep])
    for name in ("penguins", "breast699", "heart", "german", "crabs", "mushroom"):
        yield pytest.param(f"shared {name}", id=name, marks=[] if name == "penguins" else [pytest.mark.deep])


def written(name, folder):
    """The path of a table."""
    if name == "mixed":
        columns = mixed()
        path = folder / "mixed.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
        return path
    if name.startswith("shared "):
        path = SHARED / f"{name.split()[1]}.csv.gz"
        if not path.is_file():
            pytest.skip(f"{path.name} is in the folder of shared data, which is not here")
        return path
    return messy_files.FILES[name](folder)[0]


def cells_of(path):
    """The cells by column, read by the standard library alone."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    first = text.partition("\n")[0]
    rows = list(csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count)))
    return {name: list(its) for name, its in zip(rows[0], zip(*rows[1:], strict=True), strict=True)}


GAPS = frozenset({"", "na", "n/a", "nan", "none", "null", "?", "-"})


def is_gap(cell):
    return cell.strip().lower() in GAPS


def as_number(cell):
    """A number that Python reads, with a mark beside it or not."""
    bare = re.sub(r"^[$€]|\s*(kg|g|€|\$|%|EUR)$", "", cell.strip().replace("\xa0", " "))
    for text in (bare, bare.replace(",", ""), bare.replace(".", "").replace(",", ".")):
        try:
            return float(text)
        except ValueError:
            continue
    return None


def recounted(finding, cells):
    """The count of a finding, from the cells of its column."""
    gaps, numbers = sum(map(is_gap, cells)), [as_number(cell) for cell in cells if not is_gap(cell)]
    infinite = sum(value is not None and math.isinf(value) for value in numbers)
    unread = sum(value is None for value in numbers)
    match finding.kind:
        case "infinite":
            return infinite
        case "few":
            return len({*numbers} - {None})
        case "unit" | "bare":
            marked = [cell for cell in cells if re.search(r"[a-z%€$]", cell)]
            return len(cells) - gaps - len(marked)
        case "sparse":
            return gaps
        case "unread":
            return unread
        case "foreign":
            return sum("$" in cell for cell in cells)
        case "filled" | "lent" | "gap" if "cannot be read" in finding.detail or infinite:
            return gaps + unread + infinite + sum("$" in cell for cell in cells)
        case "filled" | "lent" | "gap":
            return gaps + (sum("$" in cell for cell in cells) if any("€" in cell for cell in cells) else 0)
    return 0


def test_the_table_of_all_kinds_has_them(tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = Preparation().fit(read_table(str(written("mixed", tmp_path))))
    words = {finding.kind for plan in fitted.plans for donors in (0, 9) for finding in of_plan(plan, donors)}
    assert {*SAYS} - words == {"clock", "place", "decimal comma", "ordered", "gap", "topics"}
    of_warnings = [
        kind for kind, words in WARNS.items() for one in caught if str(one.message).startswith(words.split("{")[0])
    ]
    assert {"bare", "foreign", "unread value", "partly numbers", "text", "infinite", "unread", "sparse"} <= {
        *of_warnings
    }


@pytest.mark.parametrize("name", [*tables()])
def test_each_finding_is_counted_again_from_the_raw_cells(name, tmp_path):
    path = written(name, tmp_path)
    cells, table = cells_of(path), read_table(str(path))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = Preparation().fit(table)
    texts = [str(warning.message) for warning in caught]
    facts, words = fitted.resolved(), fitted.paragraph()
    assert (facts["rows"], len(fitted.plans)) == (len(next(iter(cells.values()))), len(cells))
    for coded in (False, True):
        for plan in fitted.plans:
            for finding in of_plan(plan, len(fitted.donors or ()), coded=coded):
                assert finding.count == recounted(finding, cells[finding.column]), finding
                if finding.kind in ("filled", "lent", "gap", "infinite"):
                    assert finding.detail.startswith(f"{finding.count:,}")
                    key = "infinite_cells" if finding.kind == "infinite" else "gaps"
                    its = finding.count if finding.kind == "infinite" else finding.detail
                    assert coded or facts[key][finding.column] == its
                    shown = f"{shortened(finding.column)} ({finding.detail})"
                    assert coded or shown in words or "; and " in words
    for text in texts:
        for column, count in re.findall(r"'([^']+)' \((\d+) of \d+", text):
            kind = next(
                kind
                for kind in ("bare", "unread", "sparse", "infinite")
                if text.startswith(WARNS[kind].partition("{")[0])
            )
            finding = attrs.evolve(next(of_plan(fitted.plans[0])), kind=kind, detail="") if fitted.plans else None
            assert int(count) == recounted(finding, cells[column]), text


def test_every_kind_of_finding_has_one_sentence():
    assert all(sentence.count("{}") == 1 for sentence in SAYS.values())
    assert all(sentence.count("{}") == 1 or "{0.column!r}" in sentence for sentence in WARNS.values())


@pytest.mark.parametrize("form", [float, str])
@pytest.mark.parametrize("code", [-999, -1, 9999])
def test_numbers_far_outside_that_repeat_may_mean_gaps(code, form):
    x = np.random.default_rng(0).uniform(0.2, 0.8, size=300).round(3)
    near = {"one": x, "b": np.where(x < 0.3, -1.0, 100 * x), "c": np.where(np.arange(300) < 4, code, x)}
    table = {"a": np.where(np.arange(300) % 20, x, code), **near}
    with pytest.warns(
        TableWarning, match=f"own: 'a' .{code} in 15 of 300, others from 0.[23].* to 0.[78].*gaps"
    ) as all_:
        Preparation().fit({name: values.astype(form).astype(object) for name, values in table.items()})
    assert len(all_) == 1
    assert not re.search("'(one|b|c)'", str(all_[0].message)), "near the others, or fewer than five"


class TestGaps:
    TABLE = {
        "told": np.where(np.arange(N) % 2, np.nan, OTHER), "b": OTHER + 9.0 * (np.arange(N) % 2),
        "vip": np.array(["yes", None] * (N // 2), dtype=object),
    }  # fmt: skip

    def test_a_gap_that_counts_nowhere_is_no_feature(self):
        """Methods of mixed columns leave gaps out: nothing fills them, and no feature says where they are."""
        fitted = Preparation().fit(self.TABLE)
        assert "they are a feature too, because b differs there" in fitted.paragraph()
        coded = attrs.evolve(fitted, coded=True)
        assert f"Gaps count nowhere: told ({N // 2})." in coded.paragraph()
        assert "Gaps: vip (30: not 'yes')." in coded.paragraph()  # that gap is the other of two levels
        assert "a feature too" not in coded.paragraph()
        assert "kept row" not in coded.paragraph()
        assert np.isnan(coded.transform(self.TABLE)).any(axis=0).tolist() == [True, False, False]


class TestTexts:
    def test_what_looks_like_a_number_is_no_identifier(self):
        table = {"radius": np.array([f"~{40 + i * i}" for i in range(N)], dtype=object), "b": OTHER}
        with pytest.warns(TableWarning, match=r"like numbers or dates are not used as such: 'radius' \(.*'~40'"):
            assert "identifier" not in Preparation().fit(table).left_out["radius"]

    def test_texts_that_are_left_out_are_told_once_also_by_a_recipe(self):
        notes = np.array([" ".join(RNG.permutation(messy_files.WORDS)[:6]) for _ in range(N)], dtype=object)
        towns = np.array([f"town{i % 25}{'abc' * (i % 2)}" for i in range(N)], dtype=object)
        table = {"note": notes, "town": towns, "b": OTHER, "c": OTHER[::-1]}
        with pytest.warns(TableWarning) as caught:
            fit_prepared(recipe("kmeans", n_clusters=2, random_state=0), table)
        texts = [str(one.message) for one in caught if "are not used" in str(one.message)]
        assert len(texts) == 2
        assert texts[0].startswith("columns of texts are not used: 'note' (free text); texts are compared by numbers")
        assert texts[1].startswith("columns of texts are not used: 'town' (too many different values (")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Preparation(drop=["note", "town"]).fit(table)

    @pytest.mark.parametrize(
        ("cells", "start"),
        [
            ([f"{i}.5 %" if i % 3 else f"0.{i:02d}" for i in range(N)], "columns that look like numbers are not used"),
            (
                [f"2024-01-{1 + i % 28:02d}" if i % 4 else f"week {i * i}" for i in range(N)],
                "columns that look like dates are not used as such: 'x' (75 % of its cells are dates",
            ),
        ],
    )
    def test_columns_that_look_like_something_else_are_told(self, cells, start):
        with pytest.warns(TableWarning) as caught:
            fitted = Preparation().fit({"x": np.array(cells, dtype=object), "b": OTHER})
        assert fitted.left_out.keys() == {"x"}
        assert [str(one.message).startswith(start) for one in caught] == [True]


class TestHours:
    @pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S", "%d/%m/%Y %H:%M"])
    @pytest.mark.parametrize(("at_midnight", "parts"), [(0.9, ()), (0.3, ("hour",))])
    def test_hours_are_no_feature_where_most_cells_are_midnight(self, form, at_midnight, parts):
        """A date of its end and, for the rest, the moment of the download."""
        days = np.datetime64("2001-01-13T00:00:00") + np.arange(N) * 37 * np.timedelta64(86400, "s")
        days = np.where(np.arange(N) < at_midnight * N, days, np.datetime64("2026-11-20T22:20:10"))
        texts = np.array([one.item().strftime(form) for one in days], dtype=object)
        for cells in (texts, days):
            [plan, _] = Preparation().fit({"end": cells, "b": OTHER}).plans
            assert ("hour" in plan.parts) == bool(parts)
