"""Fits under several random maps, with complexity, width and start chosen without labels.

The choice is by the gap of a composition (`Gaps`): how much lower its objective is on the data than on data without
clusters. The gap compares complexities and widths as Tibshirani, Walther and Hastie (2001) compare numbers of clusters.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import numbers
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Balancer, Driver, DriverResult, FeatureMap, Partitioner, params
from clusterkit.contracts.arguments import InitLike
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.featuremap import Chain, maps_of
from clusterkit.contracts.iteration import first_least
from clusterkit.contracts.outcomes import Ending
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers import compose
from clusterkit.errors import ClusterkitWarning, InvalidParameter, UnknownName
from clusterkit.fitting.fit import BoundComposition, bind, fit, run
from clusterkit.fitting.samples import ArrayOrSamples, as_samples
from clusterkit.samples.limits import Report, notify
from clusterkit_papers.emmc.pooled import agreement, fit_under_maps, require_judgeable, summed_objectives

__all__ = [
    "NODES",
    "AutoPooledDriver",
    "Complexity",
    "Gaps",
    "halvings",
    "map_parameter",
    "reference",
    "scale_free",
    "scale_free_objective",
    "with_complexity",
    "with_map_parameters",
]


ROWS = 1000
"""Largest number of rows that a gap is measured on; more rows would cost time only, because the gap chooses parameters,
not labels."""

NODES = 300
"""Largest number of random nodes of the map while a gap is measured or attributes are halved, for the same reason."""

Complexity: TypeAlias = tuple[float | None, float | None]
"""Effective degrees of freedom (df) of the solver and width of the map; None means the composition's own value."""


def map_parameter(featuremap: FeatureMap, name: str) -> object:
    """A parameter of the last map of a chain (or of the only map); None if that map has no such parameter."""
    return maps_of(featuremap)[-1].parameters().get(name)


def with_map_parameters(featuremap: FeatureMap, **values: object) -> FeatureMap:
    """The map with parameters of its last part changed; parameters that this part does not have are ignored."""
    last = maps_of(featuremap)[-1]
    known = last.parameters()
    last = last.with_parameters(**{name: value for name, value in values.items() if name in known})
    return Chain((*featuremap.maps[:-1], last)) if isinstance(featuremap, Chain) else last


def with_complexity(c: Composition, df: float | None, width: float | None) -> Composition:
    """The composition with another df and another width; None leaves the value as it is."""
    if df is not None:
        c = attrs.evolve(c, solver=c.solver.with_parameters(df=df))
    if width is not None:
        c = attrs.evolve(c, featuremap=with_map_parameters(c.featuremap, width=width))
    return c


def reference(X: Array, rng: Rng) -> Array:
    """A Gaussian sample of shape (n, d) with the mean and the covariance of the rows of X: same shape, no clusters."""
    centre = X.mean(axis=0, dtype=np.float64)
    spread = (X - centre) / math.sqrt(max(1, len(X) - 1))
    if len(X) > ROWS:
        spread = np.linalg.qr(spread, mode="r")  # the same covariance from min(n, d) rows
    return (centre + rng.standard_normal((len(X), len(spread))) @ spread).astype(X.dtype)


def scale_free(bound: BoundComposition, objective: float) -> float:
    """An objective without its factor C.

    For the same complexity C is larger for another map or other data, so that objectives themselves cannot be compared.
    """
    return objective / bound.objective_factor


def scale_free_objective(bound: BoundComposition, labels: Labels) -> float:
    """The objective of labels, shape (n,), without its factor C."""
    return scale_free(bound, bound.objective(labels))


def _bounds_are_relative(balancer: Balancer | None) -> bool:
    """Whether the bounds on sizes are fractions of the number of rows, which hold for a part of the rows too."""
    values = [] if balancer is None else balancer.parameters().values()
    return all(value is None or isinstance(value, str | float) for value in values)


@final
@attrs.frozen(eq=False)
class Gaps:
    """Measures the gap of a composition at any complexity and width.

    Parameters
    ----------
    composition : Composition
        The composition, with random starts.
    samples : tuple of ndarray
        The data sets to fit: the data themselves `n_real` times, each time under another random map, followed by the
        references.
    n_real : int
    seeds : Seeds
    """

    composition: Composition
    samples: tuple[Array, ...]
    n_real: int
    seeds: Seeds

    @classmethod
    def of(
        cls, c: Composition, samples: ArrayOrSamples, n_real: int, n_references: int, starts: int, seeds: Seeds
    ) -> Gaps:
        """Gaps on at most 300 nodes and 1000 rows of the samples, (n, d), which are brought to the host.

        All rows are used where the bounds on sizes are numbers of rows, because these do not hold for a part of them.
        """
        samples, index = as_samples(samples), None
        if len(samples) > ROWS and _bounds_are_relative(c.balancer or c.limits):
            index = np.sort(seeds.stream("rows").choice(len(samples), ROWS, replace=False))
        X = (
            samples.gather(index)
            if index is not None
            else samples.whole(
                f"the {len(samples):,} samples that this comparison needs on the host",
                "Give the bounds on the sizes of clusters as shares, which hold for a part of the samples too.",
            )
        )
        featuremap = c.featuremap
        if map_parameter(featuremap, "scale") == "minmax" and not isinstance(featuremap, Chain):
            # scale before the references are drawn: the ranges of a reference itself would weigh attributes differently
            low, high = X.min(axis=0), X.max(axis=0)
            X = 2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0
            featuremap = with_map_parameters(featuremap, scale=None)
        nodes = cast("int | None", map_parameter(featuremap, "n_hidden")) or len(X)
        featuremap = with_map_parameters(featuremap, n_hidden=min(nodes, NODES, len(X)))
        references = [reference(X, seeds.stream("reference", i)) for i in range(n_references)]
        c = attrs.evolve(c, featuremap=featuremap, n_init=starts)
        return cls(c, (*(X for _ in range(n_real)), *references), n_real, seeds)

    def over(self, complexities: Sequence[Complexity], report_fit: Callable[[], None]) -> Mapping[Complexity, float]:
        """The gap at each pair of df and width; `report_fit` is called after each fit.

        The gap is the mean of log(objective / C) over the references minus the mean over the data: by how many factors
        e the best objective is lower than without clusters. References, maps and starts are the same for all pairs.

        Raises
        ------
        KeyboardInterrupt
            Raised also if Ctrl-C ended one of the fits early.
        """
        logs = {complexity: np.empty(len(self.samples)) for complexity in complexities}
        for i, X in enumerate(self.samples):
            bound_at: dict[float | None, BoundComposition] = {}
            for df, width in complexities:
                c, seeds = with_complexity(self.composition, df, width), self.seeds.child("fit", i)
                if width in bound_at:
                    before = bound_at[width]
                    prepared = c.solver.prepare(before.space, before.task, seeds.stream("solver", "prepare"))
                    bound = attrs.evolve(before, composition=c, prepared=prepared)
                else:
                    bound = bound_at[width] = bind(c, X, seeds)
                fit = run(bound)
                if fit.interrupted:
                    raise KeyboardInterrupt
                least = scale_free(bound, fit.objective)
                logs[df, width][i] = math.log(max(least, np.finfo(np.float64).tiny))
                report_fit()
        return {
            complexity: float(values[self.n_real :].mean() - values[: self.n_real].mean())
            for complexity, values in logs.items()
        }


MAPS_OF_DATA = 2
"""Number of random maps of the data whose mean is one side of a gap; with a single map the gap would depend on
chance."""


def _positive_numbers(value: Any) -> str | None:
    positive = isinstance(value, tuple) and all(
        isinstance(number, numbers.Real) and 0 < float(number) < math.inf for number in value
    )
    return None if positive and value else "a non-empty list of numbers > 0"


def _positive_numbers_or_none(value: Any) -> str | None:
    return None if value is None or _positive_numbers(value) is None else "a non-empty list of numbers > 0, or None"


def _floats(value: Any) -> Any:
    """A sequence of numbers as a tuple of floats; anything else unchanged, for the check to refuse."""
    try:
        return value if value is None else tuple(float(number) for number in value)
    except (TypeError, ValueError):
        return value


def _limit(value: Any) -> str | None:
    fine = 0 < params.as_float(value) <= params.LARGEST or value == math.inf
    return None if fine else "a number > 0, or inf"


def _start(value: Any) -> str | None:
    named = (isinstance(value, str) and value) or isinstance(value, Partitioner)
    return None if named else "the name of a partitioner or a recipe, a dict with 'name', or a partitioner"


def _partitioner(value: Any) -> Any:
    """A mapping as the stage with its name, because parameters of a stage are hashable; anything else unchanged."""
    if not isinstance(value, Mapping):
        return value
    try:
        return compose.resolve("init", value, "start")
    except (UnknownName, InvalidParameter) as error:
        raise type(error)(f"driver 'auto_pooled': start: {error}") from error


@final
@attrs.frozen
class AutoPooledDriver(Driver):
    """Chooses complexity, width and start itself, by comparison with data without clusters.

    1. **The safe answer**: one fit from `start` with the complexity and width of the composition, equal to the fit of
       the driver ``single`` with the same seeds.
    2. **Complexity**, where `df` and `C` of the solver are None: the one with the largest gap between the lowest
       objective on Gaussian samples of the same covariance and the lowest objective on the data; then, if `widths` is
       not None, the **width** with the largest gap at this complexity.
    3. **The search**: under each map the best of the composition's own starts and of one start from `start`. The winner
       has the lowest objective summed over all maps, with the safe answer among the candidates.
    4. **The check**: winner and safe answer are solved in random halves of the attributes. If the winner's objective is
       more than `limit` times the objective of the safe answer in one of them, the winner rests on few attributes, and
       the safe answer is returned.

    The gap is in `Gaps.over`, the search in `fit_under_maps`, the check in `_ratios_in_halves`. The gap is measured on
    at most 1000 rows and 300 nodes, with two maps of the data: ``n_references + 2`` fits of `n_trials` starts for each
    complexity and each further width. Gaps of neighbouring complexities differ by little more than their noise, so that
    long lists are less safe than the default. The check depends on the axes.

    Parameters
    ----------
    n_maps : int, default 5
        Random maps of the search.
    degrees : sequence of float, default (20, 25, 30)
        Effective degrees of freedom (df) of the solver to choose from.
    widths : sequence of float or None, default None
        Widths to choose from. With None, or for a map without this parameter, the width stays as it is.
    n_references : int, default 3
        Number of Gaussian samples.
    n_trials : int, default 15
        Starts of each fit that measures a gap. With fewer starts than in the search a complexity wins only where good
        labels are still reached from few starts.
    n_halvings : int, default 4
        Number of times that the attributes are halved at random; both halves are used.
    limit : float, default 3
        Largest accepted ratio of the two objectives in a half; infinity accepts the winner always.
    start : str, dict or Partitioner, default "kmeans"
        The start of the safe answer: a partitioner, or any recipe by name.

    References
    ----------
    Tibshirani, Walther, Hastie (2001), Estimating the number of clusters in a data set via the gap statistic, Journal
    of the Royal Statistical Society B 63: the logarithm of the objective against reference data. There it compares
    numbers of clusters.
    """

    name: ClassVar[str] = "auto_pooled"
    trial: ClassVar[Mapping[str, object]] = {
        "n_maps": 2, "degrees": (8.0, 12.0), "n_references": 1, "n_trials": 2, "n_halvings": 1,
    }  # fmt: skip

    on_devices: ClassVar[bool] = True

    n_maps: int = params.integer(5, at_least=1, at_most=params.MOST_REPEATS)
    degrees: tuple[float, ...] = params.free(
        (20.0, 25.0, 30.0), _positive_numbers, invalid=((), (0.0,), "broad", 3), converter=_floats
    )
    widths: tuple[float, ...] | None = params.free(
        None, _positive_numbers_or_none, invalid=((), (-1.0,), "broad", 3), converter=_floats
    )
    n_references: int = params.integer(3, at_least=1, at_most=params.MOST_REPEATS)
    n_trials: int = params.integer(15, at_least=1, at_most=params.MOST_REPEATS)
    n_halvings: int = params.integer(4, at_least=1, at_most=params.MOST_REPEATS)
    limit: float = params.free(3.0, _limit, invalid=(0.0, -1.0, "high", math.nan))
    start: InitLike = params.free("kmeans", _start, invalid=(None, "", 3), converter=_partitioner)  # noqa: RUF009

    def run(self, compositions: Sequence[Composition], X: ArrayOrSamples, seeds: Seeds) -> DriverResult:
        """Fit the one composition to X, shape (n, d), or samples of a device, whose gaps are measured on the host.

        The report has "agreement", "pooled" and "winner" as of the driver ``pooled`` (the last entry of "pooled" is the
        safe answer), "gaps" (the gap of each pair of df and width), "halves" (the objective of the winner divided by
        the objective of the safe answer, in each half) and "chosen": "winner", "safe" or "same". An interrupted search
        returns the safe answer, because the winner is not checked yet.
        """
        c = self.single(compositions)
        require_judgeable(c, self.name)
        findings = Findings()
        if c.n_clusters == 1:
            one = attrs.evolve(findings, agreement=1.0, pooled=np.zeros(self.n_maps))
            return DriverResult(fit(c, X, seeds).on_host(), one.report())
        start = compose.resolve_as(Partitioner, "init", self.start)
        careful = attrs.evolve(c, init=start, n_init=1)
        safe = run(bind(careful, X, seeds)).on_host()  # the streams of a single fit, so that this is its result
        if safe.interrupted:
            return DriverResult(safe, attrs.evolve(findings, chosen="safe").report())
        if not _spreads(X).any():
            return DriverResult(safe, findings.report())
        answer = safe
        try:
            for latest in self._search(c, start, safe, X, seeds):
                findings = latest
        except KeyboardInterrupt:
            findings = attrs.evolve(findings, chosen="safe")
            reason = f"interrupted: the labels from init '{start.name}' are kept"
            answer = attrs.evolve(safe, ending=Ending.INTERRUPTED, reason=reason)
        else:
            assert findings.best is not None
            if np.all(findings.halves <= self.limit):
                answer = findings.best
            else:
                findings = attrs.evolve(findings, chosen="safe")
        resolved: dict[str, Any] = {**answer.resolved, "tuner": findings.facts()}
        if answer.labels is not safe.labels:  # the map and the solver of the answer have the values chosen
            for slot, name, value in (("solver", "df", findings.df), ("featuremap", "width", findings.width)):
                if value is not None:
                    resolved[slot] = {name: value, **resolved.get(slot, {})}
        return DriverResult(attrs.evolve(answer, resolved=resolved), findings.report())

    def _search(
        self, c: Composition, start: Partitioner, safe: FitResult, X: ArrayOrSamples, seeds: Seeds
    ) -> Iterator[Findings]:
        """Findings after each step (complexity, width, search, check), so that an interruption keeps the last."""
        findings = Findings()
        for findings in self._complexity(c, X, seeds.child("gap")):
            yield findings
        c = with_complexity(c, findings.df, findings.width)
        findings = self._pooled(findings, c, start, safe, X, seeds)
        yield findings
        assert findings.best is not None
        if agreement([findings.best.labels, safe.labels]) < 1.0:
            ratios = self._ratios_in_halves(c, X, findings.best.labels, safe.labels, seeds)
            yield attrs.evolve(findings, chosen="winner", halves=ratios)

    def _complexity(self, c: Composition, X: ArrayOrSamples, seeds: Seeds) -> Iterator[Findings]:
        """Findings with the df of largest gap, then with the width of largest gap at this df.

        A value stays None if there are no choices.
        """
        solver = c.solver.parameters()
        is_open = "df" in solver and solver["df"] is None and solver.get("C") is None
        degrees: list[float | None] = [*self.degrees] if is_open else [None]
        present = cast("float | None", map_parameter(c.featuremap, "width"))
        widths = [] if present is None or self.widths is None else list(self.widths)
        if len(degrees) == 1 and len(widths) < 2:
            yield Findings(df=degrees[0], width=widths[0] if widths else None)
            return
        # choose the df at the width nearest to the present one
        first = (
            min(widths, key=lambda value: abs(math.log(value / present))) if present is not None and widths else None
        )
        others = [value for value in widths if value != first]
        measured = Gaps.of(c, X, MAPS_OF_DATA, self.n_references, self.n_trials, seeds)
        total, count = (len(degrees) + len(others)) * len(measured.samples), itertools.count(1)

        def report_fit() -> None:
            notify(Report("gaps", next(count), total))

        with _without_warnings():  # warnings would be about references, which are not the data
            gaps = dict(measured.over([(df, first) for df in degrees], report_fit))
        df = max(degrees, key=lambda value: gaps[value, first])
        yield Findings(gaps=dict(gaps))
        with _without_warnings():
            gaps.update(measured.over([(df, width) for width in others], report_fit))
        yield Findings(gaps=gaps, df=df, width=max([first, *others], key=lambda value: gaps[df, value]))

    def _pooled(
        self, findings: Findings, c: Composition, start: Partitioner, safe: FitResult, X: ArrayOrSamples, seeds: Seeds
    ) -> Findings:
        """Findings with the labels of lowest objective over all maps."""
        fits = fit_under_maps([c, attrs.evolve(c, init=start, n_init=1)], X, seeds, self.n_maps)
        if fits.interrupted:
            raise KeyboardInterrupt
        candidates = [*fits.winners, safe]
        pooled = summed_objectives(fits.bound_compositions, [fit.labels for fit in candidates], scale_free_objective)
        index = first_least(pooled.tolist(), fits.bound_compositions[0].space.dtype)
        return attrs.evolve(
            findings,
            agreement=agreement([fit.labels for fit in fits.winners]),
            pooled=pooled,
            winner=index,
            best=candidates[index],
        )

    def _ratios_in_halves(self, c: Composition, X: ArrayOrSamples, winner: Labels, safe: Labels, seeds: Seeds) -> Array:
        """Objective of the winner over the objective of the safe answer, in halves of the attributes that vary."""
        present = cast("int | None", map_parameter(c.featuremap, "n_hidden"))
        nodes = min(present or len(X), NODES, len(X))
        c = attrs.evolve(c, featuremap=with_map_parameters(c.featuremap, n_hidden=nodes))
        parts = halvings(np.flatnonzero(_spreads(X) > 0), self.n_halvings, seeds.stream("halves"))
        ratios = []
        for i, part in enumerate(parts):
            with _without_warnings():  # about half of the attributes only
                bound = bind(c, as_samples(X).columns(part), seeds.child("half", i))
                ratios.append(bound.objective(winner) / max(bound.objective(safe), np.finfo(np.float64).tiny))
            notify(Report("halves", i + 1, len(parts)))
        return np.array(ratios)


@final
@attrs.frozen(eq=False)
class Findings:
    """State of a search after one of its steps.

    Parameters
    ----------
    gaps : mapping
        The gap of each pair of df and width measured.
    df, width : float or None
        The values chosen; None where there was no choice, or none yet.
    agreement : float
        Mean accuracy between the winners of two maps.
    pooled : ndarray of shape (n_maps + 1,)
        Summed objective, without the factors C, of each map's winner and of the safe answer.
    winner : int
        Index of the least entry of `pooled`.
    best : FitResult or None
        The fit of that index; None before the search.
    halves : ndarray of shape (2 n_halvings,)
        Ratios of the check; empty if there was none.
    chosen : {"winner", "safe", "same"}
    """

    gaps: Mapping[Complexity, float] = attrs.field(factory=dict)
    df: float | None = None
    width: float | None = None
    agreement: float = math.nan
    pooled: Array = attrs.field(factory=lambda: np.array([math.nan]))
    winner: int = 0
    best: FitResult | None = None
    halves: Array = attrs.field(factory=lambda: np.empty(0))
    chosen: str = "same"

    def report(self) -> dict[str, object]:
        """The report of the driver."""
        names = ("agreement", "pooled", "winner", "halves", "chosen")
        return {**{name: getattr(self, name) for name in names}, "gaps": dict(self.gaps)}

    def facts(self) -> dict[str, object]:
        """The entry "tuner" among the parameters that the fit decided."""
        return {
            "name": "gap",
            "chosen": self.chosen,
            "df": self.df,
            "width": self.width,
            "gaps": dict(self.gaps),
            "pooled": tuple(self.pooled.tolist()),
            "worst_half": float(self.halves.max(initial=1.0)),
        }


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress `ClusterkitWarning`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        yield


def halvings(attributes: Indices, times: int, rng: Rng) -> list[Indices]:
    """Random halves of the attribute numbers, each followed by its complement; none for a single attribute."""
    if len(attributes) < 2:
        return []
    parts: list[Indices] = []
    for _ in range(times):
        shuffled = rng.permutation(attributes)
        parts += [np.sort(part) for part in np.array_split(shuffled, 2)]
    return parts


def _spreads(X: ArrayOrSamples) -> Array:
    """Largest minus smallest value of each attribute, (d,)."""
    low, high = as_samples(X).extremes()
    return high - low
