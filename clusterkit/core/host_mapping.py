"""Feature maps that need all rows at once, of samples that a device computes: made on the host, worked on there."""

from __future__ import annotations

from typing import cast

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.contracts import During, check_space
from clusterkit.core.device_engine import ArrayRows, DeviceEngine
from clusterkit.core.devices import on_host
from clusterkit.core.rows import Rows, SlicedRows, read_whole
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import FeatureMap, Task
from clusterkit.core.transform import IdentityMap

__all__ = ["made_on_host"]


def made_on_host(featuremap: FeatureMap, rows: Rows, engine: DeviceEngine, task: Task, rng: Rng) -> RowsSpace:
    """The features of all rows by a map that has `made_on_host`, where the rows lie.

    Raises
    ------
    NeedsMemory
        If the rows exceed the memory cap of the host.
    """
    X = read_whole(
        rows,
        f"the {rows.n:,} rows of featuremap '{featuremap.name}', which is made on the host",
        "Fit fewer rows, and label the others by predict.",
    )
    with During(featuremap), on_host():
        space = featuremap.fit(X, task, rng)
    check_space(featuremap, space, featuremap.gives, X)
    made = cast("FeatureSpace", space)
    H = np.ascontiguousarray(made.rows())
    source = ArrayRows(rows.device.put(H), rows.device) if isinstance(rows, ArrayRows) else SlicedRows(H)
    features = RowsSpace.of(source, engine, IdentityMap(H.shape[1]))
    return attrs.evolve(features, made=made, resolved={**made.resolved, "made_on": "host"})
