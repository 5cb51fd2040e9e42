"""The two classification problems of the min-max modular machine: rows, splits, parameters, and their table I."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypedDict

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit_papers.data_tables import parameter_job
from clusterkit_papers.jobs import Job, Plan
from clusterkit_papers.scalings import to_range

__all__ = ["POSITIVE", "PROBLEMS", "MinMaxProblem", "SplitRows", "table1"]

POSITIVE = tuple("EHIMPQRXYZ")
"""Letters of the positive class; the other 16 are the negative class."""

DRAW = 0
"""Seed of the splits: one split for all runs."""

EVERY = tuple(range(1, 21))
"""Numbers of parts of each class in the figures of the paper."""

FEW = (1, 5, 10, 20)
"""A part of these, for the variants of a problem."""


class Machine(TypedDict):
    """Parameters of a support vector machine."""

    C: float
    gamma: float


@attrs.frozen(eq=False)
class SplitRows:
    """Training and test rows with their classes, 1 and 0.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    X_test : ndarray of shape (m, d)
    y_test : ndarray of shape (m,)
    """

    X: Array
    y: Labels
    X_test: Array
    y_test: Labels


@attrs.frozen
class MinMaxProblem:
    """A data set, how it is split and scaled, and what is run on it.

    Parameters
    ----------
    name : str
        The name in our rows.
    paper_name : str
        The data set of the paper that it stands for.
    dataset : str
        Name for `clusterkit_papers.datasets.load`.
    split : {"permuted", "first", "realisations"}
        The training rows: `n_train` random ones; the first `n_train`; or 100 random draws of 400 rows, put together,
        where the test rows are those that ten of the draws leave.
    positive : tuple
        Classes of the file that form the positive class.
    C, gamma : float
        Parameters of every support vector machine.
    ks : tuple of int
        Numbers of parts of each class; 1 is the plain machine.
    quick : tuple of int
        Numbers of parts in a quick run.
    runs : int
        Number of seeds of the partitions; the paper has three.
    n_train : int
        Number of training rows, for the splits "permuted" and "first".
    scaled : bool
        Whether the attributes are scaled to [0, 1] by the training rows.
    partitioned : tuple of int
        Numbers of parts over which the time of a partition is averaged, to compare with the printed time.
    words : str
        Split and scaling in words.
    as_described : bool
        Whether rows, split and scaling are those that the paper describes.
    """

    name: str
    paper_name: str
    dataset: str
    split: Literal["permuted", "first", "realisations"]
    positive: tuple[int | str, ...]
    C: float
    gamma: float
    ks: tuple[int, ...] = EVERY
    quick: tuple[int, ...] = ()
    runs: int = 1
    n_train: int = 0
    scaled: bool = True
    partitioned: tuple[int, ...] = ()
    words: str = ""
    as_described: bool = False

    @property
    def machine(self) -> Machine:
        """Parameters of every support vector machine."""
        return {"C": self.C, "gamma": self.gamma}

    def load(self) -> SplitRows:
        """The rows, split and scaled."""
        from clusterkit_papers.datasets import load

        dataset = load(self.dataset)
        y = np.isin(dataset.target, list(self.positive)).astype(np.intp)
        X = np.asarray(dataset.data, dtype=np.float64)
        train, test = _split(len(X), self.split, self.n_train)
        if self.scaled:
            X = to_range(X, X[train])
        return SplitRows(X[train], y[train], X[test], y[test])


def _split(n: int, how: str, n_train: int) -> tuple[Labels, Labels]:
    """Row numbers for training and for the test."""
    rng = np.random.default_rng(DRAW)
    if how == "realisations":
        orders = [rng.permutation(n) for _ in range(100)]
        return np.concatenate([order[:400] for order in orders]), np.concatenate([order[400:] for order in orders[:10]])
    order = rng.permutation(n) if how == "permuted" else np.arange(n)
    return order[:n_train], order[n_train:]


_BANANA: Mapping[str, Any] = {
    "paper_name": "Banana", "dataset": "banana", "positive": (1,), "C": 10.0**2.5, "gamma": 1.0 / (2.0 * 0.707**2),
}  # fmt: skip
_LETTER: Mapping[str, Any] = {
    "paper_name": "Letter", "dataset": "letter", "split": "first", "n_train": 15_000, "positive": POSITIVE, "C": 16.0,
    "gamma": 1.0 / 32.0,
}  # fmt: skip
# parts of the sentences that a table prints about its problems
_ALL = "4,000 random rows of the 5,300 train, the others test"
_FIRST = "the first 15,000 rows train, the last 5,000 test"
_UNIT = "attributes in [0, 1]"
_RAW = "attributes as they are"

PROBLEMS = (
    MinMaxProblem(
        "Banana", **_BANANA, split="permuted", n_train=4_000, quick=(1, 10), runs=3, words=f"{_ALL}; {_UNIT}",
    ),
    MinMaxProblem(
        "Banana raw", **_BANANA, split="permuted", n_train=4_000, ks=FEW, runs=3, scaled=False, words=f"{_ALL}; {_RAW}",
    ),
    MinMaxProblem(
        "Banana 40,000", **_BANANA, split="realisations", ks=FEW, partitioned=tuple(range(2, 21)),
        words=f"100 draws of 400 of the 5,300 rows train, what ten of them leave tests, so all test rows are training "
        f"rows too; {_UNIT}", as_described=True,
    ),
    MinMaxProblem(
        "Letter", **_LETTER, quick=(1, 10), partitioned=tuple(range(2, 21)), words=f"{_FIRST}; {_UNIT}",
        as_described=True,
    ),
    MinMaxProblem("Letter raw", **_LETTER, ks=FEW, scaled=False, words=f"{_FIRST}; {_RAW}"),
)  # fmt: skip
"""The problems and their variants. Banana has 40,000 training points in print, which may be 100 draws of 400."""


def table1(plan: Plan) -> list[Job]:
    """Both problems and their variants; a quick run has the same rows."""
    return [job for problem in PROBLEMS for job in _values(problem)]


def _values(problem: MinMaxProblem) -> list[Job]:
    @cache
    def rows() -> SplitRows:
        return problem.load()

    values = {
        "d": lambda: float(rows().X.shape[1]),
        "training rows": lambda: float(len(rows().X)),
        "test rows": lambda: float(len(rows().X_test)),
        # as many decimals as print has
        "C": lambda: round(problem.C, 1),
        "sigma": lambda: round(math.sqrt(0.5 / problem.gamma), 3),
    }
    return [
        parameter_job(
            problem.paper_name,
            f"{problem.name}: as run",
            column,
            value,
            problem.words,
            as_described=problem.as_described,
        )
        for column, value in values.items()
    ]
