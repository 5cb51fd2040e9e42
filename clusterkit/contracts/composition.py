"""The stages of one algorithm and which of them fit together: a few rules on what their classes declare, without data.

Sample weights of a fit are a part of the composition, and are refused where a stage counts rows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Indices
from clusterkit.contracts.balancer import Balancer
from clusterkit.contracts.featuremap import FeatureMap, maps_of
from clusterkit.contracts.labeler import Codec, Labeler
from clusterkit.contracts.links import LinkedGroups
from clusterkit.contracts.outcomes import Domain
from clusterkit.contracts.partitioner import Partitioner
from clusterkit.contracts.solver import Path, Solver
from clusterkit.errors import IncompatibleStages, InvalidData
from clusterkit.samples import FeatureSpace
from clusterkit.samples.array_libraries import to_host

__all__ = [
    "Composition",
    "Problem",
    "checked_weights",
    "link_problems",
    "linked",
    "problems",
    "weight_problems",
    "weighted",
]


SLOTS: Mapping[str, str] = {
    "featuremap": "featuremap",
    "solver": "solver",
    "labeler": "labeler",
    "balancer": "balancer",
    "init": "partitioner",
}
"""Slot to the kind of stage it takes."""


@attrs.frozen
class Composition:
    """The stages of one algorithm, every "auto" resolved.

    Parameters
    ----------
    featuremap, solver, labeler : stages
    balancer : Balancer or None
    init : Partitioner or None
        Needed by solvers that learn from targets.
    n_clusters : int or None
    n_init, max_iter : int
    limits : Balancer or None
        Size bounds passed to a solver that enforces them itself (`own_balance`); used only if `balancer` is None.
    rows : ndarray or None
        Indices of the rows to fit, where a tuner advises to fit a sample; None: all rows.
    tuned : frozenset of str
        Slots of which a tuner decided parameters.
    sample_weight : ndarray of shape (n,) or None
        How much each row of the data counts; None: all count 1.
    links : LinkedGroups or None
        What is known about rows of the data.
    """

    featuremap: FeatureMap
    solver: Solver
    labeler: Labeler
    balancer: Balancer | None = None
    init: Partitioner | None = None
    n_clusters: int | None = None
    n_init: int = 1
    max_iter: int = 100
    limits: Balancer | None = None
    rows: Indices | None = attrs.field(default=None, eq=False)
    tuned: frozenset[str] = attrs.field(default=frozenset(), eq=False)
    sample_weight: Array | None = attrs.field(default=None, eq=False)
    links: LinkedGroups | None = attrs.field(default=None, eq=False)

    def weights_of_fitted(self) -> Array | None:
        """The weights of the rows to fit."""
        return self.sample_weight if self.sample_weight is None or self.rows is None else self.sample_weight[self.rows]

    def links_of_fitted(self) -> LinkedGroups | None:
        """What is known about the rows to fit."""
        return self.links if self.links is None or self.rows is None else self.links.take(self.rows)

    @property
    def path(self) -> Path | None:
        """How the solver works on the space of the map."""
        return self.solver.path(self.featuremap.gives)

    @property
    def inductive(self) -> bool:
        """Whether the result labels new samples."""
        return self.path is not None and self.path.inductive and self.labeler.inductive


@attrs.frozen
class Problem:
    """One reason why stages do not fit.

    Parameters
    ----------
    slot : str
        The stage blamed; another one may be the better one to change.
    reason : str
    """

    slot: str
    reason: str


def _chain_of_features(c: Composition) -> Iterator[Problem]:
    """In a chain of maps all but the last one give features, and none takes a matrix of pairs."""
    maps = maps_of(c.featuremap)
    for part in maps:
        if part.takes_pairs and len(maps) > 1:
            yield Problem("featuremap", f"'{part.name}' takes a matrix in place of coordinates, and so stands alone")
    for part in maps[:-1]:
        if not part.takes_pairs and not issubclass(part.gives, FeatureSpace):
            yield Problem("featuremap", f"'{part.name}' gives no features, so it must be the last of the chain")


def _solver_works_on_space(c: Composition) -> Iterator[Problem]:
    """The solver has a path for the space that the map gives."""
    if c.path is None:
        spaces = " or ".join(sorted(space.__name__ for space in c.solver.paths))
        yield Problem(
            "solver", f"'{c.solver.name}' works on {spaces}, but the feature map gives a {c.featuremap.gives.__name__}"
        )


def _domain_lies_among_coordinates(c: Composition) -> Iterator[Problem]:
    """A domain is a region of points, which have coordinates."""
    if c.featuremap.takes_pairs and c.path is not None and issubclass(c.path.gives, Domain):
        yield Problem(
            "featuremap",
            f"'{c.featuremap.name}' has no coordinates, and the region that solver '{c.solver.name}' finds lies among "
            "them",
        )


def _labeler_reads_outcome(c: Composition) -> Iterator[Problem]:
    """The labeler reads the type of outcome that the solver gives on this space."""
    if c.path is not None and not issubclass(c.path.gives, c.labeler.consumes):
        yield Problem(
            "labeler",
            f"'{c.labeler.name}' reads {c.labeler.consumes.__name__}, but solver '{c.solver.name}' gives "
            f"{c.path.gives.__name__} here",
        )


def _solver_takes_coding(c: Composition) -> Iterator[Problem]:
    """The coding of a codec is one that the solver takes."""
    if isinstance(c.labeler, Codec) and c.labeler.coding not in c.solver.codings:
        codings = ", ".join(sorted(coding.value for coding in c.solver.codings)) or "no coding at all"
        yield Problem(
            "labeler",
            f"'{c.labeler.name}' codes labels as {c.labeler.coding.value}, solver '{c.solver.name}' takes {codings}",
        )


def _targets_need_a_codec(c: Composition) -> Iterator[Problem]:
    """A solver that learns from labels needs a codec, which codes them."""
    if c.solver.targets != "never" and not isinstance(c.labeler, Codec):
        yield Problem(
            "labeler", f"solver '{c.solver.name}' learns from coded labels, but '{c.labeler.name}' codes none"
        )


def _features_have_the_sign(c: Composition) -> Iterator[Problem]:
    """A solver of nonnegative features gets no negative ones."""
    if c.solver.nonnegative and c.featuremap.nonnegative is False:
        yield Problem(
            "featuremap", f"'{c.featuremap.name}' gives negative features, solver '{c.solver.name}' takes none"
        )


def _balancer_reads_costs(c: Composition) -> Iterator[Problem]:
    """A balancer needs the costs of a codec, in a coding that it can balance."""
    if c.balancer is None:
        return
    if not isinstance(c.labeler, Codec):
        yield Problem(
            "balancer", f"'{c.balancer.name}' needs the costs of a codec, but labeler '{c.labeler.name}' has none"
        )
    elif c.labeler.coding not in c.balancer.codings:
        yield Problem("balancer", f"'{c.balancer.name}' cannot balance {c.labeler.coding.value} codings")


def _init_works_on_space(c: Composition) -> Iterator[Problem]:
    """A partitioner that draws the first labels works on the space of the map."""
    if c.solver.targets != "never" and c.init is not None and not issubclass(c.featuremap.gives, c.init.spaces):
        spaces = " or ".join(space.__name__ for space in c.init.spaces)
        yield Problem("init", f"'{c.init.name}' works on {spaces}, not on a {c.featuremap.gives.__name__}")


def _starts_are_comparable(c: Composition) -> Iterator[Problem]:
    """Several starts are compared by an objective, which the solver must have."""
    if c.n_init > 1 and not c.solver.has_objective:
        yield Problem(
            "n_init", f"n_init = {c.n_init} compares starts by objective, but solver '{c.solver.name}' has none"
        )


def _number_is_asked_for(c: Composition) -> Iterator[Problem]:
    """No number of clusters is given to a labeler that finds it."""
    if c.labeler.finds_k and not c.labeler.takes_k and c.n_clusters is not None:
        yield Problem(
            "n_clusters",
            f"labeler '{c.labeler.name}' finds the number of clusters itself; leave n_clusters={c.n_clusters} out",
        )


def _number_is_possible(c: Composition) -> Iterator[Problem]:
    """Labeler and solver can tell that many clusters apart."""
    for stage, verb in ((c.labeler, "gives"), (c.solver, "finds")):
        most = stage.max_clusters
        if c.n_clusters is not None and most is not None and c.n_clusters > most:
            yield Problem(
                "n_clusters", f"{stage.kind} '{stage.name}' {verb} at most {most} clusters, not {c.n_clusters}"
            )


RULES: tuple[Callable[[Composition], Iterator[Problem]], ...] = (
    _chain_of_features,
    _solver_works_on_space,
    _domain_lies_among_coordinates,
    _labeler_reads_outcome,
    _solver_takes_coding,
    _targets_need_a_codec,
    _features_have_the_sign,
    _balancer_reads_costs,
    _init_works_on_space,
    _starts_are_comparable,
    _number_is_asked_for,
    _number_is_possible,
)
"""All rules, in the order in which an error names what breaks them. None of them looks at data."""


def problems(c: Composition) -> list[Problem]:
    """All reasons why a composition cannot run."""
    return [problem for rule in RULES for problem in rule(c)]


NUMBERS = "biuf"
"""Kinds of numpy's types that hold real numbers: truth values, integers and floats. Texts such as "2" and objects are
none, although numpy would convert some of them."""

LIGHTEST, HEAVIEST = 1e-30, 1e30
"""Weights other than 0 lie between these, so that their products with squares of single precision are numbers too."""


def checked_weights(sample_weight: ArrayLike, n: int) -> Array:
    """Weights of n samples as float64, (n,); a single number means n equal weights.

    Raises
    ------
    InvalidData
        If they are not n finite numbers, none below 0 and some above, or if one is out of all proportion.

    Examples
    --------
    >>> checked_weights([1, 2, 0], 3).tolist()
    [1.0, 2.0, 0.0]
    """
    try:
        as_passed = np.asarray(to_host(sample_weight))
    except (TypeError, ValueError) as error:
        raise InvalidData(f"sample_weight must be numbers, one for each sample: {error}") from error
    if as_passed.dtype.kind not in NUMBERS:
        first = f", the first one {as_passed.ravel()[:1].tolist()[0]!r}" if as_passed.size else ""
        raise InvalidData(
            f"sample_weight must be numbers, one for each sample, got values of type {as_passed.dtype}{first}"
        )
    if np.ma.is_masked(sample_weight):
        raise InvalidData("sample_weight has masked values: fill them (0 leaves a sample out of the sums)")
    weights = np.array(as_passed, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise InvalidData(f"sample_weight.shape == {weights.shape}, expected {(n,)}: one number for each sample")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise InvalidData(
            f"sample_weight of sample {wrong[0]} is {weights[wrong[0]]}; weights are finite numbers of at least 0"
        )
    odd = np.flatnonzero((weights > HEAVIEST) | ((weights > 0) & (weights < LIGHTEST)))
    if len(odd):
        raise InvalidData(
            f"sample_weight of sample {odd[0]} is {weights[odd[0]]:g}; weights are 0, or between {LIGHTEST:g} and "
            f"{HEAVIEST:g}: multiply all of them by a constant"
        )
    if not weights.any():
        raise InvalidData("sample_weight is zero for all samples; at least one must count")
    return weights


def weighted(c: Composition, sample_weight: ArrayLike | None, n: int, others: Sequence[Problem] = ()) -> Composition:
    """The composition for n samples with these weights; `others` are what counts rows outside the composition.

    Weights that are all the same say nothing about the samples: stages that count rows take these too, and the fit is
    then that without weights.

    Raises
    ------
    IncompatibleStages
        If a stage counts rows and the weights differ.
    InvalidData
        If they are no weights, or too few of them are above 0 for the number of clusters.
    """
    if sample_weight is None:
        return c
    weights = checked_weights(sample_weight, n)
    reasons = "; ".join(f"{problem.slot}: {problem.reason}" for problem in (*others, *weight_problems(c)))
    if reasons:
        if (weights == weights[0]).all():
            return c
        raise IncompatibleStages(f"sample_weight cannot be used here. {reasons}")
    positive = int((weights > 0).sum())
    if c.n_clusters is not None and positive < c.n_clusters:
        raise InvalidData(
            f"only {positive} samples have a weight above 0, fewer than n_clusters={c.n_clusters}: no cluster may be "
            "without a sample that counts"
        )
    return attrs.evolve(c, sample_weight=weights)


def weight_problems(c: Composition) -> Iterator[Problem]:
    """The stages of a composition that count rows, and ignore weights."""
    if c.featuremap.counts_rows:
        parts = getattr(c.featuremap, "maps", (c.featuremap,))
        name = next(part.name for part in parts if part.counts_rows)
        yield Problem("featuremap", f"'{name}' counts rows: one of weight 0 would change the features of the others")
    if c.path is not None and not c.path.weighted:
        yield Problem(
            "solver",
            f"'{c.solver.name}' counts rows here; 'ridge', 'centroids', 'fuzzy_cmeans', 'lapgmm' with smoothness=0 and "
            "'nmf' with update='anls' count weights on features",
        )
    if not (isinstance(c.labeler, Codec) and c.labeler.rowwise):
        yield Problem(
            "labeler", f"'{c.labeler.name}' counts rows; 'argmax', 'threshold' and 'interval' read each row by itself"
        )
    if c.balancer is not None and not c.balancer.weighted:
        yield Problem("balancer", f"'{c.balancer.name}' counts rows; balancer=None takes weights")
    if c.init is not None and not c.init.weighted:
        yield Problem(
            "init", f"'{c.init.name}' counts rows; 'kmeans', 'kmeans_mapped', 'seeds' and 'random' take weights"
        )


def linked(c: Composition, links: LinkedGroups, others: Sequence[Problem] = ()) -> Composition:
    """The composition with links between rows, which no stage breaks.

    Where scores are labelled, its balancer keeps the links, or `Solver.linked_balancer` if it has none. `others` are
    problems with links that the caller sees outside the composition.

    Raises
    ------
    IncompatibleStages
        If a stage would break them.
    """
    from clusterkit.contracts.registry import registry

    if c.balancer is None and isinstance(c.labeler, Codec):
        c = attrs.evolve(c, balancer=c.limits or registry.get("balancer", c.solver.linked_balancer)())
    reasons = "; ".join(f"{problem.slot}: {problem.reason}" for problem in (*others, *link_problems(c)))
    if reasons:
        raise IncompatibleStages(f"links and seeds cannot be used here. {reasons}")
    return attrs.evolve(c, links=links)


def link_problems(c: Composition) -> Iterator[Problem]:
    """The stages of a composition that would break links."""
    if not isinstance(c.labeler, Codec):
        if not (c.labeler.linked or issubclass(c.labeler.consumes, Domain)):
            yield Problem("labeler", f"'{c.labeler.name}' keeps no links; labelers of scores, trees and domains do")
    elif c.balancer is not None and not c.balancer.linked:
        yield Problem("balancer", f"'{c.balancer.name}' keeps no links; 'links', 'transport' and 'band' do")
