"""The loop of extreme maximum margin clustering on drawn samples, with start labels that the test chooses."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from clusterkit.contracts import Partitioner, Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.scaling import Identity
from clusterkit.fitting.fit import BoundComposition, run
from oracles.maps import mapped

SEED = st.integers(0, 2**32 - 1)


@final
@attrs.frozen
class FixedLabels(Partitioner):
    """The labels of its parameter, whatever the samples are."""

    name: ClassVar[str] = "fixed"
    sees: ClassVar[Literal["input", "space"]] = "input"
    varies: ClassVar[bool] = False
    labels: tuple[int, ...] = ()

    def start(self, samples, task, rng):
        return np.array(self.labels)


def blobs(n, k, seed, d=3, spread=1.5):
    """Overlapping clusters of unequal size."""
    rng = np.random.default_rng(seed)
    which = np.minimum(rng.integers(k + 1, size=n), k - 1)
    return rng.normal(size=(k, d))[which] * spread + rng.normal(size=(n, d))


def loop(space, labels, k, codec, balancer=None, **parameters):
    """The loop from start labels in a space."""
    composition = Composition(Identity(), Ridge(**parameters), codec, balancer, FixedLabels(tuple(map(int, labels))), k)
    task = Task(space.n, k)
    prepared = composition.solver.prepare(space, task, np.random.default_rng(0))
    return run(BoundComposition(composition, space.points, space, prepared, task, Seeds(0)))


@st.composite
def problem(draw, clusters=(2, 4)):
    """A space of random features, starting labels that leave no class empty, k, a slack in rows, C."""
    k = draw(st.integers(*clusters))
    n, seed = draw(st.integers(12, 60)), draw(SEED)
    space = mapped(Elm(n_hidden=draw(st.sampled_from([8, 25, 80])), width=2.0), blobs(n, k, seed), seed)
    rng = np.random.default_rng(seed + 1)
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    if draw(st.booleans()):  # a good start
        labels = np.argmin(np.linalg.norm(space.points[:, None] - space.points[rng.permutation(n)[:k]], axis=2), axis=1)
        assume(len(np.unique(labels)) == k)
    return space, labels, k, draw(st.integers(0, n // 3)), 10.0 ** draw(st.floats(-2, 3))


def gap(labels, k):
    return np.ptp(np.bincount(labels, minlength=k))


def falls(history):
    history = np.asarray(history)
    return np.all(history[1:] <= history[:-1] * (1 + 1e-9))
