"""Where the samples live: features as an operator, or a kernel; solvers see nothing else of the data.

`features.py` has the abstract `Space`, `features.py` the spaces with an explicit matrix H (n, L) of features (in
memory, streamed, embedded, sparse) and `build_space`, `kernel_space.py` the space that knows its samples through a
kernel.

The protocol: spaces, outcomes, stages, their compatibility, the registry and the one loop that runs them.

Imports numpy, attrs and pluggy only.
"""

from __future__ import annotations

from clusterkit.samples.features import (
    DenseSpace,
    EmbeddedSpace,
    FeatureSpace,
    FittedMap,
    Space,
    SparseSpace,
    StreamedSpace,
    build_space,
    identity_space,
    squared_distances_to,
)
from clusterkit.samples.kernel_space import KernelSpace

__all__ = [
    "DenseSpace",
    "EmbeddedSpace",
    "FeatureSpace",
    "FittedMap",
    "KernelSpace",
    "Space",
    "SparseSpace",
    "StreamedSpace",
    "build_space",
    "identity_space",
    "squared_distances_to",
]
