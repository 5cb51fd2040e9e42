"""The state behind the page: what people stated, the present answer, the fit that runs, and the two files.

Requests come from several threads, and windows; one lock guards everything.
"""

from __future__ import annotations

import multiprocessing
import pickle
import shlex
import threading
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import attrs
import numpy as np

import clusterkit
from clusterkit.cli import outputs
from clusterkit.contracts.arguments import NumberLike
from clusterkit.errors import InvalidParameter
from clusterkit.tables import Preparation, Table
from clusterkit_explore.fitting import Answer, Task, work
from clusterkit_explore.statements import Refused, Statement, links_of, number_after, statement

__all__ = ["Files", "Method", "Session"]

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["clusterkit_explore.fitting"])

SHOWN_ROWS = 200
"""Rows whose cells are sent at once."""


@attrs.frozen
class Files:
    """The only files that are written: of labels, and of the model; None for none."""

    labels: str | None
    model: str | None


@attrs.frozen
class Method:
    """What is fitted: the options of the command.

    Parameters
    ----------
    recipe : str
    n_clusters : int, pair, "auto" or None
    takes_number : bool
        Whether a number of clusters can be said at all.
    settings : sequence of str
        Values of ``--set``.
    seed : int
    words : sequence of str
        Options of ``clusterkit fit`` that say the same, but for recipe, number and files.
    """

    recipe: str
    n_clusters: NumberLike
    takes_number: bool
    settings: Sequence[str]
    seed: int
    words: Sequence[str]


class Session:
    """What one page, in however many windows, is about.

    Parameters
    ----------
    table : Table
    preparation : Preparation
        That of the options of the command.
    method : Method
    files : Files
    source : str
        The argument FILE.
    """

    def __init__(self, table: Table, preparation: Preparation, method: Method, files: Files, source: str) -> None:
        self._table, self._preparation, self._method, self._files, self._source = (
            table, preparation, method, files, source,
        )  # fmt: skip
        self._lock = threading.RLock()
        self._statements: dict[int, Statement] = {}
        self._last = 0
        self._linked: tuple[tuple[int, ...], list[tuple[int, int, int]]] = ((), [])
        self._fitted: frozenset[int] = frozenset()
        self._answer: Answer | None = None
        self._answers = 0
        self._report: str | None = None
        self._reports = 0
        self._why: dict[int, str] = {}
        self._method_of_first = ""
        self._saved = ""
        self._error = ""
        self._text = ""
        self._began = 0.0
        self._process: Any = None
        self._fitting = False

    # what is asked for

    def state(self) -> dict[str, object]:
        """All that changes, for a page that asks again and again; the clusters are in `answer`."""
        with self._lock:
            names = self._names()
            return {
                "answer": self._answers,
                "report": self._reports,
                "explained": len(self._why),
                "running": self._process is not None,
                "fitting": self._fitting,
                "progress": self._text,
                "seconds": round(time.monotonic() - self._began) if self._process is not None else 0,
                "error": self._error,
                "saved": self._saved,
                "stale": self._answer is not None and self._to_fit() != self._fitted,
                "statements": [
                    {"id": key, "text": each.text, "fitted": key in self._fitted or each.name is not None}
                    for key, each in self._statements.items()
                ],
                "names": {str(number): name for number, name in names.items()},
                "next": _number_in_words(self._plan()[1]),
                "takes_number": self._method.takes_number,
                "command": self.command(),
                "links": len(self._links()),
            }

    def answer(self) -> dict[str, object]:
        """The present clusters, and rows to look at."""
        with self._lock:
            answer = self._present()
            shown = dict(answer.shown)
            rows: Any = shown["rows"]
            cells = self.rows([each["row"] for each in rows])
            shown["rows"] = [each | more for each, more in zip(rows, cells, strict=True)]
            points: Any = shown["map"]
            shown["map"] = [[row, x, y, int(answer.labels[row - 1])] for row, x, y in points]
            facts = {"title": self._table.title, "files": attrs.asdict(self._files), "answer": self._answers}
            return shown | facts

    def rows(self, numbers: Sequence[int]) -> list[dict[str, object]]:
        """Cluster and cells of rows, counted from 1."""
        with self._lock:
            answer, names = self._present(), self._table.names
            n = len(answer.labels)
            if outside := [number for number in numbers if not 1 <= number <= n]:
                raise Refused(f"there is no row {outside[0]}; rows are counted 1..{n}")
            header: Any = answer.shown["header"]
            places = [names.index(name) for name in header]
            chosen = np.array(numbers[:SHOWN_ROWS], dtype=np.intp) - 1
            texts = self._table.take(chosen).cells() if len(chosen) else []
            return [
                {"row": int(row) + 1, "cluster": int(answer.labels[row]), "cells": [text[j] for j in places]}
                for row, text in zip(chosen, texts, strict=True)
            ]

    def why(self) -> dict[str, str]:
        """Sentences on why the rows to look at are in their clusters, by their numbers from 1."""
        with self._lock:
            return {str(row): sentence for row, sentence in self._why.items()}

    def report(self) -> str:
        """The page of the report."""
        with self._lock:
            if self._report is None:
                raise Refused("there is no report yet", 404)
            return self._report

    def links_table(self) -> str:
        """The links as ``clusterkit fit --links`` takes them."""
        with self._lock:
            return "row,other,link\n" + "".join(f"{i + 1},{j + 1},{sign}\n" for i, j, sign in self._links())

    def command(self) -> str:
        """The command that gives the clusters of the next fit without the page; ``links.csv`` is `links_table`."""
        with self._lock:
            recipe, number = self._plan()
            words = ["clusterkit", "fit", self._source, "-r", recipe, *self._method.words]
            if number is not None:
                words += ["-k", _number_in_words(number)]
            for name in self._left_out():
                words += ["--drop", f'"{name}"' if "," in name else name]
            words += ["--links", "links.csv"] if self._links() else []
            words += ["-o", self._files.labels or "labels.csv"]
            words += ["--save", self._files.model] if self._files.model else []
            return shlex.join(words)

    # what is done

    def say(self, words: Mapping[str, object]) -> None:
        """Add a statement; its clusters are those of the answer that the window showed."""
        with self._lock:
            answer = self._present()
            if words.get("clusters") and words.get("answer") != self._answers:
                raise Refused("the clusters have changed since; look at them again", 409)
            each = statement(words, answer, self._table.names)
            if each.number is not None and not self._method.takes_number:
                raise Refused(f"{self._method.recipe} finds the number of clusters by itself")
            if each.columns and set(each.columns) <= set(self._left_out()):
                raise Refused("this is left out already", 409)
            self._last += 1
            self._statements[self._last] = each

    def undo(self, key: object) -> None:
        """Take one statement back."""
        with self._lock:
            if type(key) is not int or key not in self._statements:
                raise Refused("this was undone before", 409)
            del self._statements[key]

    def fit(self) -> None:
        """Begin a fit with all statements; a report that is being written is given up."""
        with self._lock:
            if self._fitting:
                raise Refused("a fit is running", 409)
            self.stop()
            links = self._links()
            n = self._table.n_rows
            pairs = np.array(links).reshape(-1, 3)
            task = Task(
                self._table,
                self._prepared(),
                *self._plan(),
                self._method.settings,
                self._method.seed,
                # errors count rows from 1 too
                clusterkit.Links(pairs[:, :2], pairs[:, 2], n, range(1, n + 1)) if links else None,
                None if self._answer is None else self._answer.labels,
                self.command(),
            )
            pipe, end = CONTEXT.Pipe(duplex=False)
            self._process = CONTEXT.Process(target=work, args=(task, end), daemon=True)
            self._error, self._saved, self._text, self._began = "", "", "fitting", time.monotonic()
            self._fitting = True
            self._process.start()
            end.close()
            arguments = (self._process, pipe, self._to_fit())
            threading.Thread(target=self._follow, args=arguments, daemon=True).start()

    def stop(self) -> None:
        """End the fit that runs, and keep the present answer."""
        with self._lock:
            process, self._process, self._fitting, self._text = self._process, None, False, ""
            if process is not None:
                process.kill()
                process.join()

    def save(self) -> None:
        """Write labels and model of the present answer to the files of the command."""
        with self._lock:
            answer = self._present()
            model = pickle.loads(answer.model)
            page = dict(answer.numbers)
            names = self._names()
            try:
                model.rename({label: names[number] for label, number in page.items() if number in names})
            except InvalidParameter as error:
                raise Refused(f"{error}", 409) from None
            written = []
            if self._files.labels is not None:
                # a name may begin with that of a column, and a spreadsheet runs what looks like a formula
                texts = {
                    label: f"'{text}" if text.startswith(outputs.FORMULAS) else text
                    for label, text in model.names_.items()
                }
                rows = ((int(label), texts.get(int(label), "")) for label in model.labels_)
                outputs.write_table(self._files.labels, [("cluster", "name"), *rows])
                written.append(f"labels in {self._files.labels}")
            if self._files.model is not None:
                clusterkit.save(model, self._files.model)
                written.append(f"model in {self._files.model}")
            if not written:
                raise Refused("no file was named: start with --out-labels FILE or --out-model FILE")
            moved = [f"cluster {number} of this page is {label}" for label, number in page.items() if label != number]
            note = f". In these files, as in the model, {', '.join(moved)}" if moved else ""
            self._saved = "; ".join(written) + note

    # behind it

    def _present(self) -> Answer:
        if self._answer is None:
            raise Refused("there are no clusters yet", 404)
        return self._answer

    def _names(self) -> dict[int, str]:
        return dict(each.name for each in self._statements.values() if each.name is not None)

    def _to_fit(self) -> frozenset[int]:
        """The statements that the clusters depend on."""
        return frozenset(key for key, each in self._statements.items() if each.name is None)

    def _links(self) -> list[tuple[int, int, int]]:
        statements = tuple(self._statements)
        if self._linked[0] != statements:  # a page asks again and again
            self._linked = statements, links_of(list(self._statements.values()), self._number())
        return self._linked[1]

    def _left_out(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self._statements.values() for name in each.columns))

    def _plan(self) -> tuple[str, NumberLike]:
        """Recipe and number of the next fit.

        Links keep `auto` from judging columns one by one, so that it would change to other methods; where a mixture of
        columns was its answer, it stays one.
        """
        recipe, number = self._method.recipe, self._number()
        by_columns = recipe == "auto" and self._method_of_first == "mixture" and not self._method.settings
        if by_columns and self._links():
            return "mixture", number if isinstance(number, int) else len(self._present().numbers)
        return recipe, number

    def _number(self) -> NumberLike:
        wanted = self._method.n_clusters
        return number_after(list(self._statements.values()), wanted) if self._method.takes_number else wanted

    def _prepared(self) -> Preparation:
        """The preparation without the columns that are left out, which have no other use then."""
        out = self._left_out()
        uses: Any = {
            use: tuple(name for name in getattr(self._preparation, use) if name not in out)
            for use in ("as_category", "as_number", "as_date", "as_ordered", "keep", "drop")
        }
        uses["drop"] += out
        return attrs.evolve(self._preparation, **uses)

    def _follow(self, process: Any, pipe: Connection, statements: frozenset[int]) -> None:
        """Take what the process of a fit sends, until it ends or another one is the present one."""
        while True:
            try:
                word, value = pipe.recv()
            except (EOFError, OSError):
                word, value = "end", None
            with self._lock:
                if self._process is not process:  # it was stopped
                    break
                if word == "progress":
                    self._text = value
                elif word == "answer":
                    self._answer, self._fitted, self._report, self._why = value, statements, None, {}
                    self._answers += 1
                    self._fitting = False
                    self._method_of_first = self._method_of_first or str(value.shown["method"])
                elif word == "why":
                    self._why = value
                elif word == "report":
                    self._report = value
                    self._reports = self._answers
                elif word == "error":
                    self._error = value
                else:
                    process.join()
                    if process.exitcode:
                        self._error = f"the process of the fit ended with {process.exitcode}"
                    self._process, self._fitting, self._text = None, False, ""
                    break
        pipe.close()


def _number_in_words(number: NumberLike) -> str:
    if isinstance(number, tuple):
        return f"{number[0]}-{number[1]}"
    return "auto" if number is None else str(number)
