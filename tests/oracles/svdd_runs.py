"""Runs of the solver svdd on samples with a Gaussian kernel, at a tight tolerance."""

from __future__ import annotations

import numpy as np

from clusterkit.contracts import Task
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian

TOL = 1e-8
"""The tolerance of every run, unless a test chooses another one."""


def prepare(X, gamma, **parameters):
    space = KernelSpace(X, Gaussian(gamma))
    return Svdd(**{"tol": TOL, **parameters}).prepare(space, Task(len(X), None), np.random.default_rng(0))


def solve(X, gamma, **parameters):
    """The minimum of the dual, and the outcome computed from it."""
    prepared = prepare(X, gamma, **parameters)
    return prepared.minimise(), prepared.solve(None, None, np.random.default_rng(0))
