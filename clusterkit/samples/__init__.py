"""The samples as solvers see them, in memory, in files or on a device: features as an operator, or a kernel.

Spaces:

- `features.py`: the abstract `Space`; the spaces with an explicit matrix H (n, L) of features (in memory, streamed,
  embedded, sparse) and `build_space`;
- `kernels.py`, `kernel_space.py`: kernels, and the space that knows its samples through one;
- `mixed_space.py`: numbers and levels side by side, with gaps;
- `rows_space.py`: features of rows outside memory;
- `transform.py`: the fitted row maps that a predictor keeps;
- `coding.py`: labels as targets of a solver.

Rows and passes over them:

- `rows.py`: rows by slices (`Rows`), also of a temporary file; `survey.py`: what the first pass finds out;
- `sums.py`: the fixed order of every sum;
- `engines.py`: who runs the passes (`Engine`, `LocalEngine`);
- `devices.py`, `device_engine.py`, `array_libraries.py`: devices, their engine, and the array API;
- `memory.py`, `limits.py`: caps of memory, time and work, values that fits share, and reports of a running fit.

Only numpy and attrs, of all other packages, are imported at the top of a module.
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
    distance_noise,
    identity_space,
    kernel_noise,
    squared_distances_to,
)
from clusterkit.samples.kernel_space import DistanceSpace, KernelSpace
from clusterkit.samples.mixed_space import MixedSpace

__all__ = [
    "DenseSpace",
    "DistanceSpace",
    "EmbeddedSpace",
    "FeatureSpace",
    "FittedMap",
    "KernelSpace",
    "MixedSpace",
    "Space",
    "SparseSpace",
    "StreamedSpace",
    "build_space",
    "distance_noise",
    "identity_space",
    "kernel_noise",
    "squared_distances_to",
]
