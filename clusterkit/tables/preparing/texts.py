"""Columns of free text: topics, which are principal components of the weights of words.

The weights are those of scikit-learn's TF-IDF, by which each text has length 1 (Salton & Buckley 1988, Term-weighting
approaches in automatic text retrieval, Information Processing & Management 24). Their components are those of latent
semantic analysis (Deerwester et al. 1990, Indexing by latent semantic analysis, Journal of the American Society for
Information Science 41), after the mean, and what goes with the number of different words in a text, is subtracted.
Horn's parallel analysis (1965, A rationale and test for the number of factors in factor analysis, Psychometrika 30)
says how many there are: as many as have a larger share of the variance than any first component where each word is
shuffled over the texts by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Mask
from clusterkit.numerics.shapes import array
from clusterkit.tables.preparing.plans import EQUAL, ColumnPlan, LeftOut, Observer
from clusterkit.tables.reading.frames import Column
from clusterkit.tables.reading.row_sample import RowSample

MOST_WORDS = 500
"""Largest number of words: the most frequent ones, which are in two texts at least."""

MOST_TOPICS = 10
"""Largest number of topics."""

SHUFFLES, CHANCE = 5, 1.1
"""Number of times that words are shuffled, and smallest share of a topic in that of the first component by chance. Of
60 to 2,000 texts of 3 to 100 words that are drawn alike it is .75 to .98, but for one of 48 sets of thirteen words with
1.16; topics in half of the words have 1.11 to 2.5, but for the last of three to five among 60 or 100 texts."""

ROUNDING = 1e-9
"""Variance of a topic, in the mean square of a text, that is only rounding."""

SHOWN = 3
"""Words by which an end of a topic is called."""


@final
@attrs.frozen
class TextColumn(ColumnPlan):
    """A column of free text: a number for each topic, between the words of its two ends.

    Parameters
    ----------
    name : str
    words : tuple of str
    rarity : ndarray of shape (words,)
        Inverse document frequencies.
    loadings : ndarray of shape (words, topics)
        Weights of words in topics; scores of the first topic have variance 1 in the fit.
    centre : ndarray of shape (topics,)
        Mean scores of the fit.
    gaps : int
    """

    words: tuple[str, ...]
    rarity: Array = attrs.field(validator=array("words", least=0), eq=EQUAL, hash=False)
    loadings: Array = attrs.field(validator=array("words topics"), eq=EQUAL, hash=False)
    centre: Array = attrs.field(validator=array("topics"), eq=EQUAL, hash=False)
    gaps: int = 0

    def __attrs_post_init__(self) -> None:
        if len(set(self.words)) != len(self.rarity) or not len(self.centre):
            raise ValueError("the words of a column of texts differ, and each has its weights in one topic at least")

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """What the high end of each topic is called, and then the low ends: by their words of largest weight."""
        loadings = np.hstack([self.loadings, -self.loadings])
        heaviest = np.argsort(-loadings, axis=0, kind="stable")[:SHOWN].T
        return tuple(" ".join(self.words[i] for i in column) for column in heaviest)

    @property
    def features(self) -> tuple[str, ...]:
        """A feature for each topic."""
        d = len(self.centre)
        ends = self.ends
        return tuple(f"{self.name} ({high} / {low})" for high, low in zip(ends[:d], ends[d:], strict=True))

    @property
    def coded(self) -> tuple[tuple[str, str], ...]:
        """The topics, as numbers."""
        return tuple((name, "number") for name in self.features)

    def scores(self, column: Column) -> tuple[Array, Mask]:
        """The scores (n, topics) of texts, and the mask of those without a word of the fit, where they are 0."""
        counts = _counts(vocabulary=list(self.words))
        counts.idf_ = self.rarity
        weights = counts.transform(_texts(column))
        scores: Array = weights @ self.loadings - self.centre
        gaps: Mask = np.diff(weights.indptr) == 0
        scores[gaps] = 0.0
        return scores, gaps

    def nearest_ends(self, scores: Array) -> Indices:
        """The place in `ends` of the end to which the scores (n, topics) of each text are nearest, -1 for a gap."""
        gaps = np.isnan(scores[:, 0]) | ~scores.any(axis=1)
        return np.where(gaps, -1, np.hstack([scores, -scores]).argmax(axis=1))

    def write_codes(self, column: Column, out: Array, observer: Observer) -> None:
        """Write the scores, NaN in gaps."""
        gaps = self.write(column, out, observer)
        out[gaps] = np.nan

    def write(self, column: Column, out: Array, observer: Observer) -> Mask:
        """Write the scores."""
        out[:], gaps = self.scores(column)
        observer.odd("without a word of the fit", gaps & ~column.missing(), column, "counted as gaps")
        return gaps


def weighted(plan: ColumnPlan, weight: float) -> ColumnPlan:
    """The plan of a column whose features are multiplied by the root of a weight."""
    if isinstance(plan, LeftOut):
        return plan
    sizes = ["weight", "circle", "radius"] + ["factor"] * (not getattr(plan, "sphere", ""))  # degrees become points
    sizes = ["loadings", "centre"] if isinstance(plan, TextColumn) else sizes
    root = math.sqrt(weight)
    return attrs.evolve(plan, **{name: root * getattr(plan, name) for name in sizes if hasattr(plan, name)})


def with_topics(plans: Sequence[ColumnPlan], rows: RowSample, gaps: Sequence[int]) -> list[ColumnPlan]:
    """The plans, in which free text that has topics is used.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    rows : RowSample
        Sample of rows with the same columns.
    gaps : sequence of int
        Gaps of each column.

    Notes
    -----
    O(r w + w³) for r rows of the sample and w words.
    """
    return [
        (_topics(column, count) or plan) if isinstance(plan, LeftOut) and plan.kind == "text" else plan
        for plan, column, count in zip(plans, rows.columns, gaps, strict=True)
    ]


def _topics(column: Column, gaps: int) -> TextColumn | None:
    """The topics of a column of texts; None where there is none."""
    counts = _counts(max_features=MOST_WORDS, min_df=2, norm=None)
    try:
        weights = counts.fit_transform(_texts(column)[~column.missing()]).toarray()
    except ValueError:  # no word is in two texts
        return None
    X, centre = _centred(weights)
    variances, axes = np.linalg.eigh(X.T @ X)
    if variances[-1] < ROUNDING * len(weights):
        return None
    rng = np.random.default_rng(0)
    shuffled = [_centred(rng.permuted(weights, axis=0))[0] for _ in range(SHUFFLES)]
    by_chance = max(np.linalg.eigvalsh(its.T @ its)[-1] / np.square(its).sum() for its in shuffled)
    d = min(MOST_TOPICS, int((variances > CHANCE * by_chance * variances.sum()).sum()))
    if not d:
        return None
    loadings = axes[:, : -d - 1 : -1]
    loadings = loadings * np.where(np.abs(loadings).max(axis=0) == loadings.max(axis=0), 1.0, -1.0)
    loadings *= np.sqrt(len(weights) / variances[-1])
    return TextColumn(
        column.name, tuple(counts.get_feature_names_out()), counts.idf_, loadings, centre @ loadings, gaps
    )


def _centred(weights: Array) -> tuple[Array, Array]:
    """Texts of unit length without their mean and what goes with their numbers of words, and the mean."""
    X = weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), np.finfo(float).tiny)
    centre = X.mean(axis=0)
    X -= centre
    size = np.log1p(np.count_nonzero(weights, axis=1))
    size -= size.mean()
    if size.any():
        X -= np.outer(size, size @ X / (size @ size))
    return X, centre


def _counts(**options: object) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, **options)


def _texts(column: Column) -> NDArray[np.object_]:
    return np.array(["" if text is None else str(text) for text in column.values], dtype=object)
