"""Writes docs/results.md, docs/results/ and docs/claims.md from the records in docs/results/records/.

The printed values and verdicts in the records are brought up to date as well: a changed rule needs no new fit.

`python docs/write_results.py`, or with --check only say what is out of date. `python docs/record.py` makes the records.
The words around the tables are in docs/results/prose/, a file for each table. In them ``{rows}`` is the place of the
table, ``{{TABLE | ROW | COLUMN}}`` the value of a row (with ``| printed`` at the end the printed one),
``{{TABLE | ROW | COLUMN | minus | ROW}}`` how much it is above that of another row (with ``| printed`` too), and
``{{TABLE | MARK}}`` the number of printed values with a mark, ``{{TABLE | printed}}`` of all. How a paper was read is
in the file readings-PAGE, a table of what the text says, what we take, and what else it could mean.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from clusterkit_papers import tables
from clusterkit_papers.jobs import Job
from clusterkit_papers.printed_tables import Mark, printed
from clusterkit_papers.records import Record
from clusterkit_papers.reproduction import planned
from clusterkit_papers.summary import closing_line, standing

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RECORDS, PROSE, BENCHMARKS = RESULTS / "records", RESULTS / "prose", RESULTS / "benchmarks.csv"
NOTE = "<!-- Written by docs/write_results.py from the records; edits here are lost. -->\n\n"

PAGES = {
    "emmc": "EMMC: extreme maximum margin clustering",
    "svc": "Fast support vector clustering",
    "edsvc": "EDSVC: ensemble-driven support vector clustering",
    "elm": "Clustering in ELM feature space",
    "m3": "Min-max modular SVM and equal clustering",
    "claim": "The claims of the papers, tested",
    "speed": "Speed",
}
"""Titles of the pages, by the first word of the names of their tables. `speed` has the benchmarks."""

GOOD = ("as printed", "better")
MARKS = {"beside a printed value that cannot be right": "†", "not comparable": "ⁿ"}
"""What the cells of a table say beside the numbers, by standing."""

LONG = 60
"""Most lines of a table that are shown without a click."""

VALUE = re.compile(r"\{\{(.+?)\}\}")
MISSING = "(not recorded yet)"


class Broken(Exception):
    """A record, a fragment of prose or a value of it that belongs to nothing."""


def main(check: bool) -> int:
    """Write the pages that differ, or with `check` say which do; 1 if that is any, or if a record is of nothing."""
    try:
        pages = written()
    except Broken as error:
        print(error)
        return 1
    stale = [name for name, text in pages.items() if not _is(HERE / name, text)]
    gone = [path for path in RESULTS.glob("*.md") if f"results/{path.name}" not in pages]
    if check:
        if stale or gone:
            names = ", ".join([*stale, *(path.name for path in gone)])
            print(f"out of date: {names}. Run: python docs/write_results.py")
        return bool(stale or gone)
    for name in stale:
        (HERE / name).write_text(pages[name], encoding="utf-8")
    for path in gone:
        path.unlink()
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


def written(records: Mapping[str, Record] | None = None, prose: Path = PROSE) -> dict[str, str]:
    """The text of every page and record, by its path below docs/."""
    records = read_records() if records is None else records
    words = {path.stem: path.read_text(encoding="utf-8") for path in sorted(prose.glob("*.txt"))}
    for name in words:
        if name not in (*commands(), *PAGES, *(f"readings-{page}" for page in PAGES), "results", "claims"):
            raise Broken(f"prose/{name}.txt: there is no table, benchmark or page of that name")
    filled = {name: VALUE.sub(lambda match: value(match[1], records), text).strip() for name, text in words.items()}
    by_page: dict[str, list[str]] = {page: [] for page in PAGES}
    benchmarks = _column(BENCHMARKS, "command")
    for name in commands():
        by_page.setdefault("speed" if name in benchmarks else name.partition("-")[0], []).append(name)
    pages = {"results.md": _overview(by_page, records, filled)}
    for page, names in by_page.items():
        if names:
            sections = [_section(name, records.get(name), filled.get(name, "")) for name in names]
            head = f"{NOTE}# {PAGES.get(page, page)}\n\n[How to read these tables](../results.md).\n"
            readings = filled.get(f"readings-{page}", "")
            readings = readings and f"## How the paper was read\n\n{readings}"
            text = "\n\n".join(part for part in (head.rstrip(), filled.get(page, ""), readings, *sections) if part)
            pages[f"results/{page}.md"] = text + "\n"
    pages["claims.md"] = f"{NOTE}{filled['claims']}\n"
    return pages | {f"results/records/{name}.json": record.text for name, record in records.items()}


def value(words: str, records: Mapping[str, Record]) -> str:
    """What stands for ``TABLE | ROW | COLUMN``, with ``| printed`` the printed value, or for ``TABLE | MARK``."""
    name, row, *more = (word.strip() for word in words.split("|"))
    if name not in commands():
        raise Broken(f"{{{{{words}}}}}: there is no table named {name!r}")
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
    return "–" if entry["ours"] is None else _ours(entry)


def _overview(by_page: Mapping[str, Sequence[str]], records: Mapping[str, Record], words: Mapping[str, str]) -> str:
    parts = [f"{NOTE}# What we measured\n", words["results"] + "\n"]
    for page, names in by_page.items():
        if not names:
            continue
        parts.append(f"## [{PAGES.get(page, page)}](results/{page}.md)\n")
        lines = ["| table | command | as a whole | recorded | CPU |", "|---|---|---|---|---|"]
        for name in names:
            record = records.get(name)
            title = titles()[name].partition(": ")
            cells = [title[2] or title[0], f"`{commands()[name]}`", *_summary_cells(name, record)]
            lines.append("| " + " | ".join(cells) + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts).rstrip() + "\n"


def _summary_cells(name: str, record: Record | None) -> list[str]:
    if record is None:
        return [MISSING, "", ""]
    part = " **A part of the table** (`--quick`)." if "--quick" in record.command else ""
    whole = closing_line(name, record.rows) if record.rows else "printed output"
    when = record.surroundings.date + (f" ({record.remark.split(',')[0]})" if record.remark else "")
    return [whole + part, when, _duration(record.cpu_seconds)]


def _section(name: str, record: Record | None, words: str) -> str:
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
        else:
            without.setdefault(row["verdict"], []).append(f"{row['row']} ({row['column']})")
    groups: dict[tuple[str, ...], list[str]] = {}
    beside_print = {row["column"] for row in rows if row["printed"] is not None}
    for name, cells in by_row.items():
        columns = sorted(cells, key=lambda column: column not in beside_print)
        groups.setdefault(tuple(columns), []).append(name)
    for columns, names in groups.items():
        yield _folded(_table(columns, [(name, by_row[name]) for name in names]), len(names))
    for verdict, places in without.items():
        few = f": {'; '.join(places)}" if len(places) <= 12 else f": {len(places)} values"
        yield f"{verdict[0].upper()}{verdict[1:]}{few}."


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
    """A cell: printed → ours, bold where it is no worse than print and saw no labels."""
    if cell["ours"] is None:
        ours = "–"
    else:
        stands = standing(cell["verdict"])
        ours = _ours(cell) + MARKS.get(stands, "")
        if stands in GOOD and not cell["uses_labels"]:
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
