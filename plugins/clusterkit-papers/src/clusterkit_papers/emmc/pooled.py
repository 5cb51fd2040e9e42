"""Fits under several random feature maps; each winner is judged under all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.contracts import Driver, DriverResult, params
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.iteration import first_least
from clusterkit.contracts.outcomes import Ending
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages
from clusterkit.fitting.fit import BoundComposition, bind, run
from clusterkit.fitting.samples import ArrayOrSamples, ArraySamples, as_samples
from clusterkit.numerics.threads import THIN, estimated_elements
from clusterkit.samples.limits import Report, notify, side_by_side

__all__ = ["MapFits", "PooledDriver", "agreement", "fit_under_maps", "require_judgeable", "summed_objectives"]


@final
@attrs.frozen
class PooledDriver(Driver):
    """Fits a composition under several random maps and returns the labels whose objective, summed over maps, is lowest.

    For objectives with good optima but many bad ones, such as EMMC from random starts: the labels that one map prefers
    are judged by the other maps, which did not choose them. Costs `n_maps` fits and ``n_maps²`` solves, and the memory
    of `n_maps` spaces. The sum of objectives is in `summed_objectives`.

    Parameters
    ----------
    n_maps : int, default 5
        Number of random maps.
    """

    name: ClassVar[str] = "pooled"
    weighted: ClassVar[bool] = True
    linked: ClassVar[bool] = True
    trial: ClassVar[dict[str, int]] = {"n_maps": 2}
    on_devices: ClassVar[bool] = True

    n_maps: int = params.integer(5, at_least=1, at_most=params.MOST_REPEATS)

    def run(self, compositions: Sequence[Composition], X: ArrayOrSamples, seeds: Seeds) -> DriverResult:
        """Fit the one composition to X, shape (n, d), or samples of a device, under `n_maps` maps.

        The report has "agreement" (mean accuracy between the winners of two maps, matched by the Hungarian method; nan
        for one map), "pooled" (the summed objective of each map's winner, shape (maps fitted,)) and "winner" (the index
        of its least entry). Ctrl-C ends the search with the maps that are done, at least one.
        """
        c = self.single(compositions)
        require_judgeable(c, self.name)
        fits = fit_under_maps([c], X, seeds, self.n_maps)
        labelings = [winner.labels for winner in fits.winners]
        pooled = summed_objectives(fits.bound_compositions, labelings, lambda bound, labels: bound.objective(labels))
        index = first_least(pooled.tolist(), fits.bound_compositions[0].space.dtype)
        answer = fits.winners[index]
        if fits.interrupted:
            reason = f"interrupted: the best of {len(labelings)} maps is kept"
            answer = attrs.evolve(answer, ending=Ending.INTERRUPTED, reason=reason)
        return DriverResult(answer, {"agreement": agreement(labelings), "pooled": pooled, "winner": index})


@final
@attrs.frozen(eq=False)
class MapFits:
    """The best fit under each of several random maps.

    Parameters
    ----------
    bound_compositions : tuple of BoundComposition
        Composition of each map, bound to the samples.
    winners : tuple of FitResult
        The fit with the lowest objective under each map.
    interrupted : bool
        Whether Ctrl-C ended the search; there may then be fewer maps than asked for, but at least one.
    """

    bound_compositions: tuple[BoundComposition, ...]
    winners: tuple[FitResult, ...]
    interrupted: bool


def fit_under_maps(compositions: Sequence[Composition], X: ArrayOrSamples, seeds: Seeds, n_maps: int) -> MapFits:
    """Fit compositions under several random maps.

    Parameters
    ----------
    compositions : sequence of Composition
        Compositions with the same feature map and solver, which differ in their starts; under each map all are fitted.
    X : ndarray of shape (n, d), or samples of a device
    seeds : Seeds
        Map number i has the child ``("map", i)``.
    n_maps : int

    Raises
    ------
    KeyboardInterrupt
        If it is pressed before the first map is done.
    """
    bound_compositions: list[BoundComposition] = []
    winners: list[FitResult] = []
    interrupted = False

    def under_map(index: int) -> tuple[BoundComposition, FitResult, bool]:
        bound = bind(compositions[0], X, seeds.child("map", index))
        runs: list[FitResult] = []
        for c in compositions:
            runs.append(run(attrs.evolve(bound, composition=c)).on_host())
            if runs[-1].interrupted:
                break
        winner = runs[first_least([candidate.objective for candidate in runs], bound.space.dtype)]
        return bound, winner, runs[-1].interrupted

    # the passes of a large fit use all cores themselves
    samples = as_samples(X)
    is_small = isinstance(samples, ArraySamples) and estimated_elements(samples.n) < THIN
    try:
        for bound, winner, interrupted in side_by_side(under_map, range(n_maps), None if is_small else 1):
            bound_compositions.append(bound)
            winners.append(winner)
            notify(Report("maps", len(winners), n_maps, winner.objective))
            if interrupted:
                break
    except KeyboardInterrupt:
        if not winners:
            raise
        interrupted = True
    return MapFits(tuple(bound_compositions), tuple(winners), interrupted)


def summed_objectives(
    bound_compositions: Sequence[BoundComposition],
    labelings: Sequence[Labels],
    objective: Callable[[BoundComposition, Labels], float],
) -> Array:
    """The objective of each labelling, summed over all maps, shape (number of labellings,)."""
    return np.array([math.fsum(objective(bound, labels) for bound in bound_compositions) for labels in labelings])


def agreement(labelings: Sequence[Labels]) -> float:
    """Mean accuracy over all pairs of labellings, matched by the Hungarian method; nan for a single labelling."""
    from clusterkit.metrics import clustering_accuracy

    pairs = [(i, j) for i in range(len(labelings)) for j in range(i)]
    if not pairs:
        return math.nan
    return math.fsum(clustering_accuracy(labelings[i], labelings[j]) for i, j in pairs) / len(pairs)


def require_judgeable(c: Composition, driver: str) -> None:
    """Refuse a composition under whose solver labels cannot be judged.

    Raises
    ------
    IncompatibleStages
    """
    if not c.solver.has_objective:
        raise IncompatibleStages(f"driver '{driver}' compares maps by objective, but solver '{c.solver.name}' has none")
    if c.solver.targets == "never":
        raise IncompatibleStages(
            f"driver '{driver}' judges labels under other maps, but solver '{c.solver.name}' learns from no labels"
        )
