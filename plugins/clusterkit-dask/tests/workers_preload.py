"""Loaded by the workers of the tests: groups as small as in the process of the tests, which draws by them too."""

from __future__ import annotations

from clusterkit.samples import sums

GROUP = 150


def dask_setup(worker):
    sums.GROUP = GROUP
