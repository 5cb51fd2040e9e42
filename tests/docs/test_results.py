"""The pages of results come from records: every row has a command, and every number of the words is that of a row."""

import json
import re
from pathlib import Path

import attrs
import pytest
from docs_scripts import script

pytest.importorskip("clusterkit_papers")

from clusterkit_papers import tables
from clusterkit_papers.records import Record, Surroundings

ROOT = Path(__file__).parents[2]
SURROUNDINGS = Surroundings("2026-01-31", "a processor", 2, 0.5, {"python": "3.11"})
ROW = {"row": "EMMC: emmc", "column": "C = 1", "printed": 3.42, "ours": 2.5, "sd": 0.25, "runs": 3, "seconds": 0.1,
       "uses_labels": False, "as_described": False, "verdict": "better by 0.9 points"}  # fmt: skip


pages = script("write_results")


@pytest.fixture(scope="module")
def records():
    return pages.read_records()


@pytest.fixture
def one():
    return Record("emmc-table3", "clusterkit reproduce emmc-table3", SURROUNDINGS, 100.0, 200.0, [ROW])


def test_the_page_and_the_verdicts_of_the_records_are_those_of_the_records(records):
    for name, text in pages.whole(pages.committed(records)).items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, f"{name}: run python docs/write_results.py"


def test_every_table_and_benchmark_has_a_record(records):
    missing = sorted(set(pages.commands()) - set(records))
    assert not missing, f"run: python docs/record.py --only {' '.join(missing)}"
    assert set(tables()) < set(pages.commands())


def test_every_row_has_a_command_that_makes_it(records):
    for name, record in records.items():
        program, *words = record.command.split()
        assert record.rows or record.output, f"{name}: an empty record"
        if name in tables():
            assert (program, words[:2]) == ("clusterkit", ["reproduce", name])
            assert all(row["table"] == name for row in record.rows)
        else:
            assert program == "python"
            assert (ROOT / words[0]).is_file(), f"{name}: {words[0]} does not exist"


def test_no_row_was_ended_by_a_time_limit_or_lacks_its_data(records):
    for name, record in records.items():
        for row in record.rows:
            assert "time limit" not in row["verdict"], f"{name}: {row['row']}, {row['column']}"
            assert "data set not found" not in row["verdict"], f"{name}: {row['row']}, {row['column']}"


def test_the_first_reading_of_a_distance_is_that_of_its_table(records):
    """Two pages, one number: a row of the table without labels has the value of the first reading, but for chance."""
    from clusterkit_papers.distances import DISTANCES
    from clusterkit_papers.verdicts import MEASURES

    values = {(row["row"], row["column"]): row for row in records["distances"].rows}
    for distance in DISTANCES:
        for column, there in distance.columns.items():
            first = values[f"{distance.name}: {distance.readings[0].what}", column]
            rows = [row for row in records[distance.table].rows if row["row"].startswith(f"{distance.row}:")]
            rows = [
                row for row in rows if row["column"] == there and row["ours"] is not None and not row["uses_labels"]
            ]
            tolerance = MEASURES[distance.cells[column].measure].tolerance
            gaps = [abs(row["ours"] - first["ours"]) - 3 * (row["sd"] or 0) - tolerance for row in rows]
            assert min(gaps) <= 0, (distance.name, column)


def test_records_say_where_and_when(records):
    for record in records.values():
        where = record.surroundings
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", where.date)
        assert where.processor
        assert where.cores > 0
        assert where.versions["python"]
        earlier = record.remark.startswith("recorded earlier")
        assert earlier or (record.cpu_seconds is not None and where.load is not None)


def test_records_are_small_and_name_no_machine():
    for path in pages.RECORDS.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert len(text) < 600_000, path.name
        foreign = re.search(r"(?<![\w.:/~$}])/(?:home|root|work|tmp|var|usr|opt|mnt|Users)/|\b[A-Z]:\\\\", text)
        assert foreign is None, f"{path.name}: the path of a machine"
        json.loads(text)


def test_a_row_on_its_page(one, tmp_path):
    (tmp_path / "emmc-table3.txt").write_text(
        "Before.\n{rows}\nAfter {{emmc-table3 | EMMC: emmc | C = 1}}.", encoding="utf-8"
    )
    text = pages.made({one.name: one}, tmp_path)["results/emmc.md"]
    assert "| EMMC: emmc | 3.42 → **2.50 ± 0.250** | 3 | 0.100 |" in text
    assert text.index("Before.") < text.index("| EMMC: emmc |") < text.index("After 2.50 ± 0.250.")
    assert (
        "`clusterkit reproduce emmc-table3`, 2026-01-31, 2 cores of a processor, load 0.5 at the start; 100 s CPU"
        in text
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"uses_labels": True}, "| EMMC: emmc | used | 3.42 → 2.50 ± 0.250 |"),
        ({"as_described": True}, "| EMMC: emmc | the paper's | 3.42 → **2.50 ± 0.250** |"),
        ({"verdict": "not comparable: 100 random rows"}, "3.42 → 2.50 ± 0.250ⁿ |"),
        ({"verdict": "printed value impossible: so"}, "3.42 → 2.50 ± 0.250† |"),
        ({"printed": None, "sd": None}, "| **2.50** |"),
        ({"ours": None, "verdict": "not run: too slow"}, "Not run: too slow: EMMC: emmc (C = 1)."),
    ],
)
def test_marks(one, tmp_path, change, expected):
    text = pages.made({one.name: attrs.evolve(one, rows=[{**ROW, **change}])}, tmp_path)["results/emmc.md"]
    assert expected in text


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ([{}], "3.42 (1 of 7 lines) | – | 2.50 (`emmc`) | **not reached**: best row 1 of 7 (6 without a value) |"),
        (
            [{"as_described": True}],
            "3.42 (1 of 7 lines) | 2.50 (`emmc`) | the same | **not reached**: 1 of 7 (6 without a value) |",
        ),
        (
            [{"as_described": True, "uses_labels": True}, {"row": "EMMC: ours", "ours": 9.42}],
            "3.42 (1 of 7 lines) | 2.50 (`emmc`), by labels | 9.42 (`ours`) | "
            "**not reached**: 1 of 7 (6 without a value); best row 0 of 7 (6 without a value) |",
        ),
        (
            [{"ours": 4.42, "as_described": True}, {"row": "EMMC: ours", "ours": 5.42}],
            "3.42 (1 of 7 lines) | 4.42 (`emmc`) | the same | "
            "**not reached**: 0 of 7 (6 without a value); neither on C = 1 by 1 |",
        ),
        (
            [{"as_described": True, "verdict": "filler, no method: better by 0.9 points"}],
            "– | – | – | **not reached**: 0 of 7 (6 without a value); not on C = 1 (°); 1 ° |",
        ),
    ],
)
def test_the_line_of_a_method(one, tmp_path, changes, line):
    """Printed, the paper's method here, our best row without labels, and the verdict."""
    (tmp_path / "results-emmc.txt").write_text("Of EMMC.\n\n{methods}", encoding="utf-8")
    rows = [{**ROW, **change} for change in changes]
    text = pages.made({one.name: attrs.evolve(one, rows=rows)}, tmp_path)["results/emmc.md"]
    assert f"| table 3 | **EMMC**, error (%) | {line}" in text


def test_a_value_that_two_tables_print_is_counted_once(records):
    """Table 10 of EMMC prints its columns of tables 7 and 8 again."""
    some = {name: records[name] for name in ("emmc-table7", "emmc-table8", "emmc-table10")}
    text = pages.committed(some)["results.md"]
    [line] = [line for line in text.splitlines() if line.startswith("| [EMMC")]
    counts = [pages.value(f"{name} | EMMC | is lines", records) for name in ("emmc-table7", "emmc-table8")]
    assert line.split(" | ")[1] == str(sum(map(int, counts)))


def test_a_page_says_one_thing_of_how_a_paper_was_read():
    """The words are typed beside the settings of the rows, so that they are compared with them."""
    from clusterkit_papers.edsvc.figures import WIDTHS
    from clusterkit_papers.min_max.figures import PRINTED

    edsvc, m3 = ((pages.PROSE / f"readings-{name}.txt").read_text(encoding="utf-8") for name in ("edsvc", "m3"))
    assert set(re.findall(r"(\d+) widths", edsvc)) == {f"{WIDTHS}"}
    assert PRINTED["random"]["leftover"] == "last"
    assert PRINTED["equal"]["strict"] is True
    assert m3.count("as printed (`strict=True`)") == 1
    assert "`random` and `equal` are as printed" in m3
    assert "keeps its best iteration" not in m3


def test_the_nearest_reading_is_the_one_least_far_from_print(one):
    row = {**ROW, "row": "EMMC: emmc-paper, init kmeans, C given", "as_described": True, "ours": 9.42}
    record = attrs.evolve(
        one, rows=[row, {**row, "row": "EMMC: emmc-paper, Gaussian nodes", "as_described": False, "ours": 3.5}]
    )
    words = pages.value("emmc-table3 | EMMC | is nearest", {one.name: record})
    assert words == "1 of 7 reached by the nearest of 2 readings, `emmc-paper, Gaussian nodes`"


def test_pages_with_holes_are_refused(one, tmp_path):
    (tmp_path / "results-emmc.txt").write_text("{{emmc-table4 | any | any}}", encoding="utf-8")
    with pytest.raises(pages.Broken, match=r"emmc\.md: \(not recorded yet\)"):
        pages.whole(pages.made({one.name: one}, tmp_path))
    with pytest.raises(pages.Broken, match=r"1 holes"):
        pages.whole({"emmc.md": "| table 3 | EMMC | 3.42 | – | – | **no value** |"})


@pytest.mark.parametrize(
    ("name", "command", "message"),
    [
        ("emmc-table33", "clusterkit reproduce emmc-table33", "there is no table or benchmark named 'emmc-table33'"),
        (
            "emmc-table3",
            "clusterkit reproduce emmc-table4",
            "the record was made by 'clusterkit reproduce emmc-table4'",
        ),
        ("emmc-table3", "", "the record was made by ''"),
    ],
)
def test_a_record_of_nothing_is_refused(one, tmp_path, name, command, message):
    attrs.evolve(one, name=name, command=command).write(tmp_path)
    with pytest.raises(pages.Broken, match=re.escape(message)):
        pages.read_records(tmp_path)


def test_words_about_nothing_are_refused(one, tmp_path):
    (tmp_path / "emmc-table33.txt").write_text("Old words.", encoding="utf-8")
    with pytest.raises(pages.Broken, match="no table, benchmark or page of that name"):
        pages.made({one.name: one}, tmp_path)


@pytest.mark.parametrize(
    ("words", "complete", "expected"),
    [
        ("emmc-table3 | EMMC: emmc | C = 1 | printed", True, "3.42"),
        ("emmc-table3 | EMMC: emmc | C = 1 | minus | EMMC: emmc", True, "0"),
        ("emmc-table3 | EMMC: emmc | C = 1 | minus | EMMC: emmc | printed", True, "0"),
        ("emmc-table3 | EMMC: emmc | C = 1 | minus | EMMC: any", True, None),
        ("emmc-table3 | EMMC: emmc | C = 2", False, pages.MISSING),
        ("emmc-table3 | EMMC: emmc, no C given | C = 1", True, None),
        ("emmc-table3 | EMMC: emmc-paper, init kmeans, C given | C = 1", True, pages.MISSING),
        ("emmc-table4 | any | any", True, pages.MISSING),
        ("svc-table2 | impossible", True, "2"),
        ("svc-table2 | unlikely", True, None),
        ("emmc-table3 | EMMC: emmc | C = 2", True, None),
        ("emmc-table33 | any | any", True, None),
    ],
)
def test_values_inside_the_words(one, words, complete, expected):
    """A value that a complete record does not have is an error, one that nobody recorded yet is visible."""
    record = one if complete else attrs.evolve(one, command=f"{one.command} --quick")
    if expected is None:
        with pytest.raises(pages.Broken):
            pages.value(words, {one.name: record})
    else:
        assert pages.value(words, {one.name: record}) == expected


def page_cells(text):
    """The cells of a page's tables of rows, by data set, row and column; data sets that only the title names too."""
    data, columns = "", []
    for line in text.splitlines():
        if line.startswith("## "):
            data, columns = line.rpartition(", ")[2], []
        elif line.startswith("| row |"):
            columns = [cell.strip() for cell in line.strip("|").split(" | ")]
        elif line.startswith("| ") and columns:
            row, *texts = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            for column, content in zip(columns[1:], texts, strict=True):
                yield (data if " = " in row.partition(":")[0] else "", row, column), content.replace("**", "")
        elif not line:
            columns = []


def contradictions(texts):
    """Cells that stand more than once, with other numbers. Times differ from run to run, and are left out."""
    seen = {}
    for text in texts:
        for where, content in page_cells(text):
            if not where[-1].endswith("(s)") and where[-1] not in ("runs", "s", "labels", "method"):
                seen.setdefault(where, set()).add(content.rpartition("→ ")[2])
    return {where: contents for where, contents in seen.items() if len(contents) > 1}


def test_no_two_pages_have_different_numbers_for_a_cell(made):
    """A cell is a row, which names data, method and protocol, and a column; several tables may have it."""
    texts = [text for name, text in made.items() if name.startswith("results/")]
    assert contradictions(texts) == {}
    assert sum(1 for text in texts for _ in page_cells(text)) > 5000


OVERVIEWS = [*sorted(path.stem for path in pages.PROSE.glob("results*.txt")), "claims", "tables", "elm", "edsvc-table2",
             "edsvc-figures", "svc-table4", "m3-figures"]  # fmt: skip


@pytest.mark.parametrize("name", OVERVIEWS)
def test_no_number_and_no_verdict_of_the_overviews_is_typed(name):
    words = pages.VALUE.sub("", (pages.PROSE / f"{name}.txt").read_text(encoding="utf-8"))
    # tolerances of an index and of a baseline, bounds of another experiment, the gigahertz of a machine
    settings = {"0.01", "0.05", "0.1", "0.5", "2.6"}
    assert set(re.findall(r"(?<![\w.])\d*\.\d+", words)) <= settings
    assert re.findall(r"\*\*(?:yes|no|partly|mostly|reached|not reached)\b", words) == []


@pytest.mark.parametrize(
    "words",
    [
        "claims | svm | all",
        "claims | svc | maybe",
        "answer | no such claim",
        "emmc-table7 | EMMC | is colour",
        "emmc-table7 | Emmc | is word",
    ],
)
def test_overviews_of_nothing_are_refused(records, words):
    with pytest.raises(pages.Broken):
        pages.value(words, records)
