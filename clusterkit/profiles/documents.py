"""What clusters of documents are about: words by class-based tf-idf, and rows that stand for each cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts.labelings import NOISE
from clusterkit.errors import InvalidData, InvalidParameter, counted
from clusterkit.profiles.measures import labels_of
from clusterkit.profiles.naming import ByLabel, called, naming_of_fit, with_name

WORDS_IN_A_NAME = 3
"""Words of the name of a topic that no function names."""


@final
@attrs.frozen
class Topic:
    """A cluster of documents.

    Parameters
    ----------
    label : int
    size : int
        Number of its documents.
    share : float
        Fraction of all documents.
    name : str
        The first words, or what the function for names gave.
    words : tuple of (str, float)
        Words with their weights, the heaviest first.
    rows : tuple of int
        Numbers of the documents that have most of the words, the best first.
    """

    label: int
    size: int
    share: float
    name: str
    words: tuple[tuple[str, float], ...]
    rows: tuple[int, ...]


Naming: TypeAlias = Callable[[Topic], str]
"""Function that names a topic: by a language model, for example, from its words and the texts of its rows."""


@final
@attrs.frozen
class DocumentProfile(ByLabel[Topic]):
    """Topics of all clusters, and of all layers of a model that has several.

    Parameters
    ----------
    clusters : tuple of Topic
        Topics of ``labels_``, by label; noise has none.
    layers : tuple of tuple of Topic
        Topics of each of ``layers_``, coarse to fine; empty for other models.
    n_rows, n_noise : int
    """

    clusters: tuple[Topic, ...]
    layers: tuple[tuple[Topic, ...], ...]
    n_rows: int
    n_noise: int

    def __str__(self) -> str:
        head = f"{counted(len(self.clusters), 'cluster')} of {counted(self.n_rows, 'document')}"
        rows = (f"{topic.label}: {topic.name} ({counted(topic.size, 'document')})" for topic in self.clusters)
        return "\n".join([f"{head}, {self.n_noise or 'no'} noise", *rows])

    __repr__ = __str__


def topics_of(
    model: object, texts: object, names: Sequence[str] | None, max_features: int, n_rows: int, naming: Naming | None
) -> DocumentProfile:
    """The topics of a model or of labels; see `profile` for the parameters."""
    counts, terms = _counts(texts, names)
    labels = np.maximum(labels_of(model, counts.shape[0], "profile", "texts"), NOISE)
    layers = getattr(model, "__dict__", {}).get("layers_") or ()
    of_labels = _topics(labels, counts, terms, max_features, n_rows, naming or naming_of_fit(model))
    of_layers = tuple(_topics(layer.labels, counts, terms, max_features, n_rows, naming) for layer in layers)
    return DocumentProfile(of_labels, of_layers, len(labels), int((labels == NOISE).sum()))


def _counts(texts: Any, names: Sequence[str] | None) -> tuple[Any, Array]:
    """Counts of terms, a sparse array (n, t), and the terms, (t,)."""
    from scipy.sparse import csr_array, issparse

    if issparse(texts):
        counts = csr_array(texts).astype(np.float64)
        if names is not None and len(names) != counts.shape[1]:
            raise InvalidParameter(f"names has {len(names)} terms, and the term matrix has {counts.shape[1]} columns")
        terms = np.array([f"x{j}" for j in range(counts.shape[1])] if names is None else list(names), dtype=object)
        if counts.nnz and counts.data.min() < 0:
            raise InvalidData("the term matrix has negative counts: pass counts, or tf-idf weights")
    elif isinstance(texts, str) or not hasattr(texts, "__iter__"):
        raise InvalidData(
            f"texts must be a sequence of strings, one for each row, or a sparse matrix of counts of terms; got "
            f"{texts!r:.80}"
        )
    else:
        texts = list(texts)
        strange = next((row for row, text in enumerate(texts) if not isinstance(text, str)), None)
        if strange is not None:
            raise InvalidData(
                f"texts must be a sequence of strings, one for each row, and row {strange} has {texts[strange]!r:.80}; "
                "'' is a row without words"
            )
        from sklearn.feature_extraction.text import CountVectorizer

        vectorizer = CountVectorizer()
        try:
            counts = csr_array(vectorizer.fit_transform(texts)).astype(np.float64)
        except ValueError as error:
            raise InvalidData(f"texts have no words: {error}") from error
        terms = vectorizer.get_feature_names_out()
    return counts, terms


def _topics(
    labels: Labels, counts: Any, terms: Array, most: int, n_rows: int, naming: Naming | None
) -> tuple[Topic, ...]:
    """The topic of each cluster of a labelling."""
    from scipy.sparse import csr_array

    k = int(labels.max(initial=NOISE)) + 1
    if k == 0:
        return ()
    inside = np.flatnonzero(labels >= 0)
    member = csr_array((np.ones(len(inside)), (labels[inside], inside)), shape=(k, len(labels)))
    by_cluster = (member @ counts).tocsr()
    totals = np.asarray(by_cluster.sum(axis=1)).reshape(-1)
    frequency = np.asarray(by_cluster.sum(axis=0)).reshape(-1)
    rarity = np.log1p(np.divide(totals.mean(), frequency, out=np.zeros(len(terms)), where=frequency > 0))
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).reshape(-1))
    sizes = np.bincount(labels[inside], minlength=k)
    topics = []
    for label in range(k):
        if not sizes[label]:
            continue
        entries = slice(by_cluster.indptr[label], by_cluster.indptr[label + 1])
        columns = by_cluster.indices[entries]
        weights = by_cluster.data[entries] / max(totals[label], 1e-300) * rarity[columns]
        heaviest = np.lexsort((columns, -weights))[:most]
        words = tuple((str(terms[columns[i]]), float(weights[i])) for i in heaviest if weights[i] > 0)
        name = ", ".join(word for word, _ in words[:WORDS_IN_A_NAME]) or called(label, {})
        rows = _nearest_rows(np.flatnonzero(labels == label), counts, columns, weights, lengths, n_rows)
        topic = Topic(label, int(sizes[label]), float(sizes[label] / len(labels)), name, words, rows)
        topics.append(with_name(topic, naming))
    return tuple(topics)


def _nearest_rows(
    members: Indices, counts: Any, columns: Indices, weights: Array, lengths: Array, n_rows: int
) -> tuple[int, ...]:
    """Numbers of the members whose counts have the largest cosine with the weights of the cluster."""
    words = np.zeros(counts.shape[1])
    words[columns] = weights
    closeness = np.asarray(counts[members] @ words).reshape(-1) / np.maximum(lengths[members], 1e-300)
    return tuple(int(members[i]) for i in np.argsort(-closeness, kind="stable")[:n_rows])
