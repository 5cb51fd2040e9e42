"""One fit in a child process, so that it can be stopped at any time, whatever it computes.

`work` sends what it has through a pipe: texts of the progress, the `Answer`, and the page of the report, which takes
longer. The numbers of the clusters are those of the earlier answer, as far as clusters share rows with it.
"""

from __future__ import annotations

import copy
import logging
import pickle
import signal
import time
import warnings
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import attrs
import click
import numpy as np
from numpy.typing import NDArray

import clusterkit
from clusterkit.cli.options import estimator
from clusterkit.contracts.arguments import NumberLike
from clusterkit.errors import InvalidParameter
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.profiles import Profile
from clusterkit.report import make_report
from clusterkit.tables import Preparation, Table

__all__ = ["ANCHORS", "Answer", "Task", "work"]

Numbers = NDArray[np.intp]

MOST_POINTS = 600
"""Points of the map; more hide each other."""

DOUBTFUL = 12
"""Rows with the least certainty that are listed."""

TYPICAL = 3
"""Rows that stand for a cluster, or for a half of it."""

ANCHORS = 10
"""Rows that hold a cluster where others are joined or split, the first of which are those that are shown."""

MOST_COLUMNS = 8
"""Columns of the rows that are listed."""

MOST_HALVED = 2000
"""Rows of a cluster, the first ones of a random order, of which halves are made."""

RIVALS = ("kmeans", "genie")
"""Methods that the report compares, few, because every answer has a report."""


@attrs.frozen(eq=False)
class Task:
    """A fit to make.

    Parameters
    ----------
    table : Table
    preparation : Preparation
        With the columns that are left out.
    recipe : str
    n_clusters : int, pair, "auto" or None
    settings : sequence of str
        Values of ``--set``.
    seed : int
    links : Links or None
    earlier : ndarray of shape (n,), or None
        Clusters of the earlier answer, whose numbers are taken.
    command : str
        What gives the same without the page, for the report.
    """

    table: Table
    preparation: Preparation
    recipe: str
    n_clusters: NumberLike
    settings: Sequence[str]
    seed: int
    links: clusterkit.Links | None
    earlier: Numbers | None
    command: str


@attrs.frozen(eq=False)
class Answer:
    """The clusters of a fit.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        With the numbers of the earlier answer; -1 is noise.
    numbers : mapping of int to int
        The number on the page of each cluster, by its number in the model.
    model : bytes
        The fitted estimator, pickled by the process of the fit.
    typical : mapping of int to list of int
        Rows that stand for each cluster, from 0, the most central one first.
    halves : mapping of int to pair of list of int
        Rows that stand for the two halves of a cluster, from 0; clusters of equal rows have none.
    shown : mapping
        What the page shows, as JSON has it.
    """

    labels: Numbers
    numbers: Mapping[int, int]
    model: bytes
    typical: Mapping[int, list[int]]
    halves: Mapping[int, tuple[list[int], list[int]]]
    shown: Mapping[str, object]


def work(task: Task, pipe: Connection) -> None:
    """Fit, and send pairs of a word and a value: "progress", "answer", "why", "report", or "error" and its text."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    logger, handler = logging.getLogger("clusterkit"), _Progress(pipe)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", clusterkit.ClusterkitWarning)
            model: Any = estimator(task.recipe, task.n_clusters, task.seed, task.settings)
            X = fit_prepared(model, task.table, task.preparation, task.links)
        logger.removeHandler(handler)
        pipe.send(("progress", "describing the clusters"))
        notes = dict.fromkeys(str(each.message) for each in caught)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            numbered, numbers = _numbered(model, task.earlier)
            answer = _answer(task, model, numbered, numbers, X, list(notes))
            pipe.send(("answer", answer))
            pipe.send(("progress", "explaining rows"))
            pipe.send(("why", _why(task.table, model, answer)))
            pipe.send(("progress", "writing the report"))
            page, _ = make_report(task.table, model=numbered, methods=RIVALS, seed=task.seed, command=task.command)
            pipe.send(("report", page))
    except click.ClickException as error:
        pipe.send(("error", error.format_message()))
    except Exception as error:  # the page says what is wrong, whatever it is
        known = isinstance(error, ValueError) and type(error).__module__.startswith("clusterkit")
        pipe.send(("error", f"{error}" if known else f"unexpected {type(error).__name__}: {error}"))


class _Progress(logging.Handler):
    """Sends what is logged, a few texts a second."""

    def __init__(self, pipe: Connection) -> None:
        super().__init__()
        self.pipe, self.last = pipe, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        if time.monotonic() - self.last > 0.2:
            self.last = time.monotonic()
            self.pipe.send(("progress", record.getMessage().partition(", objective")[0]))


def _numbered(model: Any, earlier: Numbers | None) -> tuple[Any, Mapping[int, int]]:
    """The model with the numbers of the earlier answer in its labels, for what describes them, and these numbers."""
    labels = np.asarray(model.labels_).astype(np.intp)
    numbered, numbers = copy.copy(model), {label: label for label in np.unique(labels[labels >= 0]).tolist()}
    numbered.labels_ = labels
    if earlier is not None:
        same = clusterkit.relabel(labels, like=earlier)
        numbered.labels_, numbers = same.labels, dict(same.numbers)
    return numbered, numbers


def _answer(
    task: Task, model: Any, numbered: Any, numbers: Mapping[int, int], X: NDArray[Any], notes: list[str]
) -> Answer:
    profile = clusterkit.profile(numbered, task.table, random_state=task.seed)
    labels = numbered.labels_
    typical = {label: rows.tolist() for label, rows in clusterkit.representatives(labels, X, ANCHORS).items()}
    shown = _shown(task, numbered, X, profile, [row for rows in typical.values() for row in rows[:TYPICAL]], notes)
    return Answer(labels, numbers, pickle.dumps(model), typical, _halves(X, labels, task.seed), shown)


def _why(table: Table, model: Any, answer: Answer) -> dict[int, str]:
    """Sentences on why the listed rows, from 1, are in their clusters; none where the method has nothing to compare."""
    listed: Any = answer.shown["rows"]
    rows = np.array([each["row"] for each in listed], dtype=np.intp)
    of_page = copy.copy(model).rename({label: f"cluster {number}" for label, number in answer.numbers.items()})
    try:
        explanations = clusterkit.explain(of_page, table.take(rows - 1))
    except InvalidParameter:
        return {}
    return dict(zip(rows.tolist(), (one.sentence for one in explanations), strict=True))


def _halves(X: NDArray[Any], labels: Numbers, seed: int) -> dict[int, tuple[list[int], list[int]]]:
    """Rows that stand for the halves of each cluster, which k-means makes."""
    rng = np.random.default_rng(seed)
    halves = {}
    for label in np.unique(labels[labels >= 0]).tolist():
        rows = rng.permutation(np.flatnonzero(labels == label))[:MOST_HALVED]
        if len(np.unique(X[rows], axis=0)) > 1:
            parts = clusterkit.recipe("kmeans", n_clusters=2, random_state=seed).fit(X[rows])
            stand = clusterkit.representatives(parts.labels_, X[rows], TYPICAL)
            halves[label] = (rows[stand[0]].tolist(), rows[stand[1]].tolist())
    return halves


def _shown(
    task: Task, model: Any, X: NDArray[Any], profile: Profile, typical: list[int], notes: list[str]
) -> dict[str, object]:
    labels: Numbers = model.labels_
    # `assign` returns the data frame of whichever library is installed, which has no type in common
    certainty = np.asarray(clusterkit.assign(labels, X)["certainty"])  # type: ignore[index]
    doubtful = [row for row in np.argsort(certainty, kind="stable")[:DOUBTFUL].tolist() if certainty[row] < 1]
    listed = [*doubtful, *(row for row in typical if row not in doubtful)]
    strength: dict[str, float] = {}
    for cluster in profile.clusters:
        for feature in cluster.features:
            strength[feature.column] = max(strength.get(feature.column, 0.0), feature.strength)
    columns = sorted(strength, key=lambda name: -strength[name])[:MOST_COLUMNS]
    left_out = model.preparation_.left_out
    # with links the answer is that of people in part, and no agreement of methods says how likely it is
    confidence = getattr(model, "confidence_", np.nan) if task.links is None else np.nan
    choice = model.resolved_.get("auto", {}).get("recipe") or task.recipe
    return {
        "method": choice,
        "confidence": None if np.isnan(confidence) else round(float(confidence), 2),
        "noise": profile.n_noise,
        "n_rows": profile.n_rows,
        "notes": notes,
        "clusters": [
            {
                "number": cluster.label,
                "proposed": cluster.name,
                "size": cluster.size,
                "share": cluster.share,
                "rule": "" if cluster.rule is None else cluster.rule.text,
            }
            for cluster in profile.clusters
        ],
        "header": columns,
        "rows": [
            {"row": row + 1, "certainty": None if np.isnan(certainty[row]) else round(float(certainty[row]), 2)}
            for row in listed
        ],
        "columns": [{"name": name, "why": left_out.get(name, "")} for name in task.table.names],
        **_map(X, labels, task.seed),
    }


def _map(X: NDArray[Any], labels: Numbers, seed: int) -> dict[str, object]:
    """The rows in the plane in which the clusters differ most; of two clusters, or fewer, in which the rows do."""
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rows = np.random.default_rng(seed).permutation(len(X))[:MOST_POINTS]
    points, of_rows = X[rows] - X[rows].mean(axis=0), labels[rows]
    spread = points.std(axis=0)
    points = points[:, spread > 0] / spread[spread > 0]
    how = "the directions in which the rows differ most"
    if len(np.unique(of_rows)) > 2 and points.shape[1] > 1:
        points = LinearDiscriminantAnalysis(n_components=2).fit_transform(points, of_rows)
        how = "the directions in which the clusters differ most"
    elif points.shape[1] > 2:
        points = PCA(2, random_state=seed).fit_transform(points)
    plane = np.zeros((len(rows), 2))
    plane[:, : points.shape[1]] = points[:, :2]
    low, high = plane.min(axis=0), plane.max(axis=0)
    plane = (plane - low) / np.where(high > low, high - low, 1.0)
    return {
        "how": how,
        "map": [[int(i) + 1, round(x, 4), round(y, 4)] for i, (x, y) in zip(rows, plane.tolist(), strict=True)],
    }
