"""An estimator that runs any driver over a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import attrs
from sklearn.base import ClusterMixin, clone

from clusterkit._typing import Array, ArrayLike, RandomState
from clusterkit.contracts import Driver
from clusterkit.contracts.arguments import DriverLike, NumberLike, SamplesLike
from clusterkit.contracts.composition import Composition, Problem
from clusterkit.contracts.links import LinksLike
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers import compose
from clusterkit.drivers.auto_fits import run_driver
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import IncompatibleStages, InvalidParameter, UnknownName
from clusterkit.estimators import same_place
from clusterkit.estimators.base import FittedAttributes, NestedParams
from clusterkit.estimators.outputs import weighing
from clusterkit.estimators.pipeline import Pipeline, check_place, choose_number, takes_arrays
from clusterkit.estimators.place import PlacedSamples
from clusterkit.estimators.preparing import features_of
from clusterkit.estimators.samples import checked, index_of
from clusterkit.estimators.units import SCALE_FIRST, warn_of_units
from clusterkit.fitting.fit import check_new
from clusterkit.fitting.samples import ArraySamples, EngineSamples

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Driven(FittedAttributes, ClusterMixin, NestedParams):
    """Runs a driver over the composition of a pipeline.

    Parameters of the driver and of the base pipeline are reached by their plain names, ``set_params(n_maps=3,
    solver__C=1.0)``; where both have a name, it belongs to the driver.

    Parameters
    ----------
    driver : str, dict or Driver, default "single"
        A name of ``clusterkit.stages("driver")``, a dict with "name" and parameters, or a driver.
    base : Pipeline, optional
        The composition. Default `Pipeline()`.
    n_clusters : int, "auto", (int, int) or None, default None
        Replaces the number of clusters of the base. "auto" and a range ``(least, most)`` let it be chosen as in
        `Pipeline`: the driver is run at each number.
    random_state : int, Generator, RandomState or None, default None
        None takes the random state of the base.
    verbose : bool, default False
        Whether to show a progress bar, if standard error is a terminal.

    Attributes
    ----------
    labels_, n_iter_, converged_, stop_reason_, interrupted_, history_, objective_, space_, outcome_, resolved_, \
exact_on_training_, n_features_in_
        Attributes of the fit that the driver returned, see `Pipeline`.
    NAME_
        Every entry NAME of the driver's report; those of `Pipeline` where the number of clusters was chosen.

    Examples
    --------
    >>> from clusterkit.estimators.driven import Driven
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([30, 30], centers=[[0, 0], [6, 6]], random_state=0)
    >>> model = Driven("single", n_clusters=2, random_state=0).set_params(init="random", n_init=60).fit(X)
    >>> model.converged_
    True
    """

    _slots: ClassVar[Mapping[str, str]] = {"driver": "driver"}

    def __init__(
        self,
        driver: DriverLike = "single",
        base: Pipeline | None = None,
        n_clusters: NumberLike = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.driver = driver
        self.base = base
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.verbose = verbose

    @weighing
    def fit(
        self,
        X: SamplesLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        links: LinksLike | None = None,
        seeds: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X, shape (n, d); `y` is ignored, the other arguments are as in `Pipeline`."""
        driver, base = self._driver(), self._base()
        if driver.on_devices:
            placed = PlacedSamples.of(self, X, None, only_devices=True)
        else:
            array = checked(self, X, None, reset=True)
            placed = PlacedSamples(ArraySamples(array), array=array)
        samples, composition = placed.samples, base.composition()
        streams = Seeds.of(base.random_state if self.random_state is None else self.random_state)
        chooses = base._chooses_number(composition)
        if sample_weight is not None:
            unfit = [] if driver.weighted else [Problem("driver", f"'{driver.name}' counts rows")]
            composition = base._weighted(composition, sample_weight, samples.n, unfit)
        breaks = [] if driver.linked else [Problem("driver", f"'{driver.name}' compares fits without links")]
        composition = base._linked(composition, links, seeds, samples.n, index_of(X), breaks)
        if isinstance(samples, EngineSamples) and not samples.keeps_rows:
            advice = samples.engine.by_sample
            raise IncompatibleStages(f"driver '{driver.name}' compares labels in one process. {advice}")
        check_place(base, composition, samples)
        tuning = compose.Tuning(composition) if chooses else base._tuned(composition, placed.array, streams)
        if not isinstance(driver, SingleDriver):  # several fits are compared on all rows
            tuning = attrs.evolve(tuning, composition=attrs.evolve(tuning.composition, rows=None))
        with (
            placed.fitted_where(),
            same_place.surroundings(self.verbose, samples.n, tuning.composition.featuremap),
        ):
            if chooses:
                answer = choose_number(base, placed.in_memory(), streams, driver)
            else:
                # drivers take arrays; those that have `on_devices` take samples of a device too
                fitted = samples if isinstance(samples, EngineSamples) else placed.in_memory()
                answer = run_driver(driver, tuning.composition, cast("Array", fitted), streams)
        self._set_fitted(answer.fit, tuning, base._reported_labeler(tuning.composition))
        self._set_report(placed.placed_report(dict(answer.report)))
        placed.place(self)
        if placed.array is not None:
            warn_of_units(self, placed.array, placed.with_samples(answer.fit.space), SCALE_FIRST)
        return self

    def _why_not_weighted(self) -> str | None:
        """Why `fit` takes no weights; None if it takes them."""
        try:
            driver, base = self._driver(), self._base()
        except ValueError:
            return None  # fit reports what is wrong
        return base._why_not_weighted() if driver.weighted else f"driver '{driver.name}' counts rows"

    @property
    def _on_devices(self) -> bool:
        """Whether the driver takes samples that a device computes."""
        return self._driver().on_devices

    def _rows_of(self, X: SamplesLike) -> Array:
        """New samples X as the stages take them, (m, d): checked, and prepared where the fit prepared a table."""
        rows = features_of(self, X)
        if rows is None:
            rows = checked(self, X, None, reset=False, sparse=False)
        if self.space_ is not None:  # no row is near or far to a single cluster
            check_new(rows)
        return rows

    def _planned(self) -> Composition | None:
        """The composition that a fit would run; None if a parameter is wrong, which fit reports."""
        try:
            return self._base()._planned()
        except ValueError:
            return None

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # small samples are made dense
        try:
            tags.array_api_support = self._driver().on_devices and takes_arrays(self._base())
        except ValueError:  # fit reports what is wrong
            tags.array_api_support = False
        return tags

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        self._driver()
        self._base()._check_parameters()
        NestedParams._check_parameters(self)

    def _why_not_inductive(self) -> str | None:
        """Why there is no `predict`; None if there is."""
        return self._base()._why_not_inductive()

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Parameters of the estimator; with `deep` also those of the driver and of the base, by their plain names."""
        params: dict[str, Any] = super().get_params(deep=False)
        return {**self._base_or_default().get_params(), **self._driver_params(), **params} if deep else params

    def set_params(self, **params: object) -> Self:
        """Set parameters of the estimator, then of the driver; the rest goes to a copy of the base."""
        names = self._get_param_names()
        super().set_params(**{name: params.pop(name) for name in names if name in params})
        for name in self._driver_params().keys() & params.keys():
            self._set_nested(f"driver__{name}", params.pop(name))
        if params:
            base = clone(self._base_or_default())
            try:
                self.base = base.set_params(**params)
            except UnknownName as error:
                unknown = [name for name in params if "__" not in name and name not in base._get_param_names()]
                if not unknown:
                    raise
                known = {*names, *self._driver_params(), *base._get_param_names()}
                raise self._unknown(unknown[0], known) from error
        return self

    def _base_or_default(self) -> Pipeline:
        if self.base is not None and not isinstance(self.base, Pipeline):
            raise InvalidParameter(f"base must be a Pipeline or None, got {self.base!r}")
        return Pipeline() if self.base is None else self.base

    def _base(self) -> Pipeline:
        """A copy of the base with the number of clusters of this estimator."""
        base = clone(self._base_or_default())
        return base if self.n_clusters is None else base.set_params(n_clusters=self.n_clusters)

    def _driver(self) -> Driver:
        return compose.resolve_as(Driver, "driver", self.driver)

    def _driver_params(self) -> dict[str, Any]:
        """Parameters of the driver that are no parameters of the estimator itself; none for a wrong driver."""
        try:
            return self._driver().parameters()
        except ValueError:  # fit reports what is wrong
            return {}
