"""Equal clustering: nearest-centre cells of nearly equal size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs

from clusterkit._typing import Rng
from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.outcomes import Scores
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.numerics.equal_size.drift import Rule
from clusterkit.solvers.equal_size._prepared import PreparedParts

__all__ = ["Equal"]


@final
@attrs.frozen
class Equal(Solver):
    """Moves centres until their nearest-centre cells are of nearly equal size; scores are minus squared distances.

    For parts that are compact and even: modules of a classifier, batches, territories. It looks for no gaps between
    clusters. In every iteration, all at once, from the sizes W of the cells::

        c_i ← c_i + α Σ_j r_ij (c_j - c_i),   r_ij = (l - 1) (W_j - W_i) / (W_j + (l - 1) W_i)

    so a centre goes towards those of larger cells, and larger cells' centres back away. It ends once no size differs
    from ``n // k`` by ε or more.

    Parameters
    ----------
    alpha : float or None, default None
        Step α; None: 0.01 for up to 10 clusters, 0.001 for up to 20, and so on. (Beyond 40 that hardly moves.)
    l : float, default 3
        Bounds the coefficients to (-1, l - 1); 1 keeps the centres where they are.
    eps : int or None, default None
        ε, in rows; None: ``n // (50 k)``. It is raised to what sizes can fall below: 1, or 2 where k does not divide n.
    max_iter : int, default 6000
        Most iterations of a start.
    restarts : int, default 1
        New starts, as long as none has come to the end; a start is given up early once two centres have come closer
        than 5 % of the first smallest distance.
    repair : bool, default False
        Move rows in the end, those that cost least, until sizes differ by at most 1.
    strict : bool, default False
        Take ε as it is and the last iteration instead of the best, as published.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters.

    Notes
    -----
    It starts from k random samples, distinct in value as far as the samples are. The imbalance, the largest difference
    of a size from ``n // k``, need not fall from one iteration to the next: the centres of the iteration where it was
    lowest are returned. It is the objective, and `history_` has it for every iteration. Balance is impossible for
    samples of which more than ``n / k + ε`` are equal; without `repair` these stay together.

    A repair is the cheapest assignment of rows to cells of the sizes that come out. It gives every cell an offset on
    its squared distances, so that `predict` follows the same borders; where a border runs through equal samples no
    offset tells them apart, then ``exact_on_training_`` is False.

    An iteration of the textbook costs O(n k L). Here cells are counted anew only where borders may have passed: two
    clusters, or one attribute, O(k log n + k²) after sorting; up to three attributes by a tree of boxes; else by
    sweeps in single precision over the rows that a border may pass, O(k min(L, k)) each, plus O(k² L + L²). Sizes are
    the same in every iteration up to ties. Memory: the
    features in float64 and the (n, k) scores; it does not stream. Works on features only.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing: the rule, α, l, ε.
    """

    name: ClassVar[str] = "equal"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    alpha: float | None = params.real(None, above=0.0, optional=True)
    l: float = params.real(3.0, at_least=1.0)  # noqa: E741 (the paper's letter)
    eps: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1)
    restarts: int = params.integer(1, at_least=0)
    repair: bool = params.flag(False)
    strict: bool = params.flag(False)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features."""
        return {FeatureSpace: Path(_prepare, Scores)}


def _prepare(spec: Equal, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Nothing: the features are asked for when it starts."""
    rule = Rule(False, spec.alpha, spec.l, spec.eps, spec.max_iter, spec.restarts, spec.repair, spec.strict)
    return PreparedParts(spec.name, rule, space, task.k)
