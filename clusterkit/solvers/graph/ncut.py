"""Normalised cut: the eigenvectors of a graph's weights, and the best split along the first of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Outcome, Scores, Status
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.graph._affinity import Affinity, affinity

__all__ = ["Ncut"]


@final
@attrs.frozen
class Ncut(Solver):
    """Relaxes ``Ncut = Σ_j cut(S_j, rest) / vol(S_j)``: eigenvectors of ``A = D^(-1/2) W D^(-1/2)``, D = diag(W e).

    For clusters of any shape that few and weak weights join. W is the kernel between the samples. For two clusters
    the score is ``z - t``, z = D^(-1/2) u for the second eigenvector u and t the threshold of smallest Ncut among
    all n - 1 gaps, so `threshold` gives that split. For k > 2 the rows of ``D^(-1/2) U``, U the first k
    eigenvectors, go to `rows_kmeans`. On a kernel `_kernel` keeps a dense W, O(n² d) once and O(n²) for each of some
    tens of products; with `neighbors` = p a sparse one, O(n p) a product.

    Parameters
    ----------
    neighbors : int, optional
        Joins each sample to its nearest ones only (in the coordinates the kernel sees), a pair being joined if
        either is among the nearest of the other. None joins all pairs, an n x n matrix.
    self_loops : bool, default False
        Keep the kernel of a sample with itself on the diagonal of W; otherwise it is 0.
    normalize : bool, default False
        Scale the rows of the embedding to length 1; for k > 2 only.
    tol : float, default 0
        Relative accuracy of the eigenvalues; 0 is machine precision.

    Raises
    ------
    InvalidData
        If a kernel value is negative.

    Notes
    -----
    Graphs in pieces: the c connected components have the eigenvalue 1 each, known without iteration. Where c >= k
    the components are put into k groups of even volume, largest first (of Ncut 0, as any other grouping); where
    c < k the other k - c columns are found by Lanczos in the complement. Samples without weight to any other go to
    the largest cluster. If all samples are equal, or no two are joined, all scores are 0.

    The rows are scaled so that ``Σ d_i z_i² = Σ d_i``. Sample 0 gets label 0 of two, unless it is without weight.
    ``status.facts`` has ``ncut`` (of the split, for two clusters), ``eigenvalues`` (the first k),
    ``bound`` (k minus their sum, which no labelling into k clusters falls below), ``components``, ``isolated``.

    References
    ----------
    Shi, Malik (2000), Normalized cuts and image segmentation, IEEE Transactions on Pattern Analysis and Machine
    Intelligence 22(8). Ng, Jordan, Weiss (2002), On spectral clustering, NIPS 14: rows of length 1.
    """

    name: ClassVar[str] = "ncut"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})

    neighbors: int | None = params.integer(None, at_least=1, optional=True)
    self_loops: bool = params.flag(False)
    normalize: bool = params.flag(False)
    tol: float = params.real(0.0, at_least=0.0)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels."""
        return {KernelSpace: Path(_kernel, Scores, inductive=False, square=self.neighbors is None)}


def _kernel(spec: Ncut, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The weights and the components they leave."""
    resolved: dict[str, Any] = {}
    if spec.neighbors is not None and spec.neighbors > space.n - 1:
        resolved["neighbors"] = space.n - 1
    weights = affinity(space, spec.neighbors, spec.self_loops)
    # with a loop and nothing else a sample is as alone as without it
    joined = np.flatnonzero(weights.degrees > weights.diagonal())
    return _Graph(spec, task.k, weights, joined, bool((space.points == space.points[0]).all()), resolved)


@final
@attrs.frozen(eq=False)
class _Graph(Prepared):
    """The weights of all samples, and which samples have any."""

    spec: Ncut
    k: int
    weights: Affinity
    joined: Array
    flat: bool
    resolved_facts: Mapping[str, Any]

    @property
    def resolved(self) -> Mapping[str, Any]:
        return self.resolved_facts

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        return None

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        n, columns = self.weights.n, 1 if self.k <= 2 else self.k
        facts: dict[str, Any] = {"isolated": n - len(self.joined)}
        if self.flat or len(self.joined) == 0:
            reason = "all samples are equal" if self.flat else "no two samples are joined"
            if not self.flat:
                warnings.warn(
                    f"solver 'ncut': no weight between two of the {n} samples differs from 0, so there is nothing to "
                    "cut; use a wider kernel",
                    ClusterkitWarning,
                    stacklevel=2,
                )
            return Scores(
                np.zeros((n, columns)), None, status=Status(1, True, f"{reason}: all scores are 0", (), facts)
            )
        graph = self.weights.take(self.joined)
        Z, status = self._embed(graph, rng)
        facts.update(status.facts)
        if self.k <= 2:
            scores, facts["ncut"] = _split(graph, Z[:, 1])
            found = scores[:, None]
        else:
            found = _unit(Z) if self.spec.normalize else Z
        rows = np.empty((n, columns))
        rows[self.joined] = found
        if len(self.joined) < n:
            alone = np.setdiff1d(np.arange(n), self.joined)
            rows[alone] = _largest(found, self.k, rng)
        return Scores(rows, None, status=attrs.evolve(status, facts=facts))

    def _embed(self, graph: Affinity, rng: Rng) -> tuple[Array, Status]:
        """``D^(-1/2) U``, (n, k), and how U was found; columns that a small graph lacks are 0."""
        from clusterkit.solvers.graph._lanczos import leading

        k, total = self.k, graph.degrees.sum()
        roots = np.sqrt(graph.degrees)
        pieces = graph.components()
        components = int(pieces.max()) + 1
        groups = _even(pieces, graph.degrees, k) if components > k else pieces
        member = (groups[:, None] == np.arange(groups.max() + 1)).astype(np.float64)
        known = member * roots[:, None] / np.sqrt(member.T @ graph.degrees)
        wanted = min(k, graph.n) - known.shape[1]
        values, vectors, products, how = leading(graph.W, roots, known, max(wanted, 0), self.spec.tol, rng)
        if k <= 2 and known.shape[1] == 2:
            # the second eigenvector is the one orthogonal to that of the whole graph
            whole = roots / np.sqrt(total)
            second = known[:, 0] * (known[:, 1] @ whole) - known[:, 1] * (known[:, 0] @ whole)
            known = np.stack([whole, second], axis=1)
        U = np.concatenate([known, vectors], axis=1)
        U = np.concatenate([U, np.zeros((graph.n, k - U.shape[1]))], axis=1)
        values = np.concatenate([np.ones(known.shape[1]), values])
        facts = {
            "eigenvalues": tuple(float(value) for value in values),
            "bound": max(0.0, float(len(values) - values.sum())),
            "components": components,
        }
        reason = f"{how}: eigenvalues {', '.join(f'{value:.6g}' for value in values[:6])}"
        return U * (np.sqrt(total) / roots)[:, None], Status(max(1, products), True, reason, (), facts)


def _even(pieces: Labels, degrees: Array, k: int) -> Labels:
    """Groups of components, (n,): the largest first, each into the group of least volume so far."""
    volumes = np.bincount(pieces, weights=degrees)
    sums, group = np.zeros(k), np.empty(len(volumes), dtype=np.intp)
    for piece in np.argsort(-volumes, kind="stable"):
        group[piece] = np.argmin(sums)
        sums[group[piece]] += volumes[piece]
    return group[pieces]


def _split(graph: Affinity, z: Array) -> tuple[Array, float]:
    """Scores whose sign is the best split, sample 0 not above 0, and their Ncut."""
    below = graph.best_split(z)
    if below == 0:
        return np.zeros(len(z)), 0.0
    low, high = np.sort(z)[below - 1 : below + 1]
    if z[0] >= high:
        z, low, high = -z, -high, -low
    middle = 0.5 * (low + high)
    if not low <= middle < high:  # neighbouring numbers
        middle = low
    scores = z - middle
    return scores, graph.ncut(scores > 0.0)


def _unit(Z: Array) -> Array:
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.divide(Z, lengths, out=np.zeros_like(Z), where=lengths > 0.0)


def _largest(found: Array, k: int, rng: Rng) -> Array:
    """A row in the largest cluster of those found."""
    if k <= 2:
        side = found[:, 0] > 0.0
        return np.median(found[side if 2 * side.sum() > len(side) else ~side], axis=0)
    from clusterkit.numerics.lloyd import kmeans

    clusters = min(k, len(found))
    labels, centres, _ = kmeans(found, clusters, n_init=10, max_iter=300, seed=int(rng.integers(2**31 - 1)))
    return centres[np.argmax(np.bincount(labels, minlength=clusters))]
