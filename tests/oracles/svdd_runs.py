"""Runs of the solver svdd on samples with a Gaussian kernel, at a tight tolerance."""

import numpy as np
from sklearn.datasets import make_blobs

from clusterkit.contracts import Task
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.svc_auto import SvcAuto
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


STAGES = {"featuremap": Rbf(), "solver": Svdd(), "labeler": CompleteGraph()}


def tune(X, stages=STAGES, seed=0, **parameters):
    return SvcAuto(**parameters).tune(stages, X, np.random.default_rng(seed))


def blobs(n=120, seed=0):
    return make_blobs(n, centers=[[0, 0], [8, 0], [0, 8]], random_state=seed)
