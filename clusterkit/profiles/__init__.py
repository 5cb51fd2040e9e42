"""What is in the clusters, which rows stand for them, and how several clusterings compare.

The functions take a fitted model or labels, and the raw table: an array, a sparse matrix, or a data frame of pandas,
Polars or PyArrow, with gaps and categories as they are.

================  =====================================================================================================
`profile`         What distinguishes each cluster: effects with intervals, a name, a rule. The arithmetic is in
                  `effects`, the words in `naming`, the rules in `rules`.
`representatives` A few rows that stand for each cluster.
`compare`         Methods side by side: sizes, indices, stability, agreement, seconds.
`raw_table`       Rows of any table as columns of numbers and of categories; `sampling` draws them, `labelled` reads
                  the labels of a model.
================  =====================================================================================================
"""

from __future__ import annotations

from clusterkit.profiles.comparing import Comparison, Method, compare
from clusterkit.profiles.naming import Condition, Rule
from clusterkit.profiles.profiling import ClusterProfile, FeatureProfile, Profile, profile
from clusterkit.profiles.representing import representatives

__all__ = [
    "ClusterProfile",
    "Comparison",
    "Condition",
    "FeatureProfile",
    "Method",
    "Profile",
    "Rule",
    "compare",
    "profile",
    "representatives",
]
