"""Records of tables: the rows, the command that made them, and where and when it ran."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import attrs

from clusterkit_papers.jobs import Job
from clusterkit_papers.printed_tables import beside, catalogue
from clusterkit_papers.reproduction import planned
from clusterkit_papers.summary import standing
from clusterkit_papers.verdicts import verdict, with_fillers

__all__ = ["Record", "Surroundings", "command_line", "processor", "record_path"]

PACKAGES = ("clusterkit-toolkit", "numpy", "scipy", "scikit-learn", "numba")
"""The distributions whose versions a record has, beside Python's."""

DIGITS = 6
"""Significant digits of the values in a record."""


@attrs.frozen
class Surroundings:
    """Place and time of a command's run, without names of machines and paths.

    Parameters
    ----------
    date : str
        Day of the start, as in 2026-01-31.
    processor : str
    cores : int
    load : float or None
        Mean number of processes that wanted a core, in the minute before the start.
    versions : dict of str to str
    """

    date: str
    processor: str
    cores: int
    load: float | None
    versions: Mapping[str, str]

    @classmethod
    def now(cls) -> Surroundings:
        """Surroundings of this process."""
        versions = {"python": platform.python_version()}
        for name in PACKAGES:
            try:
                versions[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
        load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
        return cls(datetime.now(UTC).date().isoformat(), processor(), os.cpu_count() or 1, load, versions)


def _tuple(rows: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple(rows)


@attrs.frozen
class Record:
    """Results of a command.

    Parameters
    ----------
    name : str
        The table, or the name of a benchmark.
    command : str
        The command line that makes the same record again.
    surroundings : Surroundings
    cpu_seconds, wall_seconds : float or None
        Time of the whole command; None where it was recorded earlier by hand and the time is not known.
    rows : sequence of mapping
        The rows of a table, as `clusterkit_papers.reproduce` returns them; empty for a benchmark.
    output : str
        Output of a benchmark; empty for a table.
    remark : str
        Remark on the record, such as "recorded earlier".
    added : sequence of Surroundings
        Places and times of later runs that added rows; such a row has the number of its run, from 1, under "added". The
        seconds count these runs too.
    """

    name: str
    command: str
    surroundings: Surroundings
    cpu_seconds: float | None
    wall_seconds: float | None
    rows: Sequence[Mapping[str, object]] = attrs.field(default=(), converter=_tuple)
    output: str = ""
    remark: str = ""
    added: Sequence[Surroundings] = attrs.field(default=(), converter=tuple)

    def lacking(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs that have a cell without a row here."""
        recorded = {(row["row"], row["column"]) for row in self.rows}
        return [job for job in jobs if any((job.row, cell.column) not in recorded for cell in job.cells)]

    def without_values(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs that this record lacks, and those that it says were not run: what hindered them may be gone."""
        barred = {row["row"] for row in self.rows if row["ours"] is None and str(row["verdict"]).startswith("not run")}
        lacking = {job.key for job in self.lacking(jobs)}
        return [job for job in jobs if job.key in lacking or job.row in barred]

    @property
    def complete(self) -> bool:
        """Whether the whole table ran, by today's commands."""
        return not self.remark and "--quick" not in self.command.split()

    def judged(self) -> Record:
        """The record with printed values and verdicts of today's tables and rules; nothing is run.

        What a job found when it ran stays as it is: that a value is missing or not comparable, or that the balance
        caps it. Which rows are the paper's own is what today's jobs say.
        """
        jobs = planned(self.name) if self.name in catalogue() else ()
        described = {(job.row, cell.column) for job in jobs if job.as_described for cell in job.cells}
        rows = []
        for row in self.rows:
            row = {**row, "as_described": (row["row"], row["column"]) in described}
            text, ours = str(row["verdict"]), row["ours"]
            if not isinstance(ours, float | int) or standing(text) == "not comparable" or "capped at" in text:
                rows.append(row)
                continue
            cell = beside(self.name, str(row["row"]), str(row["column"]))
            today = "no printed value" if cell is None else verdict(cell.measure, cell, ours)
            rows.append({**row, "printed": None if cell is None else cell.value, "verdict": today})
        return attrs.evolve(self, rows=with_fillers(self.name, rows, jobs))

    @property
    def text(self) -> str:
        """The record as its file has it, a row to a line."""
        notes = list(dict.fromkeys(row["note"] for row in self.rows if row.get("note")))
        head = attrs.asdict(self, filter=attrs.filters.exclude("rows"))
        head = {key: value for key, value in head.items() if value or key not in ("output", "remark", "added")}
        lines = [f"  {json.dumps(key)}: {json.dumps(_short(value), ensure_ascii=False)}" for key, value in head.items()]
        if self.rows:
            lines.append(f'  "notes": {_list([json.dumps(note, ensure_ascii=False) for note in notes])}')
            lines.append(f'  "rows": {_list([_row_text(row, notes) for row in self.rows])}')
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def write(self, folder: Path) -> Path:
        """Write the record into a folder; returns the path of the file."""
        folder.mkdir(parents=True, exist_ok=True)
        path = record_path(folder, self.name)
        path.write_text(self.text, encoding="utf-8")
        return path

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record in a file."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        notes, rows = fields.pop("notes", []), fields.pop("rows", [])
        surroundings = Surroundings(**fields.pop("surroundings"))
        fields["added"] = [Surroundings(**run) for run in fields.pop("added", [])]
        fields |= {"surroundings": surroundings, "rows": [_row(fields["name"], row, notes) for row in rows]}
        return cls(**fields)


def record_path(folder: Path, name: str) -> Path:
    """The file of a record in a folder."""
    return folder / f"{name}.json"


def command_line(table: str, *, quick: bool = False, runs: int | None = None, seed: int = 0) -> str:
    """The command line of a table.

    >>> command_line("svc-table2", quick=False, runs=5, seed=0)
    'clusterkit reproduce svc-table2 --runs 5'
    """
    words = ["clusterkit reproduce", table, *(["--quick"] if quick else [])]
    words += [*([f"--runs {runs}"] if runs is not None else []), *([f"--seed {seed}"] if seed else [])]
    return " ".join(words)


def processor() -> str:
    """The kind of processor in words."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        lines = ""
    model = re.search(r"^model name\s*:\s*(.+)$", lines, re.M)
    return " ".join((model[1] if model else platform.processor() or platform.machine()).split())


def _row(name: str, fields: Mapping[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    """A row as `clusterkit_papers.reproduce` returns it, from its line in a record."""
    none: dict[str, Any] = {"printed": None, "ours": None, "sd": None, "runs": 0, "seconds": 0.0, "uses_labels": False}
    none["as_described"] = False
    row: dict[str, Any] = {"table": name, "row": "", "column": "", **none, **fields}
    if "note" in row:
        row["note"] = notes[row["note"]]
    return row


def _row_text(row: Mapping[str, Any], notes: Sequence[str]) -> str:
    """A row as its line in a record: without the table, without what is None, 0 or false, notes by their place."""
    fields = {key: value for key, value in row.items() if key != "table" and value is not None and value is not False}
    if not fields.get("runs"):
        fields = {key: value for key, value in fields.items() if key not in ("runs", "seconds")}
    if "note" in fields:
        fields["note"] = notes.index(fields["note"])
    return json.dumps(_short(fields), ensure_ascii=False)


def _list(texts: Sequence[str]) -> str:
    return "[\n    " + ",\n    ".join(texts) + "\n  ]" if texts else "[]"


def _short(value: Any) -> Any:
    """Floats with `DIGITS` significant digits, inside mappings and lists too."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: _short(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_short(entry) for entry in value]
    return value
