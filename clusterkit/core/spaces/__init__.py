"""Where the samples live: features as an operator, or a kernel; solvers see nothing else of the data.

`space.py` has the abstract `Space`, `features.py` the spaces with an explicit matrix H (n, L) of features (in memory,
streamed, embedded, sparse) and `build_space`, `kernel.py` the space that knows its samples through a kernel.
"""

from clusterkit.core.spaces.feature_sums import squared_distances_to
from clusterkit.core.spaces.features import (
    DenseSpace,
    EmbeddedSpace,
    FeatureSpace,
    FittedMap,
    SparseSpace,
    StreamedSpace,
    build_space,
    identity_space,
)
from clusterkit.core.spaces.kernel import KernelSpace
from clusterkit.core.spaces.space import Space

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
