"""Profiles of clusters, representative rows of each, and comparisons of clusterings.

The functions take a fitted model or labels, and the raw table: an array, a sparse matrix, or a data frame of pandas,
Polars or PyArrow, with gaps and categories as they are.

- `profile` (``profiling.py``): what distinguishes each cluster: effects with intervals, a name, a rule. The arithmetic
  is in ``effects.py``, the words and the rules are in ``naming.py``, reasons for doubt in ``doubts.py``.
- of documents instead (``documents.py``): the words of each cluster, and of each layer.
- `representatives` (``representing.py``): a few rows that stand for each cluster.
- `compare` (``comparing.py``): methods side by side: sizes, indices, stability, agreement, seconds.
- `assign`, `relabel` (``rows.py``): certainty and distance of each row; numbers that last over refits.
- `explain` (``explaining.py``): why a row is in its cluster: the columns that decide.
- `linkage_matrix` (``hierarchies.py``): the merges of a spanning tree for scipy.
- ``raw_table.py``: rows of any table as columns of numbers and of categories; ``measures.py`` makes them comparable,
  draws rows, and reads the labels of a model.
"""

from __future__ import annotations

from clusterkit.profiles.comparing import Comparison, Method, compare
from clusterkit.profiles.documents import DocumentProfile, Topic
from clusterkit.profiles.explaining import ColumnEvidence, Explanation, Explanations, explain
from clusterkit.profiles.hierarchies import linkage_matrix
from clusterkit.profiles.naming import Condition, Rule
from clusterkit.profiles.profiling import ClusterProfile, FeatureProfile, Profile, profile
from clusterkit.profiles.representing import representatives
from clusterkit.profiles.rows import Relabelled, assign, relabel

__all__ = [
    "ClusterProfile",
    "ColumnEvidence",
    "Comparison",
    "Condition",
    "DocumentProfile",
    "Explanation",
    "Explanations",
    "FeatureProfile",
    "Method",
    "Profile",
    "Relabelled",
    "Rule",
    "Topic",
    "assign",
    "compare",
    "explain",
    "linkage_matrix",
    "profile",
    "relabel",
    "representatives",
]
