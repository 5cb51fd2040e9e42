"""Writes docs/results.md from the records in docs/results/records/, and has the text of all other pages of results.

The printed values and verdicts in the records are brought up to date as well: a changed rule needs no new fit.

`python docs/write_results.py`, or with --check only say what is out of date. `python docs/record.py` makes the records.
The other pages, which are `made`, are written where the site is built, and nowhere else.

The words around the tables are in docs/results/prose/: `results` has those of docs/results.md, `claims` and `tables`
those of the pages of these names, results-PAPER what stands on top of the page of a paper, and a file for each table
what stands there. In them ``{rows}`` is the place of the table, ``{verdicts}`` that of
the conclusions from the rows of `distances`, ``{methods}`` that of the table of a paper's methods, ``{claims PAPER}``
that of its claims, ``{universal}`` the words of claims that have to hold in all comparisons;
``{{TABLE | ROW | COLUMN}}`` is the value of a row (with ``| printed`` at the end the printed one),
``{{TABLE | MARK}}`` the number of printed values with a mark, ``{{TABLE | printed}}`` of all, ``{{TABLE | METHOD | is
FIELD}}`` a field of `clusterkit_papers.summary.MethodSummary` or "nearest", the reading nearest to print,
``{{TABLE | order}}`` how many pairs of methods stand in
the printed order, ``{{claims | PAPER | WORD}}`` the number of claims with that answer, ``{{claims | PAPER | all}}`` of
all that were tested, ``{{answer | NAME}}`` the answer to one. ``{{TABLE | ROW |
COLUMN | minus | ROW}}`` is how much a value is above that of another row (with ``| printed`` too). How a paper was read
is in the file readings-PAGE, a table of what the text says, what we take, and what else it could mean.
"""

from __future__ import annotations

import csv
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from clusterkit_papers import tables
from clusterkit_papers.claims.answers import UNIVERSAL, Answer, answer
from clusterkit_papers.claims.comparisons import Values
from clusterkit_papers.claims.headlines import CLAIMS
from clusterkit_papers.distances import conclusions
from clusterkit_papers.jobs import Job
from clusterkit_papers.printed_tables import Mark, Printed, beside, printed
from clusterkit_papers.records import Record
from clusterkit_papers.reproduction import planned
from clusterkit_papers.summary import MethodSummary, closing_line, methods, printed_order, standing, tally
from clusterkit_papers.verdicts import COMPARED, FILLER, MEASURES, verdict

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RECORDS, PROSE, BENCHMARKS = RESULTS / "records", RESULTS / "prose", RESULTS / "benchmarks.csv"
NOTE = "<!-- Written by docs/write_results.py from the records and docs/results/prose/results.txt. -->\n\n"

PAGES = {
    "emmc": "EMMC: extreme maximum margin clustering",
    "svc": "Fast support vector clustering",
    "edsvc": "EDSVC: ensemble-driven support vector clustering",
    "elm": "Clustering in ELM feature space",
    "m3": "Min-max modular SVM and equal clustering",
    "claim": "The claims of the papers, tested",
    "distances": "Large distances to print, and what explains them",
    "speed": "Speed",
}
"""Titles of the pages, by the first word of the names of their tables. `speed` has the benchmarks."""

WORDS = ("results", "claims", "tables")
"""Files of words that are each the whole of a page."""

GOOD = ("as printed", "better")
MARKS = {
    "beside a printed value that cannot be right": "†",
    "not comparable": "ⁿ",
    "of fillers": "°",
    "of another experiment": "‡",
}
"""What the cells of a table say beside the numbers, by standing."""

OWN = {"EMMC", "k-means in ELM space", "single", "multi", "SGD-LMSVC", "EDSVC", "ELM"}
"""The methods that the papers propose, as their tables name them; those with a start before " + EMMC" too."""

METHODS = {
    "single": "EMMC, one output",
    "multi": "EMMC, several outputs",
    "ELM": "ELM k-means",
    "kernel": "kernel k-means",
}
"""Methods whose names in a table are short for others."""

FACTORISATIONS = ("elm-table5", "elm-table6", "elm-table7")
"""The tables of the methods in ELM space that factorise."""

PAPERS = ("emmc", "svc", "edsvc", "elm", "m3")
"""The pages that are of a paper."""

MOST_SHORT = 4
"""Most lines that are named of those that fall short of print."""

LONG = 60
"""Most lines of a table that are shown without a click."""

VALUE = re.compile(r"\{\{(.+?)\}\}")
MISSING = "(not recorded yet)"
HOLE = MISSING.strip("()")

WITHOUT_ROW = {
    ("edsvc-table2", "COMUSACL"): "the paper does not define it",
    ("edsvc-table2", "COMUSACL-DEW"): "the paper does not define it",
    **{(table, "kernel"): "its updates are by reference only" for table in FACTORISATIONS},
}
"""Why no row is the paper's own, by table and method, where no record says it."""


class Broken(Exception):
    """A record, a fragment of prose or a value of it that belongs to nothing; or a page with holes."""


def main(check: bool) -> int:
    """Write what differs, or with `check` say what does; 1 if that is anything, or if a record is of nothing."""
    try:
        files = committed()
    except Broken as error:
        print(error)
        return 1
    stale = [name for name, text in files.items() if not _is(HERE / name, text)]
    if check:
        if stale:
            print(f"out of date: {', '.join(stale)}. Run: python docs/write_results.py")
        return bool(stale)
    for name in stale:
        (HERE / name).write_text(files[name], encoding="utf-8")
    print(f"written: {', '.join(stale) or 'nothing, all up to date'}")
    return 0


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def commands(benchmarks: Path = BENCHMARKS) -> dict[str, str]:
    """The command of everything that has a record, by name: the tables of the papers, then the benchmarks."""
    return {**{name: f"clusterkit reproduce {name}" for name in tables()}, **_column(benchmarks, "command")}


def titles(benchmarks: Path = BENCHMARKS) -> dict[str, str]:
    return {**tables(), **_column(benchmarks, "title")}


def _column(benchmarks: Path, column: str) -> dict[str, str]:
    lines = benchmarks.read_text(encoding="utf-8").splitlines() if benchmarks.exists() else []
    return {line["name"]: line[column] for line in csv.DictReader(lines)}


def read_records(folder: Path = RECORDS) -> dict[str, Record]:
    """All records by name, each of a command that exists."""
    records = {path.stem: Record.read(path).judged() for path in sorted(folder.glob("*.json"))}
    known = commands()
    for name, record in records.items():
        if record.name != name or name not in known:
            raise Broken(f"{name}.json: there is no table or benchmark named {record.name!r}; delete the record")
        if record.command.split(" --")[0] != known[name].split(" --")[0]:
            raise Broken(f"{name}.json: the record was made by {record.command!r}, the command is {known[name]!r}")
    return records


def committed(records: Mapping[str, Record] | None = None, prose: Path = PROSE) -> dict[str, str]:
    """What stands in the repository, the page docs/results.md and the records, by its path below docs/."""
    records = read_records() if records is None else records
    overview = _words(records, prose, "results").replace("{papers}", _papers(_by_page(), records))
    texts = {f"results/records/{name}.json": record.text for name, record in records.items()}
    return {"results.md": f"{NOTE}# What we measured\n\n{overview}\n", **texts}


def made(records: Mapping[str, Record] | None = None, prose: Path = PROSE) -> dict[str, str]:
    """The text of every page that is written where the site is built, by its path below docs/."""
    records = read_records() if records is None else records
    for path in sorted(prose.glob("*.txt")):
        of_pages = (f"{what}-{page}" for page in PAGES for what in ("results", "readings"))
        if path.stem not in (*commands(), *PAGES, *of_pages, *WORDS):
            raise Broken(f"prose/{path.name}: there is no table, benchmark or page of that name")
    pages = {}
    for page, names in _by_page().items():
        if names:
            title = PAGES.get(page, page)
            above = f"../results.md{f'#{_anchor(title)}' if page in PAPERS else ''}"
            head = f"# {title}\n\n[What we measured]({above}). [How to read the tables](tables.md)."
            overview = _words(records, prose, f"results-{page}").replace("{methods}", _methods(names, records))
            # a table that is a page of its own has its words in its section
            words = "" if page in names else _words(records, prose, page)
            readings = _words(records, prose, f"readings-{page}")
            readings = readings and f"## How the paper was read\n\n{readings}"
            sections = [_section(name, records.get(name), _words(records, prose, name)) for name in names]
            text = "\n\n".join(part for part in (head, overview, words, readings, *sections) if part)
            pages[f"results/{page}.md"] = text + "\n"
    universal = ", ".join(f'"{word}"' for word in UNIVERSAL)
    claims = _words(records, prose, "claims").replace("{universal}", universal)
    pages["claims.md"] = re.sub(r"\{claims (\w+)\}", lambda match: _claims(match[1], records), claims) + "\n"
    tables_words = _words(records, prose, "tables").replace("{counts}", _counts(records))
    return pages | {"results/tables.md": f"# Every table: how to read it, and its record\n\n{tables_words}\n"}


def whole(texts: Mapping[str, str]) -> Mapping[str, str]:
    """The same texts of pages, if none of them has a hole: a value that nobody recorded, or a dash without a reason."""
    holes = [f"{name}: {line.strip()}" for name, text in texts.items() for line in text.splitlines() if _hole(line)]
    if holes:
        listed = "\n- ".join(holes)
        raise Broken(f"{len(holes)} holes; record the values (docs/record.py --missing) or say why not:\n- {listed}")
    return texts


def _hole(line: str) -> bool:
    """Whether a line of a page lacks a value, or has the bare dash of a method without a row and no reason for it."""
    bare = line.startswith("| ") and "**" in line and " | – | " in line and line.startswith(("| table", "| figure"))
    return HOLE in line.lower() or (bare and "‡" not in line)


def _by_page() -> dict[str, list[str]]:
    """The names of the tables and benchmarks of each page."""
    by_page: dict[str, list[str]] = {page: [] for page in PAGES}
    benchmarks = _column(BENCHMARKS, "command")
    for name in commands():
        by_page.setdefault("speed" if name in benchmarks else name.partition("-")[0], []).append(name)
    return by_page


def _words(records: Mapping[str, Record], prose: Path, name: str) -> str:
    """The words of a file with the values in them; none where there is no such file."""
    path = prose / f"{name}.txt"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return VALUE.sub(lambda match: value(match[1], records), text).strip()


def value(words: str, records: Mapping[str, Record]) -> str:
    """What stands for the words between double braces, as the head of this file has them."""
    name, row, *more = (word.strip() for word in words.split("|"))
    if name == "answer":
        return _answer(words, row, records)
    if name == "claims":
        return _number_of_claims(row, more[0], records)
    if name not in commands():
        raise Broken(f"{{{{{words}}}}}: there is no table named {name!r}")
    if more and more[0].startswith("is "):
        return _of_method(words, name, row, more[0].removeprefix("is "), records)
    if row == "order" and not more:
        agreeing, pairs = printed_order(name, records[name].rows if name in records else ())
        return f"{agreeing} of {pairs}"
    if not more:
        if row not in ("printed", *get_args(Mark)):
            raise Broken(f"{{{{{words}}}}}: there is no mark named {row!r}, only {', '.join(get_args(Mark)[1:])}")
        return str(sum(row in ("printed", cell.mark) for cell in printed(name).values()))
    column, *which = more
    record = records.get(name)
    less, which = (which[1], which[2:]) if which[:1] == ["minus"] else ("", which)
    recorded = {r["row"]: r for r in record.rows if r["column"] == column} if record else {}
    if not recorded.keys() >= {row, less or row}:
        lacking = {job.row for job in _missing(name, record) for cell in job.cells if cell.column == column}
        if record is not None and record.complete and not (recorded.keys() | lacking) >= {row, less or row}:
            raise Broken(f"{{{{{words}}}}}: the record of {name} has no such row and column")
        return MISSING
    entry = recorded[row]
    if less:
        key = which[0] if which else "ours"
        return number(float(entry[key]) - float(recorded[less][key]))
    if which:
        return number(entry[which[0]])
    return f"– ({_escaped(entry['verdict'])})" if entry["ours"] is None else _ours(entry)


def _of_method(words: str, table: str, method: str, field: str, records: Mapping[str, Record]) -> str:
    """A field of the summary of a method, or the words of its nearest reading."""
    if table not in records:
        return MISSING
    found = next((one for one in methods(table, records[table].rows) if one.method == method), None)
    if found is None or not (hasattr(found, field) or field == "nearest"):
        raise Broken(f"{{{{{words}}}}}: {table} has no such method, or a method has no such field")
    if field == "nearest":
        return _nearest(table, found, records[table])[1]
    content = getattr(found, field)
    if isinstance(content, tuple):
        return ", ".join(content)
    return content if isinstance(content, str) else number(content)


def _counts(records: Mapping[str, Record]) -> str:
    """A line for each table: the counts of all its rows, and when it was recorded."""
    lines = [
        "| command | without labels | by labels | seconds | further | recorded | CPU |",
        "|---|---|---|---|---|---|---|",
    ]
    for page, names in _by_page().items():
        if names:
            lines.append(f"| **[{PAGES.get(page, page)}]({page}.md)** | | | | | | |")
        for name in names:
            cells = [f"`{commands()[name]}`", *_summary_cells(name, records.get(name))]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _summary_cells(name: str, record: Record | None) -> list[str]:
    """How many values of a table stand how, apart by kind; when it was recorded, and what that cost."""
    if record is None:
        return [MISSING, "", "", "", "", ""]
    counts = tally(name, record.rows) if record.rows else {}
    words = {
        "as printed": "as printed",
        "better": "better",
        "of another experiment": "‡",
        "below print": "below",
        "with a count that differs": "differ",
    }
    cells, fillers = [], 0
    for kind, count in counts.items():
        judged = [f"{count[key]} {text}" for key, text in words.items() if count[key]]
        times = sum(count[key] for key in words) if kind == "seconds" else 0
        cells.append(f"{times} values" if times else ", ".join(judged))
        fillers += count["of fillers"]
    without, by_labels, seconds, data = cells or ("printed output", "", "", "")
    doubtful = sum(count["beside a printed value that cannot be right"] for count in counts.values())
    apart = sum(count["not comparable"] for count in counts.values())
    further = [data, *(f"{n} {word}" for n, word in ((doubtful, "†"), (apart, "ⁿ"), (fillers, "°")) if n)]
    part = "**A part of the table** (`--quick`)." if "--quick" in record.command else ""
    when = record.surroundings.date + (f" ({record.remark.split(',')[0]})" if record.remark else "")
    text = "; ".join(filter(None, (*further, part)))
    return [without, by_labels, seconds, text, when, _duration(record.cpu_seconds)]


def _papers(by_page: Mapping[str, Sequence[str]], records: Mapping[str, Record]) -> str:
    """A line for each paper: how many printed values of its own methods are reached, and how its claims stand."""
    lines = [
        "| paper | printed values of its own methods | reached by the paper's method here | reached by our best rows "
        "without labels | its claims: yes, partly, no |",
        "|---|---|---|---|---|",
    ]
    for page, names in by_page.items():
        claims = [_number_of_claims(page, word, records) for word in ("yes", "partly", "no")] if page in PAPERS else []
        if not claims:
            continue
        counted: set[Printed] = set()
        values = described = best = described_apart = best_apart = 0
        for name in names:
            if name not in records or not _place(name) or "figure" in _place(name):
                continue
            for one in methods(name, records[name].rows):
                # a value that two tables print is counted once, in the first
                if _is_own(one.method) and not counted.issuperset(one.cells):
                    counted.update(one.cells)
                    values += one.lines
                    described += one.described_reached
                    best += one.best_reached
                    described_apart += one.described_apart
                    best_apart += one.best_apart
        pairs = ((described, described_apart), (best, best_apart))
        cells = [f"{reached} (and {apart} ‡)" if apart else str(reached) for reached, apart in pairs]
        counts = [str(values), *cells] if values else ["only seconds", "–", "–"]
        link = f"[{PAGES[page]}](#{_anchor(PAGES[page])})"
        lines.append(f"| {link} | {' | '.join(counts)} | {', '.join(claims)} |")
    return "\n".join(lines)


def _place(name: str) -> str:
    """Which table or figure of a paper it is; empty for a question of ours, one about several tables too."""
    place = titles()[name].partition(": ")[0].partition(", ")[2]
    return "" if place.startswith("tables ") else place


def _is_own(method: str) -> bool:
    return method in OWN or method.endswith("+ EMMC")


def _anchor(heading: str) -> str:
    """The anchor of a heading on its page."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _methods(names: Sequence[str], records: Mapping[str, Record]) -> str:
    """The table of a paper: printed, the paper's method here, our best row without labels, and the verdict."""
    lines = [
        "| table | method | printed | the paper's method here | our best row without labels | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        place, record = _place(name), records.get(name)
        if not place:
            continue
        if record is None:
            lines.append(f"| {place} | | | | | {MISSING} |")
            continue
        # the values beside a figure are those of a table
        of_table = [] if "figure" in place else [_method_line(name, one, record) for one in methods(name, record.rows)]
        if of_table:
            lines_of = [
                (line, _nearest(name, one, record)[0])
                for line, one in zip(of_table, methods(name, record.rows), strict=True)
            ]
            of_table = [line for pair in lines_of for line in pair if line]
        of_table += _unjudged_lines(name, record)
        of_table += [line for line in (_seconds_line(name, record), _sizes_line(name, record)) if line]
        title = titles()[name].partition(": ")[2]
        nothing = f"| {title} | | | | no numbers in print; what the text says: [claims](../claims.md) |"
        lines += [f"| {place} {line}" for line in of_table or [nothing]]
    return "\n".join(lines)


def _method_line(name: str, one: MethodSummary, record: Record) -> str:
    unit = UNITS.get(one.measure, one.measure)
    described, best = _of_rows(one.described, one.described_row), _of_rows(one.best, one.best_row)
    reason = "" if one.described_lines else _reason(name, one, record)
    if reason:
        described = f"– ({reason})"
    if reason and not one.best_lines:
        best = "– (the same)"
    if one.described_labels and "by labels" not in one.described_row:
        described += ", by labels"
    if one.best_row and one.best_row == one.described_row:
        best = "the same"
    words = []
    if one.described_lines:
        words.append(_reached(one.described_reached, one.lines, one.described_lines, one.described_by_index))
    if one.best_lines and one.best_row != one.described_row:
        apart = f" and {one.best_apart} ‡" if one.best_apart and one.described_lines else ""
        words.append(f"best row {_reached(one.best_reached, one.lines, one.best_lines, one.best_by_index)}{apart}")
    if one.short and one.lines == 1:
        words.append(f"short by {number(one.short[0][1])}")
    elif one.short:
        shown = ", ".join(f"{_cell(line)} {f'by {number(by)}' if by else '(°)'}" for line, by in one.short[:MOST_SHORT])
        more = f" and {len(one.short) - MOST_SHORT} more" if len(one.short) > MOST_SHORT else ""
        words.append(f"neither on {shown}{more}" if one.described_lines and one.best_lines else f"not on {shown}{more}")
    marked = ((one.apart, "‡"), (one.fillers, "°"), (one.doubtful, "ⁿ"), (one.wrong, "†"))
    words += [f"{n} {mark}" for n, mark in marked if n]
    method = METHODS.get(one.method, one.method)
    if name in FACTORISATIONS:
        method = method.replace("k-means", "NMF")
    method = f"**{method}**" if _is_own(one.method) else method
    verdict = f"**{one.word}**{': ' if words else ''}{'; '.join(words)}"
    in_print, of_first = number(one.printed), sum(cell.measure == one.measure for cell in one.cells)
    if one.printed is not None and len(one.in_means) < of_first:
        in_print += f" ({len(one.in_means)} of {of_first} lines)"
    if one.means_apart:
        in_print += " (‡)"
    return f"| {method}, {unit} | {in_print} | {described} | {best} | {verdict} |"


def _nearest(name: str, one: MethodSummary, record: Record) -> tuple[str, str]:
    """The cells of a line of the reading of a paper's own method that is nearest to print, and its counts in words.

    The readings are the rows that are named as the row that follows the text, up to the first comma. Of those with
    values in the most lines it is the one of the least mean distance to print in the first index, so print chooses it.
    """
    base = _base(one.described_row)
    if not one.described_lines or not _is_own(one.method) or name.partition("-")[0] not in ("emmc", "elm", "edsvc"):
        return "", ""
    places = {(cell.row, cell.column): cell for cell in one.cells}
    readings: dict[str, list[tuple[Printed, Mapping[str, Any]]]] = {}
    for row in record.rows:
        line, _, what = row["row"].partition(": ")
        cell = places.get((line, row["column"]))
        judged = row["ours"] is not None and any(word in row["verdict"] for word in (*COMPARED, "capped at"))
        judged = judged and not row["verdict"].startswith(FILLER)
        if cell is not None and judged and _base(what) == base:
            readings.setdefault(what, []).append((cell, row))

    def distances(what: str) -> list[float]:
        return [abs(row["ours"] - (c.value or 0.0)) for c, row in readings[what] if c.measure == one.measure]

    if len(readings) < 2:
        return "", ""
    nearest = min(readings, key=lambda what: (-len(distances(what)), statistics.fmean(distances(what) or [0.0])))
    of_first = [(c.value or 0.0, row["ours"]) for c, row in readings[nearest] if c.measure == one.measure]
    in_print, ours = (number(statistics.fmean(side)) for side in zip(*of_first, strict=True))
    lines = sum(cell.measure == one.measure for cell in one.cells)
    in_print += f" ({len(of_first)} of {lines} lines)" if len(of_first) < lines else ""
    reached = sum(standing(verdict(c.measure, c, row["ours"])) in GOOD for c, row in readings[nearest])
    labels = ", by labels" if readings[nearest][0][1]["uses_labels"] and "by labels" not in nearest else ""
    words = f"{reached} of {one.lines} reached by the nearest of {len(readings)} readings, `{nearest}`"
    unit = UNITS.get(one.measure, one.measure)
    away = f"{number(statistics.fmean(distances(nearest)))} from print in the mean"
    method = METHODS.get(one.method, one.method)
    method = method.replace("k-means", "NMF") if name in FACTORISATIONS else method
    cells = f"{method}, {unit}: nearest reading | {in_print} | {ours} (`{nearest}`){labels}"
    return (
        f"| {cells} | | {reached} of {one.lines}; {away}; nearest of {len(readings)}, chosen by the printed values |",
        words,
    )


def _base(row: str) -> str:
    return re.split(r", | \(", row)[0]


def _reason(table: str, one: MethodSummary, record: Record) -> str:
    """Why no row is the paper's own beside a method: what kept its rows from running, or the reason stated here."""
    places = {(cell.row, cell.column) for cell in one.cells}
    verdicts = [
        row["verdict"]
        for row in record.rows
        if row["as_described"] and (row["row"].partition(":")[0], row["column"]) in places
    ]
    stated = WITHOUT_ROW.get((table, one.method), "")
    return next((_cell(text) for text in verdicts if text.startswith("not run")), stated)


def _reached(reached: int, lines: int, beside_print: int, by_index: Sequence[tuple[str, int, int]]) -> str:
    """How many printed values a row reaches, of each index, and beside how many it has no value."""
    each = ", ".join(f"{UNITS.get(measure, measure)} {part} of {whole}" for measure, part, whole in by_index)
    apart = [each] if len(by_index) > 1 else []
    if beside_print < lines:
        apart.append(f"{lines - beside_print} without a value")
    return " ".join([f"{reached} of {lines}", *([f"({'; '.join(apart)})"] if apart else [])])


def _of_rows(mean: float | None, row: str) -> str:
    return "–" if mean is None else f"{number(mean)} (`{row}`)" if row else number(mean)


UNITS = {
    "accuracy": "accuracy (%)",
    "error": "error (%)",
    "mean_error": "error (%)",
    "rand": "Rand index",
    "nmi": "NMI",
    "purity_percent": "purity (%)",
    "purity_by_class": "purity",
    "davies_bouldin": "Davies-Bouldin",
}
"""Measures in words."""


def _unjudged_lines(name: str, record: Record) -> list[str]:
    """The printed numbers that are no better high or low, such as iterations, beside those of the paper's own rows."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for row in record.rows:
        cell = beside(name, row["row"], row["column"])
        measure = MEASURES[cell.measure] if cell is not None else None
        if cell is None or measure is None or measure.better or measure.ratio or measure.count:
            continue
        if cell.value is not None and row["ours"] is not None and row["as_described"]:
            pairs.setdefault(cell.column, []).append((cell.value, row["ours"]))
    lines = []
    for column, values in pairs.items():
        in_print, ours = (number(statistics.fmean(side)) for side in zip(*values, strict=True))
        lines.append(f"| {_cell(column)} | {in_print} | {ours} | | not judged |")
    return lines


def _seconds_line(name: str, record: Record) -> str:
    """How many times faster or slower than printed our rows without labels are, by their median, and their order."""
    factors = []
    for row in record.rows:
        cell = beside(name, row["row"], row["column"])
        timed = cell is not None and cell.value and MEASURES[cell.measure].ratio and not cell.mark
        if cell is not None and cell.value and timed and row["ours"] and not row["uses_labels"]:
            factors.append(cell.value / row["ours"])
    if not factors:
        return ""
    agreeing, pairs = printed_order(name, record.rows, seconds=True)
    order = f"; two methods in the printed order in {agreeing} of {pairs} comparisons" if pairs else ""
    middle = f"{number(statistics.median(factors))} times faster in the median of {len(factors)} values"
    return f"| seconds | | {middle} | | not judged, another machine{order} |"


def _sizes_line(name: str, record: Record) -> str:
    """How many sizes and parameters of the paper's own rows are those printed, and which differ."""
    rows = [row for row in record.rows if row["as_described"]]
    count = tally(name, rows)["counts of the data"]
    whole = sum(count.values())
    if not whole:
        return ""
    places = [row for row in rows if standing(row["verdict"]) == "with a count that differs"]
    other = [f"{_cell(row['row'].partition(':')[0])} {row['column']} {_text(row).replace('*', '')}" for row in places]
    word = "reached" if count["as printed"] == whole else "mostly reached"
    differ = f"; other: {', '.join(other)}" if other else ""
    return f"| sizes and parameters | {whole} | {count['as printed']} the same | | **{word}**{differ} |"


def _claims(paper: str, records: Mapping[str, Record]) -> str:
    """The claims of a paper with their answers."""
    rows = {name: record.rows for name, record in records.items()}
    lines = [
        "| the paper says | where | in its own numbers | the paper's method here | our rows without labels | answer |",
        "|---|---|---|---|---|---|",
    ]
    for claim in CLAIMS:
        if claim.paper != paper:
            continue
        own, ours, free = (
            answer(claim, values) for values in (Values(), Values(rows), Values(rows, without_labels=True))
        )
        word = ours.word if ours.comparisons or claim.compare is None else MISSING
        worst = ""
        if ours.worst is not None:
            where, one, other = _cell(ours.worst.where), number(ours.worst.one), number(ours.worst.other)
            worst = f"; {where}: {one} against {other} ({_cell(ours.worst.against)})"
        names = ", ".join(f"`{name}`" for name in claim.tables)
        cells = [
            f"{claim.says}{f' – *{_cell(claim.reason)}*' if claim.reason else ''}",
            f"{claim.place}{f'; {names}' if names else ''}",
            _of_all(own),
            _of_all(ours) + worst,
            "the same" if ours.comparisons and _of_all(free) == _of_all(ours) else _of_all(free),
            f"**{word}**",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _of_all(one: Answer) -> str:
    return f"{one.holding} of {one.comparisons}" if one.comparisons else "–"


def _answer(words: str, name: str, records: Mapping[str, Record]) -> str:
    """The answer to the claim of a name, with its counts."""
    claim = next((claim for claim in CLAIMS if claim.name == name), None)
    if claim is None:
        raise Broken(f"{{{{{words}}}}}: there is no claim named {name!r}")
    one = answer(claim, Values({name: record.rows for name, record in records.items()}))
    return f"{one.word}, {_of_all(one)}" if one.comparisons else MISSING


def _number_of_claims(paper: str, word: str, records: Mapping[str, Record]) -> str:
    """How many claims of a paper have an answer; of "all" that were tested."""
    if word not in ("all", "yes", "partly", "no") or paper not in {claim.paper for claim in CLAIMS}:
        raise Broken(f"claims | {paper} | {word}: the answers are all, yes, partly and no, of a paper that has claims")
    values = Values({name: record.rows for name, record in records.items()})
    words = [answer(claim, values).word for claim in CLAIMS if claim.paper == paper]
    return str(sum(one == word or (word == "all" and one != "not tested") for one in words))


def _section(name: str, record: Record | None, words: str) -> str:
    if record is not None and record.rows:
        words = words.replace("{verdicts}", _verdicts(record.rows))
    before, _, after = words.partition("{rows}")
    parts = [f"## {titles()[name]}", _where(name, record), before.strip()]
    if record is not None and record.output:
        parts.append(f"```text\n{record.output.rstrip()}\n```")
    elif record is not None:
        parts += [f"**{closing_line(name, record.rows)}**", *_tables(record.rows)]
        missing = [job.row for job in _missing(name, record)]
        if missing:
            few = f": {'; '.join(map(_escaped, missing))}" if len(missing) <= 12 else ""
            parts.append(
                f"Not recorded yet (`python docs/record.py --missing --only {name}`): {len(missing)} rows{few}."
            )
    parts.append(after.strip())
    if record is not None:
        parts.append(_notes(record.rows))
    return "\n\n".join(part for part in parts if part)


def _verdicts(rows: Sequence[Mapping[str, Any]]) -> str:
    """The verdict on each of the large distances to print, by the rule of `clusterkit_papers.distances`."""
    lines = ["| distance | printed | ours | by the reading | verdict |", "|---|---|---|---|---|"]
    for one in conclusions(rows):
        marks = ["†" if cell.mark else "" for (row, _), cell in printed("distances").items() if row == one.name]
        printed_there = ", ".join(f"{entry:g}{mark}" for entry, mark in zip(one.printed, marks, strict=True))
        values = printed_there, ", ".join(number(entry) for entry in one.ours)
        verdict = f"**{one.verdict}**" + (f"; the paper against itself: {one.remark}" if one.remark else "")
        lines.append("| " + " | ".join(_cell(text) for text in (one.name, *values, one.reading)) + f" | {verdict} |")
    return "\n".join(lines)


def _missing(name: str, record: Record | None) -> Sequence[Job]:
    """The jobs of a table that its record lacks; none where the record is a part of the table, or there is none."""
    return record.lacking(planned(name)) if record is not None and record.complete and name in tables() else []


def _where(name: str, record: Record | None) -> str:
    if record is None:
        return f"`{commands()[name]}`: {MISSING}"
    where = record.surroundings
    versions = ", ".join(f"{package} {version}" for package, version in where.versions.items())
    load = "" if where.load is None else f", load {where.load:g} at the start"
    cpu = "" if record.cpu_seconds is None else f"; {_duration(record.cpu_seconds)} CPU"
    remark = f" **{record.remark[0].upper()}{record.remark[1:]}.**" if record.remark else ""
    for run in dict.fromkeys((run.date, run.cores, run.processor) for run in record.added):
        remark += f" Rows added {run[0]} on {run[1]} cores of {run[2]}."
    if "--quick" in record.command:
        remark += " **A part of the table.**"
    return (
        f"`{record.command}`, {where.date}, {where.cores} cores of {where.processor}{load}{cpu}; {versions} "
        f"([record](records/{name}.json)).{remark}"
    )


def _tables(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Our rows, those with the same columns in one table, and below them what has no value."""
    by_row: dict[str, dict[str, Mapping[str, Any]]] = {}
    without: dict[str, list[str]] = {}
    for row in rows:
        if row["ours"] is not None or row["verdict"].startswith("not defined"):
            by_row.setdefault(row["row"], {})[row["column"]] = row
        if row["ours"] is None:
            without.setdefault(row["verdict"], []).append(f"{row['row']} ({row['column']})")
    groups: dict[tuple[str, ...], list[str]] = {}
    beside_print = {row["column"] for row in rows if row["printed"] is not None}
    for name, cells in by_row.items():
        columns = sorted(cells, key=lambda column: column not in beside_print)
        groups.setdefault(tuple(columns), []).append(name)
    for columns, names in groups.items():
        yield _folded(_table(columns, [(name, by_row[name]) for name in names]), len(names))
    for words, places in without.items():
        few = f": {'; '.join(places)}" if len(places) <= 12 else f": {len(places)} values"
        dash = " (–), as an index where a run has a single cluster" if words.startswith("not defined") else ""
        yield f"{words[0].upper()}{words[1:]}{dash}{few}."


def _table(columns: Sequence[str], rows: Iterable[tuple[str, Mapping[str, Mapping[str, Any]]]]) -> str:
    rows = list(rows)
    labels = any(cell["uses_labels"] for _, cells in rows for cell in cells.values())
    timed = any(cell["seconds"] for _, cells in rows for cell in cells.values())
    described = any(cell["as_described"] for _, cells in rows for cell in cells.values())
    head = [
        "row",
        *(["method"] if described else []),
        *(["labels"] if labels else []),
        *columns,
        "runs",
        *(["s"] if timed else []),
    ]
    lines = ["| " + " | ".join(_cell(text) for text in head) + " |", "|---" * len(head) + "|"]
    for name, cells in rows:
        some = next(iter(cells.values()))
        used = ["used" if some["uses_labels"] else ""] if labels else []
        whose = ["the paper's" if some["as_described"] else ""] if described else []
        texts = [name, *whose, *used, *(_text(cells[column]) for column in columns)]
        runs, seconds = (max(cell[key] for cell in cells.values()) for key in ("runs", "seconds"))
        texts += [str(runs), *([number(seconds)] if timed else [])]
        lines.append("| " + " | ".join(_cell(text) for text in texts) + " |")
    return "\n".join(lines)


def _text(cell: Mapping[str, Any]) -> str:
    """A cell: printed → ours, bold where it is no worse than print, saw no labels and is no seconds."""
    if cell["ours"] is None:
        ours = "–"
    else:
        stands = standing(cell["verdict"])
        ours = _ours(cell) + MARKS.get(stands, "")
        if stands in GOOD and not cell["uses_labels"] and "another machine" not in cell["verdict"]:
            ours = f"**{ours}**"
    return ours if cell["printed"] is None else f"{number(cell['printed'])} → {ours}"


def _ours(cell: Mapping[str, Any]) -> str:
    spread = "" if not cell["sd"] else f" ± {number(cell['sd'])}"
    return number(cell["ours"]) + spread


def _folded(table: str, n_lines: int) -> str:
    if n_lines <= LONG:
        return table
    return f"<details><summary>{n_lines} rows</summary>\n\n{table}\n\n</details>"


def _notes(rows: Sequence[Mapping[str, Any]]) -> str:
    """Which settings the rows have; the same for many rows, so by note."""
    by_note: dict[str, list[str]] = {}
    for row in rows:
        if row.get("note") and row["ours"] is not None:
            names = by_note.setdefault(row["note"], [])
            if row["row"] not in names:
                names.append(row["row"])
    if not by_note:
        return ""
    lines = [
        f"- {_escaped(note)}: {_escaped('; '.join(names[:4]))}{'; …' if len(names) > 4 else ''}"
        for note, names in by_note.items()
    ]
    return "<details><summary>Settings and remarks</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


def number(value: float | None) -> str:
    """Three digits or so; whole numbers as they are."""
    if value is None:
        return "–"
    if value == int(value):
        return f"{value:,.0f}"
    size = abs(value)
    if size < 0.01:
        return f"{value:.2g}"
    return f"{value:.3f}" if size < 2 else f"{value:.2f}" if size < 20 else f"{value:,.1f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("[", "\\[").replace("*k", "\\*k")


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
