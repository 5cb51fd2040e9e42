"""Samples that several files about searches share."""

from __future__ import annotations

import pytest
from sklearn.datasets import make_blobs


@pytest.fixture(scope="module")
def blobs():
    """Three blobs of 50 samples each, in the order of the blobs."""
    return make_blobs(
        [50, 50, 50], centers=[[0, 0], [9, 0], [4.5, 7.8]], cluster_std=0.8, random_state=0, shuffle=False
    )[0]
