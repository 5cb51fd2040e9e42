"""Fits of the members of a pool at several numbers of clusters, and refits that show their stability.

A `PoolMember` is a recipe as a function of the number of clusters. `Votes` labels rows by the nearest rows of a sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Self, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Indices, Labels
from clusterkit.contracts import Driver, DriverResult, Predict
from clusterkit.contracts.checks import NamingStage, check_instance
from clusterkit.contracts.composition import Composition, Problem, checked_weights, linked, weighted
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.links import Links, LinksLike, checked_links, checked_seeds, linked_groups
from clusterkit.contracts.outcomes import MergeTrees
from clusterkit.contracts.providers import Recipe
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.criteria.confidence import canonical, subsample_stability, subsamples
from clusterkit.criteria.rules import most_clusters
from clusterkit.criteria.terrain import Terrain
from clusterkit.drivers import compose
from clusterkit.errors import Infeasible, InvalidParameter
from clusterkit.fitting.fit import fit
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import memory
from clusterkit.samples.limits import Report, notify, side_by_side
from clusterkit.samples.transform import block_plan

DEFAULTS: Mapping[str, object] = {
    "featuremap": "elm",
    "solver": "ridge",
    "labeler": "auto",
    "balancer": "auto",
    "init": "kmeans",
    "n_init": 1,
    "max_iter": 100,
}
"""The defaults of `clusterkit.Pipeline`, which the parameters of a recipe change."""

EFFORT = frozenset({"n_init"})
"""Parameters with which a pool saves time where a member is fitted at many numbers of clusters, and which a recipe has
its own values of where the number is given. Not the tolerance: with that of the recipe the mixture of the shapes was
worse by .02 of the mean index, as its likelihood grows by wide components across several clusters."""


@final
@attrs.frozen
class PoolMember:
    """A method of the pool.

    Parameters
    ----------
    name : str
        The recipe, with the parameters in which members of one recipe differ.
    family : str
        Kind of method: members of one family do not confirm each other.
    composition : Composition
        Composition at some number of clusters, or at None where the method finds it.
    recompose : callable or None
        Function from a number of clusters to the composition, if more than its field `n_clusters` depends on that; else
        None.
    thorough : PoolMember or None
        Variant of the member for fits at one number of clusters instead of many, with the recipe's own number of starts
        and its changes for a known number; None: the member itself.
    driver : Driver or None
        Driver that fits the composition; None: a single fit.
    """

    name: str
    family: str
    composition: Composition
    recompose: Callable[[int], Composition] | None = attrs.field(default=None, eq=False)
    thorough: PoolMember | None = None
    driver: Driver | None = attrs.field(default=None, eq=False)

    @property
    def finds_number(self) -> bool:
        """Whether the method finds the number of clusters itself."""
        return self.composition.n_clusters is None

    @property
    def takes(self) -> int | None:
        """The only number of clusters that the method makes; None if it makes any."""
        return self.composition.labeler.max_clusters

    @property
    def scales(self) -> bool:
        """Whether the member is fitted to all rows of large data: trees, whose cost grows like n log n."""
        return self.composition.solver.name == "mst" and self.driver is None

    @property
    def takes_all_rows(self) -> bool:
        """Whether the member is fitted to all rows whatever their number: graphs that are made for many."""
        return issubclass(self.composition.labeler.consumes, MergeTrees)

    def alone(self) -> PoolMember:
        """The variant of the member for a known number of clusters."""
        return self.thorough or self

    def at(self, k: int | None) -> Composition:
        """The composition at a number of clusters."""
        if self.finds_number or k is None:
            return self.composition
        return attrs.evolve(self.composition, n_clusters=k) if self.recompose is None else self.recompose(k)


def pool_of(names: Sequence[str] | None = None) -> list[PoolMember]:
    """The members of the pool.

    Parameters
    ----------
    names : sequence of str or None, default None
        Recipes; one without the trait `pool` takes part as it is. None: all registered recipes that have the trait,
        the built-in ones first.

    Raises
    ------
    UnknownName
        If there is no such recipe.
    InvalidParameter
        If a recipe is not a single fit.
    """
    if names is None:
        recipes: Iterable[Recipe] = [recipe for recipe in registry.available("recipe").values() if recipe.pool]
    else:
        recipes = [registry.get("recipe", name) for name in names]
    return [member for recipe in recipes for member in _members(recipe)]


def of_composition(
    composition: Composition,
    name: str,
    recompose: Callable[[int], Composition] | None = None,
    driver: Driver | None = None,
) -> PoolMember:
    """A composition of the user as a member, with the driver that fits it."""
    return PoolMember(name, name, composition, recompose, driver=driver)


def _members(recipe: Recipe) -> list[PoolMember]:
    if recipe.driver != "single" or recipe.parameters.get("tuner") is not None:
        raise InvalidParameter(
            f"recipe '{recipe.name}' cannot be in the pool of 'auto': members are fitted many times, so they have the "
            "driver 'single' and no tuner"
        )
    changes: Sequence[Mapping[str, object]] = recipe.pool or ({},)
    members = []
    for change in changes:
        differs = [f"{key.rpartition('__')[2]}={value}" for key, value in change.items()]
        name = f"{recipe.name}({', '.join(differs)})" if differs and len(changes) > 1 else recipe.name
        member = _member(recipe, name, change)
        lasting = {key: value for key, value in change.items() if key not in EFFORT} | dict(recipe.pool_known)
        thorough = None if lasting == change else _member(recipe, name, lasting)
        members.append(attrs.evolve(member, thorough=thorough))
    return members


def _member(recipe: Recipe, name: str, change: Mapping[str, object]) -> PoolMember:
    """The recipe with changed parameters."""
    composition, recompose = _composed({**recipe.parameters, **change}, finds_number=recipe.clusters == "found")
    return PoolMember(name, recipe.family or recipe.name, composition, recompose)


def _composed(
    parameters: Mapping[str, object], *, finds_number: bool
) -> tuple[Composition, Callable[[int], Composition] | None]:
    """The composition of a member; and a function from the number of clusters, if more than a field depends on it."""
    if finds_number:
        return composition_of(parameters, None), None
    of_two = composition_of(parameters, 2)
    try:
        composition = composition_of(parameters, compose.PLACEHOLDER)
    except ValueError:  # a method for two clusters
        return of_two, None
    same = attrs.evolve(composition, n_clusters=2) == of_two
    return composition, None if same else partial(composition_of, parameters)


def composition_of(parameters: Mapping[str, object], n_clusters: int | None) -> Composition:
    """The composition of a recipe's parameters: whole slots, and parameters of stages as ``slot__name``.

    Raises
    ------
    UnknownName, InvalidParameter, IncompatibleStages
        Raised by `clusterkit.drivers.compose.compose`.
    """
    values = {**DEFAULTS, **{key: value for key, value in parameters.items() if key in DEFAULTS}}
    for key, value in parameters.items():
        slot, _, inner = key.partition("__")
        if inner:
            stage = compose.resolve(slot, values[slot])
            assert stage is not None
            values[slot] = compose.with_parameter(slot, stage, inner, value)
    counts: dict[str, Any] = {name: cast(int, values.pop(name)) for name in ("n_init", "max_iter")}
    return compose.compose(values, n_clusters, **counts)


@final
@attrs.frozen(eq=False)
class Known:
    """Links, seeds and weights of all rows of a fit, for every candidate; one that breaks or ignores them is left out.

    Parameters
    ----------
    n : int
    links : Links or None
    seeds : ndarray of shape (n,) or None
    sample_weight : ndarray of shape (n,) or None
    """

    n: int
    links: Links | None = None
    seeds: Labels | None = None
    sample_weight: Array | None = None

    @classmethod
    def of(
        cls, n: int, k: int | None, sample_weight: ArrayLike | None, links: LinksLike | None, seeds: ArrayLike | None,
        index: object,
    ) -> Self | None:  # fmt: skip
        """What is known about n rows in k clusters; None for nothing. Links that contradict each other are refused."""
        pairs = None if links is None else checked_links(links, n, index)
        sown = None if seeds is None else checked_seeds(seeds, n, k, index)
        weights = None if sample_weight is None else checked_weights(sample_weight, n)
        if weights is not None and np.ptp(weights) == 0:  # weights that are all the same are none
            weights = None
        linked_groups(pairs, sown, n, k)
        nothing = pairs is None and sown is None and weights is None
        return None if nothing else cls(n, pairs, sown, weights)

    def on(self, c: Composition, driver: Driver | None) -> Composition:
        """The composition with links, seeds and weights; raises `IncompatibleStages` where a stage ignores them."""
        if self.sample_weight is not None:
            deaf = [] if driver is None or driver.weighted else [Problem("driver", f"'{driver.name}' counts rows")]
            c = weighted(c, self.sample_weight, self.n, deaf)
        if self.links is None and self.seeds is None:
            return c
        deaf = [] if driver is None or driver.linked else [Problem("driver", f"'{driver.name}' keeps no links")]
        return linked(c, linked_groups(self.links, self.seeds, self.n, c.n_clusters), deaf)

    def broken(self, labels: Labels) -> bool:
        """Whether labels (n,) break a link."""
        return linked_groups(self.links, self.seeds, self.n, None).broken(labels) != (0, 0)


VOTERS = 5
"""Rows that vote on a label. On 11 development sets of shapes of at least 4,000 rows, samples of 2,500 extended by 5
votes lost .017 of the mean ARI of a fit to all rows."""

BLOCK_WIDTH = 64
"""Columns for which a block of rows is planned: the neighbours and their distances."""


@final
@attrs.frozen(eq=False)
class Votes:
    """Labels new rows by the most frequent label among their nearest labelled rows.

    A frozen callable, so that a fit can be saved. If labels have equally many votes, that of the nearest row wins.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    labels : ndarray of shape (m,)
    voters : int
        Number of nearest rows that vote.
    """

    rows: Array = attrs.field(validator=array("m d"))
    labels: Labels = attrs.field(validator=array("m", least=0, most="m"))
    voters: int = attrs.field(default=VOTERS, validator=scalar(least=1))

    def __call__(self, Y: Array) -> Labels:
        """Labels of rows Y, (p,)."""
        from sklearn.neighbors import NearestNeighbors

        voters = min(self.voters, len(self.rows))
        if Y.shape[1] != self.rows.shape[1]:
            raise ValueError(f"rows of {Y.shape[1]} numbers among rows of {self.rows.shape[1]}")
        index = NearestNeighbors(n_neighbors=voters).fit(self.rows)
        labels = np.empty(len(Y), dtype=np.intp)
        for rows in block_plan(len(Y), BLOCK_WIDTH, np.float64):
            votes = self.labels[index.kneighbors(Y[rows], return_distance=False)]
            counts = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
            labels[rows] = votes[np.arange(len(votes)), np.argmax(counts, axis=1)]  # the first, hence nearest, maximum
        return labels


@final
@attrs.frozen(eq=False)
class Complete:
    """A function that labels new rows, with the nearest labelled row where it calls them noise.

    Parameters
    ----------
    predict : callable
        Rows to labels, of which -1 is noise.
    nearest : Votes
    """

    predict: Predict
    nearest: Votes

    def __call__(self, Y: Array) -> Labels:
        """Labels of rows Y, (p,), none of them -1."""
        labels = np.array(self.predict(Y), dtype=np.intp)
        noise = labels < 0
        if noise.any():
            labels[noise] = self.nearest(Y[noise])
        return labels


PAIRS = 16
"""Bytes for each pair of rows that a fit of a pool may need: a kernel matrix and a copy of it."""

FAILURES = (ValueError, RuntimeError, ArithmeticError)
"""Errors that a member may raise on data for which its method fails: of the library, of linear algebra and of ARPACK.
The fit goes on with the other members."""


@final
@attrs.frozen(eq=False)
class PoolCandidate:
    """A clustering to choose among.

    Parameters
    ----------
    member : PoolMember
    number : int or None
        Number of clusters that the method was fitted with; None where it finds the number.
    labels : ndarray of shape (m,)
        Labels 0..k-1 of the scored rows, every one of which occurs.
    """

    member: PoolMember
    number: int | None
    labels: Labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters among the scored rows."""
        return int(self.labels.max()) + 1


@final
@attrs.frozen(eq=False)
class Fits:
    """The fits of one run, with the rows that they are made and compared on.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    scored : ndarray of int or None
        Rows on which candidates are compared; None: all.
    trees_on_all : bool
        Whether recipes that are fast enough for many rows, those of trees, are fitted to all rows of X; all other
        recipes are fitted to the rows in `scored` only.
    seeds : Seeds
    space : ndarray of shape (n, r) or None
        The coordinates in which candidates are compared; None: X.
    known : Known or None
        Links, seeds and weights of the rows.
    """

    X: Array
    scored: Indices | None
    trees_on_all: bool
    seeds: Seeds
    space: Array | None = None
    known: Known | None = None
    failures: dict[str, Exception] = attrs.field(factory=dict, init=False)
    errors: dict[tuple[str, int | None], tuple[str, Exception]] = attrs.field(factory=dict, init=False)
    S: Array = attrs.field(init=False)
    parts: tuple[Indices, ...] = attrs.field(init=False)
    _part_rows: tuple[Array, ...] = attrs.field(init=False)
    _refits: dict[tuple[int, str, int | None], Labels | None] = attrs.field(factory=dict, init=False)

    @S.default
    def _rows_scored(self) -> Array:
        return self.X if self.scored is None else np.ascontiguousarray(self.X[self.scored])

    @parts.default
    def _halves(self) -> tuple[Indices, ...]:
        return subsamples(len(self.S), self.seeds.stream("subsamples"))

    @_part_rows.default
    def _rows_of_parts(self) -> tuple[Array, ...]:
        # kept, because fits to one array share what they compute from it
        return tuple(np.ascontiguousarray(self.S[rows]) for rows in self.parts)

    def terrain(self) -> Terrain:
        """Facts about the samples by which candidates are compared."""
        if self.space is None:
            return Terrain.of(self.S)
        return Terrain.of(self.space if self.scored is None else self.space[self.scored])

    def on_all_rows(self, member: PoolMember) -> bool:
        """Whether a member is fitted to all rows."""
        return self.scored is None or (self.trees_on_all and member.scales) or member.takes_all_rows

    def fit(self, member: PoolMember, k: int | None) -> DriverResult:
        """The fit of a member, with its warnings; equal in every call."""
        X = self.X if self.on_all_rows(member) else self.S
        return fit_member(member, k, X, self._seeds(member, k), self.known)

    @property
    def most_at_once(self) -> int:
        """Fits that the memory cap allows at once, if each has a matrix of all pairs of the rows that are compared."""
        return max(1, memory.cap() // (PAIRS * len(self.S) ** 2))

    def candidate(self, member: PoolMember, k: int | None, terrain: Terrain) -> tuple[PoolCandidate | None, bool]:
        """A candidate: a member at a number of clusters; and whether Ctrl-C ended its fit early.

        None where it fails, finds fewer than two clusters, or so many that the mean cluster has less than √m rows.
        """
        try:
            fitted = self.fit(member, k).fit
        except FAILURES as error:
            # links that hold with many clusters may be impossible with few
            only_here = self.known is not None and isinstance(error, Infeasible)
            self.errors[member.name, k] = f"{member.name} at {k}" if only_here else member.name, error
            return None, False
        labels = fitted.labels if self.scored is None or not self.on_all_rows(member) else fitted.labels[self.scored]
        if (labels < 0).all():
            return None, fitted.interrupted
        labels = terrain.adopted(labels)
        if self.known is not None and self.known.broken(labels):
            self.errors[member.name, k] = member.name, Infeasible("its noise has no cluster that keeps the links")
            return None, fitted.interrupted
        labels = canonical(labels)
        many = member.finds_number and labels.max() >= most_clusters(len(labels))
        usable = labels.max() > 0 and not many
        return (PoolCandidate(member, k, labels) if usable else None), fitted.interrupted

    def _stability(self, candidate: PoolCandidate) -> float:
        return subsample_stability(candidate.labels, self.parts, lambda part: self._refit(part, candidate))

    def _refit(self, part: int, candidate: PoolCandidate) -> Labels | None:
        member, k = candidate.member, candidate.number
        place = (part, member.name, k)
        if place not in self._refits:
            rows = self._part_rows[part]
            labels: Labels | None = None
            if k is None or 1 <= k <= len(rows):
                try:
                    again = fit_member(member, k, rows, self._seeds(member, k).child("part", part)).fit
                    if again.interrupted:
                        raise KeyboardInterrupt
                    labels = again.labels
                except FAILURES:  # too few rows for this method: nothing is found again
                    labels = None
            self._refits[place] = labels
        return self._refits[place]

    def stabilities(self, candidates: Sequence[PoolCandidate]) -> list[float]:
        """Mean agreement of each candidate with refits of its method to two disjoint parts of the rows.

        Raises
        ------
        KeyboardInterrupt
            Raised also if Ctrl-C ended a refit early, whose labels would count against the candidate.
        """
        values: list[float] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the candidate itself say more
            for value in side_by_side(self._stability, candidates, self.most_at_once):
                values.append(value)
                notify(Report("stability", len(values), len(candidates)))
        return values

    def complete(self, candidate: PoolCandidate, fitted: FitResult, terrain: Terrain) -> FitResult:
        """The final fit: labels of all rows, without noise, and a function that labels new ones.

        Rows that the method called noise follow the tree to a cluster, or, if the tree is of a sample, their nearest
        row that has a label. Rows outside a sample get the label of most of their 5 nearest rows in it.
        """
        noisy = bool((fitted.labels < 0).any())
        if not self.on_all_rows(candidate.member):
            votes = Votes(self.S, candidate.labels)
            return self._with(fitted, votes(self.X), votes)
        if not noisy:
            nearest = Votes(self.X, fitted.labels, 1)
            predict = nearest if fitted.predict is None else fitted.predict
            if fitted.predict is not None and candidate.member.finds_number:
                # such a method may call new rows noise, although none of the training rows is noise
                predict = Complete(fitted.predict, nearest)
            return attrs.evolve(fitted, predict=predict, exact=fitted.exact and fitted.predict is not None)
        if self.scored is None:
            labels = terrain.adopted(fitted.labels)
        else:
            has = fitted.labels >= 0
            labels = np.array(fitted.labels)
            labels[~has] = Votes(self.X[has], labels[has], 1)(self.X[~has])
        nearest = Votes(self.X, labels, 1)
        predict = nearest if fitted.predict is None else Complete(fitted.predict, nearest)
        return self._with(fitted, labels, predict)

    def _with(self, fitted: FitResult, labels: Labels, predict: Votes | Complete) -> FitResult:
        labels = np.array(labels, dtype=np.intp)
        labels.flags.writeable = False
        return attrs.evolve(fitted, labels=labels, predict=predict, exact=False, memberships=None, outlier_scores=None)

    def _seeds(self, member: PoolMember, k: int | None) -> Seeds:
        return self.seeds.child(member.name, 0 if k is None else k)


def run_driver(driver: Driver, composition: Composition, X: Array, seeds: Seeds) -> DriverResult:
    """The checked result of a driver."""
    with NamingStage(driver):
        answer = driver.run([composition], X, seeds)
    check_instance(driver, "run", answer, DriverResult)
    return answer


def fit_member(member: PoolMember, k: int | None, X: Array, seeds: Seeds, known: Known | None = None) -> DriverResult:
    """A member at k clusters, by its driver if it has one, with what is known about the rows."""
    composition = member.at(k) if known is None else known.on(member.at(k), member.driver)
    if member.driver is None:
        return DriverResult(fit(composition, X, seeds))
    return run_driver(member.driver, composition, X, seeds)
